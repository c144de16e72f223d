//! Reads a reply as it arrives, for display: parameters, tags and reasoning, piece by piece.
//!
//! It follows the same rules as [`super::extract()`], with the same markers and the same forgiving reader, and holds
//! back what the text so far does not decide. Fed whole or in parts, a reply gives the same text for each parameter.

mod body;
mod show;

use super::Grammar;
use super::chars::char_at;
use super::closing::Decision;
use super::lenient::{Event, Reader, Status};
use super::markers::{EndIndex, Marker, marker, tag_end};
use super::object::follows_brace;
use super::regions::{fuel_for, next_start};
use body::{Body, Ends};
use show::{Seeker, Shower};

/// A bit of a reply that can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// More text of a parameter. A string comes decoded, in parts; any other value comes once, as compact JSON.
    Field {
        /// The action's name.
        action: &'a str,
        /// The parameter's name.
        key: &'a str,
        /// The next characters.
        text: &'a str,
    },
    /// The parameter is complete.
    FieldEnd {
        /// The action's name.
        action: &'a str,
        /// The parameter's name.
        key: &'a str,
    },
    /// More of a tag's body.
    Tag {
        /// The tag's name.
        name: &'a str,
        /// The next characters.
        text: &'a str,
    },
    /// The tag is complete.
    TagEnd {
        /// The tag's name.
        name: &'a str,
    },
    /// More of the model's reasoning, or of `human_readable_thought`.
    Thought(&'a str),
    /// Parameters and tags shown so far were reasoning after all, because a lone `</think>` came: forget them.
    Retract,
}

/// What takes the pieces.
type Show<'s> = &'s mut dyn FnMut(Piece<'_>);

/// The incremental reader. What it shows is never executed.
#[derive(Debug)]
pub struct Live {
    grammar: Grammar,
    /// The reply so far. Kept whole, because what turns out to be no object is read again.
    raw: String,
    pos: usize,
    mode: Mode,
    /// An action has been shown to its end; later ones are not.
    chosen: bool,
    /// A parameter or a tag has been shown.
    shown: bool,
    /// What was read in vain, in bytes.
    spent: usize,
}

#[derive(Debug)]
enum Mode {
    /// Prose.
    Outer,
    /// Reasoning, or a tag's body.
    Body(Body),
    /// A block under a foreign nonce; plain text if it never ends.
    Foreign { end: String, from: usize },
    /// An object, or what looks like one.
    Object(Box<Candidate>),
    /// The reply cannot be used, so nothing more is shown.
    Dead,
}

#[derive(Debug)]
struct Candidate {
    start: usize,
    width: usize,
    reader: Reader,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    /// `@action` has not come.
    Seek(Seeker),
    /// It names this action.
    Show(Box<Shower>),
    /// It names nothing known, or an action was shown before.
    Skip,
}

impl Live {
    /// A reader for one reply.
    pub fn new(grammar: &Grammar) -> Self {
        Self {
            grammar: grammar.clone(),
            raw: String::new(),
            pos: 0,
            mode: Mode::Outer,
            chosen: false,
            shown: false,
            spent: 0,
        }
    }

    /// Takes the next text of the reply and hands out what can be shown.
    pub fn feed(&mut self, text: &str, show: &mut dyn FnMut(Piece<'_>)) {
        self.raw.push_str(text);
        let raw = std::mem::take(&mut self.raw);
        self.read(&raw, None, show);
        self.raw = raw;
    }

    /// Says that the reply has ended, and hands out what was held back.
    pub fn finish(&mut self, show: &mut dyn FnMut(Piece<'_>)) {
        let raw = std::mem::take(&mut self.raw);
        let ends = EndIndex::new(&raw);
        self.read(&raw, Some(&ends), show);
        self.mode = Mode::Dead;
    }

    /// Reads as far as the text decides. `ends` is there once the text is complete.
    fn read(&mut self, raw: &str, ends: Option<&EndIndex<'_>>, show: Show<'_>) {
        loop {
            let on = match std::mem::replace(&mut self.mode, Mode::Dead) {
                Mode::Dead => false,
                Mode::Outer => self.outer(raw, ends, show),
                Mode::Body(body) => self.body(raw, body, ends.is_some(), show),
                Mode::Foreign { end, from } => self.foreign(raw, end, from, ends.is_some()),
                Mode::Object(candidate) => self.object(raw, candidate, ends.is_some(), show),
            };
            if !on {
                return;
            }
        }
    }

    /// Each of these sets the mode anew and says whether reading can go on.
    fn outer(&mut self, raw: &str, ends: Option<&EndIndex<'_>>, show: Show<'_>) -> bool {
        self.mode = Mode::Outer;
        let Some(at) = next_start(raw, self.pos) else {
            self.pos = raw.len();
            return false;
        };
        self.pos = at;
        let Some(first) = char_at(raw, at) else { return false };
        if first != '<' {
            let width = first.len_utf8();
            if char_at(raw, at + width).is_some_and(|next| !follows_brace(next)) {
                self.pos = at + width;
                return true;
            }
            let phase = if self.chosen { Phase::Skip } else { Phase::Seek(Seeker::default()) };
            let reader = Reader::new(at, Decision::Close);
            self.mode = Mode::Object(Box::new(Candidate { start: at, width, reader, phase }));
            return true;
        }
        match marker(raw, at, ends.is_some(), &self.grammar) {
            Marker::More => return false,
            Marker::Text => self.pos = at + 1,
            Marker::ThinkOpen { name, length } => {
                self.pos = at + length;
                self.mode = Mode::Body(Body::new(self.pos, Ends::Think(name)));
            }
            Marker::ThinkClose { length } => {
                self.pos = at + length;
                self.chosen = false;
                if std::mem::take(&mut self.shown) {
                    show(Piece::Retract);
                }
            }
            Marker::Channel { length } => {
                self.pos = at + length;
                self.mode = Mode::Body(Body::new(self.pos, Ends::Channel));
            }
            Marker::Tag { name, length } => {
                self.pos = at + length;
                let end = tag_end(name, &self.grammar.nonce);
                self.shown = true;
                self.mode = Mode::Body(Body::new(self.pos, Ends::Tag { name: name.to_owned(), end }));
            }
            Marker::Foreign { name, nonce, length } => {
                self.pos = at + length;
                match ends {
                    Some(ends) => self.pos = ends.end_of(name, nonce, self.pos).unwrap_or(self.pos),
                    None => self.mode = Mode::Foreign { end: tag_end(name, nonce), from: self.pos },
                }
            }
        }
        true
    }

    fn body(&mut self, raw: &str, mut body: Body, ended: bool, show: Show<'_>) -> bool {
        match body.read(raw, ended, show) {
            Some(next) => {
                self.pos = next;
                self.mode = Mode::Outer;
                true
            }
            None => {
                self.mode = Mode::Body(body);
                false
            }
        }
    }

    fn foreign(&mut self, raw: &str, end: String, from: usize, ended: bool) -> bool {
        let found = memchr::memmem::find(&raw.as_bytes()[self.pos..], end.as_bytes());
        match found {
            Some(offset) => {
                self.pos += offset + end.len();
                self.mode = Mode::Outer;
                true
            }
            None if ended => {
                self.pos = from;
                self.mode = Mode::Outer;
                true
            }
            None => {
                // The end may have come in part; it is ASCII at its start, so any byte before it will do to go on.
                let back = raw.len().saturating_sub(end.len());
                self.pos = self.pos.max(back);
                self.mode = Mode::Foreign { end, from };
                false
            }
        }
    }

    fn object(&mut self, raw: &str, mut candidate: Box<Candidate>, ended: bool, show: Show<'_>) -> bool {
        let Candidate { reader, phase, start, width } = &mut *candidate;
        let mut shown = false;
        let status = match phase {
            Phase::Seek(seeker) => reader.run(raw, ended, &mut |event| seeker.take(&event)),
            Phase::Show(shower) => reader.run(raw, ended, &mut |event: Event<'_>| {
                shower.take(event, &mut |piece| {
                    shown |= !matches!(piece, Piece::Thought(_));
                    show(piece);
                });
            }),
            Phase::Skip => reader.run(raw, ended, &mut |_| {}),
        };
        self.shown |= shown;
        if let Phase::Seek(Seeker { found: Some(word), .. }) = phase {
            match self.grammar.find(word) {
                Some((name, action)) => {
                    // The object is read again from its brace, now that it is known what to show of it.
                    *reader = Reader::new(*start, Decision::Close);
                    *phase = Phase::Show(Box::new(Shower::new(name, action)));
                    self.mode = Mode::Object(candidate);
                    return true;
                }
                None => *phase = Phase::Skip,
            }
        }
        match status {
            Status::More => {
                self.mode = Mode::Object(candidate);
                false
            }
            Status::Done => {
                if !self.chosen && matches!(phase, Phase::Seek(Seeker { odd: true, .. })) {
                    return false;
                }
                self.pos = reader.position();
                self.chosen |= matches!(phase, Phase::Show(_));
                self.mode = Mode::Outer;
                true
            }
            Status::Failed(fault) => {
                self.spent += reader.cost();
                let hopeless = self.spent > fuel_for(raw.len());
                if fault.closable || hopeless || (reader.action_shown() && !self.chosen) {
                    return false;
                }
                self.pos = *start + *width;
                self.mode = Mode::Outer;
                true
            }
        }
    }
}
