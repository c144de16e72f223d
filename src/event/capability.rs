//! Payloads about capabilities: what a search found, and what a loop remembers of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A kind of capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CapabilityKind {
    /// One call with parameters.
    Tool,
    /// One structured model call against an output schema.
    Forge,
    /// Instructions that are loaded into the prompt.
    Skill,
    /// Another loop that works on a part of the task.
    FocusMode,
}

impl CapabilityKind {
    /// Every kind, in the order in which a name is resolved.
    pub const ALL: [CapabilityKind; 4] =
        [CapabilityKind::Tool, CapabilityKind::Forge, CapabilityKind::Skill, CapabilityKind::FocusMode];

    /// Its name in documents, events and outputs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            CapabilityKind::Tool => "tool",
            CapabilityKind::Forge => "forge",
            CapabilityKind::Skill => "skill",
            CapabilityKind::FocusMode => "focus_mode",
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl std::fmt::Display for CapabilityKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A capability by kind and name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct CapabilityRef {
    /// Its name.
    pub name: String,
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: CapabilityKind,
}

/// What a search found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapabilityResult {
    /// A report in Markdown: the hits by kind.
    pub search_results_markdown: String,
    /// What the next prompt is told: a line a hit, the best first.
    pub context_enrichment: String,
    /// Names of tools, the best first.
    pub matched_tool_names: Vec<String>,
    /// Names of forges, the best first.
    pub matched_forge_names: Vec<String>,
    /// Names of skills, the best first.
    pub matched_skill_names: Vec<String>,
    /// Names of focus modes, the best first.
    pub matched_focus_mode_names: Vec<String>,
    /// The names to try first, at most three: what a model chose, then hits half as good as the best or better.
    pub recommended: Vec<String>,
    /// The names that a model chose from the catalog.
    pub catalog_matched: Vec<String>,
    /// All hits, the best first.
    pub details: Vec<CapabilityHit>,
    /// Whether the words alone may well have missed what was meant.
    pub unsure: bool,
}

/// One hit of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapabilityHit {
    /// The name.
    pub name: String,
    /// The kind.
    #[serde(rename = "type")]
    pub kind: CapabilityKind,
    /// What it does, on one line.
    pub description: String,
    /// How to use it.
    pub usage: String,
    /// How well it fits, to compare with the others; 0 for one that only a model chose.
    pub score: f32,
    /// How much of what the query says is in it: 0 nothing, 1 everything.
    pub coverage: f32,
}

/// What became of asking a model for names of the catalog.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CatalogMatch {
    /// The parts in which the catalog was shown.
    pub chunks: u32,
    /// The names that it chose and that exist.
    pub chosen: Vec<String>,
    /// How many names it made up.
    pub unknown: u32,
    /// Why it was not asked about all parts.
    pub error: Option<String>,
}

/// What a loop knows of capabilities that were found: `capabilities` in templates.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapabilityState {
    /// The last search.
    #[serde(flatten)]
    pub result: CapabilityResult,
    /// What all searches found and the model may use, beside what the loop offers itself; the last found at the end.
    pub extra: Vec<ExtraCapability>,
    /// Forges that the loop offers.
    pub forges: Vec<ExtraCapability>,
    /// Focus modes that the loop offers.
    pub focus_modes: Vec<ExtraCapability>,
    /// Whether there may be capabilities beside those that the loop offers itself: then a search makes sense.
    pub more: bool,
}

/// A capability that was found and may be used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExtraCapability {
    /// The name.
    pub name: String,
    /// The kind.
    #[serde(rename = "type")]
    pub kind: CapabilityKind,
    /// What it does.
    pub description: String,
    /// How to use it.
    pub usage: String,
    /// JSON Schema of its parameters, where it has some.
    pub params: Option<Value>,
}

/// What a name turned out to be, and what followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoadOutcome {
    /// A tool was called.
    Called,
    /// A forge took the work over.
    HandedOver,
    /// A forge was run, and the loop goes on with its output.
    Ran,
    /// A skill is in the prompt.
    Loaded,
    /// A focus mode did its part.
    Entered,
    /// There is something of this name, and it could not be used.
    Failed,
    /// There is nothing of this name.
    Unknown,
    /// There is nothing of this name, as was found out before.
    Blocked,
}

impl LoadOutcome {
    /// Its name in events and outputs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            LoadOutcome::Called => "called",
            LoadOutcome::HandedOver => "handed_over",
            LoadOutcome::Ran => "ran",
            LoadOutcome::Loaded => "loaded",
            LoadOutcome::Entered => "entered",
            LoadOutcome::Failed => "failed",
            LoadOutcome::Unknown => "unknown",
            LoadOutcome::Blocked => "blocked",
        }
    }
}

/// How work ended that was handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AsyncStatus {
    /// With a result.
    Done,
    /// With an error.
    Error,
    /// Its model was silent for too long.
    Silent,
    /// The run was stopped, or is over its limits.
    Stopped,
}
