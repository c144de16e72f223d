//! The page, section by section.

use std::path::Path;

use serde_json::Value as Json;

use super::markdown::{code, escape, table};
use crate::document::Kind;
use crate::document::{Action, LoopDoc, Step};
use crate::engine::{Outline, OutlineAction, outline};
use crate::explain::{Defaults, Explained, Item, Shown, explain};
use crate::graph::{graph, mermaid};
use crate::load::Library;

/// The page of a loop; none when the library has no such loop.
#[must_use]
pub fn page(library: &Library, name: &str) -> Option<String> {
    let doc = &library.loops.get(name)?.doc;
    let explained = explain(library, Kind::Loop, name, Defaults::Settings)?;
    let outline = outline(library, name);
    let sections = [
        head(doc, name),
        how_to_run(doc, name),
        section("How it goes", &format!("```mermaid\n{}```\n", mermaid(&graph(library, name)))),
        actions(doc, outline.as_ref()),
        section("Tools", &tools(library, outline.as_ref())),
        section("State", &state(doc)),
        section("What ends it", &settings(library, &explained, "limits")),
        section("Hooks", &hooks(doc)),
        section("Mechanisms", &settings(library, &explained, "mechanisms")),
        section("Models", &settings(library, &explained, "model")),
    ];
    let sections: Vec<String> = sections.into_iter().filter(|text| !text.is_empty()).collect();
    Some(format!("{}\n\n{}", super::MADE, sections.join("\n")))
}

/// A section; nothing when it would be empty.
fn section(title: &str, body: &str) -> String {
    if body.is_empty() { String::new() } else { format!("## {title}\n\n{}\n", body.trim_end()) }
}

fn head(doc: &LoopDoc, name: &str) -> String {
    let mut text = format!("# {}\n", escape(name));
    for words in
        [doc.description.as_ref().map(|words| words.value.as_str()), doc.usage.as_deref()].into_iter().flatten()
    {
        text.push_str(&format!("\n{}\n", escape(words)));
    }
    text
}

fn how_to_run(doc: &LoopDoc, name: &str) -> String {
    let input = match &doc.example {
        // A path with blanks or quotes would need another shell's rules on every system.
        Some(example) if example.input.chars().all(|c| c.is_ascii_alphanumeric() || "._/-".contains(c)) => {
            format!("@{}", example.input)
        }
        _ => "\"…\"".to_owned(),
    };
    let shown = format!("```console\n$ loopwright run {} --input {input}\n```\n", name.replace(['`', '\n'], ""));
    let note = match &doc.example {
        Some(_) => "\nWhile no model is configured, a script that was written by hand answers this input.\n",
        None => "",
    };
    section("How to run it", &format!("{shown}{note}"))
}

fn actions(doc: &LoopDoc, outline: Option<&Outline>) -> String {
    let mut text = String::new();
    let offered: Vec<&OutlineAction> = outline.into_iter().flat_map(|outline| &outline.actions).collect();
    for (name, action) in &doc.actions {
        let made = offered.iter().find(|one| one.name == *name && !one.builtin);
        text.push_str(&one_action(name, action, made.copied()));
    }
    let builtins: Vec<Vec<String>> = offered
        .iter()
        .filter(|action| action.builtin)
        .map(|action| vec![code(&action.name), escape(&action.description)])
        .collect();
    if !builtins.is_empty() {
        text.push_str(&format!("### Built-in actions\n\n{}", table(&["action", "what it does"], &builtins)));
    }
    section("Actions", text.trim_start_matches('\n'))
}

fn one_action(name: &str, action: &Action, made: Option<&OutlineAction>) -> String {
    let mut text = format!("### {}\n\n", code(name));
    let described = made.map_or(action.description.as_str(), |made| made.description.as_str());
    if !described.is_empty() {
        text.push_str(&format!("{}\n\n", escape(described)));
    }
    let params = made.map(|made| &made.params).or(action.params.as_ref().map(|params| &params.schema));
    text.push_str(&spaced(&table(&["parameter", "type", "what it is"], &params.map(parameters).unwrap_or_default())));
    let tags = action.tags.iter().map(|(name, tag)| {
        let must = if tag.required { " **Required.**" } else { "" };
        vec![code(name), format!("{}{must}", escape(tag.description.as_deref().unwrap_or_default()))]
    });
    text.push_str(&spaced(&table(&["tag", "what belongs in it"], &tags.collect::<Vec<_>>())));
    let mut facts = Vec::new();
    facts.extend(action.when.as_ref().map(|when| format!("Offered only while {}.", code(when))));
    facts.extend(action.from_tool.as_ref().map(|tool| format!("It is the tool {}.", code(tool))));
    facts.extend(
        action.from_loop.as_ref().map(|target| format!("It hands the task over to the loop {}.", code(target))),
    );
    for rule in &action.verify {
        let words = rule.message.as_ref().map(|message| format!(" Otherwise: {}", code(message))).unwrap_or_default();
        facts.push(format!("Must hold: {}.{words}", code(&rule.that)));
    }
    if !action.steps.is_empty() {
        facts.push(format!("Does: {}.", steps(&action.steps)));
    }
    if made.is_some_and(|made| made.ends) {
        facts.push("Ends the loop.".to_owned());
    }
    let facts: String = facts.iter().map(|fact| format!("- {fact}\n")).collect();
    text + &spaced(&facts)
}

fn spaced(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{text}\n") }
}

/// A row for each parameter of a schema.
fn parameters(schema: &Json) -> Vec<Vec<String>> {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let row = |(name, schema): (&String, &Json)| {
        let must = if required.contains(&name.as_str()) { " **Required.**" } else { "" };
        let about = schema["description"].as_str().unwrap_or_default();
        vec![code(name), type_words(schema), format!("{}{must}", escape(about)).trim().to_owned()]
    };
    properties.map(row).collect()
}

/// A schema in a few words: its type, its choices, its bounds.
fn type_words(schema: &Json) -> String {
    let mut words = Vec::new();
    if let Some(choices) = schema["enum"].as_array() {
        let choices: Vec<String> = choices.iter().map(|one| code(&plain(one))).collect();
        words.push(choices.join(" or "));
    } else if schema["type"] == "array" {
        let items = type_words(&schema["items"]);
        words.push(if items == "any" { "list".to_owned() } else { format!("list of {items}") });
    } else {
        words.push(schema["type"].as_str().map_or_else(|| "any".to_owned(), escape));
    }
    for (key, said) in [
        ("minimum", "at least"),
        ("maximum", "at most"),
        ("minLength", "at least"),
        ("maxLength", "at most"),
        ("minItems", "at least"),
        ("maxItems", "at most"),
    ] {
        let unit = if key.ends_with("Length") {
            " characters"
        } else if key.ends_with("Items") {
            " items"
        } else {
            ""
        };
        words.extend(schema.get(key).map(|bound| format!("{said} {}{unit}", escape(&plain(bound)))));
    }
    words.extend(schema["pattern"].as_str().map(|pattern| format!("matches {}", code(pattern))));
    words.join(", ")
}

fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The verbs of steps in their order, with the conditions.
fn steps(steps: &[Step]) -> String {
    let one = |step: &Step| {
        let what = match (&step.verb, &step.keys.then) {
            (Some(verb), _) => code(&verb.name),
            (None, Some(_)) | (None, None) => "nothing".to_owned(),
        };
        let when = step.keys.when.as_ref().map(|when| format!(" when {}", code(when))).unwrap_or_default();
        let then =
            step.keys.then.as_ref().and_then(|then| Some(serde_json::to_value(then.value).ok()?.as_str()?.to_owned()));
        format!("{what}{when}{}", then.map(|then| format!(", then {}", code(&then))).unwrap_or_default())
    };
    steps.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn tools(library: &Library, outline: Option<&Outline>) -> String {
    let names = outline.into_iter().flat_map(|outline| &outline.tools);
    let rows = names.filter_map(|name| {
        let tool = &library.tools.get(name)?.doc;
        let effect = serde_json::to_value(tool.effect).ok()?.as_str()?.to_owned();
        Some(vec![code(name), code(&effect), escape(&tool.description)])
    });
    table(&["tool", "effect", "what it does"], &rows.collect::<Vec<_>>())
}

fn state(doc: &LoopDoc) -> String {
    let about = |var: &crate::document::StateVar| escape(var.schema["description"].as_str().unwrap_or_default());
    let described = doc.state.values().any(|var| !about(var).is_empty());
    let row = |(name, var): (&String, &crate::document::StateVar)| {
        let mut row = vec![code(name), type_words(&var.schema), code(&var.default.to_string())];
        row.extend(described.then(|| about(var)));
        row
    };
    let heads = ["variable", "type", "at the start", "what it is"];
    let heads = if described { &heads[..] } else { &heads[..3] };
    table(heads, &doc.state.iter().map(row).collect::<Vec<_>>())
}

fn hooks(doc: &LoopDoc) -> String {
    let hooks =
        [("init", &doc.hooks.init), ("after_iteration", &doc.hooks.after_iteration), ("finish", &doc.hooks.finish)];
    let rows = hooks.iter().filter(|(_, list)| !list.is_empty()).map(|(name, list)| vec![code(name), steps(list)]);
    table(&["hook", "what it does"], &rows.collect::<Vec<_>>())
}

/// The values under a key that somebody wrote, and of limits also the defaults.
fn settings(library: &Library, explained: &Explained, key: &str) -> String {
    let Some(Item { shown: Shown::Map(items), .. }) =
        explained.items.iter().find(|item| item.key.as_deref() == Some(key))
    else {
        return String::new();
    };
    let only_written = key != "limits";
    let wanted = Explained { items: items.clone(), ..explained.clone() };
    let rows = wanted.rows().into_iter().filter(|row| !(only_written && row.origin == crate::explain::Origin::Default));
    let rows = rows.map(|row| {
        let path = row.pointer.trim_start_matches('/').split_once('/').map_or("", |(_, rest)| rest).replace('/', ".");
        let from = match row.origin.place() {
            // Lines would make the page differ after every edit of a comment.
            Some(place) => code(&below(library, &place.file)),
            None => "default".to_owned(),
        };
        vec![code(&path), code(&row.words.unwrap_or_else(|| plain(&row.value))), from]
    });
    table(&["setting", "value", "from"], &rows.collect::<Vec<_>>())
}

/// A file as the workspace names it, so that a page is the same wherever it is made.
fn below(library: &Library, file: &Path) -> String {
    let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let below = whole.strip_prefix(&library.root).unwrap_or(file);
    below.to_string_lossy().replace('\\', "/")
}
