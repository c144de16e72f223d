//! Loops inside loops: as an action (same task, and the parent ends with it) and as a step (a task of its own).

use std::sync::{Arc, Mutex};

use minijinja::Value;
use minijinja::value::Serde;
use serde_json::Value as Json;

use super::act::Handled;
use super::core::LoopCore;
use super::error::EngineError;
use super::finish::End;
use super::handover::Handover;
use super::iteration::LoopRun;
use super::mechanism::Mechanisms;
use super::memory::Memory;
use super::turn::Chosen;
use crate::event::{Event, ExitReason};
use crate::state::{RunFacts, RunState, ScopeBase, Vars, lock};
use crate::verb::{LoopCall, StepFailure};

/// Emits `focus_off` even when the sub-loop's future is dropped.
struct FocusGuard<'a> {
    core: &'a LoopCore,
    name: String,
    depth: u32,
    reason: ExitReason,
}

impl Drop for FocusGuard<'_> {
    fn drop(&mut self) {
        self.core.events.emit(Event::FocusOff { loop_name: self.name.clone(), depth: self.depth, reason: self.reason });
    }
}

/// A loop that is running, as those inside it see it.
#[derive(Debug, Clone)]
pub(super) struct Around {
    pub(super) name: String,
    input: Value,
    set: Vec<(String, Value)>,
    /// How deep loops may stand inside it.
    depth_limit: u32,
}

impl Around {
    /// The outermost loop of a run.
    pub(super) fn outermost(name: &str, input: Value, max_depth: u32) -> Self {
        Self { name: name.to_owned(), input, set: Vec::new(), depth_limit: max_depth }
    }

    /// Whether both begin from the same: then the inner one would do what the outer one does, and come to the same place.
    fn begins_like(&self, other: &Self) -> bool {
        self.name == other.name && self.input == other.input && self.set == other.set
    }
}

impl LoopRun {
    /// Another loop as an action: it shares the task and the timeline, and this loop ends when it returns.
    pub(super) async fn act_loop(&mut self, name: &str, chosen: &Chosen) -> Handled {
        let input = match chosen.params.get("task").and_then(Json::as_str) {
            Some(task) if !task.trim().is_empty() => Value::from(task),
            _ => self.core.base.input.clone(),
        };
        let end = match self.core.inner(name, input, &[], None) {
            Err(end) => end,
            Ok(core) => {
                let mut guard = self.core.focus_on(&core, name, true);
                let transcript = std::mem::take(&mut self.memory.transcript);
                let (end, ignored, transcript) = run_inner(core.clone(), Some(transcript)).await;
                guard.reason = end.reason;
                drop(guard);
                self.memory.transcript = transcript;
                self.core.state().answer.clone_from(&core.state().answer);
                if ignored && end.reason.exit_code() == 1 { End::new(ExitReason::Exit) } else { end }
            }
        };
        let ok = end.reason.exit_code() == 0;
        Handled {
            ok,
            result: Value::from(end.reason.name()),
            outcomes: Vec::new(),
            end: Some(end),
            error: None,
            calls: Vec::new(),
            held: false,
        }
    }
}

impl LoopCore {
    /// A loop as a step: a task of its own, with its own timeline and the next number.
    pub(super) async fn run_step_loop(&self, call: LoopCall) -> Result<Value, StepFailure> {
        let task = format!("{}/{}.{}", self.events.task(), call.name, self.shared.next_subtask());
        self.run_subtask(call, &task).await
    }

    /// The name of a task for what is entered by its name. A second one of the same name has a number.
    pub(super) fn task_of(&self, what: &str, name: &str) -> String {
        let task = format!("{}_{what}_{name}", self.events.task());
        let task = task.trim_end_matches('_').to_owned();
        let mut state = self.state();
        let times = state.entered.entry(task.clone()).or_default();
        *times += 1;
        if *times == 1 { task } else { format!("{task}.{times}") }
    }

    /// A loop as a task of its own, with its own timeline.
    pub(super) async fn run_subtask(&self, call: LoopCall, task: &str) -> Result<Value, StepFailure> {
        let core = self.inner(&call.name, call.input, &call.set, Some(task)).map_err(|end| match end.error {
            Some(words) => StepFailure::Failed(words),
            None => StepFailure::Ended(end.reason),
        })?;
        let mut guard = self.focus_on(&core, &call.name, false);
        let (end, ignored, _) = run_inner(core.clone(), None).await;
        guard.reason = end.reason;
        drop(guard);
        match end.reason {
            ExitReason::Cancelled if self.stop.work.is_cancelled() => Err(StepFailure::Cancelled),
            reason if reason.exit_code() == 0 || ignored => {
                let state = core.state();
                let vars: indexmap::IndexMap<&str, Value> =
                    state.vars.names().filter_map(|name| Some((name, state.vars.get(name)?))).collect();
                Ok(Value::from_pairs([
                    ("reason", Value::from(reason.name())),
                    ("answer", state.answer.as_deref().map_or(Value::from(()), Value::from)),
                    ("state", Value::from(Serde(&vars))),
                ]))
            }
            reason => {
                let words = end.error.map(|words| format!(": {words}")).unwrap_or_default();
                Err(StepFailure::new(format!("loop `{}` ended with {}{words}", call.name, reason.name())))
            }
        }
    }

    fn focus_on(&self, inner: &LoopCore, name: &str, shared_task: bool) -> FocusGuard<'_> {
        self.events.emit(Event::FocusOn { loop_name: name.to_owned(), depth: inner.depth, shared_task });
        FocusGuard { core: self, name: name.to_owned(), depth: inner.depth, reason: ExitReason::Cancelled }
    }

    /// How deep loops may stand inside this one: what it allows, and what those around it allow.
    pub(super) fn depth_limit(&self) -> u32 {
        self.line.iter().map(|around| around.depth_limit).min().unwrap_or(self.program.limits.max_depth)
    }

    /// The core of a loop inside this one. Without a task's name it shares this one's.
    fn inner(&self, name: &str, input: Value, set: &[(String, Value)], task: Option<&str>) -> Result<Arc<Self>, End> {
        let (depth, shared) = (self.depth + 1, task.is_none());
        if depth > self.depth_limit() {
            return Err(End::new(ExitReason::LimitDepth));
        }
        let place = Around { name: name.to_owned(), input: input.clone(), set: set.to_vec(), depth_limit: 0 };
        if !shared && self.line.iter().any(|around| around.begins_like(&place)) {
            let around: Vec<&str> = self.line.iter().map(|around| around.name.as_str()).collect();
            let words = format!("it goes round in circles ({} → {name}), with the same input", around.join(" → "));
            return Err(End::failed(
                ExitReason::LimitDepth,
                format!("the loop `{name}` cannot run inside itself: {words}"),
            ));
        }
        let program = self
            .edition
            .program(name)
            .map_err(|error: EngineError| End::failed(ExitReason::Error, error.to_string()))?;
        let state = Arc::new(Mutex::new(RunState::default()));
        let mut vars = Vars::new(&program.state).map_err(|e| End::failed(ExitReason::Error, e.to_string()))?;
        for (name, value) in set {
            vars.set(name, value.clone()).map_err(|e| End::failed(ExitReason::Error, e.to_string()))?;
        }
        lock(&state).vars = vars;
        if shared {
            let parent = self.state();
            let mut state = lock(&state);
            state.timeline_all.clone_from(&parent.timeline_all);
            if program.allow.skill {
                state.skills = parent.skills.clone();
            }
        }
        // A loop that shares the task shares what is known of its goal, and who judges it unless it says so itself.
        let mut gate = Arc::clone(&program.gate);
        let now = self.shared.time.now();
        let mut mechanisms = Mechanisms::new(now);
        if shared {
            let (seen, evidence, iteration) = {
                let own = self.state();
                (own.seen.verification.clone(), own.evidence.clone(), own.iteration)
            };
            let mut inner = lock(&state);
            (inner.seen.verification, inner.evidence) = (seen, evidence);
            mechanisms = self.mechanisms.inside(now, iteration);
            if gate.is_unnamed() {
                gate = Arc::clone(&self.gate);
            }
        }
        let access = self
            .access
            .protecting(&program.gate.protect)
            .map_err(|error| End::failed(ExitReason::Error, format!("mechanisms.verification.protect: {error}")))?;
        lock(&state).offer(self.edition.listed(&program));
        let (events, handover) = match task {
            None => (self.events.clone(), Arc::clone(&self.handover)),
            Some(task) => (self.events.for_task(task), Handover::new()),
        };
        let mut line = self.line.clone();
        line.push(Around { depth_limit: depth.saturating_add(program.limits.max_depth), ..place });
        Ok(Arc::new(Self {
            base: Arc::new(ScopeBase {
                input,
                facts: RunFacts {
                    id: self.shared.id.clone(),
                    loop_name: name.to_owned(),
                    max_iterations: program.limits.max_iterations,
                    started: std::time::Instant::now(),
                },
                workspace: self.base.workspace.clone(),
                env: program.env(),
                tools: self.edition.toolbox.listing(&program.tools),
                skills: program.offered_skills(self.edition.toolbox.skills()),
                totals: Arc::clone(&self.shared.totals),
                state: Arc::clone(&state),
            }),
            shared: Arc::clone(&self.shared),
            edition: Arc::clone(&self.edition),
            budgets: self.inner_budgets(&program.limits),
            program,
            state,
            events,
            stop: self.stop.child(),
            depth,
            line,
            mechanisms,
            gate,
            handover,
            access,
        }))
    }
}

/// Runs an inner loop; the transcript comes back longer when it was shared.
fn run_inner(
    core: Arc<LoopCore>,
    transcript: Option<crate::model::Transcript>,
) -> crate::model::BoxFuture<'static, (End, bool, crate::model::Transcript)> {
    Box::pin(async move {
        let chain = match core.chain("main") {
            Ok(chain) => chain,
            Err(error) => {
                let end = End::failed(ExitReason::Error, error.to_string());
                return (end, false, transcript.unwrap_or_default());
            }
        };
        let input: Arc<str> = input_text(&core.base.input).into();
        let mut memory = Memory::new(&core, input);
        if let Some(transcript) = transcript {
            memory.adopt(transcript);
        }
        let mut run = LoopRun::new(core, memory, chain, None);
        let (end, ignored) = run.run().await;
        (end, ignored, run.memory.transcript)
    })
}

/// A loop's input as text: anything that is not text as JSON.
pub(super) fn input_text(input: &Value) -> String {
    match input.as_str() {
        Some(text) => text.to_owned(),
        None => serde_json::to_string(input).unwrap_or_else(|_| input.to_string()),
    }
}
