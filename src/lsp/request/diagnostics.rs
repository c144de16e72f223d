//! What the checker found, as the editor shows it: by file, with related places.

use std::collections::BTreeMap;

use super::View;
use crate::diag::{Diagnostic as Finding, Severity, Span};
use crate::lsp::analysis::Analysis;
use crate::lsp::protocol::{Diagnostic, Location, Range, RelatedInformation};

/// All findings of all workspaces, by the address of their file.
pub(in crate::lsp) fn all(view: &View<'_>) -> BTreeMap<String, Vec<Diagnostic>> {
    let mut found: BTreeMap<String, Vec<Diagnostic>> = BTreeMap::new();
    for analysis in view.analyses.values() {
        for finding in &analysis.findings {
            if let Some((uri, diagnostic)) = shown(view, analysis, finding) {
                let known = found.entry(uri).or_default();
                // Two workspaces may look into one file.
                if !known.contains(&diagnostic) {
                    known.push(diagnostic);
                }
            }
        }
    }
    found
}

/// A finding with the address of its file; none for one in a file that nobody can open.
pub(super) fn shown(view: &View<'_>, analysis: &Analysis, finding: &Finding) -> Option<(String, Diagnostic)> {
    // What has no place of its own is said where the workspace is declared.
    let place = finding.span.unwrap_or_else(|| Span::new(analysis.library.workspace.source, 0, 0));
    let Location { uri, range } = view.location(analysis, place)?;
    let severity = match finding.severity {
        Severity::Error => 1,
        Severity::Warning => 2,
        Severity::Info => 3,
    };
    let message = match &finding.help {
        Some(help) => format!("{}\n{help}", finding.message),
        None => finding.message.clone(),
    };
    let related_information = finding.labels.iter().filter_map(|(span, text)| {
        let location = view.location(analysis, *span)?;
        let message = if text.is_empty() { "see here".to_owned() } else { text.clone() };
        Some(RelatedInformation { location, message })
    });
    let diagnostic = Diagnostic {
        range,
        severity,
        code: finding.code.as_str(),
        source: "loopwright",
        message,
        related_information: related_information.collect(),
    };
    Some((uri, diagnostic))
}

/// Whether two ranges have a place in common.
pub(super) fn touch(a: Range, b: Range) -> bool {
    a.start <= b.end && b.start <= a.end
}
