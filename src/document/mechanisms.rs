//! Settings of the mechanisms. They are read and validated; the mechanisms themselves are not yet in force.

use schemars::JsonSchema;
use serde::Deserialize;

use super::spin::Spin;
use super::value::Duration;
use crate::syntax::{Raw, Spanned};

/// The mechanisms of a loop.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Mechanisms {
    /// What the loop is doing now, in its own words, kept up to date.
    pub perception: Option<Perception>,
    /// What an action brought, and what to change.
    pub reflection: Option<Reflection>,
    /// Whether the loop repeats itself.
    pub spin: Option<Spin>,
    /// Whether the goal is reached.
    pub verification: Option<Verification>,
    /// Whether a figure still moves.
    pub progress: Option<Progress>,
    /// Checkpoints for open todos.
    pub todo: Option<Todo>,
}

/// Settings of perception.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Perception {
    /// Off switch. Default: true.
    pub enabled: Option<bool>,
    /// Iterations between updates. Default: 1.
    #[schemars(range(min = 1))]
    pub every: Option<u32>,
    /// The shortest time between updates. Default: 30s.
    pub min_interval: Option<Duration>,
    /// The longest time between updates, to which the shortest grows while nothing changes. Default: 5m.
    pub max_interval: Option<Duration>,
    /// The model tier. Default: `helper`.
    pub tier: Option<Spanned<String>>,
}

/// How deep a reflection goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// None.
    None,
    /// Record only.
    Minimal,
    /// A model call: what the action did.
    Standard,
    /// A model call: a detailed analysis.
    Deep,
    /// A model call: why it failed.
    Critical,
}

/// Settings of reflection.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Reflection {
    /// Off switch: costs no model call when false. Default: true.
    pub enabled: Option<bool>,
    /// The level of a plain iteration. Default: `minimal`.
    pub default: Option<Level>,
    /// The model tier. Default: `helper`.
    pub tier: Option<Spanned<String>>,
}

/// Who judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    /// A model.
    Model,
    /// The declared checks.
    Checks,
    /// Checks first, then a model.
    Both,
}

/// Settings of the verification gate.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Verification {
    /// Off switch. Default: true.
    pub enabled: Option<bool>,
    /// Iterations between verifications. Default: 2.
    #[schemars(range(min = 1))]
    pub every: Option<u32>,
    /// The longest age of a verdict. Default: 30s.
    pub max_age: Option<Duration>,
    /// A change of the prompt by this many tokens asks for one. Default: 500.
    pub min_prompt_delta: Option<u32>,
    /// Time without activity after which one is forced. Default: 2m.
    pub watchdog: Option<Duration>,
    /// The first iteration that may be verified.
    pub min_iteration: Option<u32>,
    /// The shortest time between verifications that the prompt's growth asks for.
    pub cooldown: Option<Duration>,
    /// Tokens of the prompt after which one is always made.
    pub hard_tokens: Option<u32>,
    /// The confidence from which a model's verdict counts, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub threshold: Option<f64>,
    /// The model tier. Default: `main`.
    pub tier: Option<Spanned<String>>,
    /// Who judges: `model`, `checks` or `both`.
    pub judge: Option<Judge>,
    /// Commands or expressions that decide.
    pub checks: Option<Vec<Raw>>,
    /// Failed verifications after which the loop ends with `unverified`.
    pub max_failures: Option<u32>,
    /// Files that the loop may not edit, since they judge it.
    pub protect: Option<Vec<String>>,
}

/// Which way a figure should move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Larger is better.
    Up,
    /// Smaller is better.
    Down,
}

/// Settings of the progress check.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// An expression that gives a number.
    pub metric: Spanned<String>,
    /// Which way it should move.
    pub direction: Direction,
    /// Iterations without a better figure after which the loop ends with `no_progress`.
    #[schemars(range(min = 1))]
    pub patience: u32,
}

/// Settings of todo checkpoints.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Todo {
    /// On switch. Default: false.
    pub enabled: Option<bool>,
    /// Iterations with the same current todo after which a checkpoint is shown. Default: 25.
    #[schemars(range(min = 1))]
    pub stale_after: Option<u32>,
}
