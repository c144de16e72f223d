//! Findings as text: one file an output. All are pure functions.

mod concise;
mod fingerprint;
mod full;
mod github;
mod gitlab;
mod json;
mod junit;
mod paths;
mod sarif;

use std::path::{Path, PathBuf};

pub use concise::concise;
pub use full::{Color, full};
pub use github::github;
pub use gitlab::gitlab;
pub use json::json;
pub use junit::junit;
pub use sarif::sarif;

use super::{Diagnostic, Severity, SourceMap};

/// Findings, and what the outputs for other programs need besides.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The findings, in order.
    pub findings: &'a [Diagnostic],
    /// The files that they point into.
    pub sources: &'a SourceMap,
    /// Every file that was checked, as people see it.
    pub files: &'a [PathBuf],
    /// The folder that paths in the output are relative to, where they lie in it.
    pub base: &'a Path,
    /// Whether a warning fails the check.
    pub deny_warnings: bool,
}

impl Report<'_> {
    /// Whether a finding fails the check.
    pub fn is_failure(&self, severity: Severity) -> bool {
        match severity {
            Severity::Error => true,
            Severity::Warning => self.deny_warnings,
            Severity::Info => false,
        }
    }
}

/// `path:line:column`, or an empty string for a finding without a place.
fn place(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    diagnostic.span.map_or_else(String::new, |span| {
        let start = sources.line_col(span).start;
        format!("{}:{}:{}", sources.path(span.source).display(), start.line, start.column)
    })
}

#[cfg(test)]
mod tests;
