//! What a cursor stands in, told from the text before it alone: it must work while nothing parses.

mod flow;
mod template;
mod toml;
mod yaml;

use std::path::Path;

use crate::document::Kind;
use crate::syntax::Format;

pub(super) use template::{Inside, Wants, inside_expression, inside_template};

/// One step from a document's root to a place in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// The value of a key.
    Key(String),
    /// An item of a list, whichever it is.
    Item,
}

/// A place where something is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The map or list around it, or the key whose value it is.
    pub(super) path: Vec<Step>,
    pub(super) role: Role,
    /// Where the word begins that the cursor is in or behind.
    pub(super) start: usize,
}

/// What may be written at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A key of the map at the path.
    Key,
    /// The value at the path.
    Value,
    /// The value at the path, or the first key of a map that is that value.
    KeyOrValue,
    /// A text of several lines, or a comment: nothing of the document's own language.
    Text,
}

/// What the byte at `offset` of a document stands in.
pub(super) fn place(path: &Path, text: &str, offset: usize) -> Place {
    let offset = text.floor_char_boundary(offset);
    match Format::of_path(path) {
        Some(Format::Toml) => toml::place(text, offset),
        _ => yaml::place(text, offset),
    }
}

/// The kind of document that a text is, as far as one can tell from its lines.
pub(super) fn kind_of(path: &Path, text: &str) -> Kind {
    let is_workspace = path.file_stem().is_some_and(|stem| stem == "loopwright");
    let word = text.lines().find_map(|line| line.strip_prefix("kind")?.trim_start().strip_prefix([':', '=']));
    let word = word.map(|word| word.split('#').next().unwrap_or_default().trim().trim_matches(['"', '\'']));
    word.and_then(Kind::of).unwrap_or(if is_workspace { Kind::Workspace } else { Kind::Loop })
}

/// Where the word begins that ends at `offset`.
fn word_start(text: &str, offset: usize) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '$');
    text[..offset].trim_end_matches(is_word).len()
}
