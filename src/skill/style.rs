//! How a skill's file is written: YAML that the format's own reader refuses, and blank lines around the instructions.

use crate::syntax::{Node, Style};

/// What the format's own reader refuses in a value; none for plain lines.
pub(super) fn odd_style(node: &Node) -> Option<&'static str> {
    if node.origin.is_some() {
        return Some("an alias");
    }
    if node.style == Style::Flow {
        return Some("a list or map in brackets");
    }
    let children = node.items().iter().chain(node.entries().iter().map(|entry| &entry.value));
    children.into_iter().find_map(odd_style)
}

/// Without blank lines at the beginning and blanks at the end; what indents the first line stays.
pub(super) fn without_blank_lines(text: &str) -> &str {
    let text = text.trim_end();
    let mut start = 0;
    for (at, _) in text.match_indices('\n') {
        if text[start..at].trim().is_empty() {
            start = at + 1;
        } else {
            break;
        }
    }
    &text[start..]
}
