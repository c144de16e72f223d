//! Bytes to the protocol's positions and back. The protocol counts UTF-16 units unless both sides agree on bytes, and a
//! line ends with `\n`, `\r\n` or `\r`.

use super::protocol::{Position, Range};

/// What a position's `character` counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    #[default]
    Utf16,
}

impl Encoding {
    /// The best that a client offers: bytes cost nothing to count. Without an offer it is UTF-16.
    pub(super) fn of_offer<'a>(offered: impl IntoIterator<Item = &'a str>) -> Self {
        offered.into_iter().fold(Self::Utf16, |best, name| if name == "utf-8" { Self::Utf8 } else { best })
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16 => "utf-16",
        }
    }

    fn units(self, c: char) -> u32 {
        match self {
            Self::Utf8 => u32::try_from(c.len_utf8()).unwrap_or(1),
            Self::Utf16 => u32::try_from(c.len_utf16()).unwrap_or(1),
        }
    }
}

/// A text with the places of its lines. Offsets count without a byte order mark, as the checker's do.
#[derive(Debug)]
pub(super) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
    /// What the byte order mark counts in the first line.
    mark: u32,
    encoding: Encoding,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str, encoding: Encoding) -> Self {
        let (text, mark) = match text.strip_prefix('\u{feff}') {
            Some(rest) => (rest, encoding.units('\u{feff}')),
            None => (text, 0),
        };
        let bytes = text.as_bytes();
        let ends = memchr::memchr2_iter(b'\n', b'\r', bytes);
        let ends = ends.filter(|at| bytes[*at] == b'\n' || bytes.get(at + 1) != Some(&b'\n'));
        let starts = std::iter::once(0).chain(ends.map(|at| at + 1)).collect();
        Self { text, starts, mark, encoding }
    }

    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    pub(super) fn position(&self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset);
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or_default();
        let units: u32 = self.text[start..offset].chars().map(|c| self.encoding.units(c)).sum();
        let mark = if line == 0 { self.mark } else { 0 };
        Position { line: u32::try_from(line).unwrap_or(u32::MAX), character: units + mark }
    }

    /// The offset of a position; beyond a line's end it is that end, beyond the last line the end of the text.
    pub(super) fn offset(&self, position: Position) -> usize {
        let line = position.line as usize;
        let Some(start) = self.starts.get(line).copied() else { return self.text.len() };
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        let content = self.text[start..end].trim_end_matches(['\n', '\r']);
        let mark = if line == 0 { self.mark } else { 0 };
        let mut left = position.character.saturating_sub(mark);
        for (at, c) in content.char_indices() {
            let units = self.encoding.units(c);
            if left < units {
                return start + at;
            }
            left -= units;
        }
        start + content.len()
    }

    pub(super) fn range(&self, bytes: std::ops::Range<usize>) -> Range {
        Range { start: self.position(bytes.start), end: self.position(bytes.end) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn characters_beyond_the_basic_plane_count_twice_in_utf16() {
        let text = "a\u{1F600}b\r\nü: 日\rx\n";
        for (encoding, b, sun) in [(Encoding::Utf16, at(0, 3), at(1, 3)), (Encoding::Utf8, at(0, 5), at(1, 4))] {
            let lines = Lines::new(text, encoding);
            assert_eq!(lines.position(text.find('b').unwrap()), b);
            assert_eq!(lines.position(text.find('日').unwrap()), sun);
            assert_eq!(lines.position(text.find('x').unwrap()), at(2, 0), "a lone CR ends a line");
            assert_eq!(lines.offset(b), text.find('b').unwrap());
            assert_eq!(lines.offset(at(0, 99)), text.find('\r').unwrap(), "a position beyond the line is its end");
            assert_eq!(lines.offset(at(99, 0)), text.len());
        }
        let lines = Lines::new(text, Encoding::Utf16);
        assert_eq!(lines.offset(at(0, 2)), 1, "half a pair is the character's start");
    }

    #[test]
    fn a_byte_order_mark_counts_for_the_editor_and_not_for_the_checker() {
        let lines = Lines::new("\u{feff}name: x\nb", Encoding::Utf16);
        assert_eq!(lines.position(6), at(0, 7));
        assert_eq!(lines.offset(at(0, 7)), 6);
        assert_eq!(lines.position(8), at(1, 0));
    }

    proptest::proptest! {
        #[test]
        fn every_boundary_comes_back(text in "[a\u{e9}\u{1F600}\r\n\u{feff} ]{0,40}") {
            for encoding in [Encoding::Utf8, Encoding::Utf16] {
                let lines = Lines::new(&text, encoding);
                for (at, c) in lines.text().char_indices() {
                    // Between the halves of a line's end there is no position.
                    if !matches!(c, '\n' | '\r') {
                        proptest::prop_assert_eq!(lines.offset(lines.position(at)), at);
                    }
                }
            }
        }
    }
}
