//! What a template's text shows without being parsed: how often its loops run at least, and delimiters that were
//! written by hand.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// How often the loops of a template may run in all: each time costs at least one unit of a rendering's fuel.
const FUEL: u64 = 256 * 1024;

#[expect(clippy::expect_used, reason = "the patterns are constants that a test compiles")]
static TAG: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\{#|\{\{|\{%[-+]?\s*([A-Za-z_]*)").expect("a valid pattern"));
#[expect(clippy::expect_used, reason = "the patterns are constants that a test compiles")]
static END_RAW: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\{%[-+]?\s*endraw").expect("a valid pattern"));
#[expect(clippy::expect_used, reason = "the patterns are constants that a test compiles")]
static CONSTANT_RANGE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^for\s+.*\bin\s+range\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)").expect("a valid pattern"));
#[expect(clippy::expect_used, reason = "the patterns are constants that a test compiles")]
static DELIMITER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"<\|/?[A-Za-z][A-Za-z0-9_]+\|>").expect("a valid pattern"));

/// A statement of a template.
struct Tag<'s> {
    name: &'s str,
    /// What is written between the braces, from the name on.
    content: &'s str,
    range: Range<usize>,
}

/// The statements of a template, as far as they can be told apart; those inside `raw` are text.
fn tags(source: &str) -> Vec<Tag<'_>> {
    scan(source).0
}

/// The comments of a template, `{#` and `#}` included.
pub(super) fn comments(source: &str) -> Vec<Range<usize>> {
    if source.contains("{#") { scan(source).1 } else { Vec::new() }
}

/// Statements and comments.
fn scan(source: &str) -> (Vec<Tag<'_>>, Vec<Range<usize>>) {
    let (mut tags, mut comments) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(found) = TAG.captures_at(source, at) {
        let Some(whole) = found.get(0) else { break };
        let close = match whole.as_str() {
            "{#" => "#}",
            "{{" => "}}",
            _ => "%}",
        };
        let end = source[whole.end()..].find(close).map_or(source.len(), |end| whole.end() + end + 2);
        at = end.max(whole.end());
        if close == "#}" {
            comments.push(whole.start()..end);
        }
        let Some(name) = found.get(1) else { continue };
        let content = source[name.start()..end].trim_end_matches("%}").trim_end_matches(['-', '+']).trim();
        tags.push(Tag { name: name.as_str(), content, range: whole.start()..end });
        if name.as_str() == "raw" {
            match END_RAW.find_at(source, at) {
                Some(closing) => at = closing.start(),
                None => break,
            }
        }
    }
    (tags, comments)
}

/// The outermost of nested loops over constant ranges that together run more often than a template may.
pub(super) fn out_of_fuel(source: &str) -> Option<Range<usize>> {
    if !source.contains("range(") {
        return None;
    }
    let mut open: Vec<(u64, Range<usize>)> = Vec::new();
    for tag in tags(source) {
        if tag.name == "endfor" {
            open.pop();
        } else if tag.name == "for" {
            open.push((constant_times(tag.content), tag.range));
            let times = open.iter().fold(1u64, |all, (times, _)| all.saturating_mul(*times));
            if times > FUEL {
                return open.into_iter().next().map(|(_, range)| range);
            }
        }
    }
    None
}

/// How often a loop runs at least; 1 where that is not written out.
fn constant_times(content: &str) -> u64 {
    let Some(found) = CONSTANT_RANGE.captures(content) else { return 1 };
    let number = |group: usize| found.get(group).and_then(|digits| digits.as_str().parse::<u64>().ok());
    match (number(1), number(2)) {
        (Some(start), Some(end)) => end.saturating_sub(start).max(1),
        (Some(end), None) => end.max(1),
        _ => 1,
    }
}

/// What a delimiter that is written out looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delimiter {
    /// One of the engine's, with a nonce.
    Section,
    /// One of the engine's without a nonce.
    Bare,
    /// One that servers write around the messages of a chat.
    Chat,
}

/// Words of the chat templates of models, in lower case.
const CHAT: &[&str] = &[
    "assistant",
    "begin_of_text",
    "bos",
    "channel",
    "constrain",
    "end",
    "end_header_id",
    "end_of_text",
    "endoftext",
    "eom_id",
    "eos",
    "eot_id",
    "im_end",
    "im_sep",
    "im_start",
    "message",
    "python_tag",
    "return",
    "start",
    "start_header_id",
    "system",
    "tool",
    "user",
];

/// Delimiters that are written out. Those that only show the form, with `NONCE` or `CODE`, are none.
pub(super) fn hand_written_delimiters(source: &str) -> Vec<(Delimiter, Range<usize>)> {
    if !source.contains("<|") {
        return Vec::new();
    }
    DELIMITER.find_iter(source).filter_map(|found| Some((delimiter(found.as_str())?, found.range()))).collect()
}

fn delimiter(text: &str) -> Option<Delimiter> {
    let name = text.trim_start_matches("<|").trim_end_matches("|>").trim_start_matches('/');
    if CHAT.contains(&name.to_ascii_lowercase().as_str()) {
        return Some(Delimiter::Chat);
    }
    let (tag, last) = name.rsplit_once('_').unwrap_or((name, ""));
    let is_tag = |tag: &str| tag.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    let is_nonce = last.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    if is_tag(tag) && is_nonce {
        return Some(Delimiter::Section);
    }
    let is_form = ["NONCE", "CODE", "ID"].contains(&last);
    (is_tag(name) && !is_form).then_some(Delimiter::Bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loops_that_are_certain_to_run_too_often_are_reported() {
        assert!(out_of_fuel("{% for i in range(9999) %}{% for j in range(9999) %}x{% endfor %}{% endfor %}").is_some());
        assert!(out_of_fuel("{% for i in range(9999) %}{% endfor %}{% for j in range(9999) %}x{% endfor %}").is_none());
        assert!(out_of_fuel("{% for i in range(0, 300000) %}x{% endfor %}").is_some());
        assert!(out_of_fuel("{% for i in range(n) %}x{% endfor %}").is_none());
    }

    #[test]
    fn comments_are_not_found_in_raw_text() {
        let source = "a {# one #} {% raw %}{# text #}{% endraw %} {{ '{# text #}' }} {# two";
        let found: Vec<&str> = comments(source).into_iter().map(|range| &source[range]).collect();
        assert_eq!(found, ["{# one #}", "{# two"]);
    }

    #[test]
    fn delimiters_are_told_from_their_form() {
        let found =
            |source: &str| hand_written_delimiters(source).into_iter().map(|(kind, _)| kind).collect::<Vec<_>>();
        assert_eq!(found("<|PERSISTENT_ab12|> x <|PERSISTENT_END_ab12|>"), [Delimiter::Section; 2]);
        assert_eq!(found("<|FINAL_ANSWER|> <|NOTES_END|>"), [Delimiter::Bare; 2]);
        assert_eq!(found("<|SYSTEM|> <|im_start|> <|endoftext|> <|/user|>"), [Delimiter::Chat; 4]);
        assert_eq!(
            found("<|FINAL_ANSWER_{{ nonce }}|> <|TAG_NONCE|> <|NAME_END_CODE|> <|x|> <|note|> a <| b |> c"),
            []
        );
    }
}
