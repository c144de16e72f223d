//! Actions that ask for each other with `next_actions` in a circle that nothing ends.

use std::collections::BTreeMap;

use crate::check::context::{Cx, Subject};
use crate::check::steps::{StepView, each};
use crate::diag::{Diagnostic, codes};
use crate::document::{LoopDoc, Then, is_template};
use crate::load::Loaded;
use crate::syntax::{Node, Value};

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let Subject::Loop(loaded) = subject else { return };
    let mut forced: BTreeMap<&str, Vec<&Node>> = BTreeMap::new();
    for entry in loaded.node.get("actions").into_iter().flat_map(Node::entries) {
        if let Some(next) = next_of(loaded, &entry.key, &entry.value) {
            forced.insert(&entry.key, next);
        }
    }
    // What is left asks only for actions that are left: none of them leads out.
    loop {
        let before = forced.len();
        let known: Vec<&str> = forced.keys().copied().collect();
        forced.retain(|_, next| next.iter().all(|node| node.as_str().is_some_and(|name| known.contains(&name))));
        if forced.len() == before {
            break;
        }
    }
    let Some((first, next)) = forced.iter().next() else { return };
    let Some(place) = next.first() else { return };
    let message = format!("`next_actions` leads in a circle that nothing ends: {}", circle(first, &forced));
    cx.push(
        Diagnostic::warning(codes::ENDLESS_LOOP, place.span, message)
            .help("name an action that ends the loop too, such as `finish`, or give the step a `when`"),
    );
}

/// The actions that this one always asks for; none when the next turn is free, or when the action ends the loop.
fn next_of<'a>(loaded: &Loaded<LoopDoc>, name: &str, action: &'a Node) -> Option<Vec<&'a Node>> {
    let document = loaded.doc.actions.get(name)?;
    let ends = document.then.as_ref().is_some_and(|then| then.value != Then::Continue);
    if ends || document.from_loop.is_some() {
        return None;
    }
    let steps = action.get("do")?;
    let mut may_end = false;
    each(steps, &mut |step| {
        may_end |= matches!(step.then(), Some(("exit" | "fail", _)));
        may_end |= step.verbs().any(|verb| &*verb.key == "request_async");
    });
    let unconditional = |step: &StepView<'_>| step.key("when").is_none() && step.key("for_each").is_none();
    let asks = StepView::list(Some(steps)).filter(|step| step.key("next_actions").is_some());
    let mut asks: Vec<StepView<'a>> = asks.collect();
    // The last step counts, and one under a condition may free the next turn.
    if may_end || !asks.iter().all(unconditional) {
        return None;
    }
    let list = asks.pop()?.key("next_actions")?;
    let names: Vec<&Node> = match &list.value {
        Value::Seq(items) => items.iter().collect(),
        _ => vec![list],
    };
    let written = |node: &&Node| node.as_str().is_some_and(|name| !is_template(name));
    (!names.is_empty() && names.iter().all(written)).then_some(names)
}

/// The names on the way from an action back to one of them.
fn circle(first: &str, forced: &BTreeMap<&str, Vec<&Node>>) -> String {
    let mut names = vec![first];
    while let Some(next) = names.last().and_then(|name| forced.get(name)?.first()?.as_str()) {
        let closes = names.contains(&next);
        names.push(next);
        if closes {
            break;
        }
    }
    names.join(" → ")
}
