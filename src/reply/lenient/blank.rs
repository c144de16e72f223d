//! What stands between tokens in the forgiving reader: blanks, comments, commas, and the end of the text.

use super::super::chars::{char_at, is_blank, is_closing_fence, narrow};
use super::super::repair::Kind;
use super::{Comment, Fault, Last, Reader, Status, Step};

impl Reader {
    /// The next character that is neither blank, comment nor comma, inside an object or array.
    pub(super) fn next_in_container(&mut self, text: &str, ended: bool) -> Result<char, Status> {
        loop {
            self.skip_blanks(text, ended)?;
            let Some(c) = char_at(text, self.pos) else {
                return Err(self.end_in_container(ended));
            };
            if ended && self.last == Last::Value && c == '`' && is_closing_fence(&text[self.pos..]) {
                return Err(self.end_in_container(ended));
            }
            if narrow(c) != ',' {
                return Ok(c);
            }
            if self.last != Last::Value {
                self.log.note(Kind::ExtraComma, self.pos);
            }
            self.last = Last::Comma;
            self.width(c);
            self.advance(c);
        }
    }

    fn end_in_container(&self, ended: bool) -> Status {
        if !ended {
            return Status::More;
        }
        let closable = self.last == Last::Value;
        Status::Failed(Fault { at: self.pos, truncated: true, closable, what: "ends before its closing bracket" })
    }

    /// The next character that is neither blank nor comment.
    pub(super) fn next(&mut self, text: &str, ended: bool, what: &'static str) -> Result<char, Status> {
        self.skip_blanks(text, ended)?;
        char_at(text, self.pos).ok_or_else(|| if ended { self.cut(what) } else { Status::More })
    }

    pub(super) fn skip_blanks(&mut self, text: &str, ended: bool) -> Step {
        loop {
            let rest = &text[self.pos..];
            match self.comment {
                Some(Comment::Line) => match memchr::memchr(b'\n', rest.as_bytes()) {
                    Some(end) => self.pos += end,
                    None => {
                        self.pos = text.len();
                        return if ended { Ok(()) } else { Err(Status::More) };
                    }
                },
                Some(Comment::Block) => match memchr::memmem::find(rest.as_bytes(), b"*/") {
                    Some(end) => self.pos += end + 2,
                    None => {
                        // A star at the end may be half of the closing sign.
                        self.pos = text.len() - usize::from(rest.ends_with('*'));
                        return Err(if ended { self.cut("ends inside a comment") } else { Status::More });
                    }
                },
                None => {}
            }
            self.comment = None;
            let rest = &text[self.pos..];
            self.pos = text.len() - rest.trim_start_matches(is_blank).len();
            let rest = &text[self.pos..];
            if rest == "/" && !ended {
                return Err(Status::More);
            }
            let (comment, length) = if rest.starts_with('#') {
                (Comment::Line, 1)
            } else if rest.starts_with("//") {
                (Comment::Line, 2)
            } else if rest.starts_with("/*") {
                (Comment::Block, 2)
            } else {
                return Ok(());
            };
            self.log.note(Kind::Comment, self.pos);
            self.comment = Some(comment);
            self.pos += length;
        }
    }
}
