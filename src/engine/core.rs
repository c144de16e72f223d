//! What one loop of a run shares between its steps: everything that can be used by reference.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use minijinja::Value;
use tokio_util::sync::CancellationToken;

use super::builder::EngineInner;
use super::edition::Edition;
use super::handover::Handover;
use super::mechanism::{GateProgram, Mechanisms};
use super::program::Program;
use super::reload::Told;
use super::stop::{Cancel, Stop};
use super::sub::Around;
use super::time::RunTime;
use crate::document::Limits;
use crate::event::{Event, EventStream, ExitReason};
use crate::mcp::Lease;
use crate::policy::Access;
use crate::prompt::RunSecret;
use crate::state::{Frame, RunFacts, RunState, Scope, ScopeBase, Totals, lock};
use crate::verb::{Phase, StepContext, StepFailure};

/// One run: shared by the loop that was asked for and by all loops inside it.
pub(super) struct RunShared {
    pub(super) engine: Arc<EngineInner>,
    pub(super) id: String,
    /// The loop that was asked for.
    pub(super) root_loop: String,
    pub(super) secret: RunSecret,
    pub(super) started: Instant,
    pub(super) time: RunTime,
    pub(super) totals: Arc<Mutex<Totals>>,
    calls: AtomicU32,
    tool_calls: AtomicU32,
    subtasks: AtomicU32,
    prompts: AtomicU64,
    /// What was told of saved changes.
    pub(super) told: Told,
    pub(super) cancel: Cancel,
    /// The run's share in the workspace's MCP servers; none when there are none.
    pub(super) servers: Option<Lease>,
}

impl RunShared {
    pub(super) fn new(
        engine: Arc<EngineInner>,
        id: String,
        root_loop: &str,
        secret: RunSecret,
        cancel: Cancel,
    ) -> Self {
        Self {
            engine,
            id,
            root_loop: root_loop.to_owned(),
            secret,
            started: Instant::now(),
            time: RunTime::default(),
            totals: Arc::default(),
            calls: AtomicU32::new(0),
            tool_calls: AtomicU32::new(0),
            subtasks: AtomicU32::new(0),
            prompts: AtomicU64::new(0),
            told: Told::default(),
            cancel,
            servers: None,
        }
    }

    /// The same with a share in the workspace's MCP servers.
    pub(super) fn with_servers(self, events: &EventStream) -> Self {
        let servers = &self.engine.servers;
        let servers = (!servers.is_empty()).then(|| servers.lease(events));
        Self { servers, ..self }
    }

    /// The next model call's number, from 1.
    pub(super) fn next_call(&self) -> u32 {
        self.calls.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The next tool call's number, from 1.
    pub(super) fn next_tool_call(&self) -> u32 {
        self.tool_calls.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// A secret for one more chain of prompts: no two chains draw the same nonce.
    pub(super) fn prompt_secret(&self) -> RunSecret {
        self.secret.derive(self.prompts.fetch_add(1, Ordering::Relaxed))
    }

    /// The next sub-task's number, from 1.
    pub(super) fn next_subtask(&self) -> u32 {
        self.subtasks.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// A loop's limits with what the run had used when the loop began: all loops around it count too.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    limits: Limits,
    base: Totals,
}

/// One loop of a run.
pub(super) struct LoopCore {
    pub(super) shared: Arc<RunShared>,
    /// The documents and templates that the loop uses, all of one version.
    pub(super) edition: Arc<Edition>,
    pub(super) program: Arc<Program>,
    pub(super) base: Arc<ScopeBase>,
    pub(super) state: Arc<Mutex<RunState>>,
    pub(super) events: EventStream,
    pub(super) stop: Stop,
    pub(super) depth: u32,
    /// The loops around this one, the outermost first, and this one itself.
    pub(super) line: Vec<Around>,
    /// The budgets of this loop and of all loops around it.
    pub(super) budgets: Vec<Budget>,
    pub(super) mechanisms: Arc<Mechanisms>,
    /// The verification gate: the loop's own, or that of the loop around it whose task it shares.
    pub(super) gate: Arc<GateProgram>,
    /// What the task has handed over.
    pub(super) handover: Arc<Handover>,
    /// What steps may touch: all that the workspace lets them, but what judges this loop and those around it.
    pub(super) access: Access,
}

impl LoopCore {
    /// The state, locked. Never held over an await.
    pub(super) fn state(&self) -> MutexGuard<'_, RunState> {
        lock(&self.state)
    }

    /// The totals of the run so far.
    pub(super) fn totals(&self) -> Totals {
        *lock(&self.shared.totals)
    }

    /// The token that stops a phase.
    pub(super) fn token(&self, phase: Phase) -> &CancellationToken {
        if phase.finishing { &self.stop.hooks } else { &self.stop.work }
    }

    /// The secrets, to be masked in what is recorded or compared.
    pub(super) fn named_secrets(&self) -> impl Iterator<Item = (String, String)> {
        self.events.secrets().all().into_iter().map(|secret| (crate::model::SECRET.to_owned(), secret))
    }

    /// What a step sees.
    pub(super) fn step_context<'a>(&'a self, scope: &'a Scope, phase: Phase) -> StepContext<'a> {
        StepContext {
            scope,
            templates: &self.edition.templates,
            state: &self.state,
            events: &self.events,
            access: &self.access,
            host: self,
            phase,
        }
    }

    /// The same loop with another version of its documents: its state, its stream and its place in the run stay.
    pub(super) fn with(&self, edition: Arc<Edition>, program: Arc<Program>, max_iterations: u32) -> Arc<Self> {
        let mut budgets = self.budgets.clone();
        if let Some(own) = budgets.last_mut() {
            own.limits.clone_from(&program.limits);
        }
        let base = ScopeBase {
            input: self.base.input.clone(),
            facts: RunFacts { max_iterations, ..self.base.facts.clone() },
            workspace: edition.workspace_value(),
            env: program.env(),
            tools: edition.toolbox.listing(&program.tools),
            skills: program.offered_skills(edition.toolbox.skills()),
            totals: Arc::clone(&self.base.totals),
            state: Arc::clone(&self.state),
        };
        self.state().offer(edition.listed(&program));
        let is_own = Arc::ptr_eq(&self.gate, &self.program.gate);
        let gate = if is_own { Arc::clone(&program.gate) } else { Arc::clone(&self.gate) };
        let access = if program.gate.protect == self.program.gate.protect {
            self.access.clone()
        } else {
            // What was protected stays so. A pattern that is none was refused when the program was made.
            let access = self.access.protecting(&program.gate.protect).unwrap_or_else(|_| self.access.clone());
            access.enforce();
            access
        };
        Arc::new(Self {
            shared: Arc::clone(&self.shared),
            edition,
            program,
            base: Arc::new(base),
            gate,
            access,
            state: Arc::clone(&self.state),
            events: self.events.clone(),
            stop: self.stop.clone(),
            depth: self.depth,
            line: self.line.clone(),
            budgets,
            handover: Arc::clone(&self.handover),
            mechanisms: Arc::clone(&self.mechanisms),
        })
    }

    /// Evaluates an expression in a frame.
    pub(super) fn eval(&self, expression: &str, frame: &Frame) -> Result<Value, StepFailure> {
        let scope = Scope::new(Arc::clone(&self.base), frame.clone());
        self.edition.templates.eval(expression, &scope.context()).map_err(|error| StepFailure::new(error.to_string()))
    }

    /// Notes words for the model's next turn.
    pub(super) fn feedback(&self, text: impl Into<String>) {
        let text = text.into();
        self.events.emit(Event::Feedback { text: text.clone() });
        self.state().feedback.push(text);
    }

    /// Waits, unless the phase is stopped.
    pub(super) async fn pause(&self, wait: Duration, phase: Phase) -> Result<(), StepFailure> {
        tokio::select! {
            biased;
            () = self.token(phase).cancelled() => Err(StepFailure::Cancelled),
            () = tokio::time::sleep(wait) => Ok(()),
        }
    }

    /// The limit that is used up, of this loop or of one around it.
    pub(super) fn used_up(&self) -> Option<ExitReason> {
        let totals = self.totals();
        self.budgets.iter().find_map(|budget| budget.used_up(&totals))
    }

    /// Whether another tool call fits.
    pub(super) fn may_call_tool(&self) -> Result<(), StepFailure> {
        let totals = self.totals();
        let full = self.budgets.iter().any(|budget| {
            budget.limits.max_tool_calls.is_some_and(|max| totals.tool_calls - budget.base.tool_calls >= max)
        });
        if full { Err(StepFailure::Ended(ExitReason::LimitToolCalls)) } else { Ok(()) }
    }

    /// The budgets for a loop inside this one.
    pub(super) fn inner_budgets(&self, limits: &Limits) -> Vec<Budget> {
        let mut budgets = self.budgets.clone();
        budgets.push(Budget { limits: limits.clone(), base: self.totals() });
        budgets
    }
}

impl Budget {
    /// The outermost loop's budget.
    pub(super) fn outermost(limits: &Limits) -> Self {
        Self { limits: limits.clone(), base: Totals::default() }
    }

    fn used_up(&self, totals: &Totals) -> Option<ExitReason> {
        let tokens = totals.usage.total() - self.base.usage.total();
        if self.limits.max_total_tokens.is_some_and(|max| tokens >= max) {
            return Some(ExitReason::LimitTokens);
        }
        let cost = totals.cost_usd.unwrap_or(0.0) - self.base.cost_usd.unwrap_or(0.0);
        if totals.cost_usd.is_some() && self.limits.max_cost_usd.is_some_and(|max| cost >= max) {
            return Some(ExitReason::LimitCost);
        }
        None
    }
}

/// Whole milliseconds.
pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
