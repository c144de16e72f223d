//! Typed documents: loop, tool, forge, preset, workspace.
//!
//! The doc comment of a field is what a YAML author reads: it becomes the schema's description, the editor's hover
//! text and the reference page.

mod action;
mod builtin;
mod callable;
mod loop_doc;
mod mcp;
mod mechanisms;
mod middleware;
mod params;
mod section;
mod spin;
mod step;
mod value;
mod verification;
mod workspace;

pub use action::{Action, DEFAULT_CONTENT_TYPE, StreamTo, Tag};
pub use builtin::{BUILTIN_TOOLS, BUILTINS, builtin};
pub use callable::{Effect, ForgeDoc, ToolClass, ToolDoc};
pub use loop_doc::{Allow, Limits, LoopDoc, ModelChoice, Overflow, OverflowStep, StateVar};
#[cfg(test)]
pub use mcp::McpRestart;
pub use mcp::{McpSecret, McpServerDoc, McpStart, McpValue};
pub use mechanisms::{Direction, Level, Mechanisms, Switches};
pub use middleware::{CacheSettings, LogLevel, Middleware, RateLimitSettings, ValidateSettings};
pub use params::Params;
pub use section::{Tier, Trust};
pub use spin::{Spin, SpinClass};
pub use step::{OnError, STEP_KEYS, Step, StepKeys, StepRetry, Then};
pub use value::{Duration, Templated, TextSource, is_template};
pub use verification::{Check, CheckKind, Feedback, FeedbackEnd, Judge, Verification};
pub use workspace::{CheckLevel, Decision, PolicyRule, PresetDoc, WorkspaceDoc};

/// The kinds of document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A loop; also a document without `kind`.
    Loop,
    /// A tool.
    Tool,
    /// A forge.
    Forge,
    /// A preset.
    Preset,
    /// A workspace.
    Workspace,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 5] = [Self::Loop, Self::Tool, Self::Forge, Self::Preset, Self::Workspace];

    /// The word in `kind`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Loop => "loop",
            Self::Tool => "tool",
            Self::Forge => "forge",
            Self::Preset => "preset",
            Self::Workspace => "workspace",
        }
    }

    /// The kind that a word names.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == word)
    }
}
