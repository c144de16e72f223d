//! Parameters: a JSON Schema, or the short form `name: type!` for a flat object.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value as Json, json};

use crate::diag::{did_you_mean, list_words};
use crate::syntax::{Entry, Raw, Value};

/// The schema of an object of parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// A JSON Schema of type object.
    pub schema: Json,
    /// As it was written.
    pub raw: Raw,
}

impl Params {
    /// Whether it was written in the short form.
    #[must_use]
    pub fn is_short(&self) -> bool {
        is_short(self.raw.node().entries())
    }
}

const TYPES: [&str; 7] = ["string", "integer", "number", "boolean", "array", "object", "any"];

/// Keys that make a map a JSON Schema rather than the short form.
const SCHEMA_KEYS: [&str; 10] =
    ["type", "properties", "required", "$ref", "anyOf", "oneOf", "allOf", "additionalProperties", "$defs", "enum"];

impl<'de> Deserialize<'de> for Params {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let Value::Map(entries) = &raw.node().value else {
            return Err(D::Error::custom("parameters are a JSON Schema of type object, or `name: type` lines"));
        };
        if !is_short(entries) {
            let schema = raw.node().to_json();
            if !entries.is_empty() && !entries.iter().any(|entry| SCHEMA_KEYS.contains(&&*entry.key)) {
                // The first that is no short parameter.
                let odd = |entry: &&Entry| entry.value.as_str().is_none_or(|text| short_type(text).is_none());
                let odd = entries.iter().find(odd).unwrap_or(&entries[0]);
                if let Some(kind) = odd.value.as_str() {
                    let near = did_you_mean(kind.trim_end_matches('!'), &TYPES);
                    let help = near.map_or_else(
                        || format!("the types are {}", list_words(TYPES)),
                        |near| format!("did you mean `{near}`?"),
                    );
                    return Err(D::Error::custom(format!(
                        "`{kind}` is no type of the parameter `{}`: {help}",
                        odd.key
                    )));
                }
                let first = &odd.key;
                if let Some(near) = did_you_mean(first, &SCHEMA_KEYS) {
                    return Err(D::Error::custom(format!(
                        "`{first}` is neither a JSON Schema keyword nor a short parameter: did you mean `{near}`?"
                    )));
                }
                return Err(D::Error::custom(format!(
                    "`{first}` is neither a JSON Schema keyword nor a short parameter: write `{first}: string` \
                     (`string!` when required), or `type: object` with `properties`"
                )));
            }
            return Ok(Self { schema, raw });
        }
        let mut properties = Map::new();
        let mut required = Vec::new();
        for entry in entries.iter() {
            if let Value::String(text) = &entry.value.value
                && let Some((schema, needed)) = short_type(text)
            {
                properties.insert(entry.key.to_string(), schema);
                if needed {
                    required.push(Json::from(entry.key.to_string()));
                }
            }
        }
        let mut schema = json!({ "type": "object", "properties": properties });
        if !required.is_empty() {
            schema["required"] = Json::Array(required);
        }
        Ok(Self { schema, raw })
    }
}

fn is_short(entries: &[Entry]) -> bool {
    !entries.is_empty()
        && entries.iter().all(|entry| entry.value.as_str().is_some_and(|text| short_type(text).is_some()))
        // `type: object` alone is a schema; a parameter named `type` next to others is not.
        && !(entries.len() == 1 && &*entries[0].key == "type")
}

/// `string`, `string!`, `[string]`: the schema, and whether the parameter is required.
fn short_type(text: &str) -> Option<(Json, bool)> {
    let (name, required) = match text.strip_suffix('!') {
        Some(name) => (name, true),
        None => (text, false),
    };
    if let Some(item) = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let (item, _) = short_type(item)?;
        return Some((json!({ "type": "array", "items": item }), required));
    }
    if !TYPES.contains(&name) {
        return None;
    }
    Some((if name == "any" { json!({}) } else { json!({ "type": name }) }, required))
}

impl JsonSchema for Params {
    fn schema_name() -> Cow<'static, str> {
        "Params".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "JSON Schema of the parameters, or the short form `name: type` (`type!` when required; types: string, integer, number, boolean, array, object, any, [string]).",
            "examples": [
                { "query": "string!", "limit": "integer" },
                { "type": "object", "required": ["kind"], "properties": { "kind": { "type": "string" } } }
            ]
        })
    }
}
