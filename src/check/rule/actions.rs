//! Actions: `override`, sources of work that exclude each other, parameters, `stream`.

use crate::check::context::{Cx, Subject};
use crate::check::json_schema::check_schema;
use crate::diag::{Diagnostic, codes, did_you_mean, list_words};
use crate::document::{Action, BUILTINS, builtin};
use crate::syntax::{Entry, Node};

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let (Subject::Loop(_) | Subject::Tool(_) | Subject::Forge(_)) = subject else { return };
    for key in ["params", "input", "output"] {
        if let Some(schema) = subject.node().get(key) {
            check_schema(cx, schema);
        }
    }
    let Subject::Loop(loaded) = subject else { return };
    for entry in loaded.node.get("actions").into_iter().flat_map(Node::entries) {
        overriding(cx, entry);
        sources(cx, &entry.value);
        if let Some(params) = entry.value.get("params") {
            check_schema(cx, params);
        }
        if let Some(action) = loaded.doc.actions.get(&*entry.key) {
            streams(cx, entry, action);
        }
    }
    if let Subject::Loop(loaded) = subject {
        offered(cx, loaded);
    }
}

/// Names under `builtins`.
fn offered(cx: &mut Cx<'_>, loaded: &crate::load::Loaded<crate::document::LoopDoc>) {
    for name in loaded.doc.builtins.iter().flatten() {
        let finding = match builtin(name) {
            Some(_) => continue,
            None => {
                let known: Vec<&str> = BUILTINS.iter().map(|action| action.name).collect();
                let help = match did_you_mean(name, &known) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the built-in actions are {}", list_words(&known)),
                };
                Diagnostic::error(
                    codes::UNKNOWN_BUILTIN,
                    name.span,
                    format!("unknown built-in action `{}`", name.value),
                )
                .help(help)
            }
        };
        cx.push(finding);
    }
}

fn overriding(cx: &mut Cx<'_>, entry: &Entry) {
    let flag = entry.value.get("override");
    let replaces = flag.is_some_and(|flag| matches!(flag.value, crate::syntax::Value::Bool(true)));
    match (builtin(&entry.key), replaces) {
        (Some(_), false) => cx.push(
            Diagnostic::error(
                codes::MISSING_OVERRIDE,
                entry.key_span,
                format!("`{}` is the name of a built-in action", entry.key),
            )
            .help("add `override: true` to replace it, or choose another name"),
        ),
        (None, true) => {
            let names: Vec<&str> = BUILTINS.iter().map(|action| action.name).collect();
            let help = match did_you_mean(&entry.key, &names) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "remove `override`".to_owned(),
            };
            let span = flag.map_or(entry.key_span, |flag| flag.span);
            cx.push(
                Diagnostic::error(
                    codes::NEEDLESS_OVERRIDE,
                    span,
                    format!("there is no built-in action `{}` to replace", entry.key),
                )
                .help(help),
            );
        }
        _ => {}
    }
}

fn sources(cx: &mut Cx<'_>, action: &Node) {
    let own = ["from_tool", "from_loop"].into_iter().find_map(|key| action.entry(key));
    let Some(source) = own else { return };
    let others = ["from_loop", "do", "params", "tags", "stream"];
    for other in others.iter().filter(|other| **other != &*source.key).filter_map(|other| action.entry(other)) {
        let message = format!("`{}` cannot stand beside `{}`", other.key, source.key);
        cx.push(
            Diagnostic::error(codes::ACTION_CONFLICT, other.key_span, message)
                .label(source.key_span, format!("`{}` brings its own", source.key))
                .help("keep one of them"),
        );
    }
}

fn streams(cx: &mut Cx<'_>, entry: &Entry, action: &Action) {
    let Some(stream) = entry.value.get("stream") else { return };
    let properties = action.params.as_ref().and_then(|params| params.schema.get("properties")?.as_object());
    let known: Vec<&str> = properties.into_iter().flat_map(|map| map.keys().map(String::as_str)).collect();
    for key in stream.entries().iter().filter(|key| !known.contains(&&*key.key)) {
        let help = match did_you_mean(&key.key, &known) {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => "declare it under `params`".to_owned(),
            None => format!("the parameters are {}", list_words(&known)),
        };
        let message = format!("`{}` has no parameter `{}` to stream", entry.key, key.key);
        cx.push(Diagnostic::error(codes::UNKNOWN_PARAM, key.key_span, message).help(help));
    }
}
