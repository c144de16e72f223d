//! What may be written at the cursor: keys and values from the schema, names of the workspace, and inside templates what is
//! visible there.

mod document;
mod draft;
mod template;

use super::View;
use crate::lsp::analysis::{Analysis, is_template};
use crate::lsp::context::{Place, Role, Step, inside_expression, inside_template, kind_of, place};
use crate::lsp::position::Lines;
use crate::lsp::protocol::{CompletionItem, CompletionList, ItemKind, Markup, PositionParams, TextEdit};
use crate::lsp::transport::Failure;
use crate::syntax::Format;

/// Keys whose value is an expression, written without braces.
const EXPRESSIONS: [&str; 4] = ["when", "that", "for_each", "metric"];
/// How far back a template is looked for that is still open.
const FAR: usize = 16 << 10;

pub(super) fn answer(view: &View<'_>, params: PositionParams) -> Result<CompletionList, Failure> {
    let none = CompletionList { is_incomplete: false, items: Vec::new() };
    let Some(asked) = view.asked(&params.text_document.uri) else { return Ok(none) };
    let text = asked.lines.text();
    let offset = asked.offset(params.position);
    let path = &asked.buffer.path;
    let draft = draft::readable(&asked, view, text, offset);
    let analysis = draft.as_ref().unwrap_or(asked.analysis);
    let mut items = Items { lines: &asked.lines, start: offset, end: offset, items: Vec::new() };
    let cursor = Cursor { analysis, path, text, offset };
    let recent = &text[text.floor_char_boundary(offset.saturating_sub(FAR))..offset];
    if is_template(path) {
        if let Some(inside) = inside_template(recent, offset - recent.len()) {
            template::complete(&cursor, &inside, &mut items);
        }
        return Ok(items.list());
    }
    // Other YAML and TOML in the same editor is none of ours.
    if analysis.document(path).is_none() {
        return Ok(items.list());
    }
    let place = place(path, text, offset);
    if is_comment(text, offset, &place) {
        return Ok(items.list());
    }
    if let Some(inside) = inside_template(recent, offset - recent.len()) {
        template::complete(&cursor, &inside, &mut items);
    } else if let Some(Step::Key(key)) = place.path.last()
        && EXPRESSIONS.contains(&key.as_str())
        && matches!(place.role, Role::Value | Role::Text)
    {
        let line = text[..offset].rfind('\n').map_or(0, |end| end + 1);
        let start = if place.role == Role::Value { place.start } else { line };
        template::complete(&cursor, &inside_expression(&text[start..offset], start), &mut items);
    } else if place.role != Role::Text {
        document::complete(&cursor, kind_of(path, text), &place, &mut items);
    }
    Ok(items.list())
}

/// Where something is being written.
struct Cursor<'a> {
    analysis: &'a Analysis,
    path: &'a std::path::Path,
    text: &'a str,
    offset: usize,
}

impl Cursor<'_> {
    fn is_toml(&self) -> bool {
        Format::of_path(self.path) == Some(Format::Toml)
    }
}

fn is_comment(text: &str, offset: usize, place: &Place) -> bool {
    let line = &text[text[..offset].rfind('\n').map_or(0, |end| end + 1)..offset];
    place.role == Role::Text && (line.trim_start().starts_with('#') || line.contains(" #")) && !line.contains("{{")
}

/// Completions as they are collected, all for the word that ends at the cursor.
struct Items<'a> {
    lines: &'a Lines<'a>,
    start: usize,
    end: usize,
    items: Vec<CompletionItem>,
}

impl Items<'_> {
    /// Adds a word that stands for itself.
    fn add(&mut self, label: &str, kind: ItemKind, detail: Option<&str>, about: Option<String>) {
        self.add_written(label, label, kind, detail, about);
    }

    /// Adds a word that is written with something behind it.
    fn add_written(&mut self, label: &str, new: &str, kind: ItemKind, detail: Option<&str>, about: Option<String>) {
        if self.items.iter().any(|known| known.label == label) {
            return;
        }
        let range = self.lines.range(self.start..self.end);
        self.items.push(CompletionItem {
            label: label.to_owned(),
            kind,
            detail: detail.map(str::to_owned),
            documentation: about.map(Markup::new),
            sort_text: Some(format!("{:04}", self.items.len())),
            text_edit: TextEdit { range, new_text: new.to_owned() },
        });
    }

    fn list(self) -> CompletionList {
        CompletionList { is_incomplete: false, items: self.items }
    }
}
