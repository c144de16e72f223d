//! What a loop lists or does although its `allow` switches it off.

use crate::check::context::{Cx, Subject};
use crate::check::steps::{each, lists};
use crate::diag::{Diagnostic, Span, codes};
use crate::syntax::Node;

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let Subject::Loop(loaded) = subject else { return };
    let document = &loaded.node;
    let switch = |name: &str| document.get("allow").and_then(|allow| allow.entry(name)).map(|entry| entry.key_span);
    let allow = &loaded.doc.allow;
    for (kind, allowed, key, actions) in [
        ("tool", allow.tool, "tools", &["directly_call_tool", "require_tool"][..]),
        ("skill", allow.skill, "skills", &["loading_skills", "load_skill_resources", "change_skill_view_offset"]),
        ("forge", allow.forge, "forges", &["require_ai_blueprint"]),
        ("focus_mode", allow.focus_mode, "focus_modes", &["enter_focus_mode"]),
    ] {
        if allowed {
            continue;
        }
        if let Some(listed) = document.entry(key).filter(|listed| !listed.value.items().is_empty()) {
            let message = format!("{} are listed, and `allow.{kind}` is false", key.replace('_', " "));
            conflict(cx, listed.key_span, &message, switch(kind));
        }
        for name in actions {
            offered(cx, document, name, &format!("allow.{kind}"), switch(kind));
        }
    }
    if !loaded.doc.allow.user_interaction {
        offered(cx, document, "ask_for_clarification", "allow.user_interaction", switch("user_interaction"));
        for list in lists(document) {
            each(list.node, &mut |step| {
                for verb in step.verbs().filter(|verb| &*verb.key == "ask") {
                    let message = "this step asks the user, and `allow.user_interaction` is false";
                    conflict(cx, verb.key_span, message, switch("user_interaction"));
                }
            });
        }
    }
}

/// A built-in action that is listed although it is switched off.
fn offered(cx: &mut Cx<'_>, document: &Node, name: &str, switch: &str, place: Option<Span>) {
    let listed = document.get("builtins").into_iter().flat_map(Node::items).find(|item| item.as_str() == Some(name));
    if let Some(item) = listed {
        conflict(cx, item.span, &format!("`{name}` is listed, and `{switch}` is false"), place);
    }
}

fn conflict(cx: &mut Cx<'_>, span: Span, message: &str, switch: Option<Span>) {
    let finding = Diagnostic::warning(codes::ALLOW_CONFLICT, span, message).help("remove one of the two");
    cx.push(match switch {
        Some(place) => finding.label(place, "switched off here"),
        None => finding,
    });
}
