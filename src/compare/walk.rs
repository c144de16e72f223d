//! Two effective documents side by side: what differs, and at which level a rule judges it.

use serde_json::Value as Json;

use super::{Change, Side, change, rules};
use crate::explain::{Item, Shown};

/// Keys that say nothing about behaviour: what they bring shows up in its own place.
const SILENT: [&str; 5] = ["$schema", "kind", "name", "extends", "example"];

/// Paths whose value is judged as a whole, `*` for any key.
const WHOLE: [&[&str]; 10] = [
    &["state", "*"],
    &["actions", "*", "params"],
    &["actions", "*", "verify"],
    &["actions", "*", "do"],
    &["actions", "*", "tags", "*"],
    &["actions", "*", "stream", "*"],
    &["hooks", "*"],
    &["model", "*"],
    &["tools"],
    &["builtins"],
];

/// Paths that are compared elsewhere, as the text that a model reads.
const ELSEWHERE: [&[&str]; 4] =
    [&["prompt", "instruction"], &["prompt", "output_example"], &["prompt", "reactive"], &["prompt", "sections"]];

pub(super) struct Walk<'a> {
    pub(super) old: &'a Side,
    pub(super) new: &'a Side,
    /// The loop's name.
    pub(super) of: &'a str,
    pub(super) changes: Vec<Change>,
}

fn matches(pattern: &[&str], path: &[String]) -> bool {
    pattern.len() == path.len() && pattern.iter().zip(path).all(|(part, key)| *part == "*" || part == key)
}

impl Walk<'_> {
    /// Compares maps key by key, in the order of the new one.
    pub(super) fn maps(&mut self, old: &[Item], new: &[Item], path: &mut Vec<String>) {
        let find = |items: &[Item], key: &Option<String>| items.iter().position(|item| item.key == *key);
        for item in new {
            self.both(find(old, &item.key).map(|at| &old[at]), Some(item), path);
        }
        for item in old.iter().filter(|item| find(new, &item.key).is_none()) {
            self.both(Some(item), None, path);
        }
    }

    fn both(&mut self, old: Option<&Item>, new: Option<&Item>, path: &mut Vec<String>) {
        let Some(key) = new.or(old).and_then(|item| item.key.clone()) else { return };
        if path.is_empty() && SILENT.contains(&key.as_str()) {
            return;
        }
        path.push(key);
        if !ELSEWHERE.iter().any(|pattern| matches(pattern, path)) {
            self.differing(old, new, path);
        }
        path.pop();
    }

    fn differing(&mut self, old: Option<&Item>, new: Option<&Item>, path: &mut Vec<String>) {
        let (was, is) = (old.and_then(Item::to_json), new.and_then(Item::to_json));
        if was == is {
            return;
        }
        let whole = WHOLE.iter().any(|pattern| matches(pattern, path));
        let none: &[Item] = &[];
        let inner = |item: Option<&Item>| match item.map(|item| &item.shown) {
            Some(Shown::Map(_)) => true,
            Some(Shown::Leaf(Json::Object(map))) => map.is_empty(),
            _ => false,
        };
        let items = |item: Option<&Item>| match item.map(|item| &item.shown) {
            Some(Shown::Map(items)) => items.clone(),
            _ => none.to_vec(),
        };
        // An action that comes or goes is one change, and settings that come or go are many.
        let is_action = path.len() == 2 && path[0] == "actions" && (old.is_none() || new.is_none());
        if !whole
            && !is_action
            && (inner(old) || inner(new))
            && (inner(old) || old.is_none())
            && (inner(new) || new.is_none())
        {
            return self.maps(&items(old), &items(new), path);
        }
        let parts: Vec<&str> = path.iter().map(String::as_str).collect();
        for finding in rules::judge(&parts, was.as_ref(), is.as_ref()) {
            let origins = (old.map(|item| self.old.origin(item)), new.map(|item| self.new.origin(item)));
            self.changes.push(change(finding, Some(self.of), path.join("."), origins.0, origins.1));
        }
    }
}
