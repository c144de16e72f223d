//! State variables that nothing reads and nothing sets. Runs after the rule `templates`, which notes what is read.
//!
//! One that is set and not read is a result of the run. A loop that uses none of its variables is a sketch.

use crate::check::context::{Cx, Subject};
use crate::diag::{Diagnostic, codes};
use crate::syntax::{Node, Value};

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let Subject::Loop(loaded) = subject else { return };
    // What mechanisms compute is theirs to read, and a caller gets the whole state.
    let name = loaded.doc.name.value.as_str();
    if cx.state_reads.all || mentions_state(loaded.node.get("mechanisms")) || cx.writes().is_called(name) {
        return;
    }
    let set = cx.writes().to(loaded);
    let declared = &loaded.doc.state;
    let uses = |name: &str| cx.state_reads.names.contains(name) || set.contains(name);
    if !declared.keys().any(|name| uses(name)) {
        return;
    }
    for entry in loaded.node.get("state").into_iter().flat_map(Node::entries) {
        let is_used = cx.state_reads.names.contains(&*entry.key) || set.contains(&*entry.key);
        if !is_used && declared.contains_key(&*entry.key) {
            let message = format!("nothing reads or sets the state variable `{}`", entry.key);
            cx.push(
                Diagnostic::info(codes::UNUSED_STATE, entry.key_span, message)
                    .help("remove it, or use it in the prompt, a condition or a step"),
            );
        }
    }
}

fn mentions_state(node: Option<&Node>) -> bool {
    node.is_some_and(|node| match &node.value {
        Value::String(text) => text.contains("state"),
        Value::Seq(items) => items.iter().any(|item| mentions_state(Some(item))),
        Value::Map(entries) => entries.iter().any(|entry| mentions_state(Some(&entry.value))),
        _ => false,
    })
}
