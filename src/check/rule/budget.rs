//! Budgets that the replies or the steps of one worst-case iteration already use up, and replies that no model can give.

use crate::check::context::{Cx, Subject};
use crate::check::cost::models::facts;
use crate::check::steps::{StepView, lists};
use crate::diag::{Diagnostic, codes};
use crate::document::{Duration, LoopDoc};
use crate::load::Loaded;
use crate::syntax::Node;

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let Subject::Loop(loaded) = subject else { return };
    tokens(cx, loaded);
    money(cx, loaded);
    time(cx, loaded);
    context(cx, loaded);
}

fn limit<'a>(loaded: &'a Loaded<LoopDoc>, key: &str) -> Option<&'a Node> {
    loaded.node.get("limits")?.get(key).filter(|node| !node.span.is_none())
}

fn tokens(cx: &mut Cx<'_>, loaded: &Loaded<LoopDoc>) {
    let limits = &loaded.doc.limits;
    let (Some(all), Some(reply)) = (limits.max_total_tokens, limits.max_reply_tokens) else { return };
    let attempts = u64::from(limits.action_retries) + 1;
    let replies = attempts.saturating_mul(u64::from(reply));
    // One reply that is too long already is a contradiction of its own.
    if u64::from(reply) >= all || replies < all {
        return;
    }
    let Some(node) = limit(loaded, "max_total_tokens") else { return };
    let message =
        format!("the {attempts} replies of one iteration may have {replies} tokens, and all calls together {all}");
    cx.push(Diagnostic::warning(codes::BUDGET_TOO_SMALL, node.span, message).help(
        "raise `max_total_tokens`, which counts the prompts too, or lower `action_retries` or `max_reply_tokens`",
    ));
}

/// As for tokens, only the replies are counted, since a prompt rarely fills the whole context.
fn money(cx: &mut Cx<'_>, loaded: &Loaded<LoopDoc>) {
    let limits = &loaded.doc.limits;
    let (Some(all), Some(reply)) = (limits.max_cost_usd, limits.max_reply_tokens) else { return };
    let Some(price) = facts(cx.library, &loaded.doc, "main").and_then(|facts| facts.price) else { return };
    let attempts = limits.action_retries + 1;
    let replies = f64::from(attempts) * f64::from(reply) * price.output / 1e6;
    if all <= 0.0 || replies < all {
        return;
    }
    let Some(node) = limit(loaded, "max_cost_usd") else { return };
    let message =
        format!("the {attempts} replies of one iteration may cost ${replies:.4}, and all calls together ${all}");
    cx.push(
        Diagnostic::warning(codes::BUDGET_TOO_SMALL, node.span, message).help(
            "raise `max_cost_usd`, which counts the prompts too, or lower `action_retries` or `max_reply_tokens`",
        ),
    );
}

/// Steps that together may take longer than the whole loop, though each of them may not.
fn time(cx: &mut Cx<'_>, loaded: &Loaded<LoopDoc>) {
    let Some(all) = loaded.doc.limits.timeout.filter(|all| all.0.as_millis() > 0) else { return };
    let Some(node) = limit(loaded, "timeout") else { return };
    for list in lists(&loaded.node) {
        let free = StepView::list(Some(list.node)).filter(|step| step.key("when").is_none());
        let times: Vec<Duration> = free.filter_map(|step| step.written_timeout().map(|(_, time)| time)).collect();
        let Some(sum) = times.iter().try_fold(std::time::Duration::ZERO, |sum, time| sum.checked_add(time.0)) else {
            continue;
        };
        // One step alone is a contradiction of its own.
        if times.len() < 2 || times.iter().any(|time| *time > all) || Duration(sum) <= all {
            continue;
        }
        let message =
            format!("the steps that follow each other may take {}, and the loop ends after {all}", Duration(sum));
        cx.push(
            Diagnostic::warning(codes::BUDGET_TOO_SMALL, node.span, message)
                .label(list.node.span, "these steps")
                .help("raise `timeout`, or lower the `timeout` of the steps"),
        );
    }
}

/// A reply that is longer than all that the model can hold.
fn context(cx: &mut Cx<'_>, loaded: &Loaded<LoopDoc>) {
    let Some(reply) = loaded.doc.limits.max_reply_tokens else { return };
    let Some(node) = limit(loaded, "max_reply_tokens") else { return };
    let Some(facts) = facts(cx.library, &loaded.doc, "main") else { return };
    let Some(context) = facts.context.filter(|context| u64::from(reply) >= *context) else { return };
    let message = format!(
        "a reply may have {reply} tokens, and the context of `{}` has {context}, the prompt included",
        facts.label
    );
    cx.push(
        Diagnostic::warning(codes::LIMIT_CONFLICT, node.span, message)
            .help("lower `max_reply_tokens` so that the prompt finds room, or correct the model's `context`"),
    );
}
