//! `perceive`: perception looks now.

use minijinja::Value;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Group, StepContext, StepFailure, Verb};

/// Perception looks now, whatever its throttle says, and at what these words ask for. The result is `perception`.
///
/// Where perception is switched off, nothing happens.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(example = "Is the work still about {{ input }}?")]
pub(super) struct Perceive(String);

impl Verb for Perceive {
    const NAME: &'static str = "perceive";
    const GROUP: Group = Group::Mechanism;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let reason = cx.text(&self.0)?;
        cx.host.perceive(reason, cx).await
    }
}
