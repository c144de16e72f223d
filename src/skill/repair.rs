//! Front matter that is no YAML, because a text has a colon, a quote or a bracket in it: the most frequent mistake in published
//! skills. The text that was meant is put in quotes; nothing else is guessed.

use super::fences::Lines;
use crate::diag::{Diagnostics, SourceId};
use crate::syntax::{Format, parse};

/// Keys whose values are more than text. A mistake in them is never papered over.
const STRUCTURED: [&str; 3] = ["metadata", "input_schema", "invoke"];

/// The front matter with each value that is no YAML in quotes, line for line where the original has them. `None` when the
/// mistake is of another kind.
pub(super) fn repair(front: &str) -> Option<String> {
    let lines: Vec<&str> = Lines { text: front, at: 0 }.map(|(_, line)| line).collect();
    let mut text = String::new();
    level(&lines, 0, &mut text)?;
    Some(text)
}

/// Repairs the entries of a map whose keys stand at this indentation.
fn level(lines: &[&str], indent: usize, out: &mut String) -> Option<()> {
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        if is_aside(line) {
            push(out, line);
            at += 1;
            continue;
        }
        let (key, inline) = entry(line, indent)?;
        let own = lines[at + 1..].iter().take_while(|line| is_aside(line) || indentation(line) > indent).count();
        let chunk = &lines[at..=at + own];
        if reads(chunk) {
            chunk.iter().for_each(|line| push(out, line));
        } else {
            mend(chunk, (key, inline), indent, out)?;
        }
        at += 1 + own;
    }
    Some(())
}

/// Puts a value that cannot be read in quotes.
fn mend(chunk: &[&str], (key, inline): (&str, &str), indent: usize, out: &mut String) -> Option<()> {
    if inline.is_empty() && key == "metadata" {
        let first = chunk[1..].iter().find(|line| !is_aside(line))?;
        push(out, chunk[0]);
        return level(&chunk[1..], indentation(first), out);
    }
    if inline.is_empty() || is_block_header(inline) || STRUCTURED.contains(&key) {
        return None;
    }
    let more = chunk[1..].iter().map(|line| line.trim()).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let text = std::iter::once(inline).chain(more).collect::<Vec<_>>().join(" ");
    // A JSON string is a YAML one.
    let quoted = serde_json::to_string(unquoted(&text)).ok()?;
    push(out, &format!("{}{key}: {quoted}", " ".repeat(indent)));
    chunk[1..].iter().for_each(|_| push(out, ""));
    Some(())
}

fn push(out: &mut String, line: &str) {
    out.push_str(line);
    out.push('\n');
}

fn is_aside(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

/// Blanks at the beginning of a line. A tab counts as one, so that it never makes a deeper level.
fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// `key: value` at this indentation.
fn entry(line: &str, indent: usize) -> Option<(&str, &str)> {
    let (blank, rest) = line.split_at_checked(indent)?;
    let (key, value) = rest.split_once(':')?;
    let is_key = key.trim_end().chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    let separated = value.is_empty() || value.starts_with([' ', '\t']);
    let found = (key.trim_end(), value.trim());
    (blank.chars().all(|c| c == ' ') && !key.is_empty() && is_key && separated).then_some(found)
}

fn is_block_header(inline: &str) -> bool {
    let Some(rest) = inline.strip_prefix(['|', '>']) else { return false };
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-')).trim_start();
    rest.is_empty() || rest.starts_with('#')
}

fn reads(chunk: &[&str]) -> bool {
    let mut findings = Diagnostics::new();
    let read = parse(SourceId::NONE, &format!("---\n{}\n", chunk.join("\n")), Format::Yaml, &mut findings);
    read.is_some() && !findings.has_errors()
}

/// The text between the quotes around the whole of it: `"says "hello" now"`. Those of `"a" or "b"` belong to its words.
fn unquoted(text: &str) -> &str {
    for quote in ['"', '\''] {
        let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) else { continue };
        let closes = inner.find(quote).is_some_and(|at| {
            let before = inner[..at].chars().next_back();
            let after = inner[at + 1..].chars().next();
            before.is_some_and(|c| !c.is_whitespace()) && after.is_none_or(|c| !c.is_alphanumeric())
        });
        return if closes { text } else { inner };
    }
    text
}
