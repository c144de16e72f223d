//! What steps hand over to tools, forges and loops: names that those do not have.

use serde_json::Value as Json;

use crate::check::context::{Cx, Subject};
use crate::check::steps::{each, lists};
use crate::diag::{Code, Diagnostic, codes, did_you_mean, list_words};
use crate::document::is_template;
use crate::syntax::{Entry, Node};

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    if let Subject::Forge(loaded) = subject {
        let fields = properties(&loaded.doc.output.schema);
        keys(cx, loaded.node.get("stream"), fields.as_deref(), codes::UNKNOWN_PARAM, "the output");
    }
    for list in lists(subject.node()) {
        each(list.node, &mut |step| {
            for verb in step.verbs() {
                call(cx, verb);
            }
        });
    }
}

fn call(cx: &mut Cx<'_>, verb: &Entry) {
    let Some(name) = verb.value.get("use").and_then(Node::as_str).filter(|name| !is_template(name)) else { return };
    let library = cx.library;
    match &*verb.key {
        "tool" => {
            let Some(tool) = library.tools.get(name) else { return };
            let Some(schema) = tool.doc.params.as_ref().map(|params| &params.schema) else { return };
            let given = verb.value.get("params");
            keys(cx, given, properties(schema).as_deref(), codes::UNKNOWN_PARAM, &format!("the tool `{name}`"));
            required(cx, verb, given, schema, name);
        }
        "forge" => {
            let Some(forge) = library.forges.get(name) else { return };
            let fields = properties(&forge.doc.output.schema);
            keys(
                cx,
                verb.value.get("stream"),
                fields.as_deref(),
                codes::UNKNOWN_PARAM,
                &format!("the output of `{name}`"),
            );
        }
        "loop" => {
            let Some(target) = library.loops.get(name) else { return };
            let state: Vec<&str> = target.doc.state.keys().map(String::as_str).collect();
            keys(cx, verb.value.get("set"), Some(&state), codes::UNKNOWN_STATE, &format!("the loop `{name}`"));
        }
        _ => {}
    }
}

/// The names that a schema allows; none when it allows any.
fn properties(schema: &Json) -> Option<Vec<&str>> {
    let closed = ["$ref", "anyOf", "oneOf", "allOf", "patternProperties"].iter().all(|key| schema.get(key).is_none());
    let open = schema.get("additionalProperties").is_some_and(|more| *more != Json::Bool(false));
    let properties = schema.get("properties")?.as_object()?;
    (closed && !open).then(|| properties.keys().map(String::as_str).collect())
}

fn keys(cx: &mut Cx<'_>, given: Option<&Node>, known: Option<&[&str]>, code: Code, owner: &str) {
    let (Some(given), Some(known)) = (given, known) else { return };
    for entry in given.entries().iter().filter(|entry| !known.contains(&&*entry.key) && !is_template(&entry.key)) {
        let help = match did_you_mean(&entry.key, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it has {}", list_words(known)),
        };
        cx.push(Diagnostic::error(code, entry.key_span, format!("{owner} has no `{}`", entry.key)).help(help));
    }
}

fn required(cx: &mut Cx<'_>, verb: &Entry, given: Option<&Node>, schema: &Json, tool: &str) {
    // A template may give any map.
    if given.is_some_and(|given| given.as_str().is_some()) {
        return;
    }
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str) {
        if given.is_none_or(|given| given.entry(name).is_none()) {
            let span = verb.value.entry("params").map_or(verb.key_span, |entry| entry.key_span);
            let message = format!("the tool `{tool}` needs the parameter `{name}`");
            cx.push(
                Diagnostic::error(codes::MISSING_PARAM, span, message).help(format!("add `{name}` under `params`")),
            );
        }
    }
}
