//! What binds the next turn or the run's end: `next_actions`, `forbid_actions`, `forbid_exit_next`, `request_async`,
//! `silence`.

use minijinja::Value;
use schemars::JsonSchema;
use serde::Deserialize;

use super::shape::Strings;
use super::{Group, Reference, StepContext, StepFailure, Verb};
use crate::document::Templated;

/// The next turn may choose among these actions only.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(example = ["summarize"])]
pub(super) struct NextActions(Strings);

impl Verb for NextActions {
    const NAME: &'static str = "next_actions";
    const GROUP: Group = Group::Control;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let names = self.0.render(cx)?;
        if names.is_empty() {
            return Err(StepFailure::new("`next_actions` names no action, so the next turn could do nothing"));
        }
        cx.state().next_actions = Some(names.clone());
        Ok(Value::from(names))
    }

    fn references(&self) -> Vec<Reference> {
        self.0.literals().map(|name| Reference::Action(name.to_owned())).collect()
    }
}

/// The next turn may not choose these actions.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(example = ["extract_anomaly"])]
pub(super) struct ForbidActions(Strings);

impl Verb for ForbidActions {
    const NAME: &'static str = "forbid_actions";
    const GROUP: Group = Group::Control;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let names = self.0.render(cx)?;
        cx.state().forbid_actions.extend(names.iter().cloned());
        Ok(Value::from(names))
    }

    fn references(&self) -> Vec<Reference> {
        self.0.literals().map(|name| Reference::Action(name.to_owned())).collect()
    }
}

/// A verb that only sets a mark in the state.
macro_rules! mark {
    ($(#[$doc:meta])* $verb:ident, $name:literal, $field:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub(super) struct $verb(Templated<bool>);

        impl Verb for $verb {
            const NAME: &'static str = $name;
            const GROUP: Group = Group::Control;

            async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
                let on = cx.get(&self.0)?;
                cx.state().$field = on;
                Ok(Value::from(on))
            }
        }
    };
}

mark!(
    /// The next turn may not end the loop: actions that would are not offered.
    ForbidExitNext,
    "forbid_exit_next",
    forbid_exit_next
);

mark!(
    /// Hands the work over: the loop ends with the reason `async` after this handler.
    RequestAsync,
    "request_async",
    request_async
);

mark!(
    /// Keeps the handler's outcome out of the next prompt.
    Silence,
    "silence",
    silence
);
