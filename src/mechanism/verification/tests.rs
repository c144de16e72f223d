//! The gate's decisions, one by one.

use std::time::Duration;

use serde_json::json;

use super::*;
use crate::document::{Judge, Mechanisms, Switches};
use crate::event::{
    CheckState, Grounds, VerificationConsequence as Consequence, VerificationOutcome as Outcome, VerificationState,
    VerificationTrigger as Trigger,
};
use crate::mechanism::{Mode, Moment, Settings, Verdict};

fn settings(json: serde_json::Value) -> VerificationSettings {
    let document: Mechanisms = serde_json::from_value(json!({ "verification": json })).unwrap();
    Settings::new(&document, &Switches::default()).verification
}

fn at(seconds: u64, iteration: u32) -> Moment {
    Moment { at: Duration::from_secs(seconds), iteration }
}

fn rule(verdict: &Verdict) -> (bool, &str) {
    (verdict.act, &verdict.grounds.rule)
}

fn looks(gate: &Gate, settings: &VerificationSettings, now: Moment) -> (bool, String) {
    let verdict = gate.should_verify(settings, Trigger::PostAction, now);
    (verdict.act, verdict.grounds.rule)
}

fn no(missing: &[&str]) -> Finding {
    let state = VerificationState {
        missing: missing.iter().map(|item| (*item).to_owned()).collect(),
        ..VerificationState::default()
    };
    Finding { satisfied: Some(false), state, ..Finding::default() }
}

fn red(output: &str) -> Finding {
    let check = CheckState { name: "test".into(), output: output.into(), ..CheckState::default() };
    let state = VerificationState { checks: vec![check], ..VerificationState::default() };
    Finding { satisfied: Some(false), by_programs: true, state, ..Finding::default() }
}

/// Makes a verification, changed or not, and gives what follows.
fn make(
    gate: &mut Gate,
    settings: &VerificationSettings,
    trigger: Trigger,
    finding: Finding,
    now: Moment,
) -> (Consequence, String) {
    gate.begin();
    let (consequence, because): (Consequence, Grounds) = gate.conclude(settings, trigger, finding, now);
    (consequence, because.rule)
}

#[test]
fn what_nobody_asked_for_waits_for_iterations_time_or_tokens() {
    let settings = settings(json!({ "every": 5 }));
    let mut gate = Gate::default();
    gate.prompt(1000);
    assert_eq!(looks(&gate, &settings, at(1, 1)), (false, "waits".into()));
    assert_eq!(looks(&gate, &settings, at(1, 5)), (true, "every".into()));
    assert_eq!(looks(&gate, &settings, at(30, 1)), (true, "max_age".into()));
    gate.prompt(1500);
    assert_eq!(looks(&gate, &settings, at(1, 1)), (false, "waits".into()), "moved by 500, not by more");
    gate.prompt(1501);
    assert_eq!(looks(&gate, &settings, at(1, 1)), (true, "prompt_delta".into()));
    gate.prompt(400);
    assert_eq!(looks(&gate, &settings, at(1, 1)), (true, "prompt_delta".into()), "it shrank");
}

#[test]
fn every_throttle_starts_again_when_a_verification_is_over_and_none_when_it_begins() {
    let settings = settings(json!({ "every": 3 }));
    let mut gate = Gate::default();
    gate.prompt(1000);
    gate.prompt(2000);
    gate.begin();
    assert_eq!(rule(&gate.should_verify(&settings, Trigger::Finish, at(40, 3))), (false, "in_flight"));
    gate.conclude(&settings, Trigger::PostAction, no(&["x"]), at(60, 3));
    // It began at second 30 and took as long: its verdict is new at its end.
    assert_eq!(looks(&gate, &settings, at(89, 5)), (false, "waits".into()));
    assert_eq!(looks(&gate, &settings, at(90, 5)), (true, "max_age".into()));
    assert_eq!(looks(&gate, &settings, at(61, 6)), (true, "every".into()));
    gate.prompt(2501);
    assert_eq!(looks(&gate, &settings, at(61, 4)), (true, "prompt_delta".into()));
}

#[test]
fn a_cooldown_holds_the_token_trigger_only_and_a_large_change_breaks_it() {
    let settings = settings(json!({
        "every": 9, "max_age": "1h", "cooldown": "1m", "hard_tokens": 5000, "min_iteration": 3
    }));
    let mut gate = Gate::default();
    gate.prompt(0);
    gate.prompt(600);
    assert_eq!(looks(&gate, &settings, at(70, 2)), (false, "min_iteration".into()));
    assert_eq!(looks(&gate, &settings, at(59, 3)), (false, "cooldown".into()));
    assert_eq!(looks(&gate, &settings, at(60, 3)), (true, "prompt_delta".into()));
    assert_eq!(looks(&gate, &settings, at(1, 9)), (true, "every".into()));
    gate.prompt(5000);
    assert_eq!(looks(&gate, &settings, at(1, 3)), (true, "hard_tokens".into()));
}

#[test]
fn a_claim_waits_for_nothing_but_the_cap_and_what_only_looks_leaves_it_a_half() {
    let settings = settings(json!({ "max_verifications": 5 }));
    let mut gate = Gate::default();
    for n in 0..3 {
        assert!(gate.should_verify(&settings, Trigger::PostAction, at(0, 2 * n + 2)).act);
        make(&mut gate, &settings, Trigger::PostAction, no(&[&n.to_string()]), at(0, 2 * n + 2));
    }
    assert_eq!(looks(&gate, &settings, at(99, 99)), (false, "max_verifications".into()));
    assert_eq!(gate.until_watchdog(&settings, at(0, 9)), None);
    for n in 3..5 {
        for trigger in [Trigger::Request, Trigger::Step, Trigger::Finish] {
            assert_eq!(rule(&gate.should_verify(&settings, trigger, at(0, 6))), (true, trigger.name()));
        }
        make(&mut gate, &settings, Trigger::Request, no(&[&n.to_string()]), at(0, 6));
    }
    let verdict = gate.should_verify(&settings, Trigger::Finish, at(0, 7));
    assert_eq!(rule(&verdict), (false, "max_verifications"));
    assert_eq!(Gate::unasked(Trigger::Finish, &verdict).0, Consequence::Unverified, "the loop is not held");
    assert_eq!(Gate::unasked(Trigger::Request, &verdict).0, Consequence::Continue);
}

#[test]
fn the_watchdog_wakes_when_nothing_happens() {
    let settings = settings(json!({}));
    let mut gate = Gate::default();
    gate.acted(true, at(10, 1));
    assert_eq!(gate.until_watchdog(&settings, at(40, 1)), Some(Duration::from_secs(90)));
    assert_eq!(rule(&gate.should_verify(&settings, Trigger::Watchdog, at(129, 1))), (false, "active"));
    assert_eq!(rule(&gate.should_verify(&settings, Trigger::Watchdog, at(130, 1))), (true, "watchdog"));
    make(&mut gate, &settings, Trigger::Watchdog, no(&[]), at(150, 1));
    assert_eq!(gate.until_watchdog(&settings, at(150, 1)), Some(Duration::from_secs(120)));
}

#[test]
fn what_is_off_does_nothing_and_what_is_not_named_only_what_it_is_asked_for() {
    let none = Settings::new(&Mechanisms::default(), &Switches::default()).verification;
    assert_eq!(none.mode, Mode::Free);
    let off = settings(json!({ "enabled": false }));
    let gate = Gate::default();
    for trigger in [Trigger::PostAction, Trigger::Watchdog, Trigger::Finish, Trigger::Step, Trigger::Request] {
        assert_eq!(rule(&gate.should_verify(&off, trigger, at(999, 99))), (false, "off"));
        let asked = matches!(trigger, Trigger::Step | Trigger::Request);
        assert_eq!(gate.should_verify(&none, trigger, at(999, 99)).act, asked, "{trigger:?}");
    }
    assert_eq!(gate.until_watchdog(&none, at(0, 0)), None);
}

#[test]
fn the_same_claim_that_is_refused_three_times_ends_the_loop() {
    let settings = settings(json!({}));
    let mut gate = Gate::default();
    let mut finish = |missing: &[&str]| make(&mut gate, &settings, Trigger::Finish, no(missing), at(1, 1));
    assert_eq!(finish(&["Report", "tests"]), (Consequence::Refused, "not_satisfied".into()));
    assert_eq!(finish(&["tests", "report"]), (Consequence::Refused, "not_satisfied".into()));
    assert_eq!(finish(&["tests", "report"]), (Consequence::Unverified, "same_missing".into()));
}

#[test]
fn what_only_looked_must_say_all_the_same_and_see_nothing_new() {
    let settings = settings(json!({}));
    let mut gate = Gate::default();
    let looked = |next: &str, news: bool| {
        let mut finding = no(&["the report"]);
        finding.state.next_movements = vec![next.to_owned()];
        Finding { news, ..finding }
    };
    let mut look = |finding| make(&mut gate, &settings, Trigger::PostAction, finding, at(1, 1)).0;
    let seen = [looked("read a", false), looked("read b", false), looked("read b", true), looked("read b", false)];
    assert_eq!(seen.map(&mut look), [Consequence::Continue; 4]);
    assert_eq!(look(looked("read b", false)), Consequence::Unverified);
}

#[test]
fn five_refusals_of_different_kinds_end_the_loop() {
    let settings = settings(json!({}));
    let mut gate = Gate::default();
    let mut finish = |n: u32| make(&mut gate, &settings, Trigger::Finish, no(&[&n.to_string()]), at(1, 1));
    for n in 0..4 {
        assert_eq!(finish(n), (Consequence::Refused, "not_satisfied".into()));
    }
    assert_eq!(finish(4), (Consequence::Unverified, "max_refusals".into()));
}

#[test]
fn a_judge_that_is_away_holds_the_end_once() {
    let settings = settings(json!({}));
    let mut gate = Gate::default();
    let before = no(&["tests"]);
    make(&mut gate, &settings, Trigger::Request, before, at(1, 1));
    let away = Finding::default();
    assert_eq!(
        make(&mut gate, &settings, Trigger::Finish, away.clone(), at(2, 2)),
        (Consequence::Refused, "no_verdict".into())
    );
    assert_eq!((gate.state.outcome, gate.state.missing.as_slice()), (Outcome::Unknown, &["tests".to_owned()][..]));
    assert_eq!(make(&mut gate, &settings, Trigger::PostAction, away.clone(), at(3, 3)).0, Consequence::Continue);
    assert_eq!(
        make(&mut gate, &settings, Trigger::Finish, away, at(4, 4)),
        (Consequence::Unverified, "no_verdict".into())
    );
}

#[test]
fn a_goal_that_cannot_be_reached_ends_the_loop_at_once() {
    let settings = settings(json!({}));
    let mut finding = no(&["a mail to the user"]);
    finding.state.impossible = true;
    let seen = make(&mut Gate::default(), &settings, Trigger::PostAction, finding, at(1, 1));
    assert_eq!(seen, (Consequence::Unverified, "impossible".into()));
}

#[test]
fn programs_are_not_asked_again_before_something_changed_and_only_attempts_count() {
    let settings = settings(json!({ "checks": [{ "run": ["true"] }], "max_failures": 2, "every": 1 }));
    assert_eq!(settings.judge, Judge::Checks);
    let mut gate = Gate::default();
    // Before anything was tried, a red check is where the work begins.
    gate.acted(false, at(1, 1));
    assert_eq!(looks(&gate, &settings, at(1, 1)), (true, "every".into()));
    assert_eq!(make(&mut gate, &settings, Trigger::PostAction, red("1"), at(1, 1)).0, Consequence::Continue);
    gate.acted(false, at(99, 9));
    assert_eq!(looks(&gate, &settings, at(99, 9)), (false, "nothing_changed".into()));
    gate.acted(true, at(99, 9));
    assert_eq!(looks(&gate, &settings, at(99, 9)), (true, "every".into()));
    assert_eq!(make(&mut gate, &settings, Trigger::PostAction, red("1"), at(99, 9)).0, Consequence::Continue);
    assert_eq!(gate.state.failures, 1);
    gate.acted(true, at(99, 9));
    let seen = make(&mut gate, &settings, Trigger::PostAction, red("1"), at(99, 9));
    assert_eq!(seen, (Consequence::Unverified, "max_failures".into()));
}

#[test]
fn without_max_failures_the_same_output_three_times_ends_the_loop() {
    let settings = settings(json!({ "checks": [{ "run": ["true"] }] }));
    let mut gate = Gate::default();
    let mut attempt = |output: &str| {
        gate.acted(true, at(1, 1));
        make(&mut gate, &settings, Trigger::PostAction, red(output), at(1, 1)).0
    };
    let seen = ["a", "b", "b", "b"].map(&mut attempt);
    let go_on = Consequence::Continue;
    assert_eq!(seen, [go_on, go_on, go_on, Consequence::Unverified]);
}

#[test]
fn a_yes_counts_when_it_is_sure_and_names_nothing_missing() {
    let answer = |json| serde_json::from_value::<Answer>(json).unwrap();
    let (any, sure) = (settings(json!({})), settings(json!({ "threshold": 0.8 })));
    assert!(answer(json!({ "satisfied": true })).weigh(&any).satisfied);
    assert!(!answer(json!({ "satisfied": true })).weigh(&sure).satisfied);
    assert!(answer(json!({ "satisfied": true, "confidence": 0.8 })).weigh(&sure).satisfied);
    assert!(!answer(json!({ "satisfied": true, "missing": "tests" })).weigh(&any).satisfied);
    assert!(!answer(json!({ "satisfied": true, "impossible": true })).weigh(&any).satisfied);
    let seen = answer(
        json!({ "satisfied": false, "next_movements": "a\nb", "completed_task_index": [1, "2a"], "missing": null }),
    );
    let state = seen.weigh(&any);
    assert_eq!(
        (state.next_movements, state.completed_task_index),
        (vec!["a b".to_owned()], vec!["1".into(), "2a".into()])
    );
}
