//! How much a prompt has grown, for the verification gate.
//!
//! The tokens of the profile cannot be compared from turn to turn: the first turn is counted by estimate and later ones by
//! the model's vocabulary, another model may stand in, and every delimiter has a nonce that no vocabulary holds. So what
//! is between the delimiters is counted here, always by the same estimate.

use std::sync::Arc;

use crate::model::Turn;
use crate::model::tokens::estimate;

/// Counts what a prompt says. Keeps what it counted: most sections, and the whole transcript, stay the same.
#[derive(Default)]
pub(super) struct PromptSize {
    sections: Vec<(Arc<str>, usize)>,
    /// Turns of the transcript that were counted, and their tokens.
    turns: usize,
    tokens: usize,
}

impl PromptSize {
    /// The transcript is another one.
    pub(super) fn forget_transcript(&mut self) {
        (self.turns, self.tokens) = (0, 0);
    }

    /// The tokens of these sections and this transcript, about.
    pub(super) fn of<'a>(&mut self, bodies: impl Iterator<Item = &'a Arc<str>>, transcript: &[Turn]) -> usize {
        for turn in transcript.iter().skip(self.turns) {
            self.tokens += said(turn);
        }
        self.turns = transcript.len();
        let known = std::mem::take(&mut self.sections);
        for (index, body) in bodies.enumerate() {
            let count = match known.get(index) {
                Some((before, count)) if Arc::ptr_eq(before, body) || before == body => *count,
                _ => estimate(body),
            };
            self.sections.push((Arc::clone(body), count));
        }
        self.sections.iter().map(|(_, count)| count).sum::<usize>() + self.tokens
    }
}

/// The tokens of what a turn says, without the delimiters around it.
fn said(turn: &Turn) -> usize {
    match turn {
        Turn::User(text) | Turn::Assistant(text) => estimate(inside(text)),
        Turn::Calls { text, calls } => {
            estimate(text) + calls.iter().map(|call| estimate(&call.name) + estimate(&call.arguments)).sum::<usize>()
        }
        Turn::Results(results) => results.iter().map(|result| estimate(&result.content)).sum(),
    }
}

/// The text between the delimiters of a sealed section.
fn inside(text: &str) -> &str {
    let whole = text.starts_with("<|").then(|| text.split_once("|>\n")?.1.rsplit_once("\n<|")).flatten();
    whole.map_or(text, |(body, _)| body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonces_do_not_count_and_what_was_said_does_once() {
        let sealed = |nonce: &str, text: &str| {
            Turn::User(format!("<|ITERATION_{nonce}|>\n{text}\n<|ITERATION_END_{nonce}|>").into())
        };
        let bodies = [Arc::from("ten words"), Arc::from("")];
        let mut size = PromptSize::default();
        let none = size.of(bodies.iter(), &[]);
        let one = sealed("a7k2m9x4q8w3e6r1t5y0u2i4o6", "read a file");
        let first = size.of(bodies.iter(), std::slice::from_ref(&one));
        assert_eq!(first - none, estimate("read a file"));
        let two = [one, sealed("zzzzzzzzzzzzzzzzzzzzzzzzzz", "read a file")];
        assert_eq!(size.of(bodies.iter(), &two) - first, estimate("read a file"));
        assert_eq!(PromptSize::default().of(bodies.iter(), &two), size.of(bodies.iter(), &two));
        let longer = [Arc::from("ten words and more"), Arc::from("")];
        assert!(size.of(longer.iter(), &two) > PromptSize::default().of(bodies.iter(), &two));
    }
}
