//! `verify_goal`: whether the goal is reached, now.

use std::borrow::Cow;

use minijinja::Value;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use serde_json::json;

use super::{Group, StepContext, StepFailure, Verb};
use crate::syntax::{Raw, Value as Node, decode_within};

/// Whether the goal is reached.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct VerifyGoal(GoalArgs);

/// What the judge should know.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GoalArgs {
    /// What the judge should know, or look at above all.
    #[serde(default)]
    reason: Option<String>,
}

impl<'de> Deserialize<'de> for VerifyGoal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        match &raw.node().value {
            Node::Null => Ok(GoalArgs::default()),
            Node::Map(_) => decode_within::<GoalArgs, D::Error>(raw.node()),
            _ => decode_within::<String, D::Error>(raw.node()).map(|reason| GoalArgs { reason: Some(reason) }),
        }
        .map(Self)
    }
}

impl JsonSchema for VerifyGoal {
    fn schema_name() -> Cow<'static, str> {
        "VerifyGoalStep".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let map = generator.subschema_for::<GoalArgs>();
        json_schema!({
            "description": "Looks whether the goal is reached, whatever the throttles say: `{}`, words for the judge, or { reason }. The result is `verification`. A goal that is reached ends the loop when the list of steps is over, unless a step ends it in another way.",
            "anyOf": [{ "type": "null" }, { "type": "string" }, map],
            "examples": ["Phase {{ state.phase }} is done.", json!({})]
        })
    }
}

impl Verb for VerifyGoal {
    const NAME: &'static str = "verify_goal";
    const GROUP: Group = Group::Mechanism;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let reason = self.0.reason.as_ref().map(|reason| cx.text(reason)).transpose()?;
        cx.host.verify_goal(reason.filter(|reason| !reason.trim().is_empty()), cx).await
    }
}
