//! Middleware that does not do what its author means.

use crate::check::context::{Cx, Subject};
use crate::diag::{Diagnostic, codes};
use crate::document::{Effect, Middleware};

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let (layers, effect) = match subject {
        Subject::Tool(loaded) => (&loaded.doc.middleware, loaded.doc.effect),
        // A forge changes nothing: it is one call of a model.
        Subject::Forge(loaded) => (&loaded.doc.middleware, Effect::Pure),
        _ => return,
    };
    let Some(written) = subject.node().get("middleware") else { return };
    for (at, (layer, node)) in layers.iter().zip(written.items()).enumerate() {
        if matches!(layer, Middleware::Recover(_)) && at > 0 {
            let message = "`recover` is innermost wherever it stands";
            let finding = Diagnostic::warning(codes::MIDDLEWARE_ORDER, node.span, message);
            cx.push(finding.help("write it first, or leave it out: it is always there"));
        }
        let consequence = match layer {
            Middleware::Retry(_) => "`retry` makes a call again that failed, and it may have done its work",
            Middleware::Cache(_) => "`cache` leaves out a second call with the same arguments",
            _ => continue,
        };
        if effect == Effect::AtMostOnce {
            let message = format!("{consequence}, but `effect` is at_most_once");
            let finding = Diagnostic::warning(codes::MIDDLEWARE_EFFECT, node.span, message);
            cx.push(finding.help("write `effect: pure` or `effect: idempotent` if twice is the same as once"));
        }
    }
}
