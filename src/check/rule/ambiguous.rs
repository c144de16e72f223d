//! Data of no declared type that does not mean what it seems to: `1.10` is a number, `no` is a text.

use crate::check::context::{Cx, Subject};
use crate::check::steps::{each, lists};
use crate::diag::{Diagnostic, codes};
use crate::syntax::{Entry, Node, is_old_boolean};

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let document = subject.node();
    for key in ["state", "vars", "params", "input", "output"] {
        warn(cx, document.get(key));
    }
    for entry in document.get("actions").into_iter().flat_map(Node::entries) {
        key(cx, entry);
        warn(cx, entry.value.get("params"));
    }
    for list in lists(document) {
        each(list.node, &mut |step| {
            for verb in step.verbs().filter(|verb| matches!(&*verb.key, "set" | "emit" | "timeline" | "result")) {
                warn(cx, Some(&verb.value));
            }
        });
    }
}

fn warn(cx: &mut Cx<'_>, node: Option<&Node>) {
    if let Some(node) = node {
        node.warn_ambiguous(cx.found);
        keys(cx, node);
    }
}

fn keys(cx: &mut Cx<'_>, node: &Node) {
    for entry in node.entries() {
        key(cx, entry);
        keys(cx, &entry.value);
    }
    node.items().iter().for_each(|item| keys(cx, item));
}

/// A key without quotes that YAML 1.1 makes a boolean.
fn key(cx: &mut Cx<'_>, entry: &Entry) {
    // Hardly any reader takes a single letter for a boolean, and many names have one.
    if !is_old_boolean(&entry.key) || entry.key.len() == 1 || entry.key_span.is_none() {
        return;
    }
    let text = cx.sources.text(entry.key_span.source);
    let (start, end) = (entry.key_span.start as usize, entry.key_span.end as usize);
    let is_plain = text.get(start..end) == Some(&*entry.key);
    // TOML has no such words.
    let is_yaml = text.get(end..).is_some_and(|rest| rest.trim_start_matches([' ', '\t']).starts_with(':'));
    if is_plain && is_yaml {
        let message = format!("`{}` is a text here, and some readers of YAML take it for a boolean", entry.key);
        cx.push(
            Diagnostic::warning(codes::AMBIGUOUS_BOOLEAN, entry.key_span, message)
                .help("put it in quotes, or choose another name")
                .safe_fix(entry.key_span, format!("\"{}\"", entry.key)),
        );
    }
}
