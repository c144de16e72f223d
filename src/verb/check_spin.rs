//! `check_spin`: whether the loop repeats itself, without consequences.

use std::borrow::Cow;

use minijinja::Value;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use serde_json::json;

use super::{Group, StepContext, StepFailure, Verb};
use crate::document::Templated;
use crate::syntax::{Raw, Value as Node, decode_within};

/// Whether the loop repeats itself.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CheckSpin(CheckArgs);

/// Whom to ask.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CheckArgs {
    /// Whether the helper model is asked: `true` in any case, `false` never. Left out, it is when actions of one
    /// type in a row raise a suspicion.
    #[serde(default)]
    review: Option<Templated<bool>>,
}

impl<'de> Deserialize<'de> for CheckSpin {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        match &raw.node().value {
            Node::Null => Ok(CheckArgs::default()),
            _ => decode_within::<CheckArgs, D::Error>(raw.node()),
        }
        .map(Self)
    }
}

impl JsonSchema for CheckSpin {
    fn schema_name() -> Cow<'static, str> {
        "CheckSpinStep".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let map = generator.subschema_for::<CheckArgs>();
        json_schema!({
            "description": "Looks whether the loop repeats itself, and does nothing about it: `{}`, or { review }. The result is `spin`.",
            "anyOf": [{ "type": "null" }, map],
            "examples": [json!({}), json!({ "review": true })]
        })
    }
}

impl Verb for CheckSpin {
    const NAME: &'static str = "check_spin";
    const GROUP: Group = Group::Mechanism;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let review = self.0.review.as_ref().map(|review| cx.get(review)).transpose()?;
        cx.host.check_spin(review, cx).await
    }
}
