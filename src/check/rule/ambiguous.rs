//! Data of no declared type that does not mean what it seems to: `1.10` is a number, `no` is a text.

use crate::check::context::{Cx, Subject};
use crate::check::steps::{each, lists};
use crate::syntax::Node;

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let document = subject.node();
    for key in ["state", "vars", "params", "input", "output"] {
        warn(cx, document.get(key));
    }
    for entry in document.get("actions").into_iter().flat_map(Node::entries) {
        warn(cx, entry.value.get("params"));
    }
    for list in lists(document) {
        each(list.node, &mut |step| {
            for verb in step.verbs().filter(|verb| matches!(&*verb.key, "set" | "emit" | "timeline" | "result")) {
                warn(cx, Some(&verb.value));
            }
        });
    }
}

fn warn(cx: &mut Cx<'_>, node: Option<&Node>) {
    if let Some(node) = node {
        node.warn_ambiguous(cx.found);
    }
}
