//! JSON Schemas by hand, for skills whose arguments are no Rust type.

use serde_json::{Value as Json, json};

/// An object with these properties. Others are refused.
#[must_use]
pub fn object_schema<'a>(
    description: &str,
    properties: impl IntoIterator<Item = (&'a str, Json)>,
    required: &[&str],
) -> Json {
    let properties: serde_json::Map<String, Json> =
        properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    json!({
        "type": "object",
        "description": description,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// A text.
#[must_use]
pub fn string_property(description: &str) -> Json {
    json!({ "type": "string", "description": description })
}

/// A whole number.
#[must_use]
pub fn integer_property(description: &str) -> Json {
    json!({ "type": "integer", "description": description })
}

/// A number.
#[must_use]
pub fn number_property(description: &str) -> Json {
    json!({ "type": "number", "description": description })
}

/// `true` or `false`.
#[must_use]
pub fn boolean_property(description: &str) -> Json {
    json!({ "type": "boolean", "description": description })
}
