//! Steps: that their verb exists, and that its arguments are ones that it takes.

use crate::check::context::{Cx, Subject};
use crate::check::steps::{each, lists};
use crate::diag::{Diagnostic, codes, did_you_mean, list_words};
use crate::document::STEP_KEYS;
use crate::syntax::Node;
use crate::verb::{VERBS, find};

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    in_tree(cx, subject.node());
}

/// The steps of a document, which need not be whole.
pub(in crate::check) fn in_tree(cx: &mut Cx<'_>, document: &Node) {
    for list in lists(document) {
        each(list.node, &mut |step| {
            for entry in step.verbs() {
                if let Some(verb) = find(&entry.key) {
                    let _ = verb.decode(&entry.value, cx.found);
                    continue;
                }
                let names: Vec<&str> = VERBS.iter().map(|verb| verb.name()).collect();
                let known: Vec<&str> = names.iter().copied().chain(STEP_KEYS).collect();
                let help = match did_you_mean(&entry.key, &known) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the verbs are {}", list_words(&names)),
                };
                let message = format!("unknown verb `{}`", entry.key);
                cx.push(Diagnostic::error(codes::UNKNOWN_VERB, entry.key_span, message).help(help));
            }
        });
    }
}
