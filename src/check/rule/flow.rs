//! What follows what: steps that can never run, and `then` where it has no meaning.

use crate::check::context::{Cx, Subject};
use crate::check::steps::{Place, StepView, each, lists};
use crate::diag::{Diagnostic, codes};
use crate::syntax::Node;

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let document = subject.node();
    for list in lists(document) {
        unreachable(cx, list.node);
        each(list.node, &mut |step| then(cx, step, list.place));
    }
    for entry in document.get("actions").into_iter().flat_map(Node::entries) {
        if let Some(node) = entry.value.get("then").filter(|node| node.as_str() == Some("done")) {
            done_outside(cx, node);
        }
    }
}

/// The first step that always ends the handler, and everything after it.
fn unreachable(cx: &mut Cx<'_>, list: &Node) {
    let mut end: Option<StepView<'_>> = None;
    for step in StepView::list(Some(list)) {
        if let Some(earlier) = end {
            let place = step.node.entries().first().map_or(step.node.span, |entry| entry.key_span);
            let place = step.then().map_or(place, |(_, span)| span);
            let mut finding = Diagnostic::error(codes::UNREACHABLE_STEP, place, "this step can never run")
                .help("remove it, or give the earlier step a `when`");
            if let Some((_, span)) = earlier.then() {
                finding = finding.label(span, "this ends the handler whenever it is reached");
            }
            return cx.push(finding);
        }
        // `on_error: continue` and steps go on after a failure, but the `then` of a failed step does not count either.
        if step.always_ends() {
            end = Some(step);
        }
        if let Some(inner) = step.on_error() {
            unreachable(cx, inner);
        }
    }
}

fn then(cx: &mut Cx<'_>, step: StepView<'_>, place: Place<'_>) {
    if let Some(node) = step.key("then").filter(|node| node.as_str() == Some("done"))
        && place != Place::Init
    {
        done_outside(cx, node);
    }
    if let Some(entry) = step.node.entry("ignore_error")
        && place != Place::Finish
    {
        cx.push(
            Diagnostic::error(
                codes::INVALID_VALUE,
                entry.key_span,
                "`ignore_error` has a meaning in `finish` hooks only",
            )
            .help("move it to a step of `hooks.finish`"),
        );
    }
}

fn done_outside(cx: &mut Cx<'_>, node: &Node) {
    cx.push(
        Diagnostic::error(codes::DONE_OUTSIDE_INIT, node.span, "`done` has a meaning in `hooks.init` only")
            .help("write `exit` for success, or `fail`"),
    );
}
