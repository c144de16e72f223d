//! Parameters: what a JSON Schema asks for, before and after.

use serde_json::{Map, Value as Json};

use super::rules::{number, shown};
use super::{Finding, Severity};

use Severity::{Narrows, Review, Widens};

/// Keywords that admit more when they grow, and those that admit less.
const UPPER: [&str; 6] = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"];
const LOWER: [&str; 6] = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"];

/// Compares the parameters of an action, in either of their two forms.
pub(super) fn compare(action: &str, old: Option<&Json>, new: Option<&Json>) -> Vec<Finding> {
    let (was, is) = (full(old), full(new));
    let mut found = Vec::new();
    schema(&format!("`{action}`"), "", &was, &is, &mut found);
    found
}

/// The long form of parameters: `name: type!` is a property that is required.
fn full(params: Option<&Json>) -> Json {
    let node = crate::syntax::Node::synthetic(params.unwrap_or(&Json::Null));
    let decoded = crate::syntax::decode::<crate::document::Params>(&node, &mut crate::diag::Diagnostics::new());
    decoded.map(|params| params.schema).or_else(|| params.cloned()).unwrap_or(Json::Null)
}

fn words(schema: &Json, key: &str) -> Vec<Json> {
    schema[key].as_array().cloned().unwrap_or_default()
}

fn schema(of: &str, at: &str, old: &Json, new: &Json, found: &mut Vec<Finding>) {
    if old == new {
        return;
    }
    let place = if at.is_empty() { format!("The parameters of {of}") } else { format!("The parameter `{at}` of {of}") };
    let mut say = |severity, what: String, was: Option<&Json>, is: Option<&Json>| {
        let kind = if what.contains("described") { "wording" } else { "params" };
        found.push(Finding::new(kind, severity, format!("{place} {what}.")).values(was, is));
    };
    let none = Map::new();
    let (was, is) = (old.as_object().unwrap_or(&none), new.as_object().unwrap_or(&none));
    let mut keys: Vec<&String> = was.keys().chain(is.keys().filter(|key| !was.contains_key(*key))).collect();
    keys.retain(|key| was.get(*key) != is.get(*key));
    for key in keys {
        let (before, after) = (was.get(key), is.get(key));
        match key.as_str() {
            "properties" | "items" => {}
            "required" => {
                let (before, after) = (words(old, key), words(new, key));
                for name in before.iter().filter(|name| !after.contains(name)) {
                    say(Widens, format!("may leave out {} now", shown(name)), Some(name), None);
                }
                for name in after.iter().filter(|name| !before.contains(name)) {
                    say(Narrows, format!("must have {} now", shown(name)), None, Some(name));
                }
            }
            "description" | "title" | "examples" => {
                say(Review, "is described in other words".to_owned(), before, after)
            }
            "enum" if before.is_some() && after.is_some() => {
                let (before, after) = (words(old, key), words(new, key));
                for value in after.iter().filter(|value| !before.contains(value)) {
                    say(Widens, format!("may be {} too", shown(value)), None, Some(value));
                }
                for value in before.iter().filter(|value| !after.contains(value)) {
                    say(Narrows, format!("may no longer be {}", shown(value)), Some(value), None);
                }
            }
            key => {
                let severity = bound(key, before, after);
                let what = match (before, after) {
                    (Some(before), Some(after)) => {
                        format!("changes `{key}` from {} to {}", shown(before), shown(after))
                    }
                    (None, Some(after)) => format!("has `{key}`: {} now", shown(after)),
                    (Some(before), None) => format!("has no `{key}` any more (it was {})", shown(before)),
                    (None, None) => continue,
                };
                say(severity, what, before, after);
            }
        }
    }
    inner(of, at, old, new, found);
}

/// What a keyword's change admits.
fn bound(key: &str, before: Option<&Json>, after: Option<&Json>) -> Severity {
    let numbers = (before.and_then(number), after.and_then(number));
    match (before, after) {
        // A keyword that is gone no longer refuses anything, and a new one does.
        (Some(_), None) if key != "default" => Widens,
        (None, Some(_)) if key != "default" => Narrows,
        _ => match numbers {
            (Some(was), Some(is)) if UPPER.contains(&key) => {
                if is > was {
                    Widens
                } else {
                    Narrows
                }
            }
            (Some(was), Some(is)) if LOWER.contains(&key) => {
                if is < was {
                    Widens
                } else {
                    Narrows
                }
            }
            _ if key == "additionalProperties" => {
                if after == Some(&Json::Bool(false)) {
                    Narrows
                } else {
                    Widens
                }
            }
            _ => Review,
        },
    }
}

/// The schemas of properties and items.
fn inner(of: &str, at: &str, old: &Json, new: &Json, found: &mut Vec<Finding>) {
    let none = Map::new();
    let properties = |schema: &Json| schema["properties"].as_object().unwrap_or(&none).clone();
    let (was, is) = (properties(old), properties(new));
    let path = |key: &str| if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") };
    for (key, schema_now) in &is {
        match was.get(key) {
            Some(before) => schema(of, &path(key), before, schema_now, found),
            None => {
                let sentence = format!("{of} takes a new parameter `{}`.", path(key));
                found.push(Finding::new("params", Widens, sentence).values(None, Some(schema_now)));
            }
        }
    }
    for (key, before) in was.iter().filter(|(key, _)| !is.contains_key(*key)) {
        let sentence = format!("{of} no longer takes the parameter `{}`.", path(key));
        found.push(Finding::new("params", Narrows, sentence).values(Some(before), None));
    }
    if !old["items"].is_null() || !new["items"].is_null() {
        schema(of, &format!("{at}[]"), &old["items"], &new["items"], found);
    }
}
