//! Thresholds of mechanisms and steps that other limits keep from ever being reached.
//!
//! Only what a document writes itself is judged, so that a preset's values never make a short loop noisy.

use crate::check::context::{Cx, Subject};
use crate::check::steps::{StepView, each, lists};
use crate::diag::{Diagnostic, SourceId, Span, codes};
use crate::document::{Duration, Limits, Mechanisms};
use crate::syntax::Node;

/// Iterations of one action that raise a suspicion, and warnings, where nothing is written.
const SAME_ACTION: u32 = 3;
const MAX_WARNINGS: u32 = 2;
/// Equal calls, one an iteration, that the quickest of the patterns needs where nothing is written.
const EQUAL_ERRORS: u32 = 3;
/// Iterations with the same todo where nothing is written.
const STALE_AFTER: u32 = 25;
/// The shortest and the longest time between perceptions where nothing is written.
const MIN_INTERVAL: Duration = Duration::secs(30);
const MAX_INTERVAL: Duration = Duration::secs(300);

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let (limits, mechanisms) = match subject {
        Subject::Loop(loaded) => (&loaded.doc.limits, &loaded.doc.mechanisms),
        Subject::Preset(loaded) => (&loaded.doc.limits, &loaded.doc.mechanisms),
        _ => return,
    };
    let document = Written { node: subject.node(), source: subject.source() };
    iterations(cx, &document, limits, mechanisms);
    times(cx, &document, limits, mechanisms);
    if let Some(timeout) = limits.timeout.filter(|timeout| timeout.0.as_millis() > 0) {
        step_times(cx, &document, timeout);
    }
}

/// A document, and which file is its own: a preset's values have places in the preset.
struct Written<'a> {
    node: &'a Node,
    source: SourceId,
}

impl<'a> Written<'a> {
    /// The value under a path, wherever it was written.
    fn get(&self, path: &[&str]) -> Option<&'a Node> {
        path.iter().try_fold(self.node, |node, key| node.get(key))
    }

    /// The first of these values that this file writes.
    fn own(&self, paths: &[&[&str]]) -> Option<Span> {
        paths.iter().filter_map(|path| self.get(path)).map(|node| node.span).find(|span| span.source == self.source)
    }
}

/// Counts of iterations that are beyond the last iteration.
fn iterations(cx: &mut Cx<'_>, document: &Written<'_>, limits: &Limits, mechanisms: &Mechanisms) {
    let most = limits.max_iterations;
    let mut beyond = |paths: &[&[&str]], least: u32, words: String, help: &str| {
        if least <= most {
            return;
        }
        let Some(span) = document.own(paths) else { return };
        let message = format!("{words}, and there are at most {most} iterations");
        conflict(cx, document, span, message, &["limits", "max_iterations"], help);
    };
    if let Some(spin) = mechanisms.spin.as_ref().filter(|spin| spin.enabled != Some(false)) {
        let same = spin.same_action.unwrap_or(SAME_ACTION);
        beyond(
            &[&["mechanisms", "spin", "same_action"]],
            same,
            format!("spin is suspected after {same} actions of one type"),
            "lower `same_action`, or raise `max_iterations`",
        );
        // The first warning comes with the last of these repetitions, and the end with the first after all warnings.
        let (first, warnings) = (same.min(EQUAL_ERRORS), spin.max_warnings.unwrap_or(MAX_WARNINGS));
        let end = first.saturating_add(warnings);
        beyond(
            &[&["mechanisms", "spin", "max_warnings"]],
            end,
            format!("spin ends the loop in iteration {end} at the earliest, after {warnings} warnings"),
            "lower `max_warnings`, or raise `max_iterations`",
        );
    }
    if let Some(gate) = mechanisms.verification.as_ref().filter(|gate| gate.enabled != Some(false)) {
        let every = gate.every.unwrap_or(1);
        beyond(
            &[&["mechanisms", "verification", "every"]],
            every,
            format!("verification comes every {every} iterations"),
            "lower `every`, or raise `max_iterations`",
        );
        let first = gate.min_iteration.unwrap_or(0);
        beyond(
            &[&["mechanisms", "verification", "min_iteration"]],
            first,
            format!("verification begins in iteration {first}"),
            "lower `min_iteration`, or raise `max_iterations`",
        );
        let failures = gate.max_failures.unwrap_or(1);
        beyond(
            &[&["mechanisms", "verification", "max_failures"]],
            failures,
            format!("the loop ends as unverified after {failures} failed verifications"),
            "lower `max_failures`, or raise `max_iterations`",
        );
    }
    if let Some(perception) = mechanisms.perception.as_ref().filter(|one| one.enabled != Some(false)) {
        let every = perception.every.unwrap_or(1);
        beyond(
            &[&["mechanisms", "perception", "every"]],
            every,
            format!("perception comes every {every} iterations"),
            "lower `every`, or raise `max_iterations`",
        );
    }
    if let Some(progress) = &mechanisms.progress {
        beyond(
            &[&["mechanisms", "progress", "patience"]],
            // The first iteration sets the figure to beat.
            progress.patience.saturating_add(1),
            format!("progress waits for {} iterations without a better figure", progress.patience),
            "lower `patience`, or raise `max_iterations`",
        );
    }
    if let Some(todo) = mechanisms.todo.as_ref().filter(|todo| todo.enabled == Some(true)) {
        let stale = todo.stale_after.unwrap_or(STALE_AFTER);
        beyond(
            &[&["mechanisms", "todo", "stale_after"]],
            stale.saturating_add(1),
            format!("a todo counts as stale after {stale} iterations"),
            "lower `stale_after`, or raise `max_iterations`",
        );
    }
}

/// Times that are longer than what they lie in.
fn times(cx: &mut Cx<'_>, document: &Written<'_>, limits: &Limits, mechanisms: &Mechanisms) {
    if let Some(perception) = &mechanisms.perception {
        let shortest = perception.min_interval.unwrap_or(MIN_INTERVAL);
        let longest = perception.max_interval.unwrap_or(MAX_INTERVAL);
        let paths: [&[&str]; 2] =
            [&["mechanisms", "perception", "min_interval"], &["mechanisms", "perception", "max_interval"]];
        if shortest > longest
            && let Some(span) = document.own(&paths)
        {
            let message = format!("the shortest time between perceptions is {shortest}, and the longest {longest}");
            conflict(cx, document, span, message, &[], "swap the two, or raise `max_interval`");
        }
    }
    let Some(timeout) = limits.timeout.filter(|timeout| timeout.0.as_millis() > 0) else { return };
    let gate = mechanisms.verification.as_ref().filter(|gate| gate.enabled != Some(false));
    let all = [
        ("watchdog", "watchdog", gate.and_then(|gate| gate.watchdog)),
        ("max_age", "longest age of a verdict", gate.and_then(|gate| gate.max_age)),
        ("cooldown", "cooldown", gate.and_then(|gate| gate.cooldown)),
    ];
    for (key, words, value) in all {
        let (Some(value), Some(span)) = (value, document.own(&[&["mechanisms", "verification", key]])) else {
            continue;
        };
        if value >= timeout {
            let message = format!("the {words} is {value}, and the loop ends after {timeout}");
            conflict(
                cx,
                document,
                span,
                message,
                &["limits", "timeout"],
                &format!("lower `{key}`, or raise `timeout`"),
            );
        }
    }
}

/// Steps that may take longer than the whole loop.
fn step_times(cx: &mut Cx<'_>, document: &Written<'_>, timeout: Duration) {
    for list in lists(document.node) {
        each(list.node, &mut |step| {
            let Some((node, own)) = step.written_timeout() else { return };
            let attempts = 1 + retries(step);
            let Some(all) = own.0.checked_mul(attempts).map(Duration) else { return };
            if all <= timeout || node.span.source != document.source {
                return;
            }
            let words = match attempts {
                1 => format!("the step may take {own}"),
                n => format!("the step may take {all} in {n} attempts of {own}"),
            };
            let message = format!("{words}, and the loop ends after {timeout}");
            let help = "lower the step's `timeout` or its `retry`, or raise the loop's `timeout`";
            conflict(cx, document, node.span, message, &["limits", "timeout"], help);
        });
    }
}

fn retries(step: StepView<'_>) -> u32 {
    let Some(retry) = step.key("retry") else { return 0 };
    let times = retry.get("times").unwrap_or(retry);
    times.to_json().as_u64().and_then(|times| u32::try_from(times).ok()).unwrap_or(0)
}

fn conflict(cx: &mut Cx<'_>, document: &Written<'_>, span: Span, message: String, other: &[&str], help: &str) {
    let finding = Diagnostic::warning(codes::LIMIT_CONFLICT, span, message).help(help);
    cx.push(match document.get(other).filter(|_| !other.is_empty()) {
        Some(node) if !node.span.is_none() => finding.label(node.span, "the other limit"),
        _ => finding,
    });
}
