//! What the thing under the cursor means, and which value holds.

use super::definition::under;
use super::markdown::{code, plain, short};
use super::{Asked, View};
use crate::diag::{SourceId, Span};
use crate::document::{BUILTINS, Kind};
use crate::lsp::index::Symbol;
use crate::lsp::locate::{self, Located};
use crate::lsp::protocol::{Hover, Markup, PositionParams};
use crate::lsp::schema_at::SchemaAt;
use crate::lsp::transport::Failure;
use crate::syntax::{Node, Value};
use crate::template::catalogued;

/// How many values of a section are listed.
const MOST_VALUES: usize = 24;

pub(super) fn answer(view: &View<'_>, params: PositionParams) -> Result<Option<Hover>, Failure> {
    let Some(asked) = view.asked(&params.text_document.uri) else { return Ok(None) };
    let offset = asked.offset(params.position);
    let mut parts: Vec<String> = Vec::new();
    let mut place = None;
    if let Some((span, text)) = in_template(&asked, offset) {
        place = Some(span);
        parts.push(text);
    } else if let Some(source) = asked.analysis.document(&asked.buffer.path) {
        let document = asked.analysis.library.written(source);
        if let Some((document, node)) = document.and_then(|document| Some((document, document.node?)))
            && let Some(located) = locate::at(node, source, offset)
        {
            place = Some(located.span);
            parts.extend(of_symbols(&asked, offset));
            parts.extend(of_key(&asked, document.kind, source, &located));
        }
    }
    parts.extend(of_findings(&asked, offset));
    if parts.is_empty() {
        return Ok(None);
    }
    let range = place.and_then(|span| view.range_in(&asked, span));
    Ok(Some(Hover { contents: Markup::new(parts.join("\n\n---\n\n")), range }))
}

/// A name, filter, test or function inside a template or an expression.
fn in_template(asked: &Asked<'_>, offset: usize) -> Option<(Span, String)> {
    let covers = |span: Span| asked.analysis.covers(span, &asked.buffer.path, offset);
    let here = asked.analysis.places.iter().filter(|place| covers(place.whole()));
    for place in here {
        let Some(walk) = &place.walk else { continue };
        for used in &walk.variables {
            let Some(at) = used.path.iter().position(|part| covers(place.span(part.range.clone()))) else { continue };
            let path: Option<Vec<&str>> = used.path[..=at].iter().map(|part| part.name.as_deref()).collect();
            let Some(path) = path else { continue };
            let span = place.span(used.path[at].range.clone());
            let mut text = vec![code(&path.join("."))];
            if let [root] = path.as_slice() {
                match catalogued(root) {
                    Some(row) => text.push(format!("{}. {} Visible {}.", row.kind, row.about, row.place.words())),
                    None => continue,
                }
            } else if let Some((last, around)) = path.split_last() {
                let kind = place.members(around).into_iter().find(|(name, _)| name == last).map(|(_, kind)| kind);
                text.extend(kind.filter(|kind| *kind != "a value").map(|kind| format!("{kind}.")));
                text.extend(of_symbols(asked, offset));
            }
            return Some((span, text.join("\n\n")));
        }
        let named = [(&walk.filters, "filter"), (&walk.tests, "test"), (&walk.functions, "function")];
        for (used, what) in named.into_iter().flat_map(|(list, what)| list.iter().map(move |used| (used, what))) {
            let span = place.span(used.range.clone());
            if covers(span) {
                return Some((span, format!("{}: a {what} of templates.", code(&used.name))));
            }
        }
    }
    None
}

/// What is known of the things that are named here.
fn of_symbols(asked: &Asked<'_>, offset: usize) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for occurrence in under(asked, offset) {
        if let Some(text) = of_symbol(asked, &occurrence.symbol)
            && !parts.contains(&text)
        {
            parts.push(text);
        }
    }
    parts
}

fn of_symbol(asked: &Asked<'_>, symbol: &Symbol) -> Option<String> {
    let library = &asked.analysis.library;
    let in_loop = |source: &SourceId| library.loops.values().find(|loaded| loaded.source == *source);
    let titled = |what: &str, name: &str, about: &str| format!("{what} {}\n\n{}", code(name), plain(about));
    match symbol {
        Symbol::State(source, name) => {
            let declared = in_loop(source)?.doc.state.get(name)?;
            let kind = declared.schema.get("type").map(|kind| kind.to_string().replace('"', "")).unwrap_or_default();
            let default = short(&declared.default.to_string(), 80);
            Some(format!("state variable {}, {}, at first {}", code(name), plain(&kind), code(&default)))
        }
        Symbol::Action(source, name) => match in_loop(source).and_then(|loaded| loaded.doc.actions.get(name)) {
            Some(action) => Some(titled("action", name, &action.description)),
            None => {
                let builtin = BUILTINS.iter().find(|builtin| builtin.name == name)?;
                Some(titled("built-in action", name, builtin.description))
            }
        },
        Symbol::Param(source, action, name) => {
            let params = match action {
                Some(action) => in_loop(source)?.doc.actions.get(action)?.params.as_ref(),
                None => library.tools.values().find(|tool| tool.source == *source)?.doc.params.as_ref(),
            };
            let schema = params?.schema.get("properties")?.get(name)?;
            let about = schema.get("description").and_then(serde_json::Value::as_str).unwrap_or_default();
            Some(titled("parameter", name, about))
        }
        Symbol::Tag(source, action, name) => {
            let tag = in_loop(source)?.doc.actions.get(action)?.tags.get(name)?;
            Some(titled("tag", name, tag.description.as_deref().unwrap_or_default()))
        }
        Symbol::Tool(name) => {
            let tool = library.tools.get(name)?;
            Some(titled("tool", name, &tool.doc.description))
        }
        Symbol::Forge(name) => {
            let node = library.forges.get(name)?.node.get("description")?;
            Some(titled("forge", name, node.as_str()?))
        }
        Symbol::Loop(name) => {
            let node = library.loops.get(name)?.node.get("description")?;
            Some(titled("loop", name, node.as_str()?))
        }
        Symbol::Preset(name) => {
            let preset = library.presets.get(name)?;
            let mut rows = Vec::new();
            leaves(&preset.node, "", &mut rows);
            rows.retain(|(key, ..)| !["/kind", "/name", "/$schema"].contains(&key.as_str()));
            Some(format!("preset {}\n\n{}", code(name), table(asked, &rows, SourceId::NONE)))
        }
        Symbol::Model(name) => {
            let model = library.workspace.doc.models.get(name)?;
            Some(format!("model {}: {}", code(name), code(&model.provider.value)))
        }
        Symbol::Tier(_) | Symbol::File(_) | Symbol::Step(..) => None,
    }
}

/// What a key is for, and which value holds, wherever it comes from.
fn of_key(asked: &Asked<'_>, kind: Kind, source: SourceId, located: &Located) -> Vec<String> {
    let schema = SchemaAt::new(kind, &located.path);
    let mut parts = Vec::new();
    if located.is_key {
        parts.extend(schema.description().map(str::to_owned));
        let words: Vec<String> = schema.values().iter().map(|(value, _)| code(value)).collect();
        if !words.is_empty() {
            parts.push(format!("One of {}.", words.join(", ")));
        }
        parts.extend(
            schema
                .default()
                .filter(|text| text != "{}" && text != "[]")
                .map(|text| format!("Default: {}.", code(&text))),
        );
        let examples: Vec<String> = schema.examples().iter().map(|example| code(example)).collect();
        if !examples.is_empty() {
            parts.push(format!("Examples: {}.", examples.join(", ")));
        }
    } else if let Some(text) = value_at(asked, source, &located.pointer) {
        let about = schema.values().into_iter().find(|(value, _)| *value == text).and_then(|(_, about)| about);
        parts.extend(about.map(str::to_owned));
    }
    if matches!(kind, Kind::Loop | Kind::Preset) && located.is_key {
        parts.extend(in_force(asked, source, &schema, &located.pointer));
    }
    parts
}

fn value_at(asked: &Asked<'_>, source: SourceId, pointer: &str) -> Option<String> {
    asked.analysis.library.written(source)?.node?.at_pointer(pointer)?.as_str().map(str::to_owned)
}

/// The values of a section that hold after everything is extended, each with where it comes from.
fn in_force(asked: &Asked<'_>, source: SourceId, schema: &SchemaAt, pointer: &str) -> Option<String> {
    let library = &asked.analysis.library;
    let of_loop = library.loops.values().find(|loaded| loaded.source == source).map(|loaded| &loaded.node);
    let of_preset = || library.presets.values().find(|loaded| loaded.source == source).map(|loaded| &loaded.node);
    let node = of_loop.or_else(of_preset)?.at_pointer(pointer)?;
    // Presets hand on thresholds; what else a loop has is its own.
    if !["/limits", "/allow", "/mechanisms", "/model"].iter().any(|section| pointer.starts_with(section)) {
        return None;
    }
    let mut rows = Vec::new();
    leaves(node, "", &mut rows);
    let mut text = format!("In force:\n\n{}", table(asked, &rows, source));
    for key in schema.keys().iter().filter(|key| node.get(key.name).is_none() && matches!(node.value, Value::Map(_))) {
        if let Some(default) = key.schema.default() {
            text.push_str(&format!("\n- {}: {} (default)", code(key.name), code(&short(&default, 60))));
        }
    }
    Some(text)
}

/// Every value that is no map, with its path.
fn leaves<'n>(node: &'n Node, path: &str, rows: &mut Vec<(String, &'n Node)>) {
    match &node.value {
        Value::Map(entries) => {
            for entry in entries.iter() {
                leaves(&entry.value, &format!("{path}/{}", entry.key), rows);
            }
        }
        _ => rows.push((path.to_owned(), node)),
    }
}

fn table(asked: &Asked<'_>, rows: &[(String, &Node)], own: SourceId) -> String {
    let sources = &asked.analysis.library.sources;
    let lines = rows.iter().take(MOST_VALUES).map(|(path, node)| {
        let value = short(&node.as_str().map_or_else(|| node.to_json().to_string(), str::to_owned), 60);
        let name = path.trim_start_matches('/').replace('/', ".");
        let name = if name.is_empty() { String::new() } else { format!("{}: ", code(&name)) };
        let place = sources.position(node.span.source, node.span.start);
        let origin = if node.span.source == own || node.span.is_none() {
            format!("line {}", place.line)
        } else {
            format!("{}:{}", plain(&sources.path(node.span.source).display().to_string()), place.line)
        };
        format!("- {name}{} ({origin})", code(&value))
    });
    let mut text = lines.collect::<Vec<_>>().join("\n");
    if rows.len() > MOST_VALUES {
        text.push_str(&format!("\n- and {} more", rows.len() - MOST_VALUES));
    }
    text
}

/// Why what is marked here is a mistake, at length.
fn of_findings(asked: &Asked<'_>, offset: usize) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for finding in &asked.analysis.findings {
        if !finding.span.is_some_and(|span| asked.analysis.covers(span, &asked.buffer.path, offset)) {
            continue;
        }
        let Some(info) = finding.code.info() else { continue };
        let page = info.page();
        let text = format!("**{}**: {}\n\n{}", info.code.as_str(), page.summary, page.explanation);
        if !parts.contains(&text) {
            parts.push(text);
        }
    }
    parts
}
