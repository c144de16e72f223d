//! Lines of JSON, as servers without event frames stream them, from bytes in whatever pieces.

use std::ops::ControlFlow;

use memchr::memchr;
use serde::de::IgnoredAny;

/// Cuts bytes into lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    held: Vec<u8>,
    begun: bool,
    one_body: bool,
}

impl Lines {
    /// Takes bytes and hands over every line that is whole.
    pub(super) fn feed<B>(
        &mut self,
        mut bytes: &[u8],
        mut on_line: impl FnMut(&[u8]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        while !self.one_body
            && let Some(end) = memchr(b'\n', bytes)
        {
            self.held.extend_from_slice(&bytes[..end]);
            bytes = &bytes[end + 1..];
            if !self.begun && !is_json(&self.held) {
                // A body that somebody indented.
                self.one_body = true;
                self.held.push(b'\n');
                break;
            }
            self.begun = true;
            let flow = if self.held.trim_ascii().is_empty() { ControlFlow::Continue(()) } else { on_line(&self.held) };
            self.held.clear();
            if flow.is_break() {
                return flow;
            }
        }
        self.held.extend_from_slice(bytes);
        ControlFlow::Continue(())
    }

    /// How much is held back.
    pub(super) fn pending(&self) -> usize {
        self.held.len()
    }

    /// Whether the first line was not JSON by itself, so that all of it is one body.
    pub(super) fn is_one_body(&self) -> bool {
        self.one_body
    }

    /// What came after the last line end.
    pub(super) fn rest(&self) -> &[u8] {
        &self.held
    }
}

/// Whether the bytes are one JSON value.
pub(super) fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
}
