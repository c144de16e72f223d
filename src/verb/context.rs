//! What a verb may touch, and what only the engine can do for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use minijinja::Value;
use serde::de::DeserializeOwned;

use crate::document::{Level, StreamTo, Templated};
use crate::event::{CapabilityKind, Event, EventStream};
use crate::model::BoxFuture;
use crate::policy::Access;
use crate::state::{RunState, Scope};
use crate::template::{TemplateError, Templates};

/// A step that failed, in words that the model or the operator can read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StepFailure {
    /// The work failed; the words go where the step's `on_error` says.
    #[error("{0}")]
    Failed(String),
    /// The run is being cancelled.
    #[error("cancelled")]
    Cancelled,
    /// A limit of the run was reached inside the step: the run ends with it, whatever `on_error` says.
    #[error("{}", .0.name())]
    Ended(crate::event::ExitReason),
}

impl StepFailure {
    /// A failure in words.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }
}

/// A structured model call.
#[derive(Debug, Clone)]
pub struct ForgeCall {
    /// The forge's name.
    pub forge: String,
    /// Its input.
    pub input: Value,
    /// The tier, when the step names one.
    pub tier: Option<String>,
    /// Output field → node, on top of the forge's own.
    pub stream: Vec<(String, StreamTo)>,
}

/// A tool call.
#[derive(Debug, Clone)]
pub struct ToolCallRequest {
    /// The tool's name.
    pub tool: String,
    /// Its parameters.
    pub params: Value,
    /// The name that the caller gave to this call.
    pub identifier: Option<String>,
}

/// A sub-loop as its own task.
#[derive(Debug, Clone)]
pub struct LoopCall {
    /// The loop's name.
    pub name: String,
    /// Its input.
    pub input: Value,
    /// State variables to start with.
    pub set: Vec<(String, Value)>,
}

/// A search for capabilities.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchCall {
    /// What is needed, each a side of the same need.
    pub queries: Vec<String>,
    /// The most hits, when the step names it.
    pub limit: Option<usize>,
    /// Whether the helper model is shown the catalog, when the step says so.
    pub catalog: Option<bool>,
    /// Names that count as found if they exist.
    pub names: Vec<String>,
    /// Whether the report lists all others behind the hits.
    pub all: bool,
}

/// Something to be used by its name.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadCall {
    /// The name.
    pub identifier: String,
    /// What it must be; anything when none.
    pub kind: Option<CapabilityKind>,
    /// What a focus mode is to do; the whole task when none.
    pub task: Option<String>,
    /// A forge's input; the model is asked when there is none.
    pub params: Option<serde_json::Value>,
}

/// What a reflection is asked for.
#[derive(Debug, Clone)]
pub struct ReflectCall {
    /// How deep.
    pub level: Level,
    /// What to tell whoever looks.
    pub data: serde_json::Value,
}

/// What only the engine can do: everything that calls a model, a tool, a loop or the user.
pub trait Host: Send + Sync {
    /// One structured model call.
    fn forge<'a>(&'a self, call: ForgeCall, cx: &'a StepContext<'a>) -> BoxFuture<'a, Result<Value, StepFailure>>;
    /// One tool call, with its events. A tool's own failure is an `Err` with its words.
    fn tool<'a>(&'a self, call: ToolCallRequest, cx: &'a StepContext<'a>) -> BoxFuture<'a, Result<Value, StepFailure>>;
    /// Runs a loop as a task of its own; the value has `reason`, `answer` and `state`.
    fn run_loop<'a>(&'a self, call: LoopCall, cx: &'a StepContext<'a>) -> BoxFuture<'a, Result<Value, StepFailure>>;
    /// Asks the user; none when nobody can be asked.
    fn ask<'a>(
        &'a self,
        question: String,
        options: Vec<String>,
        cx: &'a StepContext<'a>,
    ) -> BoxFuture<'a, Result<Option<String>, StepFailure>>;
    /// Loads skills into the prompt; the value lists what is shown of each.
    fn load_skills<'a>(
        &'a self,
        names: Vec<String>,
        cx: &'a StepContext<'a>,
    ) -> BoxFuture<'a, Result<Value, StepFailure>>;
    /// Perception looks now; the value is `perception`.
    fn perceive<'a>(&'a self, reason: String, cx: &'a StepContext<'a>) -> BoxFuture<'a, Result<Value, StepFailure>>;
    /// Sets the level of the action that is being done, or looks at the last one; the value is `reflection`.
    fn reflect<'a>(&'a self, call: ReflectCall, cx: &'a StepContext<'a>) -> BoxFuture<'a, Result<Value, StepFailure>>;
    /// Looks for capabilities, and remembers them for the loop; the value is the result record.
    fn search_capabilities<'a>(
        &'a self,
        call: SearchCall,
        cx: &'a StepContext<'a>,
    ) -> BoxFuture<'a, Result<Value, StepFailure>>;
    /// Uses something by its name, whatever it is; the value says what it was and what came of it.
    fn load_capability<'a>(
        &'a self,
        call: LoadCall,
        cx: &'a StepContext<'a>,
    ) -> BoxFuture<'a, Result<Value, StepFailure>>;
    /// Looks for a spin; `review` says whether the helper model is asked. The value is `spin`.
    fn check_spin<'a>(
        &'a self,
        review: Option<bool>,
        cx: &'a StepContext<'a>,
    ) -> BoxFuture<'a, Result<Value, StepFailure>>;
    /// Looks whether the goal is reached; `reason` is what the judge should know. The value is `verification`.
    fn verify_goal<'a>(
        &'a self,
        reason: Option<String>,
        cx: &'a StepContext<'a>,
    ) -> BoxFuture<'a, Result<Value, StepFailure>>;
}

/// Which part of a loop's life a step belongs to, and how many tool calls stand around it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Phase {
    /// Inside a `finish` hook, which a first cancellation does not stop.
    pub finishing: bool,
    /// Tool calls around the step.
    pub nesting: u32,
}

impl Phase {
    /// Hooks before and between iterations, and actions.
    pub const WORK: Self = Self { finishing: false, nesting: 0 };
    /// `finish` hooks.
    pub const FINISH: Self = Self { finishing: true, nesting: 0 };

    /// The phase of a tool's own steps.
    #[must_use]
    pub fn nested(self) -> Self {
        Self { nesting: self.nesting + 1, ..self }
    }
}

/// What a verb sees of a run.
pub struct StepContext<'a> {
    /// The names that templates see.
    pub scope: &'a Scope,
    /// Compiled templates.
    pub templates: &'a Templates,
    /// The loop's state.
    pub state: &'a Arc<Mutex<RunState>>,
    /// Where events go.
    pub events: &'a EventStream,
    /// Files, processes and network, inside the workspace.
    pub access: &'a Access,
    /// What only the engine can do.
    pub host: &'a dyn Host,
    /// Which part of a loop's life the step belongs to.
    pub phase: Phase,
}

impl StepContext<'_> {
    /// The state, locked. Never hold it over an await.
    pub fn state(&self) -> MutexGuard<'_, RunState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends an event.
    pub fn emit(&self, event: Event) {
        self.events.emit(event);
    }

    /// Renders a string to text.
    ///
    /// # Errors
    /// What the template did wrong, with its place and the values it used.
    pub fn text(&self, source: &str) -> Result<String, StepFailure> {
        self.templates.render_text(source, &self.scope.context()).map_err(|e| template_failure(&e))
    }

    /// Renders a string; exactly one `{{ expression }}` keeps its type.
    ///
    /// # Errors
    /// As [`Self::text`].
    pub fn value(&self, source: &str) -> Result<Value, StepFailure> {
        self.templates.render_value(source, &self.scope.context()).map_err(|e| template_failure(&e))
    }

    /// Renders every string inside a JSON value.
    ///
    /// # Errors
    /// As [`Self::text`].
    pub fn json(&self, source: &serde_json::Value) -> Result<Value, StepFailure> {
        self.templates.render_json(source, &self.scope.context()).map_err(|e| template_failure(&e))
    }

    /// The value of a templated argument.
    ///
    /// # Errors
    /// As [`Self::text`], or a value of another type than the argument's.
    pub fn get<T: DeserializeOwned + Clone>(&self, argument: &Templated<T>) -> Result<T, StepFailure> {
        match argument {
            Templated::Literal(value) => Ok(value.clone()),
            Templated::Template(source) => {
                let value = self.value(source)?;
                T::deserialize(value.clone())
                    .map_err(|e| StepFailure::new(format!("`{source}` gives {} ({}): {e}", value, value.kind())))
            }
        }
    }
}

/// The words of a template's error; where it has no place, the start of the template stands for it.
fn template_failure(error: &TemplateError) -> StepFailure {
    const SHOWN: usize = 120;
    if error.place.is_some() || error.file.is_some() || error.source.is_empty() {
        return StepFailure::new(error.to_string());
    }
    let mut start: String = error.source.trim().chars().take(SHOWN).collect();
    if start.len() < error.source.trim().len() {
        start.push('…');
    }
    StepFailure::new(format!("{error} (in `{start}`)"))
}
