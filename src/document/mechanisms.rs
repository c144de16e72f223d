//! Settings of the mechanisms. The defaults are `mechanism::Settings`'s; the comments here repeat them for authors, and a test compares.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use super::spin::Spin;
use super::value::{Duration, TextSource};
use super::verification::Verification;
use crate::syntax::Spanned;

/// The mechanisms of a loop.
///
/// A mechanism that is named here, if only as `{}`, is on with its defaults. One that is not named does only what costs
/// no model call.
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
    /// What the model is told, in place of the file `prompts/mechanisms/perception.md.j2`.
    pub prompt: Option<TextSource>,
}

/// How deep a reflection goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
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

impl Level {
    /// All levels, the cheapest first.
    pub const ALL: [Self; 5] = [Self::None, Self::Minimal, Self::Standard, Self::Deep, Self::Critical];

    /// The name that documents and events use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Standard => "standard",
            Self::Deep => "deep",
            Self::Critical => "critical",
        }
    }

    /// The level of a name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }

    /// Whether it asks a model.
    #[must_use]
    pub fn asks_model(self) -> bool {
        matches!(self, Self::Standard | Self::Deep | Self::Critical)
    }
}

/// Settings of reflection.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Reflection {
    /// Off switch: costs no model call when false. Default: true.
    pub enabled: Option<bool>,
    /// The level of a plain iteration. Default: `minimal`.
    pub default: Option<Level>,
    /// The most reflections that ask a model, in one run of the loop. Left out, it may be one an iteration.
    pub max_calls: Option<u32>,
    /// The model tier. Default: `helper`.
    pub tier: Option<Spanned<String>>,
    /// What the model is told at a level, in place of the file `prompts/mechanisms/reflection.md.j2`: level → text, or
    /// `{ file: path }`.
    pub levels: IndexMap<Level, TextSource>,
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
    /// An expression that gives a number, such as `state.failures`. It is evaluated at the end of each iteration, after
    /// the hooks. An iteration in which it fails, or gives no number, does not count.
    pub metric: Spanned<String>,
    /// Which way it should move.
    pub direction: Direction,
    /// Iterations without a better figure after which the loop ends with `no_progress`.
    #[schemars(range(min = 1))]
    pub patience: u32,
}

/// Settings of todo checkpoints.
///
/// The first action that would end the loop while todos are open is held back once, and a todo that stays the current
/// one for long is pointed out: the section TODO_CHECKPOINT of the next prompt says so, and no model is asked.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Todo {
    /// On switch. Default: false.
    pub enabled: Option<bool>,
    /// Iterations with the same current todo, those whose action failed left out, after which a checkpoint is shown.
    /// Default: 25.
    #[schemars(range(min = 1))]
    pub stale_after: Option<u32>,
}

/// Mechanisms that a workspace switches off for all its loops, whatever these say.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Switches {
    /// Perception. Default: true.
    pub perception: bool,
    /// Reflection. Default: true.
    pub reflection: bool,
    /// Spin detection. Default: true.
    pub spin: bool,
    /// The verification gate. Default: true.
    pub verification: bool,
    /// The progress check. Default: true.
    pub progress: bool,
    /// Todo checkpoints. Default: true.
    pub todo: bool,
}

impl Default for Switches {
    fn default() -> Self {
        Self { perception: true, reflection: true, spin: true, verification: true, progress: true, todo: true }
    }
}
