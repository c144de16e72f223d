//! Parameters: a JSON Schema, or the short form `name: type!` for a flat object.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value as Json, json};

use crate::syntax::{Raw, Value};

/// The schema of an object of parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// A JSON Schema of type object.
    pub schema: Json,
    /// As it was written.
    pub raw: Raw,
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
        let is_short = !entries.is_empty()
            && entries.iter().all(|entry| match &entry.value.value {
                Value::String(text) => short_type(text).is_some(),
                _ => false,
            })
            // `type: object` alone is a schema; a parameter named `type` next to others is not.
            && !(entries.len() == 1 && &*entries[0].key == "type");
        if !is_short {
            let schema = raw.node().to_json();
            if !entries.is_empty() && !entries.iter().any(|entry| SCHEMA_KEYS.contains(&&*entry.key)) {
                let first = &entries[0].key;
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
