//! Tool calls of one action: one, or 2 to 8 independent ones that run at the same time.

use futures_util::StreamExt;
use minijinja::Value;
use minijinja::value::Serde;
use serde_json::{Map, Value as Json};

use super::core::LoopCore;
use crate::verb::{Phase, StepFailure};

/// One call of a batch.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) params: Json,
    pub(super) identifier: Option<String>,
    pub(super) reason: Option<String>,
}

/// What a call gave.
#[derive(Debug, Clone)]
pub(super) struct CallResult {
    pub(super) call: Call,
    pub(super) outcome: Result<Value, String>,
}

/// The calls of an action's parameters.
pub(super) fn calls(params: &Map<String, Json>) -> Vec<Call> {
    let one = |object: &Map<String, Json>| {
        let text = |key: &str| object.get(key).and_then(Json::as_str).map(str::to_owned);
        Some(Call {
            tool: text("tool_name")?,
            params: object.get("params").cloned().unwrap_or_else(|| Json::Object(Map::new())),
            identifier: text("identifier"),
            reason: text("reason"),
        })
    };
    match params.get("calls").and_then(Json::as_array) {
        Some(list) => list.iter().filter_map(Json::as_object).filter_map(one).collect(),
        None => one(params).into_iter().collect(),
    }
}

impl LoopCore {
    /// Runs calls at the same time, as many as the loop allows; results come in the declared order.
    ///
    /// # Errors
    /// Only what ends the run: a failing tool is a result.
    pub(super) async fn run_calls(&self, calls: Vec<Call>) -> Result<Vec<CallResult>, StepFailure> {
        let parallel = self.program.limits.max_parallel.max(1) as usize;
        let mut running = futures_util::stream::iter(calls.into_iter().map(|call| async move {
            let params = Value::from(Serde(&call.params));
            let outcome = match self.call_tool(&call.tool, params, call.identifier.clone(), Phase::WORK, true).await {
                Ok(value) => Ok(value),
                Err(StepFailure::Failed(words)) => Err(words),
                Err(other) => return Err(other),
            };
            Ok(CallResult { call, outcome })
        }))
        .buffered(parallel);
        let mut results = Vec::new();
        while let Some(result) = running.next().await {
            results.push(result?);
        }
        Ok(results)
    }
}
