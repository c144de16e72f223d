//! The names that templates and expressions see, each looked up when it is used.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use minijinja::Value;
use minijinja::value::{Enumerator, Object, ObjectRepr, Serde};

use super::{Frame, OfferedSkill, RunState, SkillView, Totals};

/// Facts of a run that do not change while it runs.
#[derive(Debug, Clone)]
pub struct RunFacts {
    /// The run's id.
    pub id: String,
    /// The loop's name.
    pub loop_name: String,
    /// Its iteration limit.
    pub max_iterations: u32,
    /// When it started.
    pub started: Instant,
}

/// What a loop's templates see, apart from the handler's local names.
#[derive(Debug)]
pub struct ScopeBase {
    /// The input.
    pub input: Value,
    /// Facts of the run.
    pub facts: RunFacts,
    /// `workspace`: name, root, vars.
    pub workspace: Value,
    /// `env`: the allow-listed variables.
    pub env: Value,
    /// `tools`: name and description of each tool that the loop offers.
    pub tools: Value,
    /// The skills that the loop offers.
    pub skills: Arc<[OfferedSkill]>,
    /// Totals of the run, shared with sub-loops.
    pub totals: Arc<Mutex<Totals>>,
    /// The loop's state.
    pub state: Arc<Mutex<RunState>>,
}

impl ScopeBase {
    /// The same over another state.
    #[must_use]
    pub fn over(&self, state: Arc<Mutex<RunState>>) -> Self {
        Self {
            input: self.input.clone(),
            facts: self.facts.clone(),
            workspace: self.workspace.clone(),
            env: self.env.clone(),
            tools: self.tools.clone(),
            skills: Arc::clone(&self.skills),
            totals: Arc::clone(&self.totals),
            state,
        }
    }
}

/// One scope: base and frame. Handed to minijinja as the context.
#[derive(Debug, Clone)]
pub struct Scope {
    base: Arc<ScopeBase>,
    frame: Frame,
}

/// Every name that a scope may answer to, beside a frame's own.
pub const BASE_NAMES: [&str; 22] = [
    "input",
    "state",
    "feedback",
    "timeline",
    "history",
    "evidence",
    "todo",
    "tools",
    "skills",
    "run",
    "workspace",
    "now",
    "os",
    "env",
    "steps",
    "perception",
    "reflection",
    "spin",
    "verification",
    "progress",
    "checkpoint",
    "capabilities",
];

impl Scope {
    /// A scope.
    #[must_use]
    pub fn new(base: Arc<ScopeBase>, frame: Frame) -> Self {
        Self { base, frame }
    }

    /// As a context for rendering.
    #[must_use]
    pub fn context(&self) -> Value {
        Value::from_object(self.clone())
    }

    fn state<T>(&self, read: impl FnOnce(&RunState) -> T) -> T {
        read(&self.base.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// `skills`: each with what the prompt shows of it, if it is loaded.
    fn skills(&self) -> Value {
        let one = |state: &RunState, skill: &OfferedSkill| {
            let view = state.skills.view(&skill.name);
            let number = |of: fn(&SkillView) -> usize| Value::from(view.map_or(0, of));
            Value::from_pairs([
                ("name", Value::from(skill.name.as_str())),
                ("description", Value::from(skill.description.as_str())),
                ("loaded", Value::from(view.is_some())),
                ("text", Value::from(view.map_or("", |view| view.text.as_str()))),
                ("first_line", number(|view| view.first_line)),
                ("last_line", number(|view| view.last_line)),
                ("lines", number(|view| view.lines)),
                ("files", view.map_or_else(|| Value::from_iter([""; 0]), |view| Value::from(Serde(&view.files)))),
            ])
        };
        self.state(|state| self.base.skills.iter().map(|skill| one(state, skill)).collect())
    }

    fn lookup(&self, name: &str) -> Option<Value> {
        if let Some(value) = self.frame.get(name) {
            return Some(value);
        }
        let value = match name {
            "input" => self.base.input.clone(),
            "state" => Value::from_object(StateView(Arc::clone(&self.base))),
            "feedback" => self.state(|s| Value::from(Serde(&s.shown_feedback))),
            "timeline" => self.state(|s| Value::from(s.timeline_all.clone())),
            "history" => self.state(|s| Value::from(Serde(&s.history))),
            "evidence" => self.state(|s| Value::from(Serde(&s.evidence))),
            "todo" => self.state(|s| Value::from(s.todo.clone())),
            "tools" => self.base.tools.clone(),
            "skills" => self.skills(),
            "run" => Value::from_object(RunView(Arc::clone(&self.base))),
            "workspace" => self.base.workspace.clone(),
            "now" => Value::from(httpdate::fmt_http_date(std::time::SystemTime::now())),
            "os" => Value::from(std::env::consts::OS),
            "env" => self.base.env.clone(),
            "perception" => self.state(|s| s.seen.perception.clone()),
            "reflection" => self.state(|s| s.seen.reflection.clone()),
            "spin" => self.state(|s| s.seen.spin.clone()),
            "verification" => self.state(|s| s.seen.verification.clone()),
            "progress" => self.state(|s| s.seen.progress.clone()),
            "checkpoint" => self.state(|s| s.seen.checkpoint.clone()),
            "capabilities" => self.state(|s| Value::from(Serde(&s.capabilities))),
            _ => return None,
        };
        Some(value)
    }
}

impl Object for Scope {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.lookup(key.as_str()?)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let own = self.frame.names().map(Value::from);
        Enumerator::Values(own.chain(BASE_NAMES.iter().map(|name| Value::from(*name))).collect())
    }
}

/// `state` in templates.
#[derive(Debug)]
struct StateView(Arc<ScopeBase>);

impl Object for StateView {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner).vars.get(key.as_str()?)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        Enumerator::Values(state.vars.names().map(Value::from).collect())
    }
}

/// `run` in templates.
#[derive(Debug)]
struct RunView(Arc<ScopeBase>);

impl RunView {
    fn totals(&self) -> Totals {
        *self.0.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Object for RunView {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let facts = &self.0.facts;
        let value = match key.as_str()? {
            "id" => Value::from(facts.id.as_str()),
            "loop" => Value::from(facts.loop_name.as_str()),
            "iteration" => Value::from(self.0.state.lock().unwrap_or_else(PoisonError::into_inner).iteration),
            "max_iterations" => Value::from(facts.max_iterations),
            "elapsed" => Value::from(facts.started.elapsed().as_secs_f64()),
            "usage" => Value::from(Serde(self.totals().usage)),
            "cost_usd" => Value::from(self.totals().cost_usd),
            "model_calls" => Value::from(self.totals().model_calls),
            "tool_calls" => Value::from(self.totals().tool_calls),
            _ => return None,
        };
        Some(value)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Str(&[
            "id",
            "loop",
            "iteration",
            "max_iterations",
            "elapsed",
            "usage",
            "cost_usd",
            "model_calls",
            "tool_calls",
        ])
    }
}
