//! How the text of a TOML string lies in the file.

use crate::syntax::Offsets;
use crate::syntax::offsets::{Pieces, escape_length};

/// Offsets of a string, given what was written, quotes included.
pub(super) fn offsets(written: &str, text: &str, start: u32) -> Offsets {
    walk(written, text).map_or(Offsets::Start, |pieces| pieces.offsets(start))
}

fn walk(written: &str, text: &str) -> Option<Pieces> {
    let multi_line = written.starts_with("\"\"\"") || written.starts_with("'''");
    let escapes = written.starts_with('"');
    let mut at = if multi_line { 3 } else { 1 };
    if multi_line {
        // A line break right after the opening quotes does not belong to the text.
        let rest = written.get(at..)?;
        at += ["\r\n", "\n"].iter().find(|b| rest.starts_with(**b)).map_or(0, |b| b.len());
    }
    let mut pieces = Pieces::default();
    pieces.begin(0, at);
    let mut decoded = 0;
    while decoded < text.len() {
        let rest = written.get(at..)?;
        let next = rest.chars().next()?;
        let wanted = text[decoded..].chars().next()?;
        if escapes && next == '\\' {
            let after = rest[1..].trim_start_matches([' ', '\t']);
            if after.starts_with(['\n', '\r']) {
                // A backslash at the end of a line swallows all white space up to the next character.
                at += rest.len() - after.trim_start().len();
            } else {
                at += escape_length(rest)?;
                decoded += wanted.len_utf8();
            }
            pieces.begin(decoded, at);
        } else if next == wanted {
            at += next.len_utf8();
            decoded += next.len_utf8();
        } else if rest.starts_with("\r\n") && wanted == '\n' {
            at += 2;
            decoded += 1;
            pieces.begin(decoded, at);
        } else {
            return None;
        }
    }
    Some(pieces)
}

#[cfg(test)]
mod tests {
    use crate::diag::{Diagnostics, SourceId};
    use crate::syntax::{Format, Offsets, parse};

    #[test]
    fn every_string_form_maps_back_to_the_file() {
        for document in [
            "k = \"abc\"\n",
            "k = 'a\\bc'\n",
            "k = \"a\\n\\u00e9b\\x41\\\"c\"\n",
            "k = \"\"\"\na\n  b\\\n   \n  c\"\"\"\n",
            "k = '''\r\na\r\nb\r\nc'''\n",
        ] {
            let node = parse(SourceId(0), document, Format::Toml, &mut Diagnostics::new()).unwrap();
            let value = node.get("k").unwrap();
            let text = value.as_str().unwrap();
            assert_ne!(value.offsets, Offsets::Start, "{document:?}");
            for letter in ['a', 'b', 'c'] {
                let place = value.offset_to_source(text.find(letter).unwrap()) as usize;
                assert!(document[place..].starts_with(letter), "{letter} at {place} of {document:?}");
            }
        }
    }
}
