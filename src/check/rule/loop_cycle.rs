//! Loops that run each other in a circle, as actions or in steps.

use crate::check::context::{Cx, Subject};
use crate::check::steps::{Place, each, lists};
use crate::diag::{Diagnostic, Span, codes};
use crate::document::{Limits, LoopDoc, is_template};
use crate::load::{Library, Loaded};
use crate::syntax::Node;

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let Subject::Loop(loaded) = subject else { return };
    let own = &loaded.doc.name.value;
    for call in calls(loaded) {
        let Some(chain) = way_back(cx.library, call.name, own) else { continue };
        let names = std::iter::once(own.as_str()).chain(chain.iter().map(String::as_str));
        let names = names.collect::<Vec<_>>().join(" → ");
        if call.always {
            let message = format!("loops call each other in a circle: {names}");
            let help = format!("remove one `{}` of this chain", call.key);
            cx.push(Diagnostic::error(codes::LOOP_CYCLE, call.span, message).help(help));
        } else if loaded.doc.limits == Limits::default() {
            // The model or a condition may end the descent, so it is a recursion that needs a limit and no mistake.
            let depth = loaded.doc.limits.max_depth;
            let message = format!("this recursion has no limit of its own but the depth of {depth}: {names}");
            let help = "set `limits`, such as `max_depth` and `max_total_tokens`";
            cx.push(Diagnostic::warning(codes::LOOP_CYCLE, call.span, message).help(help));
        }
    }
}

/// A loop that another one runs.
struct Call<'a> {
    name: &'a str,
    span: Span,
    key: &'static str,
    /// An action that is a loop, or a step that no choice and no condition keeps from running.
    always: bool,
}

/// The loops that a loop runs: as actions, which the model chooses, and in steps.
fn calls(loaded: &Loaded<LoopDoc>) -> Vec<Call<'_>> {
    let as_actions = loaded.doc.actions.values().filter_map(|action| action.from_loop.as_ref());
    let mut calls: Vec<Call<'_>> = as_actions
        .map(|target| Call { name: &target.value, span: target.span, key: "from_loop", always: true })
        .collect();
    for list in lists(&loaded.node) {
        each(list.node, &mut |step| {
            for verb in step.verbs().filter(|verb| &*verb.key == "loop") {
                let target = verb.value.as_str().map_or_else(|| verb.value.get("use"), |_| Some(&verb.value));
                let Some((name, span)) = target.and_then(named) else { continue };
                let bound = matches!(list.place, Place::Init | Place::AfterIteration);
                let always = bound && step.key("when").is_none() && step.key("for_each").is_none();
                calls.push(Call { name, span, key: "loop", always });
            }
        });
    }
    calls
}

fn named(node: &Node) -> Option<(&str, Span)> {
    node.as_str().filter(|name| !is_template(name)).map(|name| (name, node.span))
}

/// The names from `from` to `goal`, both included, if calls lead there.
fn way_back(library: &Library, from: &str, goal: &str) -> Option<Vec<String>> {
    let mut open = vec![vec![from.to_owned()]];
    let mut seen = std::collections::HashSet::new();
    while let Some(chain) = open.pop() {
        let name = chain.last()?;
        if name == goal {
            return Some(chain);
        }
        if !seen.insert(name.clone()) {
            continue;
        }
        let Some(next) = library.loops.get(name) else { continue };
        for call in calls(next) {
            open.push(chain.iter().cloned().chain([call.name.to_owned()]).collect());
        }
    }
    None
}
