//! What a mechanism's model gets to see of a run: the task, the last actions with what came of them, notes.

use std::fmt::Write as _;

use crate::engine::act::{outcome_text, shorten};
use crate::engine::core::LoopCore;
use crate::state::ActionRecord;

/// The most bytes of the input, of one action's parameters, of one result, and of the notes.
const INPUT: usize = 8 * 1024;
const PARAMS: usize = 1024;
const RESULT: usize = 2 * 1024;
const NOTES: usize = 4 * 1024;

/// How many timeline entries.
const ENTRIES: usize = 20;

impl LoopCore {
    /// The loop's input.
    pub(in crate::engine) fn task_text(&self) -> String {
        shorten(crate::engine::sub::input_text(&self.base.input), INPUT)
    }

    /// The last actions, oldest first.
    pub(in crate::engine) fn actions_text(&self, last: usize) -> String {
        let records: Vec<ActionRecord> = {
            let state = self.state();
            state.history[state.history.len().saturating_sub(last)..].to_vec()
        };
        records.iter().map(action_text).collect::<Vec<_>>().join("\n\n")
    }

    /// What the loop noted about its own course: timeline, feedback.
    pub(in crate::engine) fn notes_text(&self) -> String {
        let (entries, feedback) = {
            let state = self.state();
            let entries = state.timeline_all[state.timeline_all.len().saturating_sub(ENTRIES)..].to_vec();
            (entries, state.feedback.clone())
        };
        let mut text = entries.iter().map(outcome_text).collect::<Vec<_>>().join("\n");
        for words in feedback {
            let _ = write!(text, "\nfeedback: {words}");
        }
        shorten(text, NOTES)
    }
}

/// One action with its parameters and its result side by side.
fn action_text(record: &ActionRecord) -> String {
    let mut text = format!("iteration {}: {}", record.iteration, record.action);
    if let Some(identifier) = &record.identifier {
        let _ = write!(text, " ({identifier})");
    }
    let _ = write!(text, "\nparameters: {}", shorten(outcome_text(&record.params), PARAMS));
    match &record.error {
        Some(error) => {
            let _ = write!(text, "\nfailed: {}", shorten(error.clone(), RESULT));
        }
        None => {
            let _ = write!(text, "\nresult: {}", shorten(outcome_text(&record.result), RESULT));
        }
    }
    text
}
