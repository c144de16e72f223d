//! Limits that leave no room, or contradict each other.

use crate::check::context::{Cx, Subject};
use crate::diag::{Diagnostic, Span, codes};
use crate::document::{Duration, Limits};
use crate::syntax::Node;

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let (limits, document) = match subject {
        Subject::Loop(loaded) => (&loaded.doc.limits, &loaded.node),
        Subject::Preset(loaded) => (&loaded.doc.limits, &loaded.node),
        _ => return,
    };
    let Some(written) = document.get("limits") else { return };
    let place = |key: &str| written.get(key).map_or(Span::NONE, |node| node.span);
    ranges(cx, limits, written);
    if limits.timeout == Some(Duration::secs(0)) {
        cx.push(
            Diagnostic::error(
                codes::NUMBER_OUT_OF_RANGE,
                place("timeout"),
                "a timeout of no time ends the loop before it starts",
            )
            .help("leave `timeout` out for no limit"),
        );
    }
    if let (Some(all), Some(reply)) = (limits.max_total_tokens, limits.max_reply_tokens)
        && u64::from(reply) >= all
    {
        let message = format!("one reply may have {reply} tokens, and all calls together {all}");
        cx.push(
            Diagnostic::warning(codes::LIMIT_CONFLICT, place("max_reply_tokens"), message)
                .label(place("max_total_tokens"), "the limit of all calls")
                .help("raise `max_total_tokens`: it counts the prompts too"),
        );
    }
    if limits.max_cost_usd == Some(0.0) {
        let message = "a limit of no money ends the loop at the first call that has a price";
        cx.push(Diagnostic::warning(codes::LIMIT_CONFLICT, place("max_cost_usd"), message));
    }
}

/// The ranges of the schema, which a run that skips the schema relies on too.
fn ranges(cx: &mut Cx<'_>, limits: &Limits, written: &Node) {
    let bounds = [
        ("max_iterations", limits.max_iterations, 1, 100_000),
        ("action_retries", limits.action_retries, 0, 20),
        ("max_depth", limits.max_depth, 1, 32),
        ("max_parallel", limits.max_parallel, 1, 64),
        ("max_skill_tokens", limits.max_skill_tokens, 250, u32::MAX),
        ("max_reply_tokens", limits.max_reply_tokens.unwrap_or(1), 1, u32::MAX),
    ];
    for (key, value, least, most) in bounds {
        let Some(node) = written.get(key) else { continue };
        if value < least || value > most {
            let message = format!("`{key}` must be from {least} to {most}, found {value}");
            cx.push(Diagnostic::error(codes::NUMBER_OUT_OF_RANGE, node.span, message));
        }
    }
    if let Some(node) = written.get("max_total_tokens").filter(|_| limits.max_total_tokens == Some(0)) {
        cx.push(Diagnostic::error(
            codes::NUMBER_OUT_OF_RANGE,
            node.span,
            "`max_total_tokens` must be at least 1, found 0",
        ));
    }
}
