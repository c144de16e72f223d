//! In a document: keys and values that its schema knows, and names of what the workspace has.

use super::{Cursor, Items};
use crate::document::{BUILTIN_TOOLS, BUILTINS, Kind};
use crate::load::Library;
use crate::lsp::context::{Place, Role, Step};
use crate::lsp::protocol::ItemKind;
use crate::lsp::request::markdown::{code, short};
use crate::lsp::schema_at::{Key, SchemaAt};

/// How many files are offered.
const MOST_FILES: usize = 500;

pub(super) fn complete(cursor: &Cursor<'_>, kind: Kind, place: &Place, items: &mut Items<'_>) {
    items.start = place.start.min(cursor.offset);
    let schema = SchemaAt::new(kind, &place.path);
    let names = names(cursor, kind, place);
    for (name, detail) in &names {
        let new = match place.role {
            Role::Key => format!("{name}{}", separator(cursor)),
            _ => name.clone(),
        };
        items.add_written(name, &new, ItemKind::Reference, Some(detail), None);
    }
    if place.role != Role::Key {
        for (value, about) in schema.values() {
            items.add(&value, ItemKind::EnumMember, None, about.map(str::to_owned));
        }
        if let Some(default) = schema.default().filter(|text| !text.starts_with(['{', '['])) {
            items.add(&default, ItemKind::Value, Some("default"), None);
        }
        for example in schema.examples().iter().filter(|text| !text.starts_with(['{', '['])) {
            items.add(example, ItemKind::Value, Some("example"), None);
        }
    }
    if place.role != Role::Value {
        let written = siblings(cursor, place);
        for key in schema.keys().iter().filter(|key| !written.iter().any(|known| known == key.name)) {
            let detail = key.schema.kind();
            items.add_written(
                key.name,
                &written_key(cursor, place, key),
                ItemKind::Property,
                detail.as_deref(),
                about(key),
            );
        }
    }
}

fn separator(cursor: &Cursor<'_>) -> &'static str {
    if cursor.is_toml() { " = " } else { ": " }
}

/// A key as it is written, unless a separator follows already.
fn written_key(cursor: &Cursor<'_>, place: &Place, key: &Key) -> String {
    let line_start = cursor.text[..place.start].rfind('\n').map_or(0, |end| end + 1);
    let is_header = cursor.is_toml() && cursor.text[line_start..place.start].trim_start().starts_with('[');
    let rest = cursor.text[cursor.offset..].trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
    if is_header || rest.trim_start_matches(' ').starts_with([':', '=']) {
        return key.name.to_owned();
    }
    let separator = if key.schema.takes_lines() && !cursor.is_toml() { ":" } else { separator(cursor) };
    format!("{}{separator}", key.name)
}

fn about(key: &Key) -> Option<String> {
    let mut text = key.schema.description().unwrap_or_default().to_owned();
    if let Some(default) = key.schema.default().filter(|default| !text.contains("Default") && default.len() < 60) {
        text.push_str(&format!(" Default: {}.", code(&default)));
    }
    (!text.is_empty()).then_some(text)
}

/// The keys that stand beside the cursor in the same map, as far as lines of the same depth tell.
fn siblings(cursor: &Cursor<'_>, place: &Place) -> Vec<String> {
    let text = cursor.text;
    let line_start = text[..place.start].rfind('\n').map_or(0, |end| end + 1);
    let column = place.start - line_start;
    // Dashes count as indentation.
    let depth = |line: &str| line.len() - line.trim_start_matches([' ', '-']).len();
    let mut keys = Vec::new();
    let mut take = |line: &str| -> bool {
        let is_blank = line.trim().is_empty() || line.trim_start().starts_with('#');
        if !is_blank && (depth(line) < column || line.starts_with('[')) {
            return false;
        }
        if !is_blank && depth(line) == column {
            let content = &line[depth(line)..];
            let key = content.split([':', '=']).next().unwrap_or_default().trim().trim_matches(['"', '\'']);
            keys.push(key.to_owned());
        }
        // A dash at this depth begins another item.
        !line.trim_start().starts_with("- ")
    };
    if text[line_start..place.start].trim().is_empty() {
        for line in text[..line_start].lines().rev() {
            if !take(line) {
                break;
            }
        }
    }
    let after = text[cursor.offset..].find('\n').map_or(text.len(), |end| cursor.offset + end + 1);
    for line in text[after..].lines() {
        if line.trim_start().starts_with("- ") || !take(line) {
            break;
        }
    }
    keys
}

/// Names of the workspace that fit here, each with what it is.
fn names(cursor: &Cursor<'_>, kind: Kind, place: &Place) -> Vec<(String, String)> {
    let library = &cursor.analysis.library;
    let mut keys = place.path.iter().rev().filter_map(|step| match step {
        Step::Key(key) => Some(key.as_str()),
        Step::Item => None,
    });
    let (last, around) = (keys.next().unwrap_or_default(), keys.next().unwrap_or_default());
    if place.role == Role::Key {
        return if last == "set" { state(cursor) } else { Vec::new() };
    }
    match (last, around) {
        ("extends", _) => described(
            library.presets.iter().map(|(name, preset)| (format!("preset/{name}"), preset.node.get("description"))),
        ),
        ("tools" | "from_tool" | "tool", _) | ("use", "tool") => tools(library),
        ("from_loop" | "loop", _) | ("use", "loop") => {
            described(library.loops.iter().map(|(name, found)| (name.clone(), found.node.get("description"))))
        }
        ("forge", _) | ("use", "forge") => {
            described(library.forges.iter().map(|(name, found)| (name.clone(), found.node.get("description"))))
        }
        ("builtins", _) => builtins(),
        ("next_actions" | "forbid_actions", _) => actions(cursor),
        ("model", _) | (_, "model") if kind != Kind::Workspace => {
            let mut all = models(library);
            all.extend(tiers(library));
            all
        }
        (_, "tiers") => models(library),
        ("tier", _) => tiers(library),
        ("file", _) => template_files(library).into_iter().map(|name| (name, "file".to_owned())).collect(),
        _ => Vec::new(),
    }
}

fn described<'n>(names: impl Iterator<Item = (String, Option<&'n crate::syntax::Node>)>) -> Vec<(String, String)> {
    names.map(|(name, about)| (name, short(about.and_then(|node| node.as_str()).unwrap_or_default(), 80))).collect()
}

fn tools(library: &Library) -> Vec<(String, String)> {
    let own = library.tools.iter().map(|(name, tool)| (name.clone(), short(&tool.doc.description, 80)));
    let built_in = BUILTIN_TOOLS.iter().map(|name| ((*name).to_owned(), "built-in tool".to_owned()));
    own.chain(built_in).collect()
}

fn builtins() -> Vec<(String, String)> {
    BUILTINS.iter().map(|builtin| (builtin.name.to_owned(), short(builtin.description, 80))).collect()
}

fn models(library: &Library) -> Vec<(String, String)> {
    library.workspace.doc.models.iter().map(|(name, model)| (name.clone(), model.provider.value.clone())).collect()
}

fn tiers(library: &Library) -> Vec<(String, String)> {
    let tiers = library.workspace.node.get("tiers").map(|node| node.entries()).unwrap_or_default();
    tiers.iter().map(|entry| (entry.key.to_string(), "tier".to_owned())).collect()
}

/// Actions of the loop at the cursor, and built-in ones.
fn actions(cursor: &Cursor<'_>) -> Vec<(String, String)> {
    let own = own_keys(cursor, "actions");
    own.into_iter().map(|name| (name, "action".to_owned())).chain(builtins()).collect()
}

fn state(cursor: &Cursor<'_>) -> Vec<(String, String)> {
    own_keys(cursor, "state").into_iter().map(|name| (name, "state variable".to_owned())).collect()
}

fn own_keys(cursor: &Cursor<'_>, section: &str) -> Vec<String> {
    let source = cursor.analysis.document(cursor.path);
    let node = source.and_then(|source| cursor.analysis.library.written(source)?.node?.get(section));
    node.map(|node| node.entries().iter().map(|entry| entry.key.to_string()).collect()).unwrap_or_default()
}

/// The templates in the workspace's folders of prompts, by the names that documents use.
pub(super) fn template_files(library: &Library) -> Vec<String> {
    let mut names = Vec::new();
    for folder in library.files.folders() {
        let walk = ignore::WalkBuilder::new(library.root.join(folder)).sort_by_file_path(std::path::Path::cmp).build();
        for entry in walk.flatten().filter(|entry| crate::lsp::analysis::is_template(entry.path())).take(MOST_FILES) {
            if let Ok(below) = entry.path().strip_prefix(&library.root) {
                names.push(below.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    names
}
