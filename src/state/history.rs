//! Records of what happened: actions, timeline entries, totals.

use minijinja::Value;
use minijinja::value::Serde;
use serde::Serialize;

use crate::event::{
    CheckpointState, PerceptionState, ProgressState, ReflectionState, SpinState, Usage, VerificationState,
};

/// One action that was taken.
#[derive(Debug, Clone, Serialize)]
pub struct ActionRecord {
    /// The iteration.
    pub iteration: u32,
    /// The action's name.
    pub action: String,
    /// What the model called this step.
    pub identifier: Option<String>,
    /// Its parameters.
    pub params: Value,
    /// Whether its handler succeeded.
    pub ok: bool,
    /// The handler's result.
    pub result: Value,
    /// Why it failed.
    pub error: Option<String>,
}

/// What the mechanisms know, as templates see it.
#[derive(Debug, Clone)]
pub struct Seen {
    /// `perception`.
    pub perception: Value,
    /// `reflection`.
    pub reflection: Value,
    /// `spin`.
    pub spin: Value,
    /// `verification`.
    pub verification: Value,
    /// `progress`.
    pub progress: Value,
    /// `checkpoint`.
    pub checkpoint: Value,
}

impl Default for Seen {
    /// Before anything was seen. The names have their attributes from the start, so that a hook may ask for them.
    fn default() -> Self {
        Self {
            perception: Value::from(Serde(PerceptionState::default())),
            reflection: Value::from(Serde(ReflectionState::default())),
            spin: Value::from(Serde(SpinState::default())),
            verification: Value::from(Serde(VerificationState::default())),
            progress: Value::from(Serde(ProgressState::default())),
            checkpoint: Value::from(Serde(CheckpointState::default())),
        }
    }
}

/// One entry of the timeline.
#[derive(Debug, Clone, Serialize)]
pub struct TimelineEntry {
    /// What kind of entry, such as `anomaly_found`.
    pub kind: String,
    /// Its content.
    pub content: Value,
}

/// What a run has used, all its sub-loops included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Totals {
    /// Tokens.
    pub usage: Usage,
    /// US dollars, where prices are known.
    pub cost_usd: Option<f64>,
    /// Model calls that gave a reply.
    pub model_calls: u32,
    /// Tool calls.
    pub tool_calls: u32,
    /// Iterations begun, of all loops.
    pub iterations: u32,
}

impl Totals {
    /// Adds a call's tokens and cost.
    pub fn add_call(&mut self, usage: Usage, cost: Option<f64>) {
        self.usage.add(usage);
        if let Some(cost) = cost {
            self.cost_usd = Some(self.cost_usd.unwrap_or(0.0) + cost);
        }
    }
}
