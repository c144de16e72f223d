//! Quoted keys and strings of the forgiving reader: escapes, inner quotes, long strings, `+`.

use super::super::chars::{Quote, char_at};
use super::super::closing::{Decision, Place, decide};
use super::super::repair::Kind;
use super::{Event, Frame, Reader, State, Status, Step};

/// An open string.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    pub(super) quote: Quote,
    /// Opened by three quotes in a row.
    pub(super) long: bool,
    pub(super) role: Role,
}

/// What an open string is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A key: closes at the first quote.
    Key,
    /// The value of `@action`: closes at the first quote too.
    Action,
    /// Any other value: a quote closes it only where a value can end.
    Value,
}

/// What an escape stands for.
enum Escape {
    /// This character, after so many bytes.
    Char(char, usize),
    /// U+FFFD for half a surrogate pair.
    Lone(usize),
    /// Nothing known: the backslash stays.
    Unknown,
    /// The text so far does not say.
    More,
}

impl Reader {
    /// Starts a string value at its opening quote.
    pub(super) fn open_text(&mut self, text: &str, ended: bool, c: char, quote: Quote) -> Step {
        let rest = &text[self.pos..];
        let mut long = false;
        if let Some(three) = quote.triple() {
            if !ended && rest.len() < 3 && three.starts_with(rest) {
                return Err(Status::More);
            }
            long = rest.starts_with(three);
        }
        self.quoted(c, quote);
        if long {
            let label = if quote == Quote::Backtick { fence_label(&rest[3..], ended)? } else { 0 };
            self.log.note(Kind::LongString, self.pos);
            self.pos += 3 + label;
        } else {
            self.advance(c);
        }
        let role = if std::mem::take(&mut self.action_next) { Role::Action } else { Role::Value };
        self.state = State::Text(Open { quote, long, role });
        Ok(())
    }

    /// Reads inside a string, as far as the text decides.
    pub(super) fn text(&mut self, text: &str, ended: bool, open: Open, sink: &mut dyn FnMut(Event<'_>)) -> Step {
        let rest = &text[self.pos..];
        let run = open.quote.plain_run(rest);
        if run > 0 {
            let may_break = open.long || open.quote == Quote::Backtick;
            if !may_break && rest[..run].bytes().any(|byte| byte < 0x20) {
                self.log.note(Kind::RawControl, self.pos);
            }
            self.emit(&rest[..run], open, sink);
            self.pos += run;
        }
        let Some(c) = char_at(text, self.pos) else {
            let what = if open.role == Role::Key { "ends inside a key" } else { "ends inside a string" };
            return Err(if ended { self.cut(what) } else { Status::More });
        };
        if c == '\\' { self.escape(text, ended, open, sink) } else { self.quote(text, ended, c, open, sink) }
    }

    fn escape(&mut self, text: &str, ended: bool, open: Open, sink: &mut dyn FnMut(Event<'_>)) -> Step {
        match escape(&text[self.pos..]) {
            Escape::Char(c, length) => {
                self.emit(c.encode_utf8(&mut [0; 4]), open, sink);
                self.pos += length;
            }
            Escape::Lone(length) => {
                self.log.note(Kind::LoneSurrogate, self.pos);
                self.emit("\u{fffd}", open, sink);
                self.pos += length;
            }
            Escape::Unknown => {
                self.log.note(Kind::UnknownEscape, self.pos);
                self.emit("\\", open, sink);
                self.pos += 1;
            }
            Escape::More => return Err(if ended { self.cut("ends inside an escape") } else { Status::More }),
        }
        Ok(())
    }

    /// At a quote that may close the string.
    fn quote(&mut self, text: &str, ended: bool, c: char, open: Open, sink: &mut dyn FnMut(Event<'_>)) -> Step {
        if open.long {
            return self.long_quote(text, ended, c, open, sink);
        }
        let after = self.pos + c.len_utf8();
        let decision = if open.role == Role::Value {
            let place = Place {
                in_array: self.stack.last() == Some(&Frame::Array),
                bare_keys: self.bare_keys,
                ended,
                in_doubt: self.in_doubt,
            };
            decide(text, after, place)
        } else {
            Decision::Close
        };
        match decision {
            Decision::More => Err(self.more_or_cut(text, ended, "ends inside a string")),
            Decision::Inner => {
                self.log.note(Kind::InnerQuote, self.pos);
                self.emit(&text[self.pos..after], open, sink);
                self.pos = after;
                Ok(())
            }
            Decision::Close => {
                self.pos = after;
                self.close_text(open, sink);
                Ok(())
            }
        }
    }

    /// A long string ends at three quotes; of a longer run the last three count.
    fn long_quote(&mut self, text: &str, ended: bool, c: char, open: Open, sink: &mut dyn FnMut(Event<'_>)) -> Step {
        let rest = &text[self.pos..];
        let run = rest.len() - rest.trim_start_matches(c).len();
        if run == rest.len() && !ended {
            return Err(self.more_or_cut(text, ended, "ends inside a string"));
        }
        let inside = if run >= 3 { run - 3 } else { run };
        self.emit(&rest[..inside], open, sink);
        self.pos += run;
        if run >= 3 {
            self.close_text(open, sink);
        }
        Ok(())
    }

    fn close_text(&mut self, open: Open, sink: &mut dyn FnMut(Event<'_>)) {
        match open.role {
            Role::Key => self.state = State::Colon,
            Role::Action => {
                sink(Event::TextEnd);
                self.after_value();
            }
            Role::Value => self.state = State::AfterText,
        }
    }

    /// After a closing quote: `+` and another string go on with the value.
    pub(super) fn after_text(&mut self, text: &str, ended: bool, sink: &mut dyn FnMut(Event<'_>)) -> Step {
        self.skip_blanks(text, ended)?;
        match char_at(text, self.pos) {
            None if !ended => return Err(Status::More),
            Some('+') => {
                self.log.note(Kind::Concatenated, self.pos);
                self.pos += 1;
                self.state = State::Plus;
                return Ok(());
            }
            _ => {}
        }
        sink(Event::TextEnd);
        self.after_value();
        Ok(())
    }

    pub(super) fn plus(&mut self, text: &str, ended: bool) -> Step {
        let c = self.next(text, ended, "ends after a `+`")?;
        match Quote::of(c) {
            Some(quote) => self.open_text(text, ended, c, quote),
            None => Err(self.malformed("has a `+` without a string after it")),
        }
    }

    fn emit(&mut self, part: &str, open: Open, sink: &mut dyn FnMut(Event<'_>)) {
        if part.is_empty() {
            return;
        }
        if open.role == Role::Key {
            self.key.push_str(part);
        } else {
            sink(Event::Text(part));
        }
    }
}

/// The length of a language name and its line break after three backticks, which are no part of the text.
fn fence_label(rest: &str, ended: bool) -> Result<usize, Status> {
    const LONGEST: usize = 20;
    match rest.bytes().take(LONGEST).position(|byte| !byte.is_ascii_alphanumeric()) {
        Some(end) if rest.as_bytes()[end] == b'\n' => Ok(end + 1),
        None if rest.len() < LONGEST && !ended => Err(Status::More),
        _ => Ok(0),
    }
}

/// Reads the escape at the start of `rest`.
fn escape(rest: &str) -> Escape {
    let Some(c) = char_at(rest, 1) else { return Escape::More };
    let plain = match c {
        '"' | '\\' | '/' | '\'' | '`' => c,
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => return unicode_escape(rest),
        _ => return Escape::Unknown,
    };
    Escape::Char(plain, 2)
}

fn unicode_escape(rest: &str) -> Escape {
    let first = match hex4(&rest[2..]) {
        Ok(unit) => unit,
        Err(Hex::Short) => return Escape::More,
        Err(Hex::Other) => return Escape::Unknown,
    };
    if let Some(c) = char::from_u32(first) {
        return Escape::Char(c, 6);
    }
    if !(0xD800..0xDC00).contains(&first) {
        return Escape::Lone(6);
    }
    let after = &rest[6..];
    if after.len() < 2 && "\\u".starts_with(after) {
        return Escape::More;
    }
    let Some(digits) = after.strip_prefix("\\u") else { return Escape::Lone(6) };
    match hex4(digits) {
        Ok(second) if (0xDC00..0xE000).contains(&second) => {
            let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            char::from_u32(code).map_or(Escape::Lone(12), |c| Escape::Char(c, 12))
        }
        Err(Hex::Short) => Escape::More,
        _ => Escape::Lone(6),
    }
}

enum Hex {
    /// Fewer than four characters, all hexadecimal so far.
    Short,
    /// Something else among them.
    Other,
}

fn hex4(text: &str) -> Result<u32, Hex> {
    let mut unit = 0;
    let mut bytes = text.bytes();
    for _ in 0..4 {
        let byte = bytes.next().ok_or(Hex::Short)?;
        unit = unit * 16 + char::from(byte).to_digit(16).ok_or(Hex::Other)?;
    }
    Ok(unit)
}
