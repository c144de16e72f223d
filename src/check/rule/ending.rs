//! Whether anything that a loop offers can end it.

use crate::check::context::{Cx, Subject};
use crate::check::steps::{each, lists};
use crate::diag::{Diagnostic, codes};
use crate::document::{BUILTINS, LoopDoc, Then};
use crate::syntax::Node;

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let Subject::Loop(loaded) = subject else { return };
    if offers_an_end(&loaded.doc) || steps_end(&loaded.node) {
        return;
    }
    let span = loaded.node.entry("builtins").map_or(loaded.doc.name.span, |entry| entry.key_span);
    cx.push(
        Diagnostic::warning(codes::ENDLESS_LOOP, span, "nothing that this loop offers can end it")
            .help("offer `finish` or `directly_answer` under `builtins`, or give an action `then: exit`"),
    );
}

fn offers_an_end(document: &LoopDoc) -> bool {
    let ends = |then: Option<Then>| matches!(then, Some(Then::Exit | Then::Fail));
    let by_action = document
        .actions
        .values()
        .any(|action| ends(action.then.as_ref().map(|then| then.value)) || action.from_loop.is_some());
    let by_builtin = BUILTINS.iter().filter(|action| action.ends_loop).any(|action| {
        let listed = document.builtins.as_ref().is_none_or(|list| list.iter().any(|name| name.value == action.name));
        // A replacement ends the loop only when it says so itself.
        listed && !document.actions.contains_key(action.name)
    });
    by_action || by_builtin
}

fn steps_end(document: &Node) -> bool {
    let mut found = false;
    for list in lists(document) {
        each(list.node, &mut |step| {
            found |= matches!(step.then(), Some(("exit" | "fail", _)));
            found |= step.verbs().any(|verb| &*verb.key == "request_async");
        });
    }
    found
}
