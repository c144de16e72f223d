//! What a difference means: one rule a part of the document.

use serde_json::Value as Json;

use super::{Finding, Severity, lists, params};
use crate::document::Duration;
use crate::explain::scalar;

use Severity::{Narrows, Review, Widens};

/// Numbers of mechanisms that let a loop go on for longer when they grow.
const PATIENCE: [&str; 9] = [
    "same_action",
    "same_logic",
    "max_warnings",
    "every",
    "max_age",
    "watchdog",
    "max_failures",
    "patience",
    "min_iteration",
];

/// Judges a difference at a path; one of the values may be missing.
pub(super) fn judge(path: &[&str], old: Option<&Json>, new: Option<&Json>) -> Vec<Finding> {
    match path {
        // `1h` and `60m`, `10` and `1e1`: written in another way.
        ["limits" | "mechanisms", ..] if same_size(old, new) => Vec::new(),
        ["limits", name] => one(limit(name, old, new), old, new),
        ["allow", name] => {
            let (severity, word) =
                if new == Some(&Json::Bool(true)) { (Widens, "allowed") } else { (Narrows, "refused") };
            one(Finding::new("allow", severity, format!("`{name}` is now {word}.")), old, new)
        }
        ["tools"] => lists::names("tools", "tool", old, new),
        ["env"] => lists::names("env", "environment variable", old, new),
        ["builtins"] => builtins(old, new),
        ["model", tier] => {
            one(Finding::new("model", Review, format!("The tier `{tier}` {}.", moves(old, new))), old, new)
        }
        ["state", _] if same_but_for_order(old, new) => Vec::new(),
        ["state", name] => one(Finding::new("state", Review, state(name, old, new)), old, new),
        ["actions", name] => {
            let (severity, word) = if old.is_none() { (Widens, "new") } else { (Narrows, "gone") };
            one(Finding::new("action", severity, format!("The action `{name}` is {word}.")), None, None)
        }
        ["actions", name, "params"] => params::compare(name, old, new),
        ["actions", name, "verify"] => lists::verify(name, old, new),
        ["actions", name, "do"] => lists::steps(&format!("the action `{name}`"), old, new),
        ["actions", name, "then"] => {
            let sentence = format!("What follows the action `{name}` {}.", moves(old, new));
            one(Finding::new("exit", Review, sentence), old, new)
        }
        ["actions", name, "when"] => {
            let (severity, what) = match (old, new) {
                (Some(_), None) => (Widens, "is offered at all times now".to_owned()),
                (None, Some(new)) => (Narrows, format!("is offered only while {} now", shown(new))),
                _ => (Review, format!("is offered under another condition: it {}", moves(old, new))),
            };
            one(Finding::new("action", severity, format!("The action `{name}` {what}.")), old, new)
        }
        ["actions", name, "description"] => {
            one(Finding::new("wording", Review, format!("The model reads another description of `{name}`.")), old, new)
        }
        ["hooks", name] => lists::steps(&format!("the hook `{name}`"), old, new),
        ["mechanisms", "verification", "checks"] => lists::guards("check", old, new),
        ["mechanisms", "verification", "protect"] => lists::guards("protected path", old, new),
        ["mechanisms", name, .., key] => one(mechanism(name, key, old, new), old, new),
        ["description" | "usage"] => {
            one(Finding::new("wording", Review, format!("The {} of the loop is another one.", path[0])), old, new)
        }
        _ => one(Finding::new("setting", Review, format!("`{}` {}.", path.join("."), moves(old, new))), old, new),
    }
}

fn one(finding: Finding, old: Option<&Json>, new: Option<&Json>) -> Vec<Finding> {
    vec![finding.values(old, new)]
}

/// A value in a sentence.
pub(super) fn shown(value: &Json) -> String {
    let text = scalar(value);
    let short: String = text.chars().take(60).collect();
    if short.len() < text.len() { format!("`{short}…`") } else { format!("`{text}`") }
}

/// `changes from A to B`, `is A now`, `is no longer set (it was A)`.
fn moves(old: Option<&Json>, new: Option<&Json>) -> String {
    match (old, new) {
        (Some(old), Some(new)) => format!("changes from {} to {}", shown(old), shown(new)),
        (None, Some(new)) => format!("is {} now", shown(new)),
        (Some(old), None) => format!("is no longer set (it was {})", shown(old)),
        (None, None) => "is the same".to_owned(),
    }
}

/// A number, or a time in seconds.
pub(super) fn number(value: &Json) -> Option<f64> {
    value.as_f64().or_else(|| Some(Duration::parse(value.as_str()?).ok()?.0.as_secs_f64()))
}

/// Whether two schemas differ in nothing but the order of what an `enum` or `required` lists.
pub(super) fn same_but_for_order(old: Option<&Json>, new: Option<&Json>) -> bool {
    fn ordered(value: &Json) -> Json {
        match value {
            Json::Object(map) => map
                .iter()
                .map(|(key, value)| {
                    let mut value = ordered(value);
                    if let Some(list) = value.as_array_mut().filter(|_| matches!(key.as_str(), "enum" | "required")) {
                        list.sort_by_key(Json::to_string);
                    }
                    (key.clone(), value)
                })
                .collect(),
            Json::Array(list) => list.iter().map(ordered).collect(),
            other => other.clone(),
        }
    }
    old.zip(new).is_some_and(|(old, new)| ordered(old) == ordered(new))
}

fn same_size(old: Option<&Json>, new: Option<&Json>) -> bool {
    let size = |value: Option<&Json>| value.and_then(number);
    size(old).is_some() && size(old) == size(new)
}

/// Whether a value is larger than before; an absent one is without end.
fn grows(old: Option<&Json>, new: Option<&Json>) -> Option<bool> {
    let size = |value: Option<&Json>| value.map_or(Some(f64::INFINITY), number);
    Some(size(new)? > size(old)?)
}

fn limit(name: &str, old: Option<&Json>, new: Option<&Json>) -> Finding {
    let sentence = match (grows(old, new), old, new) {
        (Some(true), Some(old), None) => format!("The limit `{name}` is gone; it was {}.", shown(old)),
        (Some(false), None, Some(new)) => format!("There is a limit `{name}` now: {}.", shown(new)),
        (Some(true), Some(old), Some(new)) => {
            format!("The limit `{name}` rises from {} to {}.", shown(old), shown(new))
        }
        (Some(false), Some(old), Some(new)) => {
            format!("The limit `{name}` falls from {} to {}.", shown(old), shown(new))
        }
        _ => format!("The limit `{name}` {}.", moves(old, new)),
    };
    let severity = match grows(old, new) {
        Some(true) => Widens,
        Some(false) => Narrows,
        None => Review,
    };
    Finding::new("limit", severity, sentence)
}

/// A list that is absent offers everything.
fn builtins(old: Option<&Json>, new: Option<&Json>) -> Vec<Finding> {
    match (old, new) {
        (Some(_), None) => {
            one(Finding::new("actions", Widens, "All built-in actions that `allow` permits are offered now."), old, new)
        }
        (None, Some(new_list)) => {
            let sentence = format!("Only these built-in actions are offered now: {}.", shown(new_list));
            one(Finding::new("actions", Narrows, sentence), old, new)
        }
        _ => lists::names("actions", "built-in action", old, new),
    }
}

fn state(name: &str, old: Option<&Json>, new: Option<&Json>) -> String {
    let kind = |value: Option<&Json>| value.and_then(|value| value.get("type")).cloned();
    match (old, new) {
        (None, Some(_)) => format!("The state variable `{name}` is new."),
        (Some(_), None) => format!("The state variable `{name}` is gone."),
        _ if kind(old) != kind(new) => format!("The type of the state variable `{name}` changes."),
        _ => format!("The state variable `{name}` {}.", moves(old, new)),
    }
}

fn mechanism(name: &str, key: &str, old: Option<&Json>, new: Option<&Json>) -> Finding {
    if key == "enabled" {
        let (severity, word) = if new == Some(&Json::Bool(false)) { (Widens, "off") } else { (Narrows, "on") };
        // Checkpoints for todos and perception judge nothing, but what they show may keep a loop on its way.
        return Finding::new("mechanism", severity, format!("The mechanism `{name}` is switched {word}."));
    }
    let more = grows(old, new).filter(|_| old.is_some() && new.is_some());
    let severity = match more {
        Some(more) if PATIENCE.contains(&key) => {
            if more {
                Widens
            } else {
                Narrows
            }
        }
        Some(more) if key == "threshold" => {
            if more {
                Narrows
            } else {
                Widens
            }
        }
        _ => Review,
    };
    Finding::new("mechanism", severity, format!("`{key}` of the mechanism `{name}` {}.", moves(old, new)))
}
