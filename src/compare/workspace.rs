//! What loops stand on: the workspace's policy and roots, and the tools and forges that a loop may use.

use serde_json::Value as Json;

use super::rules::{same_but_for_order, shown};
use super::{Change, Finding, Severity, Side, change};
use crate::engine::outline;
use crate::explain::{Defaults, Item, explain_workspace};
use crate::graph::{NodeKind, graph};

use Severity::{Narrows, Review, Widens};

/// Keys of the workspace that decide what any loop may do.
pub(super) fn compare(old: &Side, new: &Side) -> Vec<Change> {
    let items = |side: &Side| explain_workspace(&side.library, Defaults::All).items;
    let (was, is) = (items(old), items(new));
    let mut changes = Vec::new();
    for key in ["policy", "paths", "models", "tiers", "retry", "vars"] {
        let find = |items: &[Item]| items.iter().find(|item| item.key.as_deref() == Some(key)).cloned();
        let (before, after) = (find(&was), find(&is));
        let value = |item: &Option<Item>| item.as_ref().and_then(Item::to_json);
        let (old_value, new_value) = (value(&before), value(&after));
        if old_value == new_value {
            continue;
        }
        let origins = (before.map(|item| old.origin(&item)), after.map(|item| new.origin(&item)));
        for finding in judge(key, old_value.as_ref(), new_value.as_ref()) {
            changes.push(change(finding, None, key.to_owned(), origins.0.clone(), origins.1.clone()));
        }
    }
    changes
}

fn judge(key: &str, old: Option<&Json>, new: Option<&Json>) -> Vec<Finding> {
    let none = Vec::new();
    match key {
        "policy" => {
            policy(old.and_then(Json::as_array).unwrap_or(&none), new.and_then(Json::as_array).unwrap_or(&none))
        }
        "paths" => {
            let roots =
                |value: Option<&Json>| value.and_then(|paths| paths["roots"].as_array()).cloned().unwrap_or_default();
            let (was, is) = (roots(old), roots(new));
            let mut found: Vec<Finding> = is
                .iter()
                .filter(|root| !was.contains(root))
                .map(|root| Finding::new("policy", Widens, format!("Files below {} may be touched now.", shown(root))))
                .collect();
            found.extend(was.iter().filter(|root| !is.contains(root)).map(|root| {
                Finding::new("policy", Narrows, format!("Files below {} may no longer be touched.", shown(root)))
            }));
            found
        }
        _ => vec![Finding::new("workspace", Review, format!("`{key}` of the workspace changes.")).values(old, new)],
    }
}

fn policy(was: &[Json], is: &[Json]) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut new: Vec<&Json> = is.iter().filter(|rule| !was.contains(rule)).collect();
    let mut gone: Vec<&Json> = was.iter().filter(|rule| !is.contains(rule)).collect();
    // One rule in the place of one other was edited.
    while let Some((before, after)) = edited(&gone, &new, was, is) {
        found.push(edit(before, after));
        gone.retain(|rule| !std::ptr::eq(*rule, before));
        new.retain(|rule| !std::ptr::eq(*rule, after));
    }
    for rule in new {
        let severity = match rule["decision"].as_str() {
            Some("allow") => Widens,
            Some("deny") => Narrows,
            _ => Review,
        };
        found.push(
            Finding::new("policy", severity, format!("The policy has a new rule: {}.", shown(rule)))
                .values(None, Some(rule)),
        );
    }
    for rule in gone {
        let severity = match rule["decision"].as_str() {
            Some("allow") => Narrows,
            // Whatever stood in the way no longer does.
            _ => Widens,
        };
        found.push(
            Finding::new("policy", severity, format!("A rule of the policy is gone: {}.", shown(rule)))
                .values(Some(rule), None),
        );
    }
    if found.is_empty() {
        found.push(Finding::new(
            "policy",
            Review,
            "The rules of the policy stand in another order, and the first that fits decides.",
        ));
    }
    found
}

/// A rule that is gone and a new one that are probably one: they are about the same, or stand at the same place among
/// equally many.
fn edited<'a>(gone: &[&'a Json], new: &[&'a Json], was: &[Json], is: &[Json]) -> Option<(&'a Json, &'a Json)> {
    let about = |rule: &Json| {
        let mut rule = rule.clone();
        if let Some(map) = rule.as_object_mut() {
            map.shift_remove("decision");
        }
        rule
    };
    let place = |list: &[Json], rule: &Json| list.iter().position(|one| std::ptr::eq(one, rule));
    let same = |before: &Json, after: &Json| about(before) == about(after);
    let in_place = |before: &Json, after: &Json| was.len() == is.len() && place(was, before) == place(is, after);
    let pairs = || gone.iter().flat_map(|before| new.iter().map(move |after| (*before, *after)));
    pairs()
        .find(|(before, after)| same(before, after))
        .or_else(|| pairs().find(|(before, after)| in_place(before, after)))
}

/// What an edited rule means: a decision that lets more or less pass, or something to be read.
fn edit(before: &Json, after: &Json) -> Finding {
    let strictness = |rule: &Json| ["allow", "ask", "deny"].iter().position(|word| rule["decision"] == **word);
    let same = before.as_object().zip(after.as_object()).is_some_and(|(before, after)| {
        let keys = before.keys().chain(after.keys()).filter(|key| *key != "decision");
        keys.clone().all(|key| before.get(key) == after.get(key))
    });
    let severity = match (strictness(before), strictness(after)) {
        (Some(was), Some(is)) if same && is < was => Widens,
        (Some(was), Some(is)) if same && is > was => Narrows,
        _ => Review,
    };
    let sentence = format!("A rule of the policy changes from {} to {}.", shown(before), shown(after));
    Finding::new("policy", severity, sentence).values(Some(before), Some(after))
}

/// The tools and forges that both versions of a loop may use, where they are documents that changed.
pub(super) fn tools(old: &Side, new: &Side, before: &str, after: &str) -> Vec<Change> {
    let used = |side: &Side, name: &str| {
        let listed = outline(&side.library, name).map(|outline| outline.tools).unwrap_or_default();
        let mut used: Vec<(NodeKind, String)> = listed.into_iter().map(|name| (NodeKind::Tool, name)).collect();
        let graph = graph(&side.library, name);
        let nodes = graph.loops.into_iter().take(1).flat_map(|one| one.nodes);
        used.extend(
            nodes
                .filter(|node| matches!(node.kind, NodeKind::Tool | NodeKind::Forge))
                .map(|node| (node.kind, node.label)),
        );
        used
    };
    let theirs = used(old, before);
    let mut seen = Vec::new();
    let mut changes = Vec::new();
    for one in used(new, after).into_iter().filter(|one| theirs.contains(one)) {
        if seen.contains(&one) {
            continue;
        }
        let (kind, name) = &one;
        let node = |side: &Side| match kind {
            NodeKind::Tool => side.library.tools.get(name).map(|loaded| loaded.node.to_json()),
            _ => side.library.forges.get(name).map(|loaded| loaded.node.to_json()),
        };
        let (was, is) = (node(old), node(new));
        if let (Some(Json::Object(was)), Some(Json::Object(is))) = (was, is) {
            let keys = is.keys().chain(was.keys().filter(|key| !is.contains_key(*key)));
            let same = |key: &String| was.get(key) == is.get(key) || same_but_for_order(was.get(key), is.get(key));
            for key in keys.filter(|key| *key != "$schema" && !same(key)) {
                let sentence = format!("`{key}` of the {} `{name}` changes.", kind.word());
                let finding = Finding::new(kind.word(), Review, sentence).values(was.get(key), is.get(key));
                changes.push(change(finding, Some(after), format!("{}.{name}.{key}", kind.word()), None, None));
            }
        }
        seen.push(one);
    }
    changes
}
