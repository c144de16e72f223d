//! The reply while it arrives: text, reasoning, native calls, finish and usage, from pieces in whatever order.

use super::{Finish, ModelError, Reply, Sink, ToolCall};

/// Collects a reply and passes its pieces on.
pub(super) struct Gather<'a> {
    sink: &'a mut dyn Sink,
    reply: Reply,
    slots: Vec<Slot>,
    /// Made-up ids start here, so that they differ over a transcript and are the same when it is replayed.
    id_base: usize,
    ended: bool,
    pieces: u64,
}

struct Slot {
    index: Option<u64>,
    call: ToolCall,
}

/// A piece of a native call. Servers leave out most of it most of the time.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct CallPiece<'a> {
    pub(super) index: Option<u64>,
    pub(super) id: Option<&'a str>,
    pub(super) name: Option<&'a str>,
    pub(super) arguments: &'a str,
    pub(super) echo: Option<&'a str>,
}

/// Counters that a message carries; those absent leave the old value.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct UsagePiece {
    pub(super) input: Option<u64>,
    pub(super) output: Option<u64>,
    pub(super) cache_read: Option<u64>,
    pub(super) cache_write: Option<u64>,
}

impl<'a> Gather<'a> {
    pub(super) fn new(sink: &'a mut dyn Sink, id_base: usize) -> Self {
        Self { sink, reply: Reply::default(), slots: Vec::new(), id_base, ended: false, pieces: 0 }
    }

    /// A piece of text.
    pub(super) fn text(&mut self, piece: &str) {
        if !piece.is_empty() {
            self.pieces += 1;
            self.reply.text.push_str(piece);
            self.sink.text(piece);
        }
    }

    /// A piece of reasoning.
    pub(super) fn reasoning(&mut self, piece: &str) {
        if !piece.is_empty() {
            self.pieces += 1;
            self.reply.reasoning.push_str(piece);
            self.sink.reasoning(piece);
        }
    }

    /// A piece of a native call.
    pub(super) fn call(&mut self, piece: CallPiece<'_>) {
        // Some servers write the text "null" for a name that is not there.
        let id = piece.id.filter(|id| !id.is_empty() && *id != "null");
        let name = piece.name.filter(|name| !name.is_empty() && *name != "null");
        if id.is_none() && name.is_none() && piece.arguments.is_empty() {
            return;
        }
        self.pieces += 1;
        let at = self.find_slot(piece.index, id, name).unwrap_or_else(|| {
            let call = ToolCall { id: String::new(), name: String::new(), arguments: String::new(), echo: None };
            self.slots.push(Slot { index: piece.index, call });
            self.slots.len() - 1
        });
        let call = &mut self.slots[at].call;
        if call.id.is_empty() {
            call.id = id.unwrap_or_default().to_owned();
        }
        if call.name.is_empty() {
            call.name = name.unwrap_or_default().to_owned();
        }
        call.arguments.push_str(piece.arguments);
        if let Some(echo) = piece.echo {
            call.echo = Some(echo.to_owned());
        }
        self.sink.arguments(at, &call.name, piece.arguments);
    }

    /// The call that a piece goes on with. Indexes may be missing or all alike, ids come once, names once or always.
    fn find_slot(&self, index: Option<u64>, id: Option<&str>, name: Option<&str>) -> Option<usize> {
        if let Some(id) = id {
            let known = self
                .slots
                .iter()
                .rposition(|slot| slot.call.id == id && (index.is_none() || slot.index == index || name.is_none()));
            if known.is_some() {
                return known;
            }
        }
        let found = match (index, id) {
            (Some(_), _) => self.slots.iter().rposition(|slot| slot.index == index)?,
            (None, Some(_)) => return None,
            (None, None) => self.slots.len().checked_sub(1)?,
        };
        let call = &self.slots[found].call;
        let other_id = id.is_some_and(|id| !call.id.is_empty() && call.id != id);
        let whole = || serde_json::from_str::<serde::de::IgnoredAny>(&call.arguments).is_ok();
        let starts_another = match (index, name) {
            (_, None) => false,
            (Some(_), Some(_)) => other_id,
            (None, Some(_)) => !call.name.is_empty() && whole(),
        };
        (!starts_another).then_some(found)
    }

    /// Why the model stopped. This ends the reply, though usage may follow.
    pub(super) fn finish(&mut self, finish: Finish) {
        self.pieces += 1;
        self.reply.finish = Some(finish);
        self.ended = true;
    }

    /// The server says that the reply is whole.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    /// Counters, which replace what was reported before.
    pub(super) fn usage(&mut self, piece: UsagePiece) {
        let UsagePiece { input, output, cache_read, cache_write } = piece;
        if [input, output, cache_read, cache_write].iter().all(Option::is_none) {
            return;
        }
        self.pieces += 1;
        let usage = self.reply.usage.get_or_insert_default();
        for (counter, value) in [
            (&mut usage.input, input),
            (&mut usage.output, output),
            (&mut usage.cache_read, cache_read),
            (&mut usage.cache_write, cache_write),
        ] {
            if let Some(value) = value {
                *counter = value;
            }
        }
    }

    /// Whether the reply is whole.
    pub(super) fn is_whole(&self) -> bool {
        self.ended
    }

    /// Whether anything was said yet.
    pub(super) fn is_empty(&self) -> bool {
        self.reply.text.is_empty() && self.reply.reasoning.is_empty() && self.slots.is_empty()
    }

    /// Whether a native call was begun.
    pub(super) fn has_calls(&self) -> bool {
        !self.slots.is_empty()
    }

    /// Grows with every piece that carries something: what the idle timer watches.
    pub(super) fn pieces(&self) -> u64 {
        self.pieces
    }

    /// The whole reply.
    pub(super) fn into_reply(self) -> Reply {
        let mut reply = self.reply;
        reply.calls = self
            .slots
            .into_iter()
            .map(|slot| slot.call)
            .filter(|call| !(call.name.is_empty() && call.arguments.is_empty()))
            .enumerate()
            .map(|(at, mut call)| {
                if call.id.is_empty() {
                    call.id = format!("call_{}_{}", self.id_base, at + 1);
                }
                // A tool without parameters is called with nothing.
                if call.arguments.is_empty() {
                    call.arguments.push_str("{}");
                }
                call
            })
            .collect();
        reply
    }

    /// The failure with what had arrived.
    pub(super) fn into_error(self, error: ModelError) -> ModelError {
        ModelError {
            partial_text: self.reply.text,
            partial_reasoning: self.reply.reasoning,
            usage: self.reply.usage,
            ..error
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::NoSink;
    use super::*;
    use crate::event::Usage;

    type Piece = (Option<u64>, Option<&'static str>, Option<&'static str>, &'static str);

    fn calls(pieces: &[Piece]) -> Vec<(String, String, String)> {
        let mut sink = NoSink;
        let mut gather = Gather::new(&mut sink, 4);
        for &(index, id, name, arguments) in pieces {
            gather.call(CallPiece { index, id, name, arguments, echo: None });
        }
        gather.into_reply().calls.into_iter().map(|call| (call.id, call.name, call.arguments)).collect()
    }

    fn call(id: &str, name: &str, arguments: &str) -> (String, String, String) {
        (id.into(), name.into(), arguments.into())
    }

    #[test]
    fn pieces_find_their_call() {
        // As the protocol has it.
        assert_eq!(
            calls(&[
                (Some(0), Some("a"), Some("f"), ""),
                (Some(0), None, None, "{\"x\""),
                (Some(1), Some("b"), Some("g"), "{"),
                (Some(0), None, None, ":1}"),
                (Some(1), None, Some(""), "}"),
            ]),
            [call("a", "f", "{\"x\":1}"), call("b", "g", "{}")]
        );
        // No index; the id only at first, later empty.
        assert_eq!(
            calls(&[
                (None, Some("a"), Some("f"), "{"),
                (None, Some(""), Some("null"), "}"),
                (None, Some("b"), Some("g"), "{}"),
            ]),
            [call("a", "f", "{}"), call("b", "g", "{}")]
        );
        // All calls have the same index, and every piece repeats id and name.
        assert_eq!(
            calls(&[
                (Some(1), Some("a"), Some("f"), "{"),
                (Some(1), Some("a"), Some("f"), "}"),
                (Some(1), Some("b"), Some("f"), "{}"),
            ]),
            [call("a", "f", "{}"), call("b", "f", "{}")]
        );
        // Neither index nor id: whole calls one after the other, ids are made up.
        assert_eq!(
            calls(&[(None, None, Some("f"), "{\"x\":1}"), (None, None, Some("f"), "{\"x\":2}")]),
            [call("call_4_1", "f", "{\"x\":1}"), call("call_4_2", "f", "{\"x\":2}")]
        );
        // A new id for every piece of one call.
        assert_eq!(
            calls(&[(Some(0), Some("a"), Some("f"), "{"), (Some(0), Some("b"), None, "}")]),
            [call("a", "f", "{}")]
        );
        assert_eq!(calls(&[(Some(0), None, None, "")]), []);
    }

    #[test]
    fn counters_replace_each_other_one_by_one() {
        let mut sink = NoSink;
        let mut gather = Gather::new(&mut sink, 0);
        gather.usage(UsagePiece::default());
        assert!(gather.pieces() == 0);
        gather.usage(UsagePiece { input: Some(9), output: Some(1), ..Default::default() });
        gather.usage(UsagePiece { output: Some(5), cache_read: Some(3), ..Default::default() });
        let usage = gather.into_reply().usage;
        assert_eq!(usage, Some(Usage { input: 9, output: 5, cache_read: 3, cache_write: 0 }));
    }
}
