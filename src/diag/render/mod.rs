//! Findings as text: one file an output. All are pure functions.

mod concise;
mod full;
mod github;
mod json;

pub use concise::concise;
pub use full::{Color, full};
pub use github::github;
pub use json::json;

use super::{Diagnostic, SourceMap};

/// `path:line:column`, or an empty string for a finding without a place.
fn place(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    diagnostic.span.map_or_else(String::new, |span| {
        let start = sources.line_col(span).start;
        format!("{}:{}:{}", sources.path(span.source).display(), start.line, start.column)
    })
}

#[cfg(test)]
mod tests;
