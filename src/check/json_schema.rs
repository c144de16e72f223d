//! JSON Schemas inside documents: whether they are ones.

use serde_json::Value as Json;

use super::context::Cx;
use super::gate::place_in;
use super::schema_keywords;
use crate::diag::{Diagnostic, codes, did_you_mean, list_words};
use crate::syntax::{Node, decode_partial};

/// Checks parameters as documents write them: a JSON Schema of type object, or the short form.
pub(super) fn check_schema(cx: &mut Cx<'_>, node: &Node) {
    // What decoding finds is reported where the document is decoded.
    let mut ignored = crate::diag::Diagnostics::new();
    let Some(params) = decode_partial::<crate::document::Params>(node, &mut ignored) else { return };
    if params.is_short() { sound(cx, node, &params.schema) } else { check_plain(cx, node, &params.schema) }
}

/// Checks a JSON Schema that stands at a node.
pub(super) fn check_plain(cx: &mut Cx<'_>, node: &Node, schema: &Json) {
    sound(cx, node, schema);
    schema_keywords::check(cx, node);
}

/// Whether it is a JSON Schema at all.
fn sound(cx: &mut Cx<'_>, node: &Node, schema: &Json) {
    let validator = jsonschema::draft202012::meta::validator();
    let mut sound = true;
    for error in validator.iter_errors(schema).take(8) {
        sound = false;
        let pointer = error.instance_path().to_string();
        let keyword = pointer.rsplit('/').next().unwrap_or_default().to_owned();
        let value = schema.pointer(&pointer);
        let unknown = |kind: &&Json| kind.as_str().is_some_and(|kind| !TYPES.contains(&kind));
        let listed = value.filter(|_| keyword == "type").and_then(Json::as_array);
        let at = listed.and_then(|kinds| kinds.iter().position(|kind| unknown(&kind)));
        let pointer = at.map_or_else(|| pointer.clone(), |at| format!("{pointer}/{at}"));
        let kind = schema.pointer(&pointer).and_then(Json::as_str).filter(|_| keyword == "type");
        let message = match kind {
            Some(kind) => format!("`{kind}` is no type of JSON Schema"),
            None if keyword.is_empty() => format!("this is no JSON Schema: {}", error.masked()),
            None if keyword == "required" && matches!(value, Some(Json::Bool(_))) => {
                "`required` lists the names of properties, and stands beside `properties`".to_owned()
            }
            None => format!("`{keyword}` is not valid JSON Schema: {}", error.masked()),
        };
        cx.push(
            Diagnostic::error(codes::INVALID_SCHEMA, place_in(node, &pointer), message).maybe_help(kind.map(help_for)),
        );
    }
    if !sound || !refers(schema) {
        return;
    }
    // Valid by its draft, and still unusable: a reference that leads nowhere, a pattern that is no pattern.
    if let Err(error) = jsonschema::draft202012::new(schema) {
        let place = place_in(node, error.instance_path().as_str());
        cx.push(Diagnostic::error(codes::INVALID_SCHEMA, place, format!("this JSON Schema cannot be used: {error}")));
    }
}

/// Whether a schema has a keyword that its draft's own schema cannot judge: references and patterns.
fn refers(schema: &Json) -> bool {
    match schema {
        Json::Object(map) => map.iter().any(|(key, value)| {
            key.starts_with('$') || matches!(key.as_str(), "pattern" | "patternProperties" | "format") || refers(value)
        }),
        Json::Array(items) => items.iter().any(refers),
        _ => false,
    }
}

const TYPES: [&str; 7] = ["string", "integer", "number", "boolean", "array", "object", "null"];

/// The type that a word of another language stands for.
fn help_for(word: &str) -> String {
    let meant = match word.to_ascii_lowercase().as_str() {
        "str" | "text" => Some("string"),
        "int" | "long" => Some("integer"),
        "float" | "double" | "decimal" => Some("number"),
        "bool" => Some("boolean"),
        "list" | "tuple" | "set" => Some("array"),
        "map" | "dict" | "struct" => Some("object"),
        "none" | "nil" => Some("null"),
        _ => did_you_mean(word, &TYPES),
    };
    let types = list_words(TYPES);
    meant.map_or_else(
        || format!("the types are {types}"),
        |meant| format!("did you mean `{meant}`? The types are {types}"),
    )
}
