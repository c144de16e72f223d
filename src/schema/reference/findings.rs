//! The page of findings: every code with its severity, its words and its examples.

use std::fmt::Write as _;

use crate::diag::codes::{self, CodeInfo, File};

pub(super) fn page() -> String {
    let mut text = "# Findings\n\n\
        What `check` reports: errors keep a document from being used, warnings and infos do not.\n"
        .to_owned();
    for info in codes::all() {
        text.push_str(&section(info));
    }
    text
}

fn section(info: &CodeInfo) -> String {
    let page = info.page();
    let mut text =
        format!("\n## `{}`\n\n**{}**: {}\n\n{}\n", info.code, info.severity.as_str(), page.summary, page.explanation);
    if !page.fix.is_empty() {
        write!(text, "\n`check --fix` repairs it: {}\n", page.fix).ok();
    }
    for (title, files) in [("This is found", &page.bad), ("This is not", &page.good)] {
        if !files.is_empty() {
            write!(text, "\n{title}:\n").ok();
        }
        for file in files {
            text.push_str(&fenced(file, files.len() > 1));
        }
    }
    text
}

fn fenced(file: &File, named: bool) -> String {
    let name = if named { format!("\n`{}`:\n", file.path) } else { String::new() };
    format!("{name}\n```{}\n{}```\n", file.language, file.text)
}
