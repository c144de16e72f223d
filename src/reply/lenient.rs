//! A forgiving reader of one JSON object, fed text as it arrives: an explicit stack, no recursion, linear time.
//!
//! Read whole or in parts, the same text gives the same events. What it repairs it counts; what would be a guess
//! about data it refuses.

mod bare;
mod blank;
mod string;

use serde_json::Value;

use super::chars::{Quote, is_bare_key, is_blank, narrow};
use super::closing::Decision;
use super::repair::{Kind, Log};
use string::Open;

/// Objects and arrays may stand inside each other so deep.
pub(super) const DEPTH_LIMIT: usize = 128;
/// The longest key without quotes, in bytes.
const BARE_KEY_LIMIT: usize = 256;

/// What the reader reports, in the order of the text.
#[derive(Debug)]
pub(super) enum Event<'a> {
    /// `{`
    OpenObject,
    /// `[`
    OpenArray,
    /// The end of the innermost object or array.
    Close,
    /// A key, decoded.
    Key(&'a str),
    /// The next part of a string value, decoded.
    Text(&'a str),
    /// The string value is complete.
    TextEnd,
    /// A value without quotes.
    Scalar(Value),
}

/// How far a call of [`Reader::run`] came.
#[derive(Debug)]
pub(super) enum Status {
    /// The text so far is used up, or does not decide.
    More,
    /// The object is complete; the reader's position is just after it.
    Done,
    /// The object cannot be read.
    Failed(Fault),
}

/// Why an object cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// The byte where it went wrong.
    pub(super) at: usize,
    /// Cut off, rather than broken.
    pub(super) truncated: bool,
    /// Cut off just after a complete value, so that only closing brackets are missing.
    pub(super) closable: bool,
    /// What is wrong, to go on after "the object".
    pub(super) what: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frame {
    Object,
    Array,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comment {
    Line,
    Block,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// Before a key or the end of an object.
    Key,
    /// After a key.
    Colon,
    /// Before the value of a key.
    Member,
    /// Before an element or the end of an array.
    Element,
    /// Inside a quoted key or string.
    Text(Open),
    /// After a string's closing quote, where a `+` may go on.
    AfterText,
    /// After that `+`.
    Plus,
    /// Inside a value without quotes.
    Bare,
}

/// What stood last in the innermost object or array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Opening,
    Comma,
    Value,
}

/// The reader. `text` must be the same text, only longer, at each call.
#[derive(Debug)]
pub(super) struct Reader {
    /// What was repaired so far.
    pub(super) log: Log,
    pos: usize,
    /// Where to go on looking inside a value without quotes.
    scan: usize,
    /// Not before the text is so long does another look make sense.
    wait_for: usize,
    state: State,
    last: Last,
    stack: Vec<Frame>,
    comment: Option<Comment>,
    key: String,
    bare_keys: bool,
    /// A key `@action` with its colon was read, at whatever depth.
    action_shown: bool,
    action_next: bool,
    in_doubt: Decision,
    start: usize,
    steps: usize,
}

type Step = Result<(), Status>;

impl Reader {
    /// A reader of the object whose `{` stands at `start`. `in_doubt` decides on a quote when what follows is too long
    /// to look through, or cut off.
    pub(super) fn new(start: usize, in_doubt: Decision) -> Self {
        Self {
            log: Log::default(),
            pos: start,
            scan: start,
            wait_for: 0,
            state: State::Member,
            last: Last::Opening,
            stack: Vec::new(),
            comment: None,
            key: String::new(),
            bare_keys: false,
            action_shown: false,
            action_next: false,
            in_doubt,
            start,
            steps: 0,
        }
    }

    /// The byte after what was read.
    pub(super) fn position(&self) -> usize {
        self.pos
    }

    /// Whether a key `@action` and its colon were read, at whatever depth.
    pub(super) fn action_shown(&self) -> bool {
        self.action_shown
    }

    /// What the reading has cost, in bytes; a step counts as several.
    pub(super) fn cost(&self) -> usize {
        const STEP: usize = 16;
        self.pos.max(self.scan) - self.start + STEP * self.steps
    }

    /// Reads on. `ended` says that `text` is complete.
    pub(super) fn run(&mut self, text: &str, ended: bool, sink: &mut dyn FnMut(Event<'_>)) -> Status {
        if !ended && text.len() < self.wait_for {
            return Status::More;
        }
        loop {
            self.steps += 1;
            let step = match self.state {
                State::Key => self.key(text, ended, sink),
                State::Colon => self.colon(text, ended, sink),
                State::Member => self.member(text, ended, sink),
                State::Element => self.element(text, ended, sink),
                State::Text(open) => self.text(text, ended, open, sink),
                State::AfterText => self.after_text(text, ended, sink),
                State::Plus => self.plus(text, ended),
                State::Bare => self.bare(text, ended, sink),
            };
            if let Err(status) = step {
                return status;
            }
        }
    }

    fn key(&mut self, text: &str, ended: bool, sink: &mut dyn FnMut(Event<'_>)) -> Step {
        let c = self.next_in_container(text, ended)?;
        match narrow(c) {
            '}' => return self.close(c, sink),
            ']' => return Err(self.malformed("has a `]` where a key or `}` belongs")),
            _ => {}
        }
        if let Some(quote) = Quote::of(c) {
            self.missing_comma();
            self.quoted(c, quote);
            self.advance(c);
            self.key.clear();
            self.state = State::Text(Open { quote, long: false, role: string::Role::Key });
            return Ok(());
        }
        let rest = &text[self.pos..];
        let length = rest.find(|c: char| !is_bare_key(c)).unwrap_or(rest.len());
        if length == 0 || length > BARE_KEY_LIMIT {
            return Err(self.malformed("has something else where a key belongs"));
        }
        if length == rest.len() {
            return Err(self.more_or_cut(text, ended, "ends inside a key"));
        }
        self.missing_comma();
        self.log.note(Kind::UnquotedKey, self.pos);
        self.bare_keys = true;
        self.key.clear();
        self.key.push_str(&rest[..length]);
        self.pos += length;
        self.state = State::Colon;
        Ok(())
    }

    fn colon(&mut self, text: &str, ended: bool, sink: &mut dyn FnMut(Event<'_>)) -> Step {
        let c = self.next(text, ended, "ends after a key")?;
        if narrow(c) != ':' {
            // The quote after the key was lost, and with it the colon.
            self.action_shown |= self.key.trim_start_matches(is_blank).starts_with("@action:");
            return Err(self.malformed("has a key without a colon"));
        }
        self.width(c);
        self.advance(c);
        let key = self.key.trim_matches(is_blank);
        self.action_shown |= key == "@action";
        self.action_next = key == "@action";
        sink(Event::Key(&self.key));
        self.state = State::Member;
        Ok(())
    }

    /// A value of an object; also the object itself, when nothing is open yet.
    fn member(&mut self, text: &str, ended: bool, sink: &mut dyn FnMut(Event<'_>)) -> Step {
        let c = self.next(text, ended, "ends after a colon")?;
        if matches!(narrow(c), ',' | '}' | ']') {
            return Err(self.malformed("has a key without a value"));
        }
        self.value(text, ended, c, sink)
    }

    fn element(&mut self, text: &str, ended: bool, sink: &mut dyn FnMut(Event<'_>)) -> Step {
        let c = self.next_in_container(text, ended)?;
        match narrow(c) {
            ']' => self.close(c, sink),
            '}' if self.stack.contains(&Frame::Object) => {
                self.log.note(Kind::ArrayClosedByBrace, self.pos);
                self.pop(sink);
                Ok(())
            }
            _ => {
                self.missing_comma();
                self.value(text, ended, c, sink)
            }
        }
    }

    fn value(&mut self, text: &str, ended: bool, c: char, sink: &mut dyn FnMut(Event<'_>)) -> Step {
        match narrow(c) {
            '{' => self.open(c, Frame::Object, sink),
            '[' => self.open(c, Frame::Array, sink),
            _ => match Quote::of(c) {
                Some(quote) => self.open_text(text, ended, c, quote),
                None => {
                    self.scan = self.pos;
                    self.state = State::Bare;
                    Ok(())
                }
            },
        }
    }

    fn open(&mut self, c: char, frame: Frame, sink: &mut dyn FnMut(Event<'_>)) -> Step {
        if self.stack.len() >= DEPTH_LIMIT {
            return Err(self.malformed("is nested deeper than 128 levels"));
        }
        self.width(c);
        self.advance(c);
        self.action_next = false;
        self.stack.push(frame);
        self.last = Last::Opening;
        self.state = match frame {
            Frame::Object => State::Key,
            Frame::Array => State::Element,
        };
        sink(if frame == Frame::Object { Event::OpenObject } else { Event::OpenArray });
        Ok(())
    }

    fn close(&mut self, c: char, sink: &mut dyn FnMut(Event<'_>)) -> Step {
        if self.last == Last::Comma {
            self.log.note(Kind::TrailingComma, self.pos);
        }
        self.width(c);
        self.advance(c);
        self.pop(sink);
        if self.stack.is_empty() { Err(Status::Done) } else { Ok(()) }
    }

    fn pop(&mut self, sink: &mut dyn FnMut(Event<'_>)) {
        self.stack.pop();
        sink(Event::Close);
        self.after_value();
    }

    fn after_value(&mut self) {
        self.last = Last::Value;
        self.state = match self.stack.last() {
            Some(Frame::Array) => State::Element,
            Some(Frame::Object) | None => State::Key,
        };
    }

    fn advance(&mut self, c: char) {
        self.pos += c.len_utf8();
    }

    fn width(&mut self, c: char) {
        if !c.is_ascii() {
            self.log.note(Kind::FullWidth, self.pos);
        }
    }

    fn quoted(&mut self, c: char, quote: Quote) {
        if quote != Quote::Double {
            let kind = if c.is_ascii() { Kind::OtherQuotes } else { Kind::SmartQuotes };
            self.log.note(kind, self.pos);
        }
    }

    fn missing_comma(&mut self) {
        if self.last == Last::Value {
            self.log.note(Kind::MissingComma, self.pos);
        }
    }

    /// The text so far does not decide: look again when it is an eighth longer, so that the looking stays linear.
    fn more_or_cut(&mut self, text: &str, ended: bool, what: &'static str) -> Status {
        if ended {
            return self.cut(what);
        }
        self.wait_for = text.len() + 1 + (text.len() - self.pos) / 8;
        Status::More
    }

    fn cut(&self, what: &'static str) -> Status {
        Status::Failed(Fault { at: self.pos, truncated: true, closable: false, what })
    }

    fn malformed(&self, what: &'static str) -> Status {
        Status::Failed(Fault { at: self.pos, truncated: false, closable: false, what })
    }
}
