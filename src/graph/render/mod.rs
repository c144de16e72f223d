//! A graph as text: one file an output. All are pure functions, and no label can break out of any of them.

mod dot;
mod mermaid;
mod svg;
mod width;

pub use dot::dot;
pub use mermaid::mermaid;
pub use svg::svg;

use super::Node;

/// The lines of a node: what it is, its name, and more about it, cut where they become long.
fn lines(node: &Node, most: usize) -> Vec<String> {
    let heads = [node.kind.word().to_owned(), node.label.clone()];
    let heads = if node.kind.word() == node.label { vec![node.label.clone()] } else { heads.to_vec() };
    heads.into_iter().chain(node.details.iter().cloned()).map(|line| cut(&line, most)).collect()
}

/// Text on one line, with at most so many characters. What does not print is gone.
fn cut(text: &str, most: usize) -> String {
    let hidden = |c: char| matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}');
    let words: Vec<&str> = text.split_whitespace().collect();
    let line: String =
        words.join(" ").chars().map(|c| if c.is_control() || hidden(c) { '\u{FFFD}' } else { c }).collect();
    match line.char_indices().nth(most) {
        Some(_) => line.chars().take(most - 1).chain(['…']).collect(),
        None => line,
    }
}
