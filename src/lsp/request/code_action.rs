//! Quick fixes: the edits that findings bring along.

use std::collections::BTreeMap;

use super::View;
use super::diagnostics::{shown, touch};
use super::markdown::short;
use crate::diag::{Diagnostic as Finding, Fix, Span};
use crate::lsp::analysis::Analysis;
use crate::lsp::protocol::{CodeAction, CodeActionParams, TextEdit, WorkspaceEdit};
use crate::lsp::transport::Failure;

pub(super) fn answer(view: &View<'_>, params: CodeActionParams) -> Result<Vec<CodeAction>, Failure> {
    let Some(asked) = view.asked(&params.text_document.uri) else { return Ok(Vec::new()) };
    let mut actions = Vec::new();
    for finding in &asked.analysis.findings {
        let Some(fix) = finding.fix.clone().or_else(|| meant(asked.analysis, finding)) else { continue };
        let Some((uri, diagnostic)) = shown(view, asked.analysis, finding) else { continue };
        if uri != asked.buffer.uri || !touch(diagnostic.range, params.range) {
            continue;
        }
        let Some(place) = view.location(asked.analysis, fix.span) else { continue };
        let title = if fix.replacement.is_empty() {
            "Remove this".to_owned()
        } else if fix.replacement.trim().is_empty() {
            "Write spaces".to_owned()
        } else {
            format!("Write `{}`", short(&fix.replacement, 60))
        };
        let edit = TextEdit { range: place.range, new_text: fix.replacement.clone() };
        actions.push(CodeAction {
            title,
            kind: "quickfix",
            diagnostics: vec![diagnostic],
            is_preferred: fix.safe,
            edit: WorkspaceEdit { changes: BTreeMap::from([(place.uri, vec![edit])]) },
        });
    }
    Ok(actions)
}

/// The edit behind "did you mean": where the name that is wrong stands alone, the one that was probably meant.
fn meant(analysis: &Analysis, finding: &Finding) -> Option<Fix> {
    let near = finding.help.as_deref()?.strip_prefix("did you mean `")?.strip_suffix("`?")?;
    let span = finding.span.filter(|_| !near.contains('`'))?;
    let written = analysis.library.sources.slice(span);
    let quote = ['"', '\''].into_iter().find(|quote| written.len() > 2 && written.starts_with(*quote));
    let bare = quote.map_or(Some(written), |quote| written.strip_prefix(quote)?.strip_suffix(quote))?;
    let is_name = !bare.is_empty() && finding.message.contains(&format!("`{bare}`"));
    let quote = u32::from(quote.is_some());
    let span = Span::new(span.source, span.start + quote, span.end.saturating_sub(quote));
    is_name.then(|| Fix { span, replacement: near.to_owned(), safe: false })
}
