//! What events are made of: ids, counts, and the states of calls, steps and tools.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Identifies one run: sortable by start time, unique on a machine.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct RunId(pub String);

impl std::fmt::Display for RunId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Tokens of one model call or of a whole run, as the provider reported them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Tokens of the prompt, those read from a cache included where the provider includes them.
    #[serde(default)]
    pub input: u64,
    /// Tokens that the model wrote.
    #[serde(default)]
    pub output: u64,
    /// Prompt tokens that came from the provider's prompt cache.
    #[serde(default)]
    pub cache_read: u64,
    /// Prompt tokens that were written to the provider's prompt cache.
    #[serde(default)]
    pub cache_write: u64,
}

impl Usage {
    /// Adds another call's tokens.
    pub fn add(&mut self, other: Usage) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
    }

    /// Input and output together, the figure that `limits.max_total_tokens` bounds.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// What answers in a run: a model, or something that was written down before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum ReplySource {
    /// A model behind a provider.
    Model,
    /// Replies written by hand, matched on the request.
    Script {
        /// The script's file.
        path: String,
    },
    /// Replies recorded from a model, matched on the request.
    Recording {
        /// The recording's file.
        path: String,
    },
}

/// One section's share of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SectionProfile {
    /// The section's name.
    pub name: String,
    /// The tier that it is placed in.
    pub tier: String,
    /// Its bytes, delimiters included.
    pub bytes: usize,
    /// Its tokens.
    pub tokens: usize,
    /// Whether its bytes differ from the previous iteration's.
    pub changed: bool,
}

/// What a step ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// It ran to its end.
    Ok,
    /// Its `when` was false.
    Skipped,
    /// It failed; what follows is said by its `on_error`.
    Failed,
    /// The run was cancelled while it ran.
    Cancelled,
}

/// What happened to a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkillChange {
    /// Its instructions stand in the prompt from now on.
    Loaded,
    /// Another part of it is shown.
    Moved,
    /// It left the prompt, to make room.
    PutAway,
    /// A file of it was asked for.
    Resource,
}

/// What a tool call ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// A result came back.
    Done,
    /// The tool failed: the result is the error's text, which the model can read.
    Error,
    /// Policy does not allow the call.
    Denied,
}

/// What became of a server that brings tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolServerStatus {
    /// It is there, and its tools are known.
    Started,
    /// It has other tools now; loops see them from their next iteration on.
    Changed,
    /// It ended by itself, or its connection broke. It is started again when it is next needed.
    Lost,
    /// It did not start.
    Failed,
}

/// Why the engine calls a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallPurpose {
    /// The loop's own turn: one action.
    Action,
    /// A forge: one structured object.
    Forge,
    /// The parameters of a tool that `require_tool` asked for.
    Parameters,
    /// A summary of older iterations.
    Summary,
    /// Perception: what the loop is doing.
    Perception,
    /// Reflection: what an action brought.
    Reflection,
    /// The second opinion on a suspected spin.
    Spin,
    /// Names from the catalog of capabilities.
    Catalog,
    /// Whether the goal is reached.
    Verification,
}

impl CallPurpose {
    /// The name that events and recordings use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Action => "action",
            Self::Forge => "forge",
            Self::Parameters => "parameters",
            Self::Summary => "summary",
            Self::Perception => "perception",
            Self::Reflection => "reflection",
            Self::Spin => "spin",
            Self::Catalog => "catalog",
            Self::Verification => "verification",
        }
    }
}

/// A change that was made to a reply so that it could be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepairNote {
    /// The kind of repair, such as `trailing_comma`.
    pub kind: String,
    /// What was done, in words.
    pub detail: String,
}
