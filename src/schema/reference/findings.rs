//! The page of findings: every code with its severity, its words and its examples.

use std::fmt::Write as _;

use crate::diag::codes;

pub(super) fn page() -> String {
    let mut text = "# Findings\n\n\
        What `check` reports: errors keep a document from being used, warnings and infos do not.\n\
        `loopwright check --explain CODE` prints one of these.\n"
        .to_owned();
    for info in codes::all() {
        let page = info.page();
        let (code, severity) = (info.code, info.severity.as_str());
        write!(text, "\n## `{code}`\n\n**{severity}**: {}\n\n{}", page.summary, page.markdown()).ok();
    }
    text
}
