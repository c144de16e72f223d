//! Quick fixes: the edits that findings bring along.

use std::collections::BTreeMap;

use super::View;
use super::diagnostics::{shown, touch};
use super::markdown::short;
use crate::lsp::protocol::{CodeAction, CodeActionParams, TextEdit, WorkspaceEdit};
use crate::lsp::transport::Failure;

pub(super) fn answer(view: &View<'_>, params: CodeActionParams) -> Result<Vec<CodeAction>, Failure> {
    let Some(asked) = view.asked(&params.text_document.uri) else { return Ok(Vec::new()) };
    let mut actions = Vec::new();
    for finding in &asked.analysis.findings {
        let Some(fix) = &finding.fix else { continue };
        let Some((uri, diagnostic)) = shown(view, asked.analysis, finding) else { continue };
        if uri != asked.buffer.uri || !touch(diagnostic.range, params.range) {
            continue;
        }
        let Some(place) = view.location(asked.analysis, fix.span) else { continue };
        let title = if fix.replacement.is_empty() {
            "Remove this".to_owned()
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
