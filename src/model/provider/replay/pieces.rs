//! The pieces that a reply came in: noted while it is recorded, and given out again.

use std::fmt::Write as _;
use std::time::Duration;

use crate::model::{Reply, Sink};

/// Notes the pieces and passes them on.
pub(super) struct Noting<'a> {
    inner: &'a mut dyn Sink,
    noted: String,
    at: Option<Duration>,
}

impl<'a> Noting<'a> {
    pub(super) fn new(inner: &'a mut dyn Sink) -> Self {
        Self { inner, noted: String::new(), at: None }
    }

    /// The pieces, and when the reply was complete in the recording that it comes from.
    pub(super) fn into_noted(mut self) -> (String, Option<Duration>) {
        self.noted.truncate(self.noted.trim_end().len());
        (self.noted, self.at)
    }
}

impl Sink for Noting<'_> {
    fn text(&mut self, piece: &str) {
        let _ = write!(self.noted, "t{} ", piece.len());
        self.inner.text(piece);
    }
    fn reasoning(&mut self, piece: &str) {
        let _ = write!(self.noted, "r{} ", piece.len());
        self.inner.reasoning(piece);
    }
    fn arguments(&mut self, index: usize, name: &str, piece: &str) {
        let _ = write!(self.noted, "a{index}:{} ", piece.len());
        self.inner.arguments(index, name, piece);
    }
    fn recorded_at(&mut self, at: Duration) {
        self.at = Some(at);
        self.inner.recorded_at(at);
    }
}

/// Gives a reply out in the pieces that were noted; what they do not cover comes whole at the end.
pub(super) fn give_out(reply: &Reply, chunks: Option<&str>, sink: &mut dyn Sink) {
    let (mut text, mut reasoning) = (reply.text.as_str(), reply.reasoning.as_str());
    let mut arguments: Vec<&str> = reply.calls.iter().map(|call| call.arguments.as_str()).collect();
    let mut begun = vec![false; arguments.len()];
    for word in chunks.unwrap_or_default().split_whitespace() {
        let (kind, rest) = word.split_at(1.min(word.len()));
        match kind {
            "t" => sink.text(take(&mut text, rest)),
            "r" => sink.reasoning(take(&mut reasoning, rest)),
            "a" => {
                let place =
                    rest.split_once(':').and_then(|(index, length)| Some((index.parse::<usize>().ok()?, length)));
                if let Some((index, length)) = place
                    && let Some(left) = arguments.get_mut(index)
                {
                    begun[index] = true;
                    sink.arguments(index, &reply.calls[index].name, take(left, length));
                }
            }
            _ => {}
        }
    }
    if !reasoning.is_empty() {
        sink.reasoning(reasoning);
    }
    if !text.is_empty() {
        sink.text(text);
    }
    for (index, left) in arguments.iter().enumerate() {
        if !left.is_empty() || !begun[index] {
            sink.arguments(index, &reply.calls[index].name, left);
        }
    }
}

/// The next bytes, up to where a character ends.
fn take<'a>(left: &mut &'a str, length: &str) -> &'a str {
    let length = length.parse().unwrap_or(0);
    let end = (length..left.len()).find(|&at| left.is_char_boundary(at)).unwrap_or(left.len());
    let (piece, rest) = left.split_at(end);
    *left = rest;
    piece
}
