//! What one run of a loop knows and changes: variables, feedback, history, evidence, todos, limits on the next turn.
//!
//! Owned by the interpreter, changed by steps. Values are minijinja values, since templates read them all the time.

mod found;
mod frame;
mod history;
mod scope;
mod skills;
mod vars;

pub use found::Listed;
pub use frame::Frame;
pub use history::{ActionRecord, Seen, TimelineEntry, Totals};
pub use scope::{RunFacts, Scope, ScopeBase};
pub use skills::{LoadedSkills, OfferedSkill, SkillView};
pub use vars::{SetError, Vars};

use minijinja::Value;

use crate::event::CapabilityState;

/// What one run of a loop knows. A sub-loop that shares its parent's task has its own.
#[derive(Debug, Default, Clone)]
pub struct RunState {
    /// The loop's typed variables.
    pub vars: Vars,
    /// Words for the next turn; taken by it.
    pub feedback: Vec<String>,
    /// Feedback of the iteration that just ended, which becomes `feedback` in the next one.
    pub next_feedback: Vec<String>,
    /// What the last turn was told: `feedback` in templates.
    pub shown_feedback: Vec<String>,
    /// Timeline entries since the last seal.
    pub timeline: Vec<TimelineEntry>,
    /// All timeline entries, oldest first, for templates.
    pub timeline_all: Vec<Value>,
    /// Past actions, oldest first.
    pub history: Vec<ActionRecord>,
    /// Text that was shown for a node while the last reply streamed, by node.
    pub streamed: indexmap::IndexMap<String, String>,
    /// The last answer to the user.
    pub answer: Option<String>,
    /// Evidence by id.
    pub evidence: indexmap::IndexMap<String, Value>,
    /// Todos, in order.
    pub todo: Vec<Value>,
    /// Actions that the next turn is limited to.
    pub next_actions: Option<Vec<String>>,
    /// Actions that the next turn may not take.
    pub forbid_actions: Vec<String>,
    /// Whether the next turn may not end the loop.
    pub forbid_exit_next: bool,
    /// The handler's wish to hand the work over and end with `async`.
    pub request_async: bool,
    /// Whether the handler's outcome stays out of the next prompt.
    pub silence: bool,
    /// A `finish` hook's wish to count a failure as a success.
    pub ignore_error: bool,
    /// Whether variables got other values in this iteration.
    pub moved: bool,
    /// Iterations begun.
    pub iteration: u32,
    /// What the mechanisms know.
    pub seen: Seen,
    /// The skills that are loaded.
    pub skills: LoadedSkills,
    /// Capabilities that were found.
    pub capabilities: CapabilityState,
    /// Names that were asked for and that nothing has, in lower case.
    pub unknown_names: std::collections::HashSet<String>,
    /// How often a task was begun under a name.
    pub entered: std::collections::HashMap<String, u32>,
}

/// What binds one turn only, taken from the state when the turn begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TurnBinding {
    /// Actions that the turn is limited to.
    pub only: Option<Vec<String>>,
    /// Actions that it may not take.
    pub forbidden: Vec<String>,
    /// Whether it may not end the loop.
    pub no_exit: bool,
}

impl RunState {
    /// Takes what binds the next turn; after it nothing is bound until a step binds again.
    pub fn take_binding(&mut self) -> TurnBinding {
        TurnBinding {
            only: self.next_actions.take(),
            forbidden: std::mem::take(&mut self.forbid_actions),
            no_exit: std::mem::take(&mut self.forbid_exit_next),
        }
    }
}

/// Locks a mutex whose holder may have panicked: what it guards is always whole between two statements.
pub fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
