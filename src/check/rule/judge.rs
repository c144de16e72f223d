//! Who judges whether a loop's goal is reached: that checks can run, and that the one who is named has something to say.

use crate::check::context::{Cx, Subject};
use crate::check::steps::judging_programs;
use crate::diag::{Diagnostic, codes};
use crate::document::{Judge, Verification};
use crate::policy::Access;
use crate::syntax::Node;
use crate::verb::find;

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let gate = match subject {
        Subject::Loop(loaded) => loaded.doc.mechanisms.verification.as_ref(),
        Subject::Preset(loaded) => loaded.doc.mechanisms.verification.as_ref(),
        _ => return,
    };
    let node = subject.node().get("mechanisms").and_then(|all| all.get("verification"));
    let Some((gate, node)) = gate.zip(node) else { return };
    let checks = node.get("checks");
    for run in judging_programs(subject.node()) {
        if let Some(verb) = find("run") {
            let _ = verb.decode(run, cx.found);
        }
    }
    let is_own = |node: &&Node| node.span.source == subject.source();
    if gate.enabled != Some(false) {
        names_somebody(cx, gate, node.get("judge").filter(is_own), checks.filter(is_own));
        bounds(cx, gate, node.get("max_failures").filter(is_own));
        tokens(cx, gate, node.get("hard_tokens").filter(is_own));
        patterns(cx, node.get("protect").filter(is_own));
    }
}

/// Checks without a judge who runs them, and a judge without checks.
fn names_somebody(cx: &mut Cx<'_>, gate: &Verification, judge: Option<&Node>, checks: Option<&Node>) {
    let has_checks = gate.checks.as_ref().is_some_and(|checks| !checks.is_empty());
    if let (Some(Judge::Checks | Judge::Both), false, Some(judge)) = (gate.judge, has_checks, judge) {
        let word = judge.as_str().unwrap_or_default();
        let message = format!("`judge: {word}` needs `checks`, and there are none");
        let help = "add `checks: [{ run: [program, argument] }]`, or write `judge: model`";
        cx.push(Diagnostic::error(codes::JUDGE_CONFLICT, judge.span, message).help(help));
    }
    if let (Some(Judge::Model), true, Some(place)) = (gate.judge, has_checks, judge.or(checks)) {
        let message = "with `judge: model` the checks never run";
        let help = "write `judge: both`, or remove one of the two";
        cx.push(Diagnostic::error(codes::JUDGE_CONFLICT, place.span, message).help(help));
    }
}

/// Patterns that protect nothing.
fn patterns(cx: &mut Cx<'_>, protect: Option<&Node>) {
    for node in protect.map_or(&[][..], Node::items) {
        let Some(pattern) = node.as_str() else { continue };
        if let Some(problem) = Access::pattern_problem(pattern) {
            let message = format!("`{pattern}` protects nothing: {problem}");
            let help = "write a pattern as in `.gitignore`, from the workspace's folder, such as `tests/`";
            cx.push(Diagnostic::error(codes::JUDGE_CONFLICT, node.span, message).help(help));
        }
    }
}

/// More failures than there can be verifications.
fn bounds(cx: &mut Cx<'_>, gate: &Verification, place: Option<&Node>) {
    let most = gate.max_verifications.unwrap_or(MAX_VERIFICATIONS);
    if let (Some(failures), Some(place)) = (gate.max_failures.filter(|failures| *failures > most), place) {
        let message = format!("`max_failures: {failures}` is never reached: there are at most {most} verifications");
        let help = "lower `max_failures`, or raise `max_verifications`";
        cx.push(Diagnostic::warning(codes::LIMIT_CONFLICT, place.span, message).help(help));
    }
}

/// A large change that is smaller than a small one.
fn tokens(cx: &mut Cx<'_>, gate: &Verification, place: Option<&Node>) {
    let small = gate.min_prompt_delta.unwrap_or(MIN_PROMPT_DELTA);
    if let (Some(large), Some(place)) = (gate.hard_tokens.filter(|large| *large <= small), place) {
        let message = format!("`hard_tokens: {large}` leaves nothing to `min_prompt_delta`, which is {small}");
        let help = "raise `hard_tokens`, or leave it out";
        cx.push(Diagnostic::warning(codes::LIMIT_CONFLICT, place.span, message).help(help));
    }
}

/// What holds where nothing is written.
const MAX_VERIFICATIONS: u32 = 10;
const MIN_PROMPT_DELTA: u32 = 500;
