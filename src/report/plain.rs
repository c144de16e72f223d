//! Text that others wrote, made safe and short for a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::Value;

/// Whether a terminal may do something other than show this character: control characters (ESC and the C1 range among
/// them), and the marks that reorder text so that it reads as something else.
fn is_unsafe(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' => true,
        c => c.is_control(),
    }
}

/// The text with every unsafe character spelled out, such as `\u{1b}`; line breaks and tabs stay.
#[must_use]
pub fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    // A line break of two characters is still a line break.
    let text = text.replace("\r\n", "\n");
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_unsafe(c) {
            let _ = write!(out, "{}", c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// The text on one line, safe, and cut after `most` characters.
#[must_use]
pub fn one_line(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut left = most;
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        for c in word.chars() {
            if left == 0 {
                out.push('…');
                return out;
            }
            left -= 1;
            if is_unsafe(c) {
                let _ = write!(out, "{}", c.escape_unicode());
            } else {
                out.push(c);
            }
        }
        if words.peek().is_some() {
            if left == 0 {
                out.push('…');
                return out;
            }
            left -= 1;
            out.push(' ');
        }
    }
    out
}

/// A value on one line: a text as it is, an object as `name: value` pairs, anything else as JSON.
#[must_use]
pub(super) fn brief(value: &Value, most: usize) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => one_line(text, most),
        Value::Object(map) => {
            let pairs = map.iter().map(|(name, value)| match value {
                Value::String(text) => format!("{name}: {}", one_line(text, 60)),
                other => format!("{name}: {}", one_line(&other.to_string(), 60)),
            });
            one_line(&pairs.collect::<Vec<_>>().join(", "), most)
        }
        other => one_line(&other.to_string(), most),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_move_a_cursor_is_spelled_out() {
        assert_eq!(escape("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(escape("c1 \u{9b}31m"), "c1 \\u{9b}31m");
        assert_eq!(escape("over\rwrite\r\n"), "over\\u{d}write\n");
        assert_eq!(escape("user\u{202e}nimda"), "user\\u{202e}nimda");
        assert!(matches!(escape("日本\tfine\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn long_text_is_cut_at_a_character() {
        assert_eq!(one_line("a\n  b\u{7}  c", 80), "a b\\u{7} c");
        assert_eq!(one_line("日本語日本語", 4), "日本語日…");
        assert_eq!(one_line("exact", 5), "exact");
        assert_eq!(one_line("ab cd", 2), "ab…");
    }

    #[test]
    fn values_read_like_sentences() {
        let value = serde_json::json!({ "path": "a.txt", "lines": [1, 2] });
        assert_eq!(brief(&value, 80), "path: a.txt, lines: [1,2]");
        assert_eq!(brief(&Value::Null, 80), "");
    }
}
