//! Text that runs to an end mark: reasoning, and the body of a tag.

use super::super::markers::{CHANNEL_ENDS, find_think_end};
use super::{Piece, Show};

/// What ends the text.
#[derive(Debug)]
pub(super) enum Ends {
    /// `</name>` in any case.
    Think(&'static str),
    /// A control mark.
    Channel,
    /// The tag's exact end.
    Tag { name: String, end: String },
}

/// The text so far.
#[derive(Debug)]
pub(super) struct Body {
    /// What comes before is shown.
    shown: usize,
    /// What comes before has been searched for the end.
    searched: usize,
    /// A line break right here belongs to the tag, not to its body.
    at_start: bool,
    ends: Ends,
}

/// What a `<` is.
enum Mark {
    /// The end; text goes on at this byte.
    End(usize),
    /// Perhaps the beginning of the end.
    Perhaps,
    /// Text.
    Text,
}

impl Body {
    pub(super) fn new(start: usize, ends: Ends) -> Self {
        let at_start = matches!(ends, Ends::Tag { .. });
        Self { shown: start, searched: start, at_start, ends }
    }

    /// Shows what is certain. Gives the byte after the end mark, once that is there.
    pub(super) fn read(&mut self, raw: &str, ended: bool, show: Show<'_>) -> Option<usize> {
        if self.at_start && !self.skip_first_break(raw, ended) {
            return None;
        }
        loop {
            let found = memchr::memchr(b'<', &raw.as_bytes()[self.searched..]);
            let at = found.map_or(raw.len(), |offset| self.searched + offset);
            let mark = if found.is_some() { self.mark(raw, at) } else { Mark::Perhaps };
            match mark {
                Mark::Text => self.searched = at + 1,
                Mark::End(next) => {
                    self.show_to(raw, at, true, show);
                    self.end(show);
                    return Some(next);
                }
                Mark::Perhaps if ended => {
                    // The end never came. In a tag, the last line break is dropped all the same.
                    self.show_to(raw, raw.len(), true, show);
                    self.end(show);
                    return Some(raw.len());
                }
                Mark::Perhaps => {
                    self.searched = at;
                    self.show_to(raw, at, false, show);
                    return None;
                }
            }
        }
    }

    fn mark(&self, raw: &str, at: usize) -> Mark {
        let rest = &raw[at..];
        match &self.ends {
            Ends::Think(name) => {
                let length = name.len() + 3;
                if rest.len() < length {
                    let end = format!("</{name}>");
                    let same = end.as_bytes()[..rest.len()].eq_ignore_ascii_case(rest.as_bytes());
                    return if same { Mark::Perhaps } else { Mark::Text };
                }
                match find_think_end(rest.get(..length).unwrap_or_default(), 0, name) {
                    Some((0, end)) => Mark::End(at + end),
                    _ => Mark::Text,
                }
            }
            Ends::Channel => match CHANNEL_ENDS.iter().find(|(mark, _)| rest.starts_with(mark)) {
                Some((mark, inside)) => Mark::End(if *inside { at + mark.len() } else { at }),
                None if CHANNEL_ENDS.iter().any(|(mark, _)| mark.starts_with(rest)) => Mark::Perhaps,
                None => Mark::Text,
            },
            Ends::Tag { end, .. } if rest.starts_with(end.as_str()) => Mark::End(at + end.len()),
            Ends::Tag { end, .. } if end.starts_with(rest) => Mark::Perhaps,
            Ends::Tag { .. } => Mark::Text,
        }
    }

    /// Passes the line break after a tag's opening mark; false while that is undecided.
    fn skip_first_break(&mut self, raw: &str, ended: bool) -> bool {
        let rest = &raw[self.shown..];
        if !ended && matches!(rest, "" | "\r") {
            return false;
        }
        self.at_start = false;
        let length = if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with('\n')) };
        self.shown += length;
        self.searched = self.searched.max(self.shown);
        true
    }

    /// Shows text up to `to`, but in a tag not a line break that stands last.
    fn show_to(&mut self, raw: &str, to: usize, last: bool, show: Show<'_>) {
        let mut text = &raw[self.shown..to];
        if matches!(self.ends, Ends::Tag { .. }) {
            text = text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text));
            if !last {
                // It may be half of a line break.
                text = text.strip_suffix('\r').unwrap_or(text);
            }
        }
        if !text.is_empty() {
            match &self.ends {
                Ends::Tag { name, .. } => show(Piece::Tag { name, text }),
                Ends::Think(_) | Ends::Channel => show(Piece::Thought(text)),
            }
        }
        self.shown += text.len();
    }

    fn end(&self, show: Show<'_>) {
        if let Ends::Tag { name, .. } = &self.ends {
            show(Piece::TagEnd { name });
        }
    }
}
