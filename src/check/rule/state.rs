//! State variables: that their declarations are JSON Schemas, and that their defaults fit.

use serde_json::Value as Json;

use crate::check::context::{Cx, Subject};
use crate::check::json_schema::check_plain;
use crate::diag::{Diagnostic, codes};

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let Subject::Loop(loaded) = subject else { return };
    let Some(written) = loaded.node.get("state") else { return };
    for (name, var) in &loaded.doc.state {
        let Some(entry) = written.entry(name) else { continue };
        let errors = cx.found.len();
        check_plain(cx, &entry.value, &var.schema);
        if cx.found.len() > errors {
            continue;
        }
        if fits_at_once(&var.schema, &var.default) {
            continue;
        }
        let Ok(validator) = jsonschema::draft202012::new(&var.schema) else { continue };
        if let Err(error) = validator.validate(&var.default) {
            let place = entry.value.get("default").map_or(entry.key_span, |node| node.span);
            let help = match entry.value.get("default") {
                Some(_) => "give it a default that its type allows",
                None => "give it a `default`: the one that its type brings does not fit",
            };
            let message = format!("the default of `{name}` does not fit: {error}");
            cx.push(Diagnostic::error(codes::STATE_DEFAULT, place, message).help(help));
        }
    }
}

/// Whether a schema says nothing but a type, or a type of elements for an empty list, that the value has.
fn fits_at_once(schema: &Json, value: &Json) -> bool {
    let Some(map) = schema.as_object() else { return false };
    let only = |keys: &[&str]| map.keys().all(|key| keys.contains(&key.as_str()));
    match map.get("type").and_then(Json::as_str) {
        Some("string") => only(&["type", "description"]) && value.is_string(),
        Some("boolean") => only(&["type", "description"]) && value.is_boolean(),
        Some("array") => only(&["type", "description", "items"]) && value.as_array().is_some_and(Vec::is_empty),
        Some("object") => {
            only(&["type", "description", "properties"]) && value.as_object().is_some_and(serde_json::Map::is_empty)
        }
        _ => false,
    }
}
