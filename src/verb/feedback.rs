//! `feedback`: words for the model's next turn.

use minijinja::Value;
use schemars::JsonSchema;
use serde::Deserialize;

use super::shape::Strings;
use super::{Group, StepContext, StepFailure, Verb};
use crate::event::Event;

/// Words for the model's next turn: a text, or a list of texts.
///
/// An empty text is left out.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(example = "Recorded finding {{ state.found | length }}.")]
pub(super) struct Feedback(Strings);

impl Verb for Feedback {
    const NAME: &'static str = "feedback";
    const GROUP: Group = Group::State;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let mut texts = self.0.render(cx)?;
        texts.retain(|text| !text.trim().is_empty());
        cx.state().feedback.extend(texts.iter().cloned());
        let result = Value::from(texts.join("\n"));
        for text in texts {
            cx.emit(Event::Feedback { text });
        }
        Ok(result)
    }
}
