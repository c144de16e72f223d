//! Conditions over state that no step sets: of steps that end the loop, and of actions.

use crate::check::context::{Cx, Subject};
use crate::check::steps::{Place, each, lists};
use crate::diag::{Diagnostic, codes};
use crate::syntax::Node;
use crate::template::walk::walk_expr;

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let Subject::Loop(loaded) = subject else { return };
    let set = cx.writes().to(loaded);
    let mut frozen = |when: Option<&Node>, what: &str| {
        let Some(when) = when else { return };
        let Some(names) = when.as_str().and_then(state_only) else { return };
        let declared = names.iter().all(|name| loaded.doc.state.contains_key(name));
        if names.is_empty() || !declared || names.iter().any(|name| set.contains(name)) {
            return;
        }
        let names: Vec<String> = names.iter().map(|name| format!("`state.{name}`")).collect();
        let message = format!("{what} depends on {} alone, which no step sets", names.join(" and "));
        cx.push(
            Diagnostic::warning(codes::FROZEN_CONDITION, when.span, message)
                .help("set it in a step with `set`, or remove the condition"),
        );
    };
    for entry in loaded.node.get("actions").into_iter().flat_map(Node::entries) {
        frozen(entry.value.get("when"), "this action");
    }
    for list in lists(&loaded.node).into_iter().filter(|list| list.place != Place::Init) {
        each(list.node, &mut |step| {
            if matches!(step.then(), Some(("exit" | "fail", _))) {
                frozen(step.key("when"), "this end of the loop");
            }
        });
    }
}

/// The state variables of an expression that uses nothing else.
fn state_only(source: &str) -> Option<Vec<String>> {
    let walk = walk_expr(source).ok()?;
    let mut names = Vec::new();
    for used in &walk.variables {
        match used.path.as_slice() {
            [root, first, ..] if root.name.as_deref() == Some("state") => names.push(first.name.clone()?),
            _ => return None,
        }
    }
    names.dedup();
    Some(names)
}
