//! JSON Schemas inside documents: whether they are ones.

use serde_json::Value as Json;

use super::context::Cx;
use super::gate::place_in;
use crate::diag::{Diagnostic, codes};
use crate::syntax::{Node, decode_partial};

/// Checks parameters as documents write them: a JSON Schema of type object, or the short form.
pub(super) fn check_schema(cx: &mut Cx<'_>, node: &Node) {
    // What decoding finds is reported where the document is decoded.
    let mut ignored = crate::diag::Diagnostics::new();
    let Some(params) = decode_partial::<crate::document::Params>(node, &mut ignored) else { return };
    check_plain(cx, node, &params.schema);
}

/// Checks a JSON Schema that stands at a node.
pub(super) fn check_plain(cx: &mut Cx<'_>, node: &Node, schema: &Json) {
    let validator = jsonschema::draft202012::meta::validator();
    let mut sound = true;
    for error in validator.iter_errors(schema).take(8) {
        sound = false;
        let pointer = error.instance_path().to_string();
        let keyword = pointer.rsplit('/').next().unwrap_or_default();
        let words = error.masked().to_string();
        let message = if keyword.is_empty() {
            format!("this is no JSON Schema: {words}")
        } else {
            format!("`{keyword}` is not valid JSON Schema: {words}")
        };
        cx.push(
            Diagnostic::error(codes::INVALID_SCHEMA, place_in(node, &pointer), message)
                .maybe_help(help_for(schema.pointer(&pointer))),
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

fn help_for(found: Option<&Json>) -> Option<&'static str> {
    let word = found?.as_str()?;
    Some(match word {
        "str" | "text" | "String" => {
            "the types are string, integer, number, boolean, array, object; did you mean `string`?"
        }
        "int" | "Integer" => "the types are string, integer, number, boolean, array, object; did you mean `integer`?",
        "float" | "double" => "the types are string, integer, number, boolean, array, object; did you mean `number`?",
        "bool" => "the types are string, integer, number, boolean, array, object; did you mean `boolean`?",
        "list" => "the types are string, integer, number, boolean, array, object; did you mean `array`?",
        "map" | "dict" => "the types are string, integer, number, boolean, array, object; did you mean `object`?",
        _ => return None,
    })
}
