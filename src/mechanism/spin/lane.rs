//! The recent past of one agent: its last calls with all that the families ask of them worked out once, and its texts since.

use std::collections::VecDeque;
use std::sync::Arc;

use super::fingerprint::Fingerprint;
use super::ranges::{Ranges, Read};
use super::record::{Class, Kind};
use super::words::Words;

/// Texts since the last call that are kept.
const MOST_TEXTS: usize = 64;

/// A call, as the families see it.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) step: usize,
    pub(super) action: Arc<str>,
    pub(super) class: Class,
    /// The action with its canonical arguments.
    pub(super) args: Fingerprint,
    /// The canonical result with whether it is an error. `None` while it is not known.
    pub(super) result: Option<Fingerprint>,
    pub(super) error: bool,
    pub(super) passing: Passing,
    pub(super) batch: Option<u64>,
    pub(super) finish: bool,
    /// Whether the call may have changed what other calls will see, or shows that something did.
    pub(super) changes: bool,
    /// Whether the same call brought the same result before.
    pub(super) repeats: bool,
    /// Whether its result is more than a nod.
    pub(super) telling: bool,
    /// The result before anything was left out of it, hashed.
    pub(super) plain: u64,
    /// The masks, and other settings, that left something out of the result.
    pub(super) left_out: Vec<&'static str>,
    /// The words of a question in the arguments, when there is just one, and what else there is.
    pub(super) question: Option<Question>,
    /// The share of lines that a read of a range showed for the first time.
    pub(super) new_lines: Option<f64>,
}

/// Free text in the arguments, and the fingerprint of the rest.
#[derive(Debug, Clone)]
pub(super) struct Question {
    pub(super) words: Words,
    pub(super) rest: Fingerprint,
}

/// Whether a result says that it will pass by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Passing {
    No,
    /// An error that passes.
    Error,
    /// No error, but its text gives the status of an outage.
    Told,
}

impl Call {
    /// Whether the two are the same call with the same, known result.
    pub(super) fn same_outcome(&self, other: &Self) -> bool {
        self.args == other.args && self.same_result(other)
    }

    pub(super) fn same_result(&self, other: &Self) -> bool {
        self.result.is_some() && self.result == other.result
    }
}

/// A text since the last call.
#[derive(Debug, Clone)]
pub(super) struct Text {
    pub(super) step: usize,
    pub(super) kind: Kind,
    pub(super) words: Words,
    /// The refusal that it met, when the harness wanted something else than a text.
    pub(super) refused: Option<Fingerprint>,
    /// Where a piece of it repeats: how many times.
    pub(super) chant: Option<usize>,
}

/// What one agent did lately. Bounded, so that a record costs the same however long the history is.
#[derive(Debug, Clone, Default)]
pub(super) struct Lane {
    calls: VecDeque<Call>,
    pub(super) texts: VecDeque<Text>,
    /// Steps of the harness's own events since anything else but thoughts.
    pub(super) events: VecDeque<usize>,
    pub(super) ranges: Ranges,
    pub(super) last_time: Option<f64>,
    /// What the last record was.
    pub(super) last: Option<Kind>,
}

impl Lane {
    /// The calls, newest first.
    pub(super) fn back(&self) -> impl DoubleEndedIterator<Item = &Call> + Clone {
        self.calls.iter().rev()
    }

    /// The call that was just observed; `None` when the last record was something else.
    pub(super) fn current(&self) -> Option<&Call> {
        if self.last == Some(Kind::Call) { self.calls.back() } else { None }
    }

    /// The calls without those that only let time pass, newest first.
    pub(super) fn working(&self) -> impl DoubleEndedIterator<Item = &Call> + Clone {
        self.back().filter(|call| call.class != Class::Wait)
    }

    /// Whether time was let pass between two steps.
    pub(super) fn waited(&self, first: usize, last: usize) -> bool {
        self.back().any(|call| call.class == Class::Wait && call.step > first && call.step < last)
    }

    /// Steps of the newest calls as long as `like` holds, newest first; waits do not count.
    pub(super) fn streak(&self, like: impl Fn(&Call) -> bool) -> Vec<usize> {
        self.working().take_while(|call| like(call)).map(|call| call.step).collect()
    }

    /// Adds a call, and the range that it read.
    pub(super) fn push_call(&mut self, mut call: Call, most: usize, read: Option<Read>) {
        let known = self.calls.iter().rev().find(|old| old.args == call.args);
        let moved = known.is_some_and(|old| old.result.is_some() && !old.same_result(&call));
        // A call that was made before and brings the same again changes nothing, whatever it is.
        call.repeats = self.calls.iter().any(|old| old.same_outcome(&call));
        call.changes = (call.changes && known.is_none()) || moved;
        if call.changes {
            self.ranges.clear();
        }
        call.new_lines = read.map(|read| self.ranges.add(read));
        self.calls.push_back(call);
        while self.calls.len() > most {
            self.calls.pop_front();
        }
        self.texts.clear();
        self.events.clear();
        self.last = Some(Kind::Call);
    }

    pub(super) fn push_text(&mut self, text: Text) {
        self.last = Some(text.kind);
        if text.kind == Kind::Say {
            self.events.clear();
        }
        self.texts.push_back(text);
        while self.texts.len() > MOST_TEXTS {
            self.texts.pop_front();
        }
    }
}
