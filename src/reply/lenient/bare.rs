//! Values without quotes in the forgiving reader.

use super::super::chars::{is_blank, narrow};
use super::super::repair::Kind;
use super::super::scalar::{Scalar, scalar};
use super::{Event, Frame, Reader, Step};

impl Reader {
    /// A number, a literal or bare words, up to a comma, a closing bracket, a comment or the end of the line.
    pub(super) fn bare(&mut self, text: &str, ended: bool, sink: &mut dyn FnMut(Event<'_>)) -> Step {
        let in_array = self.stack.last() == Some(&Frame::Array);
        let rest = &text[self.scan..];
        let mut blank_before = false;
        let mut end = None;
        for (offset, c) in rest.char_indices() {
            let comment = blank_before && c == '/' && rest[offset + 1..].starts_with(['/', '*']);
            if comment || matches!(narrow(c), ',' | '}' | '\n') || (in_array && narrow(c) == ']') {
                end = Some(self.scan + offset);
                break;
            }
            blank_before = is_blank(c);
        }
        let Some(end) = end else {
            // Two characters are looked at again: a comment's start is a blank and two signs.
            let back = rest.char_indices().rev().nth(2).map_or(0, |(offset, _)| offset);
            self.scan += back;
            let word = text[self.pos..].trim_matches(is_blank);
            let complete = matches!(word, "true" | "false" | "null" | "True" | "False" | "None");
            if !(ended && complete) {
                return Err(self.more_or_cut(text, ended, "ends inside a value"));
            }
            return self.scalar(word, text.len(), sink);
        };
        let word = text[self.pos..end].trim_matches(is_blank);
        if word.is_empty() {
            return Err(self.malformed("has a key without a value"));
        }
        self.scalar(word, end, sink)
    }

    fn scalar(&mut self, word: &str, end: usize, sink: &mut dyn FnMut(Event<'_>)) -> Step {
        let value = match scalar(word) {
            Scalar::Strict(value) => value,
            Scalar::Respelled(value) => {
                self.log.note(Kind::Respelled, self.pos);
                value
            }
            Scalar::NonFinite(value) => {
                self.log.note(Kind::NonFinite, self.pos);
                value
            }
            Scalar::Word(value) => {
                self.log.note(Kind::UnquotedValue, self.pos);
                value
            }
        };
        self.pos = end;
        self.action_next = false;
        sink(Event::Scalar(value));
        self.after_value();
        Ok(())
    }
}
