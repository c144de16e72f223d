//! A reply that repeats itself while it streams: it is cut, since it would go on until its last token is paid for.

use crate::mechanism::spin::{Detector, Kind, Record, Rules, Severity};

/// Bytes that arrive between two looks. A reply that is shorter is never looked at.
const STEP: usize = 2000;

/// Bytes at the end of a reply that are looked at: more than the detector reads.
const KEEP: usize = 24 * 1024;

/// Watches what a model thinks aloud, and what it says before its action. What it writes into the action is material,
/// and may repeat itself for good reason.
pub(in crate::engine) struct ChantWatch<'a> {
    rules: &'a Rules,
    text: String,
    fresh: usize,
    found: Option<String>,
}

impl<'a> ChantWatch<'a> {
    /// A watch that has seen nothing.
    pub(in crate::engine) fn new(rules: &'a Rules) -> Self {
        Self { rules, text: String::new(), fresh: 0, found: None }
    }

    /// The same watch over another attempt.
    pub(in crate::engine) fn afresh(self) -> Self {
        Self::new(self.rules)
    }

    /// Takes the next piece.
    pub(in crate::engine) fn feed(&mut self, piece: &str) {
        self.text.push_str(piece);
        self.fresh += piece.len();
        if self.fresh < STEP || self.found.is_some() {
            return;
        }
        self.fresh = 0;
        let from = self.text.ceil_char_boundary(self.text.len().saturating_sub(KEEP));
        self.text.drain(..from);
        let found = Detector::new(self.rules).observe_all(&Record::text(Kind::Think, &self.text));
        let chant = found.into_iter().find(|found| found.family == "chant" && found.severity == Severity::Hard);
        self.found = chant.map(|chant| chant.evidence.text);
    }

    /// What repeats, once something does.
    pub(in crate::engine) fn found(&self) -> Option<&str> {
        self.found.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chant_is_heard_and_long_prose_is_not() {
        let rules = Rules::default();
        let mut watch = ChantWatch::new(&rules);
        for n in 0..400 {
            watch.feed(&format!("Sentence {n} says what the file {} holds and why. ", n * 7919 % 1000));
        }
        assert_eq!(watch.found(), None);
        let mut pieces = 0;
        while watch.found().is_none() && pieces < 200 {
            watch.feed("Maybe the gauge file must be opened first, or perhaps the other one. ");
            pieces += 1;
        }
        assert!(watch.found().is_some_and(|words| words.contains("times")), "{pieces}");
    }
}
