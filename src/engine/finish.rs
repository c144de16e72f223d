//! The end of a loop: its reason, its `finish` hooks, what they may change.

use minijinja::Value;

use super::core::LoopCore;
use crate::document::Then;
use crate::event::{Event, ExitReason};
use crate::state::Frame;
use crate::verb::{Phase, StepFailure};

/// Why a loop ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct End {
    pub(super) reason: ExitReason,
    pub(super) error: Option<String>,
}

impl End {
    /// An end that needs no words.
    pub(super) fn new(reason: ExitReason) -> Self {
        Self { reason, error: None }
    }

    /// An end with words.
    pub(super) fn failed(reason: ExitReason, error: impl Into<String>) -> Self {
        Self { reason, error: Some(error.into()) }
    }

    /// The end that a terminal outcome asks for; none for `continue`.
    pub(super) fn of(then: Then) -> Option<Self> {
        match then {
            Then::Continue => None,
            Then::Exit => Some(Self::new(ExitReason::Exit)),
            Then::Fail => Some(Self::new(ExitReason::Fail)),
            Then::Done => Some(Self::new(ExitReason::Done)),
        }
    }
}

impl LoopCore {
    /// The end of a loop whose work was stopped from outside.
    pub(super) fn stopped(&self) -> End {
        match self.shared.cancel.failure() {
            Some(words) => End::failed(ExitReason::Error, words),
            None => End::new(self.stop.reason()),
        }
    }

    /// The end that a failing hook brings.
    pub(super) fn hook_end(&self, hook: &str, failure: StepFailure) -> End {
        match failure {
            StepFailure::Cancelled => self.stopped(),
            StepFailure::Ended(reason) => End::new(reason),
            StepFailure::Failed(words) => End::failed(ExitReason::Error, format!("the {hook} hook failed: {words}")),
        }
    }

    /// Runs the `finish` hooks; whether one of them said `ignore_error`.
    pub(super) async fn run_finish_hooks(&self, end: &mut End) -> bool {
        if self.program.finish.is_empty() {
            return false;
        }
        let mut frame = Frame::default()
            .with("reason", Value::from(end.reason.name()))
            .with("error", end.error.as_deref().map_or(Value::from(()), Value::from));
        self.state().ignore_error = false;
        let result = tokio::select! {
            biased;
            () = self.stop.hooks.cancelled() => Err(StepFailure::Cancelled),
            result = self.run_steps(&self.program.finish, &mut frame, Phase::FINISH) => result,
        };
        if let Err(failure) = result {
            let message = format!("the finish hook failed: {failure}");
            self.events.emit(Event::Warning { message: message.clone() });
            // A run that looked like a success has not done what its author asks for at the end.
            if end.reason.exit_code() == 0 {
                *end = match failure {
                    StepFailure::Cancelled => self.stopped(),
                    _ => End::failed(ExitReason::Error, message),
                };
            }
        }
        self.state().ignore_error
    }
}
