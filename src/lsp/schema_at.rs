//! What a document's schema says about a place in it: which keys it takes, which values, and the words for both.

use std::sync::OnceLock;

use serde_json::Value as Json;

use super::context::Step;
use crate::document::Kind;
use crate::schema::{SchemaKind, generate};

/// The schemas that hold at a place: more than one where there are alternatives.
pub(super) struct SchemaAt {
    root: &'static Json,
    schemas: Vec<&'static Json>,
}

/// A key that a map takes.
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) schema: SchemaAt,
}

fn schema_of(kind: Kind) -> &'static Json {
    static MADE: [OnceLock<Json>; Kind::ALL.len()] = [const { OnceLock::new() }; Kind::ALL.len()];
    MADE[kind as usize].get_or_init(|| generate(SchemaKind::Document(kind)))
}

impl SchemaAt {
    /// The schemas at a path.
    pub(super) fn new(kind: Kind, path: &[Step]) -> Self {
        let root = schema_of(kind);
        let mut here = Self { root, schemas: Vec::new() };
        here.open(root, 0);
        for step in path {
            here = here.inner(step);
        }
        here
    }

    /// Adds a schema with its alternatives; `$ref`s are followed.
    fn open(&mut self, schema: &'static Json, depth: usize) {
        if depth > 16 || self.schemas.iter().any(|known| std::ptr::eq(*known, schema)) {
            return;
        }
        self.schemas.push(schema);
        let target = schema["$ref"].as_str().and_then(|target| self.root.pointer(target.strip_prefix('#')?));
        let alternatives = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|word| schema[word].as_array()).flatten();
        for inner in target.into_iter().chain(alternatives) {
            self.open(inner, depth + 1);
        }
    }

    fn inner(&self, step: &Step) -> Self {
        let mut inner = Self { root: self.root, schemas: Vec::new() };
        for schema in &self.schemas {
            let next = match step {
                Step::Item => schema.get("items"),
                Step::Key(key) => schema["properties"]
                    .get(key)
                    .or_else(|| schema.get("additionalProperties").filter(|s| s.is_object())),
            };
            if let Some(next) = next {
                inner.open(next, 0);
            }
        }
        inner
    }

    /// The keys that a map takes here, in the order of the schema.
    pub(super) fn keys(&self) -> Vec<Key> {
        let mut keys: Vec<Key> = Vec::new();
        for name in self.schemas.iter().filter_map(|schema| schema["properties"].as_object()).flat_map(|map| map.keys())
        {
            if !keys.iter().any(|known| known.name == name) {
                keys.push(Key { name, schema: self.inner(&Step::Key(name.clone())) });
            }
        }
        keys
    }

    /// The words that a value may be, each with its own description.
    pub(super) fn values(&self) -> Vec<(String, Option<&'static str>)> {
        let mut values: Vec<(String, Option<&'static str>)> = Vec::new();
        for schema in &self.schemas {
            let about = schema["description"].as_str();
            let listed = schema["enum"]
                .as_array()
                .into_iter()
                .flatten()
                .enumerate()
                .map(|(at, value)| (value, schema["enumDescriptions"].get(at).and_then(Json::as_str)));
            let constant = schema.get("const").map(|value| (value, about));
            for (value, about) in listed.chain(constant) {
                values.push((plain(value), about));
            }
            if schema["type"] == "boolean" {
                values.extend([("true".to_owned(), None), ("false".to_owned(), None)]);
            }
        }
        values.dedup_by(|a, b| a.0 == b.0);
        values
    }

    /// Whether a value here is a map or a list, and never a word or a number on the same line.
    pub(super) fn takes_lines(&self) -> bool {
        let is_one = |schema: &Json| {
            let kind = schema["type"].as_str();
            kind.is_some_and(|kind| !matches!(kind, "object" | "array")) || schema.get("enum").is_some()
        };
        let has = |word: &str| self.schemas.iter().any(|schema| schema.get(word).is_some());
        (has("properties") || has("items") || has("additionalProperties")) && !self.schemas.iter().any(|s| is_one(s))
    }

    /// What the key is for.
    pub(super) fn description(&self) -> Option<&'static str> {
        self.schemas.iter().find_map(|schema| schema["description"].as_str())
    }

    /// The value that holds when nothing is written.
    pub(super) fn default(&self) -> Option<String> {
        self.schemas.iter().find_map(|schema| schema.get("default")).map(plain)
    }

    /// Values that show how it is written.
    pub(super) fn examples(&self) -> Vec<String> {
        let examples = self.schemas.iter().find_map(|schema| schema["examples"].as_array());
        examples.into_iter().flatten().map(plain).collect()
    }

    /// The kind of value in a word or two, for a list of completions.
    pub(super) fn kind(&self) -> Option<String> {
        let mut kinds: Vec<&str> = Vec::new();
        for kind in self.schemas.iter().filter_map(|schema| schema["type"].as_str()) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        (!kinds.is_empty()).then(|| kinds.join(" or "))
    }
}

fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
