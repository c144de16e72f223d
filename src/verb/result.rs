//! `result`: what a handler or a tool gives back.

use minijinja::Value;
use schemars::JsonSchema;
use serde::Deserialize;

use super::shape::{json, plain};
use super::{Group, StepContext, StepFailure, Verb};

/// Sets the result of the handler or the tool: any JSON, a template at any depth.
///
/// Without it the last step's result counts.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(example = serde_json::json!({ "lines": "{{ steps.out.stdout | length }}" }))]
pub(super) struct Result(serde_json::Value);

impl Verb for Result {
    const NAME: &'static str = "result";
    const GROUP: Group = Group::Compute;
    const GIVES: bool = true;

    async fn run(&self, cx: &StepContext<'_>) -> std::result::Result<Value, StepFailure> {
        // A copy: the value leaves the scope that its views look into.
        Ok(plain(&json(&cx.json(&self.0)?)?))
    }
}
