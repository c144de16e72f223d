//! Actions that are never offered.

use crate::check::context::{Cx, Subject};
use crate::check::steps::{Place, StepView, each, lists};
use crate::diag::{Diagnostic, codes};
use crate::document::{LoopDoc, builtin, is_template};
use crate::load::Loaded;
use crate::syntax::{Node, Value};

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let Subject::Loop(loaded) = subject else { return };
    never(cx, loaded);
    left_out(cx, loaded);
    forbidden(cx, loaded);
}

/// `when` is a constant that is false.
fn never(cx: &mut Cx<'_>, loaded: &Loaded<LoopDoc>) {
    for entry in loaded.node.get("actions").into_iter().flat_map(Node::entries) {
        let Some(when) = entry.value.get("when") else { continue };
        let walk = when.as_str().and_then(|text| crate::template::walk::walk_expr(text).ok());
        if walk.and_then(|walk| walk.value.truth()) == Some(false) {
            let message = format!("the action `{}` is never offered: its `when` is never true", entry.key);
            cx.push(
                Diagnostic::warning(codes::UNREACHABLE_ACTION, when.span, message)
                    .help("write a condition over `state` or `input`, or remove the action"),
            );
        }
    }
}

/// `next_actions` asks for built-in actions only, and `builtins` has none of them.
fn left_out(cx: &mut Cx<'_>, loaded: &Loaded<LoopDoc>) {
    let Some(listed) = &loaded.doc.builtins else { return };
    for list in lists(&loaded.node) {
        each(list.node, &mut |step| {
            for name in named(step, "next_actions") {
                let Some(text) = name.as_str() else { continue };
                let offered = loaded.doc.actions.contains_key(text) || listed.iter().any(|one| one.value == text);
                if builtin(text).is_some() && !offered {
                    let message = format!("`{text}` is never offered: `builtins` leaves it out");
                    let finding = Diagnostic::warning(codes::UNREACHABLE_ACTION, name.span, message)
                        .help(format!("add `{text}` to `builtins`, or name another action"));
                    let list = loaded.node.entry("builtins");
                    cx.push(match list {
                        Some(list) => finding.label(list.key_span, "the built-in actions that are offered"),
                        None => finding,
                    });
                }
            }
        });
    }
}

/// `forbid_actions` binds one turn; in `init` and after every iteration it binds all.
fn forbidden(cx: &mut Cx<'_>, loaded: &Loaded<LoopDoc>) {
    let always = |place: Place<'_>| -> Vec<&Node> {
        let lists = lists(&loaded.node).into_iter().filter(|list| list.place == place);
        let steps = lists.flat_map(|list| StepView::list(Some(list.node)));
        let free = steps.filter(|step| step.key("when").is_none() && step.key("for_each").is_none());
        free.flat_map(|step| named(step, "forbid_actions")).collect()
    };
    let later = always(Place::AfterIteration);
    for name in always(Place::Init) {
        let Some(text) = name.as_str() else { continue };
        if later.iter().any(|other| other.as_str() == Some(text)) {
            let message =
                format!("`{text}` is never offered: it is forbidden before the first turn and after each one");
            cx.push(
                Diagnostic::warning(codes::UNREACHABLE_ACTION, name.span, message)
                    .help("remove the action, or give one of the two steps a `when`"),
            );
        }
    }
}

/// The names that are written out under a verb of a step.
fn named<'a>(step: StepView<'a>, verb: &str) -> Vec<&'a Node> {
    let Some(args) = step.key(verb) else { return Vec::new() };
    let all = match &args.value {
        Value::Seq(items) => items.iter().collect(),
        _ => vec![args],
    };
    all.into_iter().filter(|node| node.as_str().is_some_and(|text| !is_template(text))).collect()
}
