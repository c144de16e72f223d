//! A new name for a state variable, an action, a step, a parameter or a tag, wherever the checker knows that it is meant.

use std::collections::BTreeMap;

use super::definition::under;
use super::{Asked, View};
use crate::diag::{SourceId, Span};
use crate::lsp::index::{Occurrence, Symbol};
use crate::lsp::protocol::{PositionParams, Range, RenameParams, TextEdit, WorkspaceEdit};
use crate::lsp::transport::{ErrorCode, Failure};

/// Words that are no texts to some reader of YAML, or that templates know as keywords.
const WORDS: [&str; 17] =
    ["and", "else", "false", "if", "in", "is", "n", "no", "none", "not", "null", "off", "on", "or", "true", "y", "yes"];

/// The place of the name that would be changed; nothing where nothing can be.
pub(super) fn prepare(view: &View<'_>, params: PositionParams) -> Result<Option<Range>, Failure> {
    let Some(asked) = view.asked(&params.text_document.uri) else { return Ok(None) };
    let offset = asked.offset(params.position);
    let found = under(&asked, offset).into_iter().find(|known| known.symbol.local_name().is_some());
    Ok(found.and_then(|known| view.range_in(&asked, exact(&asked, known)?)))
}

pub(super) fn answer(view: &View<'_>, params: RenameParams) -> Result<WorkspaceEdit, Failure> {
    let refuse = |why: String| Err(Failure::new(ErrorCode::RequestFailed, why));
    let Some(asked) = view.asked(&params.text_document.uri) else {
        return refuse("this file belongs to no workspace".to_owned());
    };
    let offset = asked.offset(params.position);
    let symbols: Vec<&Symbol> = under(&asked, offset).into_iter().map(|known| &known.symbol).collect();
    let Some((symbol, name)) = symbols.iter().find_map(|symbol| Some((*symbol, symbol.local_name()?))) else {
        return refuse("only state variables, actions, steps, parameters and tags can be renamed".to_owned());
    };
    let wanted = params.new_name.as_str();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !wanted.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') || !wanted.chars().all(is_name) {
        return refuse(format!(
            "`{wanted}` is no name: it has letters, digits and `_`, and does not begin with a digit"
        ));
    }
    if WORDS.contains(&wanted.to_ascii_lowercase().as_str()) {
        return refuse(format!("`{wanted}` means something else in YAML or in templates"));
    }
    let all = &asked.analysis.index.all;
    let new = renamed(symbol, wanted);
    if all.iter().any(|known| known.is_declaration && known.symbol == new) {
        return refuse(format!("`{wanted}` is declared already"));
    }
    if !all.iter().any(|known| known.is_declaration && known.symbol == *symbol) {
        return refuse(format!("`{name}` is not declared here"));
    }
    let mut changes: BTreeMap<String, Vec<TextEdit>> = BTreeMap::new();
    for known in all.iter().filter(|known| known.symbol == *symbol) {
        let shared = all.iter().any(|other| other.symbol != *symbol && same_place(&asked, other.span, known.span));
        if shared {
            let place = asked.analysis.library.place(Some(known.span));
            return refuse(format!("{place}another loop uses `{name}` in the same template"));
        }
        let Some(span) = exact(&asked, known) else {
            let place = asked.analysis.library.place(Some(known.span));
            return refuse(format!("{place}`{name}` is written in a way that cannot be changed safely"));
        };
        let Some(location) = view.location(asked.analysis, span) else { continue };
        let edits = changes.entry(location.uri).or_default();
        let edit = TextEdit { range: location.range, new_text: wanted.to_owned() };
        if !edits.contains(&edit) {
            edits.push(edit);
        }
    }
    Ok(WorkspaceEdit { changes })
}

fn same_place(asked: &Asked<'_>, a: Span, b: Span) -> bool {
    let path = |source: SourceId| asked.analysis.path(source);
    (a.start, a.end) == (b.start, b.end) && path(a.source) == path(b.source)
}

/// The bytes of the name alone, without quotes; none when it is written otherwise.
fn exact(asked: &Asked<'_>, known: &Occurrence) -> Option<Span> {
    let name = known.symbol.local_name()?;
    let written = asked.analysis.library.sources.slice(known.span);
    if written == name {
        return Some(known.span);
    }
    let inside = written.strip_prefix(['"', '\'']).and_then(|rest| rest.strip_suffix(['"', '\'']));
    (inside == Some(name)).then(|| Span::new(known.span.source, known.span.start + 1, known.span.end - 1))
}

fn renamed(symbol: &Symbol, name: &str) -> Symbol {
    let name = name.to_owned();
    match symbol {
        Symbol::Action(source, _) => Symbol::Action(*source, name),
        Symbol::State(source, _) => Symbol::State(*source, name),
        Symbol::Step(source, _) => Symbol::Step(*source, name),
        Symbol::Param(source, action, _) => Symbol::Param(*source, action.clone(), name),
        Symbol::Tag(source, action, _) => Symbol::Tag(*source, action.clone(), name),
        other => other.clone(),
    }
}
