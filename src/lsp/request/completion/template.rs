//! Inside a template or an expression: what is visible there.

use super::{Cursor, Items};
use crate::check::TemplatePlace;
use crate::lsp::context::{Inside, Wants};
use crate::lsp::protocol::ItemKind;
use crate::template::{FILTERS, FUNCTIONS, TESTS, catalogued};

const STATEMENTS: [&str; 17] = [
    "if", "elif", "else", "endif", "for", "endfor", "set", "endset", "include", "extends", "import", "from", "block",
    "endblock", "macro", "endmacro", "raw",
];

pub(super) fn complete(cursor: &Cursor<'_>, inside: &Inside, items: &mut Items<'_>) {
    items.start = inside.start.min(cursor.offset);
    match &inside.wants {
        Wants::Name => {
            if let Some(place) = place_at(cursor) {
                names(place, items);
            }
            words(items, FUNCTIONS, ItemKind::Function, "function");
        }
        Wants::Attribute(path) => {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            for (name, kind) in place_at(cursor).map(|place| place.members(&path)).unwrap_or_default() {
                items.add(&name, ItemKind::Field, Some(kind), None);
            }
        }
        Wants::Filter => words(items, FILTERS, ItemKind::Function, "filter"),
        Wants::Test => words(items, TESTS, ItemKind::Function, "test"),
        Wants::Statement => words(items, &STATEMENTS, ItemKind::Keyword, "statement"),
        Wants::File => {
            let library = &cursor.analysis.library;
            for name in super::document::template_files(library) {
                items.add(&name, ItemKind::File, None, None);
            }
        }
        Wants::Nothing => {}
    }
}

fn names(place: &TemplatePlace, items: &mut Items<'_>) {
    for (name, kind) in place.names() {
        let row = catalogued(name);
        let kind = row.map_or(kind, |row| row.kind);
        items.add(name, ItemKind::Variable, Some(kind), row.map(|row| row.about.to_owned()));
    }
}

fn words(items: &mut Items<'_>, words: &[&str], kind: ItemKind, what: &str) {
    // Tests such as `==` are written as operators.
    for word in words.iter().filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic())) {
        items.add(word, kind, Some(what), None);
    }
}

/// The template at the cursor. Where the line had to be left out to read the document, the nearest one before it.
fn place_at<'a>(cursor: &Cursor<'a>) -> Option<&'a TemplatePlace> {
    let analysis = cursor.analysis;
    let here = |place: &&TemplatePlace| analysis.path(place.whole().source) == Some(cursor.path);
    let covering = analysis.places.iter().find(|place| analysis.covers(place.whole(), cursor.path, cursor.offset));
    let before = |place: &&TemplatePlace| place.whole().start as usize <= cursor.offset;
    covering.or_else(|| analysis.places.iter().filter(here).filter(before).max_by_key(|place| place.whole().start))
}
