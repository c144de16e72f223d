//! Names that are used elsewhere: documents, actions, state variables, steps.

use crate::check::context::{Cx, Subject};
use crate::check::steps::{each, lists};
use crate::diag::{Diagnostic, Span, codes};
use crate::document::Kind;
use crate::syntax::Node;

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let document = subject.node();
    if subject.kind() != Kind::Workspace
        && let Some((name, span)) = document.get("name").and_then(|name| Some((name.as_str()?, name.span)))
        && !is_document_name(name)
    {
        let message =
            if name.is_empty() { "the name is empty".to_owned() } else { format!("`{name}` cannot be a name") };
        cx.push(
            Diagnostic::error(codes::INVALID_VALUE, span, message)
                .help("use letters, digits, `_`, `-` and `.`; begin with a letter, a digit or `_`"),
        );
    }
    for entry in document.get("actions").into_iter().flat_map(Node::entries) {
        if !is_word(&entry.key) {
            word(cx, "an action", &entry.key, entry.key_span);
        }
        for tag in entry.value.get("tags").into_iter().flat_map(Node::entries).filter(|tag| !is_tag(&tag.key)) {
            cx.push(
                Diagnostic::error(
                    codes::INVALID_VALUE,
                    tag.key_span,
                    format!("`{}` cannot be the name of a tag", tag.key),
                )
                .help("use capitals, digits and `_`, such as `FINAL_ANSWER`; `_END` is the engine's"),
            );
        }
    }
    if let Some(state) = document.get("state").filter(|_| subject.kind() == Kind::Loop) {
        for entry in state.entries().iter().filter(|entry| !is_word(&entry.key)) {
            word(cx, "a state variable", &entry.key, entry.key_span);
        }
    }
    for list in lists(document) {
        let mut seen: Vec<(&str, Span)> = Vec::new();
        each(list.node, &mut |step| {
            let Some(node) = step.key("id") else { return };
            let Some(id) = node.as_str() else { return };
            if !is_word(id) {
                return word(cx, "a step's id", id, node.span);
            }
            match seen.iter().find(|(known, _)| *known == id) {
                Some((_, first)) => cx.push(
                    Diagnostic::error(
                        codes::DUPLICATE_NAME,
                        node.span,
                        format!("another step of this list has the id `{id}`"),
                    )
                    .label(*first, "the other one")
                    .help("give one of them another id"),
                ),
                None => seen.push((id, node.span)),
            }
        });
    }
}

fn word(cx: &mut Cx<'_>, what: &str, name: &str, span: Span) {
    cx.push(
        Diagnostic::error(codes::INVALID_VALUE, span, format!("`{name}` cannot be the name of {what}"))
            .help("use letters, digits and `_`, and do not begin with a digit"),
    );
}

/// The bytes between `<|` and the nonce, which the reader of replies knows.
fn is_tag(name: &str) -> bool {
    let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') || !c.is_ascii();
    !name.is_empty() && name.chars().all(known) && !name.ends_with("_END") && !name.starts_with('_')
}

/// Letters of any script: models and templates read them as they are.
fn is_word(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}

fn is_document_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|first| first.is_alphanumeric() || first == '_')
        && chars.all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}
