//! Small values that documents are made of: durations, names, text from a file, templated values.

use std::borrow::Cow;
use std::time::Duration as StdDuration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::syntax::{Raw, Spanned, Value, decode_within};

/// A span of time as people write it: `500ms`, `30s`, `10m`, `1h30m`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(pub StdDuration);

impl Duration {
    /// So many seconds.
    #[must_use]
    pub const fn secs(seconds: u64) -> Self {
        Self(StdDuration::from_secs(seconds))
    }

    /// Reads `1h30m`, `10m`, `2.5s`, `500ms`.
    ///
    /// # Errors
    /// Says what a duration looks like.
    pub fn parse(text: &str) -> Result<Self, String> {
        const HELP: &str = "write a duration such as 500ms, 30s, 10m or 1h30m";
        let mut rest = text.trim();
        if rest.is_empty() {
            return Err(HELP.to_owned());
        }
        let mut total = 0.0f64;
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            let (number, after) = rest.split_at(digits);
            let unit_len = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
            let (unit, next) = after.split_at(unit_len);
            let amount: f64 = number.parse().map_err(|_| format!("`{text}` is no duration: {HELP}"))?;
            let scale = match unit {
                "ms" => 0.001,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                "d" => 86400.0,
                "" => return Err(format!("`{text}` has no unit: {HELP}")),
                other => return Err(format!("`{other}` is no unit of time: {HELP}")),
            };
            total += amount * scale;
            rest = next;
        }
        StdDuration::try_from_secs_f64(total).map(Self).map_err(|_| format!("`{text}` is too long: {HELP}"))
    }
}

impl std::fmt::Display for Duration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut ms = self.0.as_millis();
        if ms == 0 {
            return f.write_str("0s");
        }
        for (size, unit) in [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1000, "s"), (1, "ms")] {
            if ms >= size {
                write!(f, "{}{unit}", ms / size)?;
                ms %= size;
            }
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        match &raw.node().value {
            Value::String(text) => Self::parse(text).map_err(D::Error::custom),
            Value::Int(_) | Value::UInt(_) | Value::Float(_) => {
                let number = raw.node().to_json();
                Err(D::Error::custom(format!(
                    "`{number}` has no unit of time: write {number}s, {number}m or {number}h"
                )))
            }
            _ => decode_within::<String, D::Error>(raw.node()).map(|_| Self::default()),
        }
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Duration {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A span of time: 500ms, 30s, 10m, 1h30m.",
            "pattern": "^([0-9]+(\\.[0-9]+)?(ms|s|m|h|d))+$",
            "examples": ["500ms", "30s", "10m", "1h30m"]
        })
    }
}

/// Text written in place, or taken from a file.
#[derive(Debug, Clone, PartialEq)]
pub enum TextSource {
    /// In place; a template.
    Inline(Spanned<String>),
    /// A file below the workspace or beside the document; a template.
    File(Spanned<String>),
}

/// Text from a file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileSource {
    /// Path of the file, below the workspace.
    file: Spanned<String>,
}

impl<'de> Deserialize<'de> for TextSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        match &raw.node().value {
            Value::Map(_) => decode_within::<FileSource, D::Error>(raw.node()).map(|source| Self::File(source.file)),
            _ => decode_within::<Spanned<String>, D::Error>(raw.node()).map(Self::Inline),
        }
    }
}

impl JsonSchema for TextSource {
    fn schema_name() -> Cow<'static, str> {
        "TextSource".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let file = generator.subschema_for::<FileSource>();
        json_schema!({
            "description": "Text in place, or { file: path }. Either is a minijinja template.",
            "anyOf": [{ "type": "string" }, file],
            "examples": ["Sort the tickets.", { "file": "prompts/triage/instruction.md.j2" }]
        })
    }
}

/// Whether a string has template syntax in it.
#[must_use]
pub fn is_template(text: &str) -> bool {
    text.contains("{{") || text.contains("{%") || text.contains("{#")
}

/// A value, or a string with a template in it that gives the value when the step runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Templated<T> {
    /// Written out.
    Literal(T),
    /// Rendered when the step runs.
    Template(String),
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Templated<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        match &raw.node().value {
            Value::String(text) if is_template(text) => Ok(Self::Template(text.to_string())),
            _ => decode_within::<T, D::Error>(raw.node()).map(Self::Literal),
        }
    }
}

impl<T: JsonSchema> JsonSchema for Templated<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("Templated_{}", T::schema_name()).into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let inner = generator.subschema_for::<T>();
        if inner.get("type").and_then(|t| t.as_str()) == Some("string") && inner.get("pattern").is_none() {
            return inner;
        }
        json_schema!({ "anyOf": [inner, { "type": "string", "pattern": "\\{\\{|\\{%", "description": "A template that gives the value." }] })
    }
}
