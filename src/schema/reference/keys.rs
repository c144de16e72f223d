//! Tables of keys, drawn from a schema.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value as Json;

/// Definitions that have pages or words of their own and get no table here.
const ELSEWHERE: [(&str, &str); 3] = [("Step", "steps.md"), ("Model", "providers.md"), ("Tier", "#tiers")];

/// A schema that is being drawn.
pub(super) struct Page<'s> {
    root: &'s Json,
}

impl<'s> Page<'s> {
    pub(super) fn of(root: &'s Json) -> Self {
        Self { root }
    }

    /// A whole document: its own keys, then those of its parts in the order in which they come up.
    pub(super) fn document(&self, title: &str, about: &str) -> String {
        let parts = self.parts(self.root);
        format!("# {title}\n\n{about}\n\n{}{}", self.table(self.root), self.sections(parts))
    }

    /// A section for each of these definitions and for those that they lead to.
    pub(super) fn sections(&self, mut open: Vec<&'s str>) -> String {
        let mut text = String::new();
        let mut seen = BTreeSet::new();
        while !open.is_empty() {
            let name = open.remove(0);
            if !seen.insert(name) {
                continue;
            }
            let part = &self.root["$defs"][name];
            write!(text, "\n## {name}\n\n{}\n\n", described(part)).ok();
            match part["properties"].as_object() {
                Some(_) => text.push_str(&self.table(part)),
                None => {
                    writeln!(text, "{}", self.words(part)).ok();
                    self.examples(part, &mut text);
                }
            }
            open.extend(self.parts(part));
        }
        text
    }

    /// Keys of an object: name, type, default, what it says.
    pub(super) fn table(&self, object: &Json) -> String {
        let required: Vec<&str> =
            object["required"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        let mut text = "| key | type | |\n|---|---|---|\n".to_owned();
        for (name, schema) in object["properties"].as_object().into_iter().flatten() {
            let must = if required.contains(&name.as_str()) { " **Required.**" } else { "" };
            let about = self.about(schema);
            let about = match default(schema).filter(|_| !about.contains("Default:")) {
                Some(default) => format!("{about} Default: `{default}`."),
                None => about,
            };
            writeln!(text, "| `{name}` | {} | {}{must} |", cell(&self.words(schema)), cell(&about)).ok();
        }
        text
    }

    /// A type in words.
    pub(super) fn words(&self, schema: &Json) -> String {
        if let Some(name) = reference(schema) {
            return self.reference_words(name);
        }
        for key in ["anyOf", "oneOf"] {
            let Some(choices) = schema[key].as_array() else { continue };
            let mut words: Vec<String> = choices.iter().map(|choice| self.words(choice)).collect();
            words.dedup();
            return words.join(" or ");
        }
        if let Some(word) = schema["const"].as_str() {
            return format!("`{word}`");
        }
        if let Some(choices) = schema["enum"].as_array() {
            let words = choices.iter().map(|choice| format!("`{}`", plain(choice)));
            return words.collect::<Vec<_>>().join(" or ");
        }
        match schema["type"].as_str() {
            Some("string") if schema["pattern"].as_str().is_some_and(|pattern| pattern.contains(r"\{\{")) => {
                "template".to_owned()
            }
            Some("array") => match self.words(&schema["items"]) {
                words if matches!(words.as_str(), "string" | "integer" | "number" | "map") => {
                    format!("list of {words}s")
                }
                words => format!("list of {words}"),
            },
            Some("object") => match &schema["additionalProperties"] {
                values @ Json::Object(_) => format!("map to {}", self.words(values)),
                _ => "map".to_owned(),
            },
            Some(kind @ ("integer" | "number")) => format!("{kind}{}", bounds(schema)),
            Some(kind) => kind.to_owned(),
            None => "anything".to_owned(),
        }
    }

    fn reference_words(&self, name: &str) -> String {
        if let Some((_, page)) = ELSEWHERE.iter().find(|(known, page)| *known == name && page.ends_with(".md")) {
            return format!("[{name}]({page})");
        }
        let part = &self.root["$defs"][name];
        if name == "Duration" {
            return "duration".to_owned();
        }
        if self.has_section(name) {
            return format!("[{name}](#{})", name.to_lowercase());
        }
        self.words(part)
    }

    /// Whether a definition is worth a section: a map with keys, or a choice that has words of its own.
    fn has_section(&self, name: &str) -> bool {
        let part = &self.root["$defs"][name];
        let is_choice = part["anyOf"].is_array() && !described(part).is_empty();
        !ELSEWHERE.iter().any(|(known, page)| *known == name && page.ends_with(".md"))
            && (part["properties"].is_object() || is_choice)
    }

    /// The definitions that an object's keys lead to, those without a section resolved.
    pub(super) fn parts(&self, schema: &'s Json) -> Vec<&'s str> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let mut open = vec![schema];
        while let Some(value) = open.pop() {
            if let Some(name) = reference(value) {
                if !seen.insert(name) {
                    continue;
                }
                if self.has_section(name) {
                    found.push(name);
                } else if !ELSEWHERE.iter().any(|(known, _)| *known == name) {
                    open.push(&self.root["$defs"][name]);
                }
                continue;
            }
            let mut inner: Vec<&Json> = Vec::new();
            inner.extend(value["properties"].as_object().into_iter().flat_map(|map| map.values()));
            for key in ["anyOf", "oneOf"] {
                inner.extend(value[key].as_array().into_iter().flatten());
            }
            inner.extend([&value["items"], &value["additionalProperties"]]);
            open.extend(inner.into_iter().filter(|schema| schema.is_object()).rev());
        }
        found
    }

    /// A key's description, else its type's.
    pub(super) fn about(&self, schema: &Json) -> String {
        let own = described(schema);
        if !own.is_empty() {
            return own.to_owned();
        }
        reference(schema).map(|name| described(&self.root["$defs"][name]).to_owned()).unwrap_or_default()
    }

    /// Examples as YAML.
    fn examples(&self, schema: &Json, text: &mut String) {
        let examples: Vec<String> =
            schema["examples"].as_array().into_iter().flatten().map(|one| format!("`{}`", inline_yaml(one))).collect();
        if !examples.is_empty() {
            writeln!(text, "\nExamples: {}", examples.join(", ")).ok();
        }
    }
}

fn reference(schema: &Json) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix("#/$defs/")
}

pub(super) fn described(schema: &Json) -> &str {
    schema["description"].as_str().unwrap_or_default()
}

fn default(schema: &Json) -> Option<String> {
    let default = schema.get("default")?;
    match default {
        Json::Array(items) if items.is_empty() => None,
        Json::Object(map) if map.is_empty() => None,
        Json::String(text) if text.is_empty() => None,
        Json::Bool(false) => None,
        other => Some(plain(other)),
    }
}

fn bounds(schema: &Json) -> String {
    let bound = |key: &str| schema.get(key).filter(|limit| limit.as_f64() < Some(4_000_000_000.0)).map(plain);
    match (bound("minimum").filter(|least| least != "0" && least != "0.0"), bound("maximum")) {
        (Some(least), Some(most)) => format!(", {least} to {most}"),
        (None, Some(most)) => format!(", at most {most}"),
        (Some(least), None) => format!(", at least {least}"),
        (None, None) => String::new(),
    }
}

fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// JSON in YAML's flow style, with as few quotes as it takes.
pub(super) fn inline_yaml(value: &Json) -> String {
    match value {
        Json::Object(map) => {
            let entries = map.iter().map(|(key, value)| format!("{}: {}", word(key), inline_yaml(value)));
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
        Json::Array(items) => format!("[{}]", items.iter().map(inline_yaml).collect::<Vec<_>>().join(", ")),
        Json::String(text) => word(text),
        other => other.to_string(),
    }
}

fn word(text: &str) -> String {
    let is_plain = !text.is_empty()
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '@' | ' '))
        && text.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '.' || c == '/')
        && !text.ends_with(' ')
        && !matches!(text, "true" | "false" | "null" | "yes" | "no" | "on" | "off");
    if is_plain { text.to_owned() } else { Json::from(text).to_string() }
}

/// Text inside a table's cell.
pub(super) fn cell(text: &str) -> String {
    text.replace("\n\n", " ").replace('\n', " ").replace('|', "\\|")
}
