//! One pass over a reply that parts it into reasoning, tag bodies, foreign blocks, objects and prose.
//!
//! What starts first owns its text: nothing is looked for inside a string, a tag's body or reasoning.

use super::Grammar;
use super::chars::char_at;
use super::lenient::Fault;
use super::markers::{EndIndex, Marker, find_channel_end, find_think_end, marker, tag_end, trim_body};
use super::object::{Object, Read, read};

/// A part of a reply that matters.
#[derive(Debug)]
pub(super) enum Region<'a> {
    /// A JSON object in the open, from this byte.
    Object(usize, Object),
    /// Something like an object, which cannot be read.
    Broken {
        /// Where it starts.
        start: usize,
        /// What is wrong.
        fault: Fault,
        /// It had shown a key `@action`.
        action_shown: bool,
    },
    /// The body of a declared tag.
    Tag {
        /// Its name.
        name: &'a str,
        /// Its body, one line break per side taken off.
        body: &'a str,
        /// It has its end tag.
        closed: bool,
    },
    /// A lone `</think>`: all before it was reasoning.
    Reset,
    /// The text makes so many false starts that reading it all would take too long.
    Tangled,
}

/// The scanner.
pub(super) struct Regions<'a> {
    text: &'a str,
    grammar: &'a Grammar,
    /// Missing brackets may be added at the end.
    close: bool,
    pos: usize,
    /// Bytes that may still be read in vain.
    fuel: usize,
    ends: Option<EndIndex<'a>>,
}

/// What may be read in vain, in bytes: a fixed part, so that short replies never run out, and some for the length.
pub(super) fn fuel_for(length: usize) -> usize {
    const BASE: usize = 4 << 20;
    BASE + 2 * length
}

impl<'a> Regions<'a> {
    pub(super) fn new(text: &'a str, grammar: &'a Grammar, close: bool) -> Self {
        Self { text, grammar, close, pos: 0, fuel: fuel_for(text.len()), ends: None }
    }

    fn object(&mut self, start: usize, brace: char) -> Option<Region<'a>> {
        self.pos = start + brace.len_utf8();
        match read(self.text, start, self.close) {
            Read::Brace => None,
            Read::Object(object) => {
                self.pos = object.end;
                Some(Region::Object(start, object))
            }
            Read::Broken { fault, action_shown, cost } => {
                // Whatever failed is read again from the next brace inside it, so it is paid for.
                if cost > self.fuel {
                    self.pos = self.text.len();
                    return Some(Region::Tangled);
                }
                self.fuel -= cost;
                Some(Region::Broken { start, fault, action_shown })
            }
        }
    }

    fn mark(&mut self, at: usize) -> Option<Region<'a>> {
        let text = self.text;
        match marker(text, at, true, self.grammar) {
            Marker::ThinkOpen { name, length } => {
                self.pos = find_think_end(text, at + length, name).map_or(text.len(), |(_, end)| end);
            }
            Marker::ThinkClose { length } => {
                self.pos = at + length;
                return Some(Region::Reset);
            }
            Marker::Channel { length } => {
                self.pos = find_channel_end(text, at + length).map_or(text.len(), |(_, next)| next);
            }
            Marker::Tag { name, length } => return Some(self.tag(name, at + length)),
            Marker::Foreign { name, nonce, length } => {
                let ends = self.ends.get_or_insert_with(|| EndIndex::new(text));
                self.pos = ends.end_of(name, nonce, at + length).unwrap_or(at + length);
            }
            Marker::Text | Marker::More => self.pos = at + 1,
        }
        None
    }

    fn tag(&mut self, name: &'a str, start: usize) -> Region<'a> {
        let end_mark = tag_end(name, &self.grammar.nonce);
        let rest = &self.text[start..];
        match memchr::memmem::find(rest.as_bytes(), end_mark.as_bytes()) {
            Some(length) => {
                self.pos = start + length + end_mark.len();
                Region::Tag { name, body: trim_body(&rest[..length]), closed: true }
            }
            None => {
                self.pos = self.text.len();
                Region::Tag { name, body: trim_body(rest), closed: false }
            }
        }
    }
}

impl<'a> Iterator for Regions<'a> {
    type Item = Region<'a>;

    fn next(&mut self) -> Option<Region<'a>> {
        loop {
            let at = next_start(self.text, self.pos)?;
            let region = match char_at(self.text, at) {
                Some('<') => self.mark(at),
                Some(brace) => self.object(at, brace),
                None => return None,
            };
            if region.is_some() {
                return region;
            }
        }
    }
}

/// The next `<` or opening brace at or after `from`.
pub(super) fn next_start(text: &str, from: usize) -> Option<usize> {
    // 0xEF begins the full-width brace, and much else.
    const FULL_WIDTH: u8 = 0xEF;
    let bytes = text.as_bytes();
    memchr::memchr3_iter(b'{', b'<', FULL_WIDTH, &bytes[from..])
        .map(|offset| from + offset)
        .find(|&at| bytes[at] != FULL_WIDTH || text[at..].starts_with('\u{ff5b}'))
}
