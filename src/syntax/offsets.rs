//! From a byte offset in a decoded string to the byte offset in the file.

use std::sync::Arc;

use granit_parser::ScalarStyle;

/// How the bytes of a decoded string lie in the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Offsets {
    /// Not known: everything is at the start of the value.
    #[default]
    Start,
    /// Byte for byte, beginning at this offset in the file.
    Linear(u32),
    /// Pieces, each byte for byte: (offset in the string, offset in the file), both rising.
    Pieces(Arc<[(u32, u32)]>),
}

impl Offsets {
    /// The place in the file of an offset in the string.
    pub fn locate(&self, decoded: usize, start: u32) -> u32 {
        let decoded = u32::try_from(decoded).unwrap_or(u32::MAX);
        match self {
            Offsets::Start => start,
            Offsets::Linear(base) => base.saturating_add(decoded),
            Offsets::Pieces(pieces) => {
                let after = pieces.partition_point(|(from, _)| *from <= decoded);
                let Some((from, to)) = after.checked_sub(1).and_then(|at| pieces.get(at)) else {
                    return start;
                };
                let place = to.saturating_add(decoded - from);
                // A piece ends where the next one begins, also when what lies between is longer in the string.
                pieces.get(after).map_or(place, |(_, next)| place.min(*next))
            }
        }
    }
}

/// How a scalar's text lies in the file, given what was written: quotes and block header included.
pub(super) fn of_scalar(written: &str, text: &str, style: ScalarStyle, start: u32) -> Offsets {
    let quote = match style {
        ScalarStyle::Plain => Some(0),
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Some(1),
        _ => None,
    };
    // Most scalars stand on one line and escape nothing.
    if let Some(quote) = quote
        && !text.is_empty()
        && written.len() == text.len() + 2 * quote
        && written.get(quote..quote + text.len()) == Some(text)
    {
        return Offsets::Linear(start.saturating_add(u32::try_from(quote).unwrap_or_default()));
    }
    let found = match style {
        ScalarStyle::Plain => flowing(written, text, 0, Escapes::None),
        ScalarStyle::SingleQuoted => flowing(written, text, 1, Escapes::DoubledQuote),
        ScalarStyle::DoubleQuoted => flowing(written, text, 1, Escapes::Backslash),
        ScalarStyle::Literal => literal(written, text),
        ScalarStyle::Folded => folded(written, text),
    };
    found.map_or(Offsets::Start, |pieces| pieces.offsets(start))
}

/// Pairs of (offset in the string, offset in what was written), before the start is added.
#[derive(Default)]
pub(super) struct Pieces(Vec<(usize, usize)>);

impl Pieces {
    /// From here on, byte for byte.
    pub(super) fn begin(&mut self, decoded: usize, written: usize) {
        match self.0.last_mut() {
            Some((from, to)) if *from == decoded => *to = written,
            Some((from, to)) if decoded - *from == written - *to => {}
            _ => self.0.push((decoded, written)),
        }
    }

    pub(super) fn offsets(self, start: u32) -> Offsets {
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        match self.0[..] {
            [] => Offsets::Linear(start),
            [(0, written)] => Offsets::Linear(start.saturating_add(place(written))),
            _ => Offsets::Pieces(
                self.0.iter().map(|(from, to)| (place(*from), start.saturating_add(place(*to)))).collect(),
            ),
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Escapes {
    None,
    DoubledQuote,
    Backslash,
}

/// Walks a plain or quoted scalar and its text side by side; `None` if they do not match as expected.
fn flowing(written: &str, text: &str, opening: usize, escapes: Escapes) -> Option<Pieces> {
    let mut pieces = Pieces::default();
    let (mut at, mut decoded) = (opening, 0);
    pieces.begin(0, at);
    while decoded < text.len() {
        let rest = written.get(at..)?;
        let next = rest.chars().next()?;
        let wanted = text[decoded..].chars().next()?;
        if escapes == Escapes::Backslash && next == '\\' {
            let length = escape_length(rest)?;
            at += length;
            if rest[1..].starts_with(['\n', '\r']) {
                // An escaped line break stands for nothing, and neither does the indentation after it.
                let (blank, breaks) = blank_run(written.get(at..)?);
                at += blank;
                decoded += breaks;
            } else {
                decoded += wanted.len_utf8();
            }
            pieces.begin(decoded, at);
        } else if escapes == Escapes::DoubledQuote && rest.starts_with("''") {
            at += 2;
            decoded += 1;
            pieces.begin(decoded, at);
        } else if ends_line(rest) {
            let (blank, breaks) = blank_run(rest);
            at += blank;
            decoded += breaks.saturating_sub(1).max(1);
            pieces.begin(decoded, at);
        } else if next == wanted {
            at += next.len_utf8();
            decoded += next.len_utf8();
        } else {
            return None;
        }
    }
    Some(pieces)
}

/// Whether only blanks are left on the line, and a next line follows.
fn ends_line(rest: &str) -> bool {
    rest.trim_start_matches([' ', '\t']).starts_with(['\n', '\r'])
}

/// How long a run of blanks and line breaks is, and how many breaks it has.
fn blank_run(rest: &str) -> (usize, usize) {
    let length = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    (length, rest[..length].matches('\n').count())
}

/// How many bytes an escape takes, the backslash included.
pub(super) fn escape_length(rest: &str) -> Option<usize> {
    let code = rest[1..].chars().next()?;
    Some(match code {
        'x' => 4,
        'u' if is_high_surrogate(rest) => 12,
        'u' => 6,
        'U' => 10,
        '\r' if rest[1..].starts_with("\r\n") => 3,
        _ => 1 + code.len_utf8(),
    })
}

/// A pair of `\uD83D\uDE00` is one character.
fn is_high_surrogate(rest: &str) -> bool {
    let digits = rest.get(2..6).and_then(|hex| u32::from_str_radix(hex, 16).ok());
    digits.is_some_and(|unit| (0xD800..0xDC00).contains(&unit))
}

/// A `|` scalar: each line of the text is the end of a line in the file.
fn literal(written: &str, text: &str) -> Option<Pieces> {
    let mut pieces = Pieces::default();
    let mut decoded = 0;
    let mut at = written.find('\n')? + 1;
    let mut lines = text.split('\n').peekable();
    while let Some(line) = lines.next() {
        let Some(rest) = written.get(at..) else { break };
        let end = rest.find('\n').unwrap_or(rest.len());
        let written_line = rest[..end].strip_suffix('\r').unwrap_or(&rest[..end]);
        if line.is_empty() {
            if lines.peek().is_some() {
                pieces.begin(decoded, at + written_line.len());
            }
        } else {
            // What was written may lack trailing blanks, which were cut off the span.
            let indent = written_line.find(|c| c != ' ').unwrap_or(0);
            let indent = match written_line.strip_suffix(line) {
                Some(indentation) => indentation.len(),
                None if line.trim_end() == written_line.trim() => indent,
                None => return None,
            };
            pieces.begin(decoded, at + indent);
        }
        decoded += line.len() + 1;
        at += end + 1;
    }
    Some(pieces)
}

/// A `>` scalar: each written line, without its indentation, appears in the text in turn.
fn folded(written: &str, text: &str) -> Option<Pieces> {
    let mut pieces = Pieces::default();
    let mut decoded = 0;
    let mut at = written.find('\n')? + 1;
    while at < written.len() {
        let rest = &written[at..];
        let end = rest.find('\n').unwrap_or(rest.len());
        let line = &rest[..end];
        let content = line.trim();
        if !content.is_empty() {
            let blank = text[decoded..].len() - text[decoded..].trim_start().len();
            decoded += blank;
            if !text[decoded..].starts_with(content) {
                return None;
            }
            pieces.begin(decoded, at + (line.len() - line.trim_start().len()));
            decoded += content.len();
        }
        at += end + 1;
    }
    Some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{Diagnostics, SourceMap};
    use crate::syntax::{Format, parse};

    /// Each letter of the text must be found at the same letter in the file.
    fn agrees(document: &str, letters: &str) {
        let mut sources = SourceMap::new();
        let id = sources.add("x.yaml", document);
        let node = parse(id, document, Format::Yaml, &mut Diagnostics::new()).unwrap();
        let value = node.get("k").unwrap();
        let text = value.as_str().unwrap();
        assert_ne!(value.offsets, Offsets::Start, "{document:?}");
        for letter in letters.chars() {
            let decoded = text.find(letter).unwrap();
            let place = value.offset_to_source(decoded) as usize;
            assert!(document[place..].starts_with(letter), "{letter} of {text:?} is not at {place} of {document:?}");
        }
    }

    #[test]
    fn every_style_maps_back_to_the_file() {
        agrees("k: abc\n", "abc");
        agrees("k: aé日b\n", "aé日b");
        agrees("k: a\n  b\n\n  c\n", "abc");
        agrees("k: 'a''b'\n", "ab");
        agrees("k: 'a\n   b\n\n\n   c'\n", "abc");
        agrees("k: \"a\\n\\u00e9b\\x41\\\"c\\uD83D\\uDE00d\"\n", "abcd");
        agrees("k: \"a \\\n   b\n   c\n\n   d\"\n", "abcd");
        agrees("k: |\n  ab\n   c\n\n  d\n", "abcd");
        agrees("k: |-\r\n  ab\r\n\r\n  d\r\n", "abd");
        agrees("k: |2\n   ab\n  d\n", "abd");
        agrees("k: >\n  ab\n  c\n\n  d\n    e\n  f\n", "abcdef");
    }

    #[test]
    fn an_escape_maps_to_its_backslash() {
        let document = "k: \"a\\tb\"\n";
        let node = parse(crate::diag::SourceId(0), document, Format::Yaml, &mut Diagnostics::new());
        let node = node.unwrap();
        assert_eq!(node.get("k").unwrap().offset_to_source(1), 5);
    }
}
