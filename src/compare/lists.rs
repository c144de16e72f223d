//! Lists: names, rules, steps, guards. What came and what went counts, not the order of names.

use serde_json::Value as Json;

use super::rules::shown;
use super::{Finding, Severity};
use crate::document::STEP_KEYS;

use Severity::{Narrows, Review, Widens};

/// Verbs that reach beyond the run: more of them is more that a loop may do.
const REACHING: [&str; 9] = ["artifact", "forge", "http", "list", "loop", "read", "run", "tool", "write"];

fn items(list: Option<&Json>) -> &[Json] {
    list.and_then(Json::as_array).map_or(&[], Vec::as_slice)
}

/// What is in one list and not in the other.
fn only_in<'a>(list: Option<&'a Json>, other: Option<&Json>) -> Vec<&'a Json> {
    items(list).iter().filter(|item| !items(other).contains(item)).collect()
}

/// A list of what a loop may use.
pub(super) fn names(kind: &'static str, noun: &str, old: Option<&Json>, new: Option<&Json>) -> Vec<Finding> {
    let added = only_in(new, old).into_iter().map(|name| {
        Finding::new(kind, Widens, format!("The {noun} {} may be used now.", shown(name))).values(None, Some(name))
    });
    let gone = only_in(old, new).into_iter().map(|name| {
        Finding::new(kind, Narrows, format!("The {noun} {} may no longer be used.", shown(name)))
            .values(Some(name), None)
    });
    added.chain(gone).collect()
}

/// A list of what watches a loop.
pub(super) fn guards(noun: &str, old: Option<&Json>, new: Option<&Json>) -> Vec<Finding> {
    let gone = only_in(old, new).into_iter().map(|item| {
        Finding::new("gate", Widens, format!("The {noun} {} is gone.", shown(item))).values(Some(item), None)
    });
    let added = only_in(new, old).into_iter().map(|item| {
        Finding::new("gate", Narrows, format!("There is a new {noun}: {}.", shown(item))).values(None, Some(item))
    });
    gone.chain(added).collect()
}

/// The rules that must hold before an action runs.
pub(super) fn verify(action: &str, old: Option<&Json>, new: Option<&Json>) -> Vec<Finding> {
    let find = |list: Option<&Json>, that: &Json| items(list).iter().find(|rule| rule["that"] == *that).cloned();
    let mut found = Vec::new();
    for rule in items(old) {
        match find(new, &rule["that"]) {
            None => {
                let sentence = format!("The rule {} of the action `{action}` is gone.", shown(&rule["that"]));
                found.push(Finding::new("verify", Widens, sentence).values(Some(rule), None));
            }
            Some(other) if other != *rule => {
                let sentence = format!("The model is told something else when {} does not hold.", shown(&rule["that"]));
                found.push(Finding::new("wording", Review, sentence).values(Some(rule), Some(&other)));
            }
            Some(_) => {}
        }
    }
    for rule in items(new).iter().filter(|rule| find(old, &rule["that"]).is_none()) {
        let sentence = format!("The action `{action}` has a new rule: {}.", shown(&rule["that"]));
        found.push(Finding::new("verify", Narrows, sentence).values(None, Some(rule)));
    }
    if found.is_empty() {
        found.push(Finding::new(
            "verify",
            Review,
            format!("The rules of the action `{action}` stand in another order."),
        ));
    }
    found
}

/// The verb of a step.
fn verb(step: &Json) -> Option<&str> {
    step.as_object()?.keys().map(String::as_str).find(|key| !STEP_KEYS.contains(key))
}

/// All verbs of steps, those in `on_error` included.
fn verbs(steps: &[Json]) -> Vec<&str> {
    let one = |step| {
        let step: &Json = step;
        verb(step).into_iter().chain(verbs(items(step.get("on_error")))).collect::<Vec<_>>()
    };
    steps.iter().flat_map(one).collect()
}

/// Steps of an action, a hook or a tool.
pub(super) fn steps(of: &str, old: Option<&Json>, new: Option<&Json>) -> Vec<Finding> {
    let (was, is) = (verbs(items(old)), verbs(items(new)));
    let count = |list: &[&str], verb: &str| list.iter().filter(|one| **one == verb).count();
    let mut more: Vec<&str> = is.iter().filter(|verb| count(&is, verb) > count(&was, verb)).copied().collect();
    let mut fewer: Vec<&str> = was.iter().filter(|verb| count(&was, verb) > count(&is, verb)).copied().collect();
    more.dedup();
    fewer.dedup();
    let severity = if more.iter().any(|verb| REACHING.contains(verb)) { Widens } else { Review };
    let list = |verbs: &[&str]| verbs.iter().map(|verb| format!("`{verb}`")).collect::<Vec<_>>().join(", ");
    let mut parts = Vec::new();
    if !more.is_empty() {
        parts.push(format!("more of {}", list(&more)));
    }
    if !fewer.is_empty() {
        parts.push(format!("less of {}", list(&fewer)));
    }
    let what = if parts.is_empty() { "other arguments, conditions or order".to_owned() } else { parts.join(", ") };
    let finding = Finding::new("steps", severity, format!("The steps of {of} change: {what}."));
    // What holds anyway need not be read.
    let short = |step: &Json| {
        let mut step = step.clone();
        if let Some(map) = step.as_object_mut().filter(|map| map.get("on_error").is_some_and(|word| word == "fail")) {
            map.shift_remove("on_error");
        }
        crate::explain::scalar(&step)
    };
    let lines = |list: Option<&Json>, other: Option<&Json>, sign: char| {
        only_in(list, other).into_iter().map(|step| format!("{sign} {}", short(step))).collect::<Vec<_>>()
    };
    let lines = [lines(old, new, '-'), lines(new, old, '+')].concat();
    vec![Finding { lines, ..finding }]
}
