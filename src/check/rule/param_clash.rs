//! Parameters of the same name and of different types, in actions that are offered together.

use indexmap::IndexMap;
use serde_json::Value as Json;

use crate::check::context::{Cx, Subject};
use crate::diag::{Diagnostic, Span, codes};
use crate::syntax::Node;

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let Subject::Loop(loaded) = subject else { return };
    // The first action that has a parameter of this name: the action, the type, the place.
    let mut seen: IndexMap<&str, (&str, &str, Span)> = IndexMap::new();
    for (action, declared) in &loaded.doc.actions {
        let Some(params) = &declared.params else { continue };
        let written = loaded.node.get("actions").and_then(|all| all.get(action)?.get("params"));
        for (name, schema) in params.schema["properties"].as_object().into_iter().flatten() {
            let (Some(kind), Some(span)) = (kind(schema), written.and_then(|node| place(node, name))) else { continue };
            let Some((other, known, first)) = seen.get(name.as_str()) else {
                seen.insert(name, (action, kind, span));
                continue;
            };
            if *known != kind {
                let message =
                    format!("the parameter `{name}` is {} here, and {} in `{other}`", article(kind), article(known));
                cx.push(
                    Diagnostic::warning(codes::PARAM_CLASH, span, message)
                        .label(*first, format!("`{name}` of `{other}`"))
                        .help("give one of them another name, or both the same type"),
                );
            }
        }
    }
}

/// The type that a schema names; whole numbers count as numbers, and texts with `enum` as texts.
fn kind(schema: &Json) -> Option<&str> {
    match schema.get("type").and_then(Json::as_str) {
        Some("integer") => Some("number"),
        Some("null") => None,
        Some(kind) => Some(kind),
        None => schema["enum"].as_array()?.iter().all(Json::is_string).then_some("string"),
    }
}

fn article(kind: &str) -> String {
    match kind {
        "array" => "a list".to_owned(),
        "object" => "a map".to_owned(),
        other => format!("a {other}"),
    }
}

/// Where a parameter is declared, in a schema or in the short form.
fn place(params: &Node, name: &str) -> Option<Span> {
    let full = params.get("properties").and_then(|properties| properties.entry(name));
    full.or_else(|| params.entry(name)).map(|entry| entry.key_span)
}
