//! The effective document as YAML, each value with its origin in a comment behind it.

use serde_json::Value as Json;

use super::yaml::{block, key_word, printable, scalar};
use super::{Explained, Item, Origin, Shown};
use crate::diag::render::Color;

/// Comments begin here at the latest; longer lines push theirs out.
const COLUMN: usize = 56;

/// The longest list that stands on one line.
const FLOW: usize = 60;

/// One line: what is YAML, and what is said about it.
struct Line {
    yaml: String,
    comment: String,
}

/// The document as YAML that reads back as the same values.
#[must_use]
pub fn text(explained: &Explained, color: Color) -> String {
    let mut writer = Writer { lines: Vec::new(), file: explained.path.as_path() };
    writer.items(&explained.items, 0);
    let width = |line: &Line| line.yaml.chars().count();
    let commented = writer.lines.iter().filter(|line| !line.comment.is_empty()).map(width);
    let column = commented.filter(|width| *width <= COLUMN).max().unwrap_or(0);
    let name = explained.name.as_ref().map(|name| format!(" {}", printable(name))).unwrap_or_default();
    let file = printable(&explained.path.to_string_lossy());
    let (dim, plain) = match color {
        Color::Ansi => ("\u{1b}[2m", "\u{1b}[0m"),
        Color::Plain => ("", ""),
    };
    let mut out = format!("{dim}# {}{name}. `line N` is a line of {file}.{plain}\n", explained.kind.name());
    for line in &writer.lines {
        out.push_str(&line.yaml);
        if !line.comment.is_empty() {
            let gap = if line.yaml.is_empty() { 0 } else { column.saturating_sub(width(line)) + 2 };
            out.push_str(&format!("{:gap$}{dim}# {}{plain}", "", line.comment));
        }
        out.push('\n');
    }
    out
}

struct Writer<'a> {
    lines: Vec<Line>,
    file: &'a std::path::Path,
}

impl Writer<'_> {
    fn items(&mut self, items: &[Item], depth: usize) {
        for item in items {
            self.item(item, &"  ".repeat(depth), depth);
        }
    }

    /// `lead` is what stands before the key: blanks, or the dash of a list.
    fn item(&mut self, item: &Item, lead: &str, depth: usize) {
        let head = match &item.key {
            Some(key) => format!("{lead}{}:", key_word(key)),
            None => lead.trim_end().to_owned(),
        };
        match &item.shown {
            Shown::Leaf(value) => self.leaf(item, value, &head, depth),
            Shown::Words(words) => {
                let comment = format!("{}: {} (default)", item.key.as_deref().unwrap_or_default(), printable(words));
                self.push(lead.to_owned(), comment);
            }
            Shown::List(items) => match flow(items).filter(|flow| flow.chars().count() <= FLOW) {
                Some(flow) => self.push(format!("{head} {flow}"), self.comment(item)),
                None => {
                    self.push(head, self.overridden(item));
                    let lead = format!("{}- ", "  ".repeat(depth + 1));
                    items.iter().for_each(|item| self.item(item, &lead, depth + 1));
                }
            },
            Shown::Map(items) if item.key.is_none() => self.listed(items, lead, depth),
            Shown::Map(items) => {
                self.push(head, String::new());
                self.items(items, depth + 1);
            }
        }
    }

    fn leaf(&mut self, item: &Item, value: &Json, head: &str, depth: usize) {
        let Some((header, lines)) = value.as_str().and_then(block) else {
            return self.push(format!("{head} {}", scalar(value)), self.comment(item));
        };
        self.push(format!("{head} {header}"), self.comment(item));
        let indent = "  ".repeat(depth + 1);
        for line in lines {
            self.push(if line.is_empty() { String::new() } else { format!("{indent}{line}") }, String::new());
        }
    }

    /// A map in a list: its first key stands behind the dash.
    fn listed(&mut self, items: &[Item], lead: &str, depth: usize) {
        let indent = "  ".repeat(depth + 1);
        let mut lead = lead.to_owned();
        // Words alone make no line of YAML, so they cannot stand behind the dash.
        let (words, values): (Vec<&Item>, Vec<&Item>) =
            items.iter().partition(|item| matches!(item.shown, Shown::Words(_)));
        for item in values.into_iter().chain(words) {
            self.item(item, &lead, depth + 1);
            lead.clone_from(&indent);
        }
    }

    fn push(&mut self, yaml: String, comment: String) {
        self.lines.push(Line { yaml, comment });
    }

    fn comment(&self, item: &Item) -> String {
        let origins: Vec<&Origin> = match &item.shown {
            // The items of a short list may come from two places.
            Shown::List(items) => items.iter().map(|item| &item.origin).collect(),
            _ => vec![&item.origin],
        };
        let mut words: Vec<String> = origins.iter().map(|origin| self.origin(origin)).collect();
        words.dedup();
        let overridden = self.overridden(item);
        words.into_iter().chain(Some(overridden).filter(|words| !words.is_empty())).collect::<Vec<_>>().join("; ")
    }

    fn overridden(&self, item: &Item) -> String {
        let former = item.overrides.iter().map(|former| {
            let value = scalar(&former.value);
            let short: String = value.chars().take(40).collect();
            let more = if short.len() < value.len() { "…" } else { "" };
            format!("overrides {short}{more} from {}", self.origin(&former.origin))
        });
        former.collect::<Vec<_>>().join("; ")
    }

    fn origin(&self, origin: &Origin) -> String {
        match origin.place() {
            Some(place) if place.file == self.file => format!("line {}", place.line),
            _ => origin.to_string(),
        }
    }
}

/// A list of short scalars on one line.
fn flow(items: &[Item]) -> Option<String> {
    let leaf = |item: &Item| match &item.shown {
        Shown::Leaf(value) if !value.as_str().is_some_and(|text| text.contains('\n')) => Some(scalar(value)),
        _ => None,
    };
    let items: Option<Vec<String>> = items.iter().map(leaf).collect();
    items.map(|items| format!("[{}]", items.join(", ")))
}
