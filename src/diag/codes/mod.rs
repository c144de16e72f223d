//! The kinds of findings: what each is called, how bad it is, and its page; one file a family.
//!
//! To add a code, add a row to the table of its family: the doc comment is its page. The first line is the summary;
//! the explanation follows, then `## Bad` and `## Good` with an example each, which a test gives to the checker, and
//! `## Fix` where `check --fix` repairs it. An error that does not keep a document from being used is `Error adjustable`. `yaml loops/a.yaml` after a fence names the example's file.

mod page;

use std::fmt;
use std::sync::LazyLock;

use super::Severity;
#[cfg(test)]
pub use page::File;
pub use page::Page;

/// The name of a kind of finding, such as `duplicate-key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(transparent)]
pub struct Code(pub &'static str);

impl Code {
    /// The name.
    pub fn as_str(self) -> &'static str {
        self.0
    }

    /// What is known about this code.
    pub fn info(self) -> Option<&'static CodeInfo> {
        find(self.0)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// What is known about a [`Code`].
#[derive(Clone, Copy, Debug)]
pub struct CodeInfo {
    /// The name.
    pub code: Code,
    /// The severity that findings of this kind usually have.
    pub severity: Severity,
    /// Its page, as it was written: see [`CodeInfo::page`].
    text: &'static str,
    /// Whether the workspace may give it another severity, or a comment switch it off: what keeps a document from being used
    /// at all stays an error.
    pub adjustable: bool,
    /// The test that shows it, where no text of a document can; such a page has no examples.
    pub tested_by: Option<&'static str>,
}

impl CodeInfo {
    /// The page about this code.
    pub fn page(&self) -> Page {
        Page::parse(self.text)
    }

    /// One line about it, with a period.
    pub fn summary(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim()
    }
}

/// Every code, in alphabetical order.
pub fn all() -> &'static [CodeInfo] {
    static ALL: LazyLock<Vec<CodeInfo>> = LazyLock::new(|| {
        let mut all = FAMILIES.concat();
        all.sort_by_key(|info| info.code);
        all
    });
    &ALL
}

/// What is known about the code with this name.
pub fn find(name: &str) -> Option<&'static CodeInfo> {
    let all = all();
    all.binary_search_by_key(&name, |info| info.code.0).ok().map(|at| &all[at])
}

/// Declares codes: for each a constant, and a row of the family's table.
macro_rules! codes {
    ($($(#[doc = $page:literal])+ $name:ident = $code:literal, $severity:ident $($adjustable:ident)? $(, tested_by $test:literal)?;)+) => {
        use super::{Code, CodeInfo};
        use crate::diag::Severity;

        $($(#[doc = $page])+ pub const $name: Code = Code($code);)+

        /// The family.
        pub(super) const FAMILY: &[CodeInfo] = &[$(CodeInfo {
            code: $name,
            severity: Severity::$severity,
            text: concat!($($page, "\n"),+),
            adjustable: codes!(? $severity $($adjustable)?),
            tested_by: codes!(@ $($test)?),
        },)+];
    };
    (? Error) => { false };
    (? Error adjustable) => { true };
    (? $severity:ident) => { true };
    (@ $test:literal) => { Some($test) };
    (@) => { None };
}

/// Declares the families.
macro_rules! families {
    ($($family:ident),+ $(,)?) => {
        $(mod $family; pub use $family::*;)+

        const FAMILIES: &[&[CodeInfo]] = &[$($family::FAMILY),+];
    };
}

families!(
    actions, analysis, comments, documents, files, flow, references, safety, shape, skills, templates, toml, values,
    yaml
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_one_page_of_the_same_form() {
        for info in all() {
            let name = info.code.0;
            assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{name}");
            assert_eq!(all().iter().filter(|other| other.code == info.code).count(), 1, "{name}");
            let page = info.page();
            assert!(page.summary.ends_with('.') && page.explanation.ends_with('.'), "{name}: {page:?}");
            assert_eq!(page.unknown, "", "{name}: the parts of a page are `## Bad`, `## Good` and `## Fix`");
            let shown = !page.bad.is_empty() && !page.good.is_empty();
            assert_ne!(shown, info.tested_by.is_some(), "{name}: `## Bad` and `## Good`, or `tested_by`");
        }
    }

    #[test]
    fn codes_are_found_by_name() {
        for info in all() {
            assert_eq!(find(info.code.0).map(|found| found.code), Some(info.code));
        }
        assert!(find("no-such-code").is_none() && find("").is_none());
    }
}
