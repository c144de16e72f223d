//! Payloads of the mechanisms' events: decisions with their grounds, and what each mechanism knows.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A mechanism that watches a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MechanismName {
    /// What the loop is doing.
    Perception,
    /// What an action brought.
    Reflection,
    /// Whether the loop repeats itself.
    Spin,
    /// Whether the goal is reached.
    Verification,
    /// Whether a figure still moves.
    Progress,
    /// Checkpoints for open todos.
    Todo,
}

impl MechanismName {
    /// The name that documents and events use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Perception => "perception",
            Self::Reflection => "reflection",
            Self::Spin => "spin",
            Self::Verification => "verification",
            Self::Progress => "progress",
            Self::Todo => "todo",
        }
    }
}

/// A number that a decision was made from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Figure {
    /// A count, or a time in milliseconds.
    Whole(i64),
    /// A share, or a figure of a loop's own.
    Real(f64),
}

impl From<u32> for Figure {
    fn from(value: u32) -> Self {
        Self::Whole(value.into())
    }
}

impl From<usize> for Figure {
    fn from(value: usize) -> Self {
        Self::Whole(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Figure {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl From<std::time::Duration> for Figure {
    fn from(value: std::time::Duration) -> Self {
        Self::Whole(i64::try_from(value.as_millis()).unwrap_or(i64::MAX))
    }
}

impl std::fmt::Display for Figure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole(value) => value.fmt(f),
            Self::Real(value) => value.fmt(f),
        }
    }
}

/// Why a mechanism decided as it did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Grounds {
    /// The rule that decided, such as `min_interval`.
    pub rule: String,
    /// The numbers that it compared, by name; times are in milliseconds and end in `_ms`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub numbers: BTreeMap<String, Figure>,
}

impl Grounds {
    /// A rule without numbers.
    #[must_use]
    pub fn of(rule: &str) -> Self {
        Self { rule: rule.to_owned(), numbers: BTreeMap::new() }
    }

    /// With one more number.
    #[must_use]
    pub fn with(mut self, name: &str, figure: impl Into<Figure>) -> Self {
        self.numbers.insert(name.to_owned(), figure.into());
        self
    }
}

/// A mechanism's decision to act, or to leave it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    /// Which one.
    pub mechanism: MechanismName,
    /// Whether it acts.
    pub act: bool,
    /// Why.
    #[serde(flatten)]
    pub grounds: Grounds,
}

/// What asks perception to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PerceptionTrigger {
    /// An action is over.
    PostAction,
    /// A verification is over.
    Verification,
    /// A step asks.
    Forced,
    /// The loop repeats itself.
    SpinDetected,
    /// A loop inside another one begins.
    LoopSwitch,
}

impl PerceptionTrigger {
    /// The name that documents and events use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::PostAction => "post_action",
            Self::Verification => "verification",
            Self::Forced => "forced",
            Self::SpinDetected => "spin_detected",
            Self::LoopSwitch => "loop_switch",
        }
    }
}

/// What perception knows: `perception` in templates.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PerceptionState {
    /// What the task is about now.
    pub topics: Vec<String>,
    /// Words to search by.
    pub keywords: Vec<String>,
    /// What the loop is doing, in one line.
    pub summary: String,
    /// How sure the model is of it, 0 to 1.
    pub confidence: f64,
    /// Whether the topics differ from those before.
    pub changed: bool,
    /// Counts what was written; 0 before the first time.
    pub epoch: u32,
    /// What asked for it; none before the first time.
    pub last_trigger: Option<PerceptionTrigger>,
    /// When it was written: seconds since the loop began.
    pub last_update_at: f64,
    /// The hash of the topics before these.
    pub prev_topics_hash: String,
}

/// What the last reflection said: `reflection` in templates.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReflectionState {
    /// `none`, `minimal`, `standard`, `deep` or `critical`.
    pub level: String,
    /// The iteration that it looked at; 0 before the first time.
    pub iteration: u32,
    /// The action.
    pub action: String,
    /// What the action brought, in the model's words; empty when no model was asked.
    pub assessment: String,
    /// Why it failed, at the level `critical`.
    pub cause: String,
    /// What to do differently.
    pub suggestions: Vec<String>,
    /// What a `reflect` step handed over.
    pub data: Value,
}

/// What spin detection knows: `spin` in templates.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpinState {
    /// Whether the loop repeats itself.
    pub is_spinning: bool,
    /// How one can tell.
    pub reason: String,
    /// The pattern, such as `exact` or `cycle`; `review` when the helper model said so.
    pub family: String,
    /// The action that is repeated.
    pub action: String,
    /// How often it was taken.
    pub count: u32,
    /// Warnings so far in this incident.
    pub warnings: u32,
    /// What to do instead, as the helper model sees it.
    pub suggestions: Vec<String>,
    /// The actions that it would take next.
    pub next_actions: Vec<String>,
}

/// What the helper model said of a suspected spin.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpinOpinion {
    /// Whether it sees a spin.
    pub is_spinning: bool,
    /// How sure it is, 0 to 1.
    pub confidence: f64,
    /// How it can tell.
    pub reason: String,
    /// Whether it is a spin by that: the model sees one, and is sure enough.
    pub counts: bool,
}

/// What follows from what spin detection found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpinConsequence {
    /// Nothing.
    None,
    /// The model is warned.
    Warning,
    /// The loop ends.
    End,
}

/// How the figure of `mechanisms.progress` moves: `progress` in templates.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProgressState {
    /// The last figure; none before the first one.
    pub figure: Option<f64>,
    /// The best figure so far.
    pub best: Option<f64>,
    /// Figures in a row that were no better.
    pub stalled: u32,
}

/// A checkpoint for open todos: `checkpoint` in templates.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointState {
    /// `finish` when an action that would end the loop was held back, `stale` when a todo is the current one for long;
    /// empty when there is no checkpoint.
    pub rule: String,
    /// The action that was held back; empty at the rule `stale`.
    pub action: String,
    /// The id of the current todo.
    pub current: String,
    /// Todos that are not done.
    pub open: u32,
    /// Iterations that the todo was the current one.
    pub iterations: u32,
}
