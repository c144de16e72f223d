//! Changes for people, programs, and comments on a pull request.

use serde_json::{Value as Json, json as json_value};

use super::{Change, Severity};
use crate::diag::render::Color;
use crate::explain::{Origin, scalar};
use crate::guide::{code, escape, table};

/// The most characters of a value in a table.
const LONGEST: usize = 80;

/// For people: loop by loop, what widens first.
#[must_use]
pub fn text(changes: &[Change], color: Color) -> String {
    if changes.is_empty() {
        return "No change in behaviour.\n".to_owned();
    }
    let mut out = String::new();
    let mut last: Option<&Option<String>> = None;
    for change in changes {
        if last != Some(&change.of) {
            let name = change.of.as_ref().map_or_else(|| "the workspace".to_owned(), |name| format!("loop {name}"));
            out.push_str(&format!("{}{name}\n", if last.is_some() { "\n" } else { "" }));
            last = Some(&change.of);
        }
        let (on, off) = match (color, change.severity) {
            (Color::Plain, _) => ("", ""),
            (Color::Ansi, Severity::Widens) => ("\u{1b}[31m", "\u{1b}[0m"),
            (Color::Ansi, Severity::Review) => ("\u{1b}[33m", "\u{1b}[0m"),
            (Color::Ansi, Severity::Narrows) => ("\u{1b}[32m", "\u{1b}[0m"),
        };
        out.push_str(&format!("  {on}{:8}{off} {}\n", change.severity.word(), printable(&change.sentence)));
        if let Some(places) = places(change) {
            out.push_str(&format!("           {places}\n"));
        }
        for line in &change.lines {
            out.push_str(&format!("             {}\n", printable(line)));
        }
    }
    out.push_str(&format!("\n{}\n", summary(changes)));
    out
}

fn summary(changes: &[Change]) -> String {
    let count = |severity| changes.iter().filter(|change| change.severity == severity).count();
    let (widens, review, narrows) = (count(Severity::Widens), count(Severity::Review), count(Severity::Narrows));
    let all = changes.len();
    format!("{all} change{}: {widens} widen, {review} to review, {narrows} narrow", if all == 1 { "" } else { "s" })
}

fn places(change: &Change) -> Option<String> {
    let place = |origin: &Option<Origin>| origin.as_ref().map(ToString::to_string);
    match (place(&change.old_origin), place(&change.new_origin)) {
        (Some(old), Some(new)) if old == new => Some(old),
        (Some(old), Some(new)) => Some(format!("{old} → {new}")),
        (Some(one), None) => Some(format!("was {one}")),
        (None, Some(one)) => Some(one),
        (None, None) => None,
    }
}

/// Text of documents on one line of a terminal.
fn printable(text: &str) -> String {
    crate::explain::printable(text)
}

/// For programs.
#[must_use]
pub fn json(changes: &[Change]) -> Json {
    json_value!({ "changes": changes })
}

/// For a comment on a pull request.
#[must_use]
pub fn markdown(changes: &[Change]) -> String {
    if changes.is_empty() {
        return "**No change in behaviour.**\n".to_owned();
    }
    let mut out = format!("**{}**\n", summary(changes));
    let mut names: Vec<&Option<String>> = changes.iter().map(|change| &change.of).collect();
    names.dedup();
    for name in names {
        let title = name.as_ref().map_or_else(|| "The workspace".to_owned(), |name| format!("Loop {}", code(name)));
        out.push_str(&format!("\n### {title}\n\n"));
        let rows = changes.iter().filter(|change| change.of == *name).map(row);
        out.push_str(&table(&["", "change", "before", "after"], &rows.collect::<Vec<_>>()));
    }
    out
}

fn row(change: &Change) -> Vec<String> {
    let value = |value: &Option<Json>, origin: &Option<Origin>| {
        let value = value.as_ref().map(|value| code(&short(&scalar(value)))).unwrap_or_default();
        let origin = origin.as_ref().map(|origin| code(&origin.to_string())).unwrap_or_default();
        match (value.is_empty(), origin.is_empty()) {
            (false, false) => format!("{value}<br>{origin}"),
            _ => value + &origin,
        }
    };
    let lines: String = change.lines.iter().map(|line| format!("<br>{}", code(&short(line)))).collect();
    vec![
        change.severity.word().to_owned(),
        format!("{}{lines}", sentence(&change.sentence)),
        value(&change.old, &change.old_origin),
        value(&change.new, &change.new_origin),
    ]
}

/// A sentence whose code spans stay code spans: every other piece between backticks is one.
fn sentence(text: &str) -> String {
    let pieces: Vec<&str> = text.split('`').collect();
    if pieces.len().is_multiple_of(2) {
        return escape(text);
    }
    let piece = |(at, piece): (usize, &&str)| {
        if at % 2 == 1 {
            return code(piece);
        }
        // Blanks at the ends part words from the spans.
        let (start, end) = (piece.starts_with(' '), piece.ends_with(' ') && piece.len() > 1);
        format!("{}{}{}", if start { " " } else { "" }, escape(piece), if end { " " } else { "" })
    };
    pieces.iter().enumerate().map(piece).collect()
}

fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
