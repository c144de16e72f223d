//! The outline of a document: sections, and in them actions, hooks, variables, models.

use super::markdown::short;
use super::{Asked, View};
use crate::diag::Span;
use crate::lsp::protocol::{DocumentParams, DocumentSymbol, Range, SymbolKind};
use crate::lsp::transport::Failure;
use crate::syntax::{Entry, Node};

/// Sections whose keys are names of an author's own.
const OPEN: [(&str, SymbolKind); 8] = [
    ("actions", SymbolKind::Function),
    ("state", SymbolKind::Variable),
    ("hooks", SymbolKind::Event),
    ("models", SymbolKind::Object),
    ("tiers", SymbolKind::Object),
    ("mechanisms", SymbolKind::Object),
    ("limits", SymbolKind::Property),
    ("prompt", SymbolKind::Property),
];

pub(super) fn answer(view: &View<'_>, params: DocumentParams) -> Result<Vec<DocumentSymbol>, Failure> {
    let Some(asked) = view.asked(&params.text_document.uri) else { return Ok(Vec::new()) };
    let source = asked.analysis.document(&asked.buffer.path);
    let node = source.and_then(|source| asked.analysis.library.written(source)?.node);
    let Some(node) = node else { return Ok(Vec::new()) };
    Ok(node.entries().iter().filter_map(|entry| section(&asked, entry)).collect())
}

fn section(asked: &Asked<'_>, entry: &Entry) -> Option<DocumentSymbol> {
    let kind = OPEN.iter().find(|(name, _)| *name == &*entry.key).map(|(_, kind)| *kind);
    let children = entry.value.entries().iter().filter_map(|inner| {
        let mut symbol = symbol(asked, inner, kind?)?;
        if let Some(about) = inner.value.get("description").and_then(Node::as_str) {
            symbol.detail = Some(short(about, 80));
        }
        Some(symbol)
    });
    let children: Vec<DocumentSymbol> = children.collect();
    let own = if kind.is_some() { SymbolKind::Module } else { SymbolKind::Property };
    let mut symbol = symbol(asked, entry, own)?;
    // In TOML the parts of a table may lie anywhere.
    let around = children.iter().fold(symbol.range, |range, child| Range {
        start: range.start.min(child.range.start),
        end: range.end.max(child.range.end),
    });
    symbol.range = around;
    symbol.children = children;
    Some(symbol)
}

fn symbol(asked: &Asked<'_>, entry: &Entry, kind: SymbolKind) -> Option<DocumentSymbol> {
    if entry.key.is_empty() {
        return None;
    }
    let bytes = |span: Span| asked.lines.range(span.start as usize..span.end as usize);
    let selection_range = bytes(entry.key_span);
    // What an alias stands for is written elsewhere; the alias is here.
    let value = bytes(entry.value.span);
    let range = Range { start: selection_range.start.min(value.start), end: selection_range.end.max(value.end) };
    let detail = match &entry.value.value {
        crate::syntax::Value::Map(_) | crate::syntax::Value::Seq(_) | crate::syntax::Value::Null => None,
        _ => Some(short(&plain(&entry.value), 60)),
    };
    Some(DocumentSymbol { name: entry.key.to_string(), detail, kind, range, selection_range, children: Vec::new() })
}

fn plain(node: &Node) -> String {
    node.as_str().map_or_else(|| node.to_json().to_string(), str::to_owned)
}
