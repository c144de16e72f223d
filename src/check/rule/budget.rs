//! Budgets that the replies of one worst-case iteration already use up.

use crate::check::context::{Cx, Subject};
use crate::diag::{Diagnostic, codes};

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let Subject::Loop(loaded) = subject else { return };
    let limits = &loaded.doc.limits;
    let (Some(all), Some(reply)) = (limits.max_total_tokens, limits.max_reply_tokens) else { return };
    let attempts = u64::from(limits.action_retries) + 1;
    let replies = attempts.saturating_mul(u64::from(reply));
    // One reply that is too long already is a contradiction of its own.
    if u64::from(reply) >= all || replies < all {
        return;
    }
    let written = loaded.node.get("limits");
    let Some(span) = written.and_then(|limits| limits.get("max_total_tokens")).map(|node| node.span) else { return };
    let message =
        format!("the {attempts} replies of one iteration may have {replies} tokens, and all calls together {all}");
    cx.push(Diagnostic::warning(codes::BUDGET_TOO_SMALL, span, message).help(
        "raise `max_total_tokens`, which counts the prompts too, or lower `action_retries` or `max_reply_tokens`",
    ));
}
