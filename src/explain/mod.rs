//! The effective document: every value that holds, where it was written, and what it stands in front of.
//!
//! What a loop, preset, tool, forge or workspace comes to once presets, the workspace and the engine's defaults have
//! had their say. Defaults are read from the schema, which is made from the document types.

mod build;
mod defaults;
mod text;
mod yaml;

pub use build::{Defaults, explain, explain_workspace};
pub use text::text;
pub use yaml::{printable, scalar};

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value as Json;

use crate::document::Kind;

/// A document with the origin of each value.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    /// The kind of document.
    pub kind: Kind,
    /// Its name; a workspace has none.
    pub name: Option<String>,
    /// Its file, as people see it.
    pub path: PathBuf,
    /// Its values, in the order of the document and then of the schema.
    pub items: Vec<Item>,
}

/// A value under a key, or an item of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The key; none for an item of a list.
    pub key: Option<String>,
    /// The JSON pointer.
    pub pointer: String,
    /// The value.
    pub shown: Shown,
    /// Where it comes from.
    pub origin: Origin,
    /// What it stands in front of, the nearest first.
    pub overrides: Vec<Former>,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    /// A scalar, or an empty list or map.
    Leaf(Json),
    /// A default that is no value but a rule, in words.
    Words(String),
    /// A map.
    Map(Vec<Item>),
    /// A list.
    List(Vec<Item>),
}

/// A value that another one stands in front of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Former {
    /// The value.
    pub value: Json,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Origin {
    /// The document itself.
    Document(Place),
    /// A preset that it extends.
    Preset {
        /// The preset's name.
        name: String,
        /// Where it says so.
        #[serde(flatten)]
        place: Place,
    },
    /// The workspace.
    Workspace(Place),
    /// The engine: nobody said anything.
    Default,
}

/// A place in a file; lines and columns count from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The file, as people see it.
    pub file: PathBuf,
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

/// One value of [`Explained::rows`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The JSON pointer.
    pub pointer: String,
    /// The value; null for a default that is a rule in words.
    pub value: Json,
    /// The rule, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// Where it comes from.
    pub origin: Origin,
    /// What it stands in front of, the nearest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<Former>,
}

impl Origin {
    /// The place, if there is one.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::Document(place) | Self::Workspace(place) | Self::Preset { place, .. } => Some(place),
            Self::Default => None,
        }
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.place() {
            Some(place) => write!(f, "{}:{}", yaml::printable(&place.file.to_string_lossy()), place.line),
            None => f.write_str("default"),
        }
    }
}

impl Explained {
    /// All values without their structure: scalars, and lists and maps that are empty.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        self.items.iter().for_each(|item| item.rows(&mut rows));
        rows
    }

    /// Only what lies under a path such as `limits` or `mechanisms.spin`.
    ///
    /// # Errors
    /// The keys that there are, where one of the path is missing.
    pub fn only(mut self, path: &str) -> Result<Self, Unknown> {
        let parts: Vec<&str> = path.split(['.', '/']).filter(|part| !part.is_empty()).collect();
        self.items = only(self.items, &parts)?;
        Ok(self)
    }
}

/// A key of a path that does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// The key.
    pub key: String,
    /// The keys that stand there.
    pub known: Vec<String>,
}

fn only(items: Vec<Item>, parts: &[&str]) -> Result<Vec<Item>, Unknown> {
    let Some((first, rest)) = parts.split_first() else { return Ok(items) };
    let known: Vec<String> = items.iter().map(Item::label).collect();
    // A name may have dots of its own: as much of the path as is a key counts.
    let found =
        (1..=parts.len()).rev().find_map(|n| Some((known.iter().position(|key| *key == parts[..n].join("."))?, n)));
    let (at, taken) = match found {
        Some(found) => found,
        None => return Err(Unknown { key: (*first).to_owned(), known }),
    };
    let rest = if taken > 1 { &parts[taken..] } else { rest };
    let mut item = items.into_iter().nth(at).into_iter().collect::<Vec<_>>();
    for item in &mut item {
        let shown = std::mem::replace(&mut item.shown, Shown::Leaf(Json::Null));
        item.shown = match shown {
            Shown::Map(inner) => Shown::Map(only(inner, rest)?),
            Shown::List(inner) => Shown::List(only(inner, rest)?),
            leaf if rest.is_empty() => leaf,
            _ => return Err(Unknown { key: rest[0].to_owned(), known: Vec::new() }),
        };
    }
    Ok(item)
}

impl Item {
    /// The key, or the number in the list.
    fn label(&self) -> String {
        match &self.key {
            Some(key) => key.clone(),
            None => self.pointer.rsplit('/').next().unwrap_or_default().to_owned(),
        }
    }

    /// The value as JSON; a rule in words gives none.
    #[must_use]
    pub fn to_json(&self) -> Option<Json> {
        match &self.shown {
            Shown::Leaf(value) => Some(value.clone()),
            Shown::Words(_) => None,
            Shown::List(items) => Some(items.iter().filter_map(Self::to_json).collect()),
            Shown::Map(items) => {
                Some(Json::Object(items.iter().filter_map(|item| Some((item.key.clone()?, item.to_json()?))).collect()))
            }
        }
    }

    /// Where the value comes from; for a map, where its first value does.
    #[must_use]
    pub fn first_origin(&self) -> &Origin {
        match &self.shown {
            Shown::Map(items) if self.origin == Origin::Default => {
                items.first().map_or(&self.origin, Self::first_origin)
            }
            _ => &self.origin,
        }
    }

    fn rows(&self, rows: &mut Vec<Row>) {
        let row = |value: Json, words: Option<String>| Row {
            pointer: self.pointer.clone(),
            value,
            words,
            origin: self.origin.clone(),
            overrides: self.overrides.clone(),
        };
        match &self.shown {
            Shown::Leaf(value) => rows.push(row(value.clone(), None)),
            Shown::Words(words) => rows.push(row(Json::Null, Some(words.clone()))),
            Shown::Map(items) | Shown::List(items) => items.iter().for_each(|item| item.rows(rows)),
        }
    }
}

#[cfg(test)]
mod tests;
