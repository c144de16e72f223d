//! Pages that are lists of a table's rows: actions, names of templates, providers, events.

use std::fmt::Write as _;

use serde_json::Value as Json;

use super::keys::{Page, cell, described};
use crate::document::{BUILTIN_TOOLS, BUILTINS, Kind};
use crate::model::PROVIDERS;
use crate::schema::{SchemaKind, generate};
use crate::template::{FILTERS, FUNCTIONS, NAMES, TESTS};

pub(super) fn actions() -> String {
    let mut text = "# Built-in actions\n\n\
        A loop offers those that `builtins` lists, or all that `allow` permits. An action of the loop's own with one of these names \
        needs `override: true`.\n\n| action | parameters | |\n|---|---|---|\n"
        .to_owned();
    for action in BUILTINS {
        writeln!(text, "| `{}` | {} | {} |", action.name, cell(action.params), cell(action.description)).ok();
    }
    let tools: Vec<String> = BUILTIN_TOOLS.iter().map(|tool| format!("`{tool}`")).collect();
    write!(text, "\n## Built-in tools\n\nA loop offers those that it lists under `tools`: {}.\n", tools.join(", "))
        .ok();
    text
}

pub(super) fn templates() -> String {
    let mut text = "# Templates and expressions\n\n\
        Any string under `prompt`, `do`, `hooks` and `tools` is a [minijinja](https://docs.rs/minijinja) template. A string that is exactly \
        one `{{ expression }}` keeps the expression's type. `when`, `that` and `for_each` take an expression without braces. \
        A name that does not exist is an error.\n\n## Names\n\n| name | type | visible | |\n|---|---|---|---|\n"
        .to_owned();
    for row in NAMES {
        writeln!(text, "| `{}` | {} | {} | {} |", row.name, row.kind, row.place.words(), cell(row.about)).ok();
    }
    for (title, names) in [("Filters", FILTERS), ("Tests", TESTS), ("Functions", FUNCTIONS)] {
        let words: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        write!(text, "\n## {title}\n\n{}\n", words.join(", ")).ok();
    }
    text
}

pub(super) fn providers() -> String {
    let schema = generate(SchemaKind::Document(Kind::Workspace));
    let page = Page::of(&schema);
    let mut text = "# Providers\n\n\
        A model is a map under `models` in the workspace, or in place under a loop's `model`. `provider` says which other keys there are.\n"
        .to_owned();
    let mut parts = Vec::new();
    for provider in PROVIDERS {
        let settings = &schema["$defs"][format!("Model_{}", provider.name())];
        let about = described(&settings["properties"]["provider"]);
        write!(text, "\n## `{}`\n\n{about}\n\n{}", provider.name(), page.table(settings)).ok();
        parts.extend(page.parts(settings));
    }
    text.push_str(&page.sections(parts));
    text
}

pub(super) fn events() -> String {
    let schema = generate(SchemaKind::Event);
    let page = Page::of(&schema);
    let mut text = "# Events\n\n\
        A run is a stream of events, one JSON object a line. The keys of every event come first, then those of its kind.\n\n"
        .to_owned();
    text.push_str(&page.table(&schema));
    let mut parts = page.parts(&schema["properties"]["run"]);
    for event in schema["oneOf"].as_array().into_iter().flatten() {
        let Some(name) = event["properties"]["event"]["const"].as_str() else { continue };
        write!(text, "\n## `{name}`\n\n{}\n", described(event)).ok();
        parts.extend(page.parts(event));
        let mut own = event.clone();
        if let Some(properties) = own["properties"].as_object_mut() {
            properties.shift_remove("event");
        }
        if own["properties"].as_object().is_some_and(|properties| !properties.is_empty()) {
            if let Some(map) = own.as_object_mut() {
                map.insert("required".to_owned(), Json::Array(Vec::new()));
            }
            write!(text, "\n{}", page.table(&own)).ok();
        }
    }
    text.push_str(&page.sections(parts));
    text
}
