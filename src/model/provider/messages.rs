//! Messages as the last member of a body, for APIs where user text is a string.
//!
//! All user text between two replies is one string. So the body of one iteration begins with the body of the one before,
//! up to its last part, and only what is new is written.

use crate::model::json::write_escaped;
use crate::model::{EncodeCache, Request, Turn};

/// Messages being written; a user message stays open until something else comes.
pub(super) struct Messages {
    pub(super) out: Vec<u8>,
    open: bool,
    first: bool,
}

/// Writes a turn that is not the user's, given the turns before it.
pub(super) type WriteTurn = fn(&mut Messages, &Turn, &[Turn]);

/// Writes a body that ends with the messages, keeping head and transcript in the cache.
pub(super) fn write_body(
    request: &Request<'_>,
    cache: &mut EncodeCache,
    owner: u64,
    head: impl FnOnce(&mut Vec<u8>),
    turn: WriteTurn,
) -> Vec<u8> {
    cache.keep_head(owner, request, head);
    let known = request.transcript.turns();
    let new = cache.new_turns(owner, request.transcript).len();
    let mut messages = Messages::after(std::mem::take(&mut cache.turns), cache.open);
    messages.turns(known, known.len() - new, turn);
    cache.turns = messages.out;
    cache.open = messages.open;

    let mut messages = Messages { first: cache.turns.is_empty(), ..Messages::after(cache.begin_body(), cache.open) };
    if !request.last.is_empty() || messages.first {
        messages.user(request.last);
    }
    messages.turns(request.retry, 0, turn);
    messages.close();
    let mut body = messages.out;
    body.extend_from_slice(b"]}");
    cache.last_len = body.len();
    body
}

/// Writes the system blocks as the inside of one JSON string.
pub(super) fn write_system(out: &mut Vec<u8>, request: &Request<'_>) {
    for (at, block) in request.system.iter().enumerate() {
        if at > 0 {
            out.extend_from_slice(b"\\n\\n");
        }
        write_escaped(out, &block.text);
    }
}

impl Messages {
    fn after(out: Vec<u8>, open: bool) -> Self {
        Self { first: out.is_empty(), out, open }
    }

    fn turns(&mut self, turns: &[Turn], from: usize, write: WriteTurn) {
        for (at, turn) in turns.iter().enumerate().skip(from) {
            match turn {
                Turn::User(text) => self.user(text),
                other => write(self, other, &turns[..at]),
            }
        }
    }

    fn user(&mut self, text: &str) {
        if self.open {
            self.out.extend_from_slice(b"\\n\\n");
        } else {
            self.begin(b"{\"role\":\"user\",\"content\":\"");
            self.open = true;
        }
        write_escaped(&mut self.out, text);
    }

    /// Begins another message with these bytes.
    pub(super) fn begin(&mut self, start: &[u8]) {
        self.close();
        if !self.first {
            self.out.push(b',');
        }
        self.first = false;
        self.out.extend_from_slice(start);
    }

    fn close(&mut self) {
        if std::mem::take(&mut self.open) {
            self.out.extend_from_slice(b"\"}");
        }
    }
}
