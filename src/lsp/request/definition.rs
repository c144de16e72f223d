//! Where the thing under the cursor is declared.

use super::{Asked, View};
use crate::diag::{SourceId, Span};
use crate::lsp::index::{Occurrence, Symbol};
use crate::lsp::protocol::{Location, PositionParams, Range};
use crate::lsp::transport::Failure;

pub(super) fn answer(view: &View<'_>, params: PositionParams) -> Result<Vec<Location>, Failure> {
    let Some(asked) = view.asked(&params.text_document.uri) else { return Ok(Vec::new()) };
    let offset = asked.offset(params.position);
    let mut found: Vec<Location> = Vec::new();
    for occurrence in under(&asked, offset) {
        for place in declarations(view, &asked, &occurrence.symbol) {
            if !found.contains(&place) {
                found.push(place);
            }
        }
    }
    Ok(found)
}

/// What stands at a byte of the document. A template that two loops use has two meanings.
pub(super) fn under<'a>(asked: &'a Asked<'_>, offset: usize) -> Vec<&'a Occurrence> {
    let all = asked.analysis.index.all.iter();
    all.filter(|occurrence| asked.analysis.covers(occurrence.span, &asked.buffer.path, offset)).collect()
}

fn declarations(view: &View<'_>, asked: &Asked<'_>, symbol: &Symbol) -> Vec<Location> {
    if let Symbol::File(path) = symbol {
        let there = path.is_file() || view.buffers.at_path(path).is_some();
        return there.then(|| Location { uri: view.uri(path), range: Range::default() }).into_iter().collect();
    }
    let declared = asked.analysis.index.all.iter().filter(|known| known.is_declaration && known.symbol == *symbol);
    let spans = declared.map(|known| known.span).chain(unnamed(asked, symbol));
    let mut spans: Vec<Span> = spans.collect();
    spans.dedup();
    spans.into_iter().filter_map(|span| view.location(asked.analysis, span)).collect()
}

/// Documents that are named and whose file could not be read are found by their file alone.
fn unnamed(asked: &Asked<'_>, symbol: &Symbol) -> Option<Span> {
    let broken = asked.analysis.library.unusable.iter();
    let mut broken = broken.filter(|doc| doc.source != SourceId::NONE && doc.node.is_none());
    let same = |name: &str, kind| Symbol::document(kind, name).as_ref() == Some(symbol);
    broken
        .find(|doc| doc.name.as_deref().is_some_and(|name| same(name, doc.kind)))
        .map(|doc| Span::new(doc.source, 0, 0))
}
