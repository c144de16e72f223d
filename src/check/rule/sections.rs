//! Prompt sections: one source of text each, one section a name.

use crate::check::context::{Cx, Subject};
use crate::diag::{Diagnostic, Span, codes};
use crate::syntax::Node;

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    let Subject::Loop(loaded) = subject else { return };
    let sections = loaded.node.get("prompt").and_then(|prompt| prompt.get("sections"));
    let mut seen: Vec<(&str, Span)> = Vec::new();
    for section in sections.into_iter().flat_map(Node::items) {
        let place = section.entries().first().map_or(section.span, |entry| entry.key_span);
        match (section.entry("text"), section.entry("file")) {
            (Some(text), Some(file)) => cx.push(
                Diagnostic::error(codes::SECTION_SOURCE, file.key_span, "a section has `text` or `file`, not both")
                    .label(text.key_span, "its text")
                    .help("remove one of them"),
            ),
            (None, None) => cx.push(
                Diagnostic::error(codes::SECTION_SOURCE, place, "a section needs `text` or `file`")
                    .help("add `text: …`, or `file: prompts/…`"),
            ),
            _ => {}
        }
        let Some((name, span)) = section.get("name").and_then(|name| Some((name.as_str()?, name.span))) else {
            continue;
        };
        match seen.iter().find(|(known, _)| *known == name) {
            Some((_, first)) => cx.push(
                Diagnostic::error(codes::DUPLICATE_NAME, span, format!("another section is named `{name}`"))
                    .label(*first, "the other one")
                    .help("give one of them another name"),
            ),
            None => seen.push((name, span)),
        }
    }
}
