//! Payloads of the verification gate's events: what asked, what was found, what follows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What asks for a verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerificationTrigger {
    /// An action is over.
    PostAction,
    /// The model, with the action `request_verification`.
    Request,
    /// A `verify_goal` step.
    Step,
    /// The model wants to end the loop.
    Finish,
    /// Nothing has happened for long.
    Watchdog,
}

impl VerificationTrigger {
    /// The name that documents and events use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::PostAction => "post_action",
            Self::Request => "request",
            Self::Step => "step",
            Self::Finish => "finish",
            Self::Watchdog => "watchdog",
        }
    }

    /// Whether somebody says that the goal is reached. The others only look.
    #[must_use]
    pub fn is_claim(self) -> bool {
        matches!(self, Self::Request | Self::Step | Self::Finish)
    }
}

/// What a verification came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerificationOutcome {
    /// There was none.
    #[default]
    None,
    /// The goal is reached.
    Satisfied,
    /// It is not.
    NotSatisfied,
    /// The judge gave no verdict.
    Unknown,
}

/// What follows from a verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerificationConsequence {
    /// The loop goes on.
    Continue,
    /// The loop may not end yet.
    Refused,
    /// The loop ends: the goal is reached.
    Satisfied,
    /// The loop ends: nobody can say that the goal is reached.
    Unverified,
}

/// What a check came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckState {
    /// Its name.
    pub name: String,
    /// Whether it passed.
    pub passed: bool,
    /// How often it passed.
    pub passes: u32,
    /// How often it was tried.
    pub tries: u32,
    /// The exit code of the last try; none for an expression, and for a program that was ended or could not start.
    pub exit_code: Option<i32>,
    /// What the model is shown of it; empty when it passed.
    pub output: String,
}

/// A file that the loop brought.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutputFile {
    /// Its path, relative to the workspace.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// How it begins, where it is text.
    pub excerpt: String,
}

/// The last verdict: `verification` in templates.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerificationState {
    /// Whether the goal is reached.
    pub satisfied: bool,
    /// What the verification came to.
    pub outcome: VerificationOutcome,
    /// How the judge can tell.
    pub reasoning: String,
    /// What is not done yet.
    pub missing: Vec<String>,
    /// Whether nothing that the loop can do will reach the goal.
    pub impossible: bool,
    /// How sure the judge is, 0 to 1; none when it did not say.
    pub confidence: Option<f64>,
    /// What to do next.
    pub next_movements: Vec<String>,
    /// Files that the loop brought.
    pub output_files: Vec<OutputFile>,
    /// Parts of the task that are done, by their ids or numbers.
    pub completed_task_index: Vec<String>,
    /// What the checks came to.
    pub checks: Vec<CheckState>,
    /// The iteration that was looked at.
    pub iteration: u32,
    /// When it was over: seconds since the loop began.
    pub at: f64,
    /// Verifications so far.
    pub count: u32,
    /// Those of them that failed, and may count against `max_failures`.
    pub failures: u32,
}
