//! Reads a reply as it arrives, for display.

use super::Grammar;

/// A bit of a reply that can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// More text of a parameter. A string comes decoded, in parts; any other value comes once, as compact JSON.
    Field {
        /// The action's name.
        action: &'a str,
        /// The parameter's name.
        key: &'a str,
        /// The next characters.
        text: &'a str,
    },
    /// The parameter is complete.
    FieldEnd {
        /// The action's name.
        action: &'a str,
        /// The parameter's name.
        key: &'a str,
    },
    /// More of a tag's body.
    Tag {
        /// The tag's name.
        name: &'a str,
        /// The next characters.
        text: &'a str,
    },
    /// The tag is complete.
    TagEnd {
        /// The tag's name.
        name: &'a str,
    },
    /// More of the model's reasoning, or of `human_readable_thought`.
    Thought(&'a str),
    /// Everything shown so far was reasoning after all (a lone `</think>`), or belongs to no action: forget it.
    Retract,
}

/// The incremental reader. What it shows is never executed.
#[derive(Debug)]
pub struct Live {
    _grammar: Grammar,
}

impl Live {
    /// A reader for one reply.
    pub fn new(grammar: &Grammar) -> Self {
        Self { _grammar: grammar.clone() }
    }

    /// Takes the next text of the reply and hands out what can be shown.
    pub fn feed(&mut self, _text: &str, _show: &mut dyn FnMut(Piece<'_>)) {}

    /// Says that the reply has ended, and hands out what was held back.
    pub fn finish(&mut self, _show: &mut dyn FnMut(Piece<'_>)) {}
}
