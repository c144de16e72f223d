//! The verification gate, carried out: who asks, what is looked at, what follows.

use minijinja::Value;
use minijinja::value::Serde;

use super::gate::GateMemory;
use crate::document::Judge;
use crate::engine::act::Handled;
use crate::engine::builtin::{Builtin, FINAL_ANSWER};
use crate::engine::core::LoopCore;
use crate::engine::finish::End;
use crate::engine::iteration::LoopRun;
use crate::engine::program::{ActionKind, ActionProgram};
use crate::engine::turn::Chosen;
use crate::event::{
    Event, ExitReason, Grounds, MechanismName, PerceptionTrigger, VerificationConsequence as Consequence,
    VerificationOutcome, VerificationState, VerificationTrigger as Trigger,
};
use crate::mechanism::verification::{Finding, Gate};
use crate::mechanism::{Moment, Verdict};
use crate::state::lock;
use crate::verb::{Phase, StepFailure};

/// Somebody wants to know whether the goal is reached.
pub(in crate::engine) struct Claim {
    pub(super) trigger: Trigger,
    /// The words of whoever asks.
    pub(super) reason: Option<String>,
    /// What the loop would answer.
    pub(super) answer: Option<String>,
    pub(super) phase: Phase,
}

/// What came of it.
pub(in crate::engine) struct Judged {
    consequence: Consequence,
    because: Grounds,
    state: VerificationState,
    error: Option<String>,
}

/// What a look at the goal gave.
#[derive(Default)]
struct Sight {
    finding: Finding,
    /// Files that judge the loop and were not as they had been.
    restored: Vec<String>,
    error: Option<String>,
}

/// The gate's word on an action that would end the loop.
pub(in crate::engine) enum Leave {
    /// It has none.
    Pass,
    /// The loop goes on; nothing of the action was done.
    Held(Handled),
    /// The action is done, and the loop ends so.
    Ends(End),
}

/// Ends a verification that is dropped half-way.
struct InFlight<'a> {
    core: &'a LoopCore,
    open: bool,
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if self.open {
            let now = self.core.gate_moment();
            self.core.gate_memory().gate.abandon(now);
        }
    }
}

impl LoopRun {
    /// Asks the gate about an action of the engine's own that would end the loop.
    ///
    /// An action that the loop declares ends it when its author says so: what it does may be what the goal is judged by.
    ///
    /// # Errors
    /// The end of a loop that was stopped meanwhile.
    pub(in crate::engine) async fn ask_gate(&self, chosen: &mut Chosen) -> Result<Leave, End> {
        let core = &self.core;
        let leaves = matches!(chosen.action.kind, ActionKind::Builtin(Builtin::Finish | Builtin::DirectlyAnswer));
        if !leaves || !core.gate.guards() {
            return Ok(Leave::Pass);
        }
        let payload = chosen.params.get("answer_payload").and_then(serde_json::Value::as_str);
        let answer = chosen.tags.get(FINAL_ANSWER).map(String::as_str).or(payload).map(str::to_owned);
        let judged = core.verify(Claim { trigger: Trigger::Finish, reason: None, answer, phase: Phase::WORK }).await;
        if core.stop.work.is_cancelled() {
            return Err(core.stopped());
        }
        if let Some(end) = judged.end() {
            return Ok(Leave::Ends(end));
        }
        if judged.consequence != Consequence::Refused {
            return Ok(Leave::Pass);
        }
        // An answer that people saw while it arrived has not been given.
        chosen.shown.retract(&core.events);
        Ok(Leave::Held(Handled::held(format!("{} was held back: {}", chosen.action.name, judged.words()))))
    }
}

impl LoopCore {
    /// The model asks with an action: what it is told, what steps see, and the end.
    pub(in crate::engine) async fn verify_request(&self, reason: Option<String>) -> (String, Value, Option<End>) {
        let claim = Claim { trigger: Trigger::Request, reason, answer: None, phase: Phase::WORK };
        let judged = self.verify(claim).await;
        (judged.words(), Value::from(Serde(&judged.state)), judged.end())
    }

    /// What a `verify_goal` step asks for. What follows for the loop waits until the list of steps is over, which may end
    /// the loop in its own way.
    pub(in crate::engine) async fn verify_goal_step(
        &self,
        reason: Option<String>,
        phase: Phase,
    ) -> Result<Value, StepFailure> {
        let judged = self.verify(Claim { trigger: Trigger::Step, reason, answer: None, phase }).await;
        self.still_running(phase)?;
        if let Some(end) = judged.end().filter(|_| !phase.finishing) {
            self.gate_memory().settled.get_or_insert(end);
        }
        Ok(self.state().seen.verification.clone())
    }

    /// The end that a `verify_goal` step brought.
    pub(in crate::engine) fn settled(&self) -> Option<End> {
        self.gate_memory().settled.take()
    }

    /// Looks after an action, when a throttle lets it.
    pub(in crate::engine) async fn verify_after_action(&self) -> Option<End> {
        if !self.gate.guards() {
            return None;
        }
        let claim = Claim { trigger: Trigger::PostAction, reason: None, answer: None, phase: Phase::WORK };
        self.verify(claim).await.end()
    }

    /// Looks because nothing happens.
    pub(in crate::engine) async fn verify_by_watchdog(&self) -> Option<End> {
        let claim = Claim { trigger: Trigger::Watchdog, reason: None, answer: None, phase: Phase::WORK };
        self.verify(claim).await.end()
    }

    /// Waits until nothing has happened for so long that the watchdog wakes. It may never do.
    pub(in crate::engine) async fn idle(&self) {
        loop {
            let left = self.gate_memory().gate.until_watchdog(&self.gate.settings, self.gate_moment());
            match left {
                None => std::future::pending().await,
                Some(left) if left.is_zero() => return,
                Some(left) => tokio::time::sleep(left).await,
            }
        }
    }

    /// Notes the size of this turn's prompt.
    pub(in crate::engine) fn note_prompt(&self, tokens: usize) {
        self.gate_memory().gate.prompt(tokens);
    }

    /// Notes that something happens.
    pub(in crate::engine) fn note_activity(&self) {
        if self.gate.guards() {
            let now = self.gate_moment();
            self.gate_memory().gate.active(now);
        }
    }

    /// Notes that an action is over.
    pub(super) fn note_action(&self, chosen: &Chosen, handled: &Handled) {
        let changed = !handled.held && self.may_have_changed(&chosen.action, handled);
        let now = self.gate_moment();
        self.gate_memory().gate.acted(changed, now);
    }

    /// Whether an action may have changed what programs judge.
    fn may_have_changed(&self, action: &ActionProgram, handled: &Handled) -> bool {
        let may = |tool: &str| self.changes(tool) != Some(false);
        match &action.kind {
            ActionKind::Builtin(Builtin::DirectlyCallTool | Builtin::RequireTool) => {
                // These two write all of it or nothing.
                let whole = |tool: &str| matches!(tool, "write_file" | "edit_file");
                let calls = handled.calls.iter().filter(|call| call.outcome.is_ok() || !whole(&call.call.tool));
                calls.into_iter().any(|call| may(&call.call.tool))
            }
            ActionKind::Builtin(_) => false,
            ActionKind::Tool(tool) => may(tool),
            ActionKind::Steps(steps) => !steps.is_empty(),
            ActionKind::Loop(_) => true,
        }
    }

    /// Now, for the gate: loops that share a task count their iterations together.
    fn gate_moment(&self) -> Moment {
        let iteration = self.mechanisms.before.saturating_add(self.state().iteration);
        Moment { at: self.shared.time.now().saturating_sub(self.mechanisms.gate.began), iteration }
    }

    /// The gate's memory, locked. Never held over an await.
    pub(super) fn gate_memory(&self) -> std::sync::MutexGuard<'_, GateMemory> {
        lock(&self.mechanisms.gate.memory)
    }

    /// Looks whether the goal is reached, when the gate lets this trigger.
    async fn verify(&self, claim: Claim) -> Judged {
        let settings = &self.gate.settings;
        let now = self.gate_moment();
        let verdict = {
            let mut memory = self.gate_memory();
            let verdict = memory.gate.should_verify(settings, claim.trigger, now);
            if verdict.act {
                memory.gate.begin();
            }
            verdict
        };
        // What a step asks for is told by its own event.
        if claim.trigger != Trigger::Step {
            self.decided(MechanismName::Verification, &verdict);
        }
        if !verdict.act {
            return self.not_verified(&claim, verdict);
        }
        let mut in_flight = InFlight { core: self, open: true };
        let Sight { finding, restored, error } = self.look_at_goal(&claim).await;
        in_flight.open = false;
        let now = self.gate_moment();
        let (consequence, because, state) = {
            let mut memory = self.gate_memory();
            let (consequence, because) = memory.gate.conclude(settings, claim.trigger, finding, now);
            (consequence, because, memory.gate.state.clone())
        };
        self.state().seen.verification = Value::from(Serde(&state));
        let judged = Judged { consequence, because, state, error };
        self.tell_verification(&claim, verdict.grounds, judged.state.outcome, restored, &judged);
        if matches!(consequence, Consequence::Continue | Consequence::Refused) && !claim.phase.finishing {
            self.perceive(PerceptionTrigger::Verification, None, claim.phase).await;
        }
        judged
    }

    /// Nothing was looked at. Who asked is told why.
    fn not_verified(&self, claim: &Claim, verdict: Verdict) -> Judged {
        let (consequence, because) = Gate::unasked(claim.trigger, &verdict);
        let state = self.gate_memory().gate.state.clone();
        let judged = Judged { consequence, because, state, error: None };
        if claim.trigger.is_claim() {
            self.tell_verification(claim, verdict.grounds, VerificationOutcome::None, Vec::new(), &judged);
        }
        judged
    }

    fn tell_verification(
        &self,
        claim: &Claim,
        grounds: Grounds,
        outcome: VerificationOutcome,
        restored: Vec<String>,
        judged: &Judged,
    ) {
        self.events.emit(Event::Verification {
            trigger: claim.trigger,
            reason: claim.reason.clone(),
            grounds,
            outcome,
            state: judged.state.clone(),
            consequence: judged.consequence,
            because: judged.because.clone(),
            restored,
            error: judged.error.clone(),
        });
    }

    /// Checks first, and a judge when they pass.
    async fn look_at_goal(&self, claim: &Claim) -> Sight {
        let judge = self.gate.settings.judge;
        let before = self.gate_memory().gate.state.clone();
        let restored = match self.put_back().await {
            Ok(restored) => restored,
            Err(words) => return edited(before, Vec::new(), &words),
        };
        let mut checks = Vec::new();
        if judge != Judge::Model {
            checks = match self.run_checks(claim.phase).await {
                Ok(checks) => checks,
                Err(stop) => return Sight { restored, error: Some(stop.to_string()), ..Sight::default() },
            };
            let changed = self.changed_meanwhile().await;
            if !changed.is_empty() {
                let words = format!("{} changed while the checks ran", changed.join(", "));
                let restored = [restored, self.put_back().await.unwrap_or_default()].concat();
                return edited(before, restored, &words);
            }
        }
        let failed: Vec<usize> = (0..checks.len()).filter(|at| !checks[*at].passed).collect();
        if !failed.is_empty() {
            let by_programs = failed.iter().all(|at| self.gate.checks.get(*at).is_some_and(|check| check.is_program()));
            let names = failed.iter().map(|at| format!("`{}` must pass", checks[*at].name));
            let state = VerificationState {
                reasoning: format!("{} of {} checks failed.", failed.len(), checks.len()),
                missing: names.collect(),
                output_files: before.output_files,
                checks,
                ..VerificationState::default()
            };
            let finding = Finding { satisfied: Some(false), by_programs, news: false, state };
            return Sight { finding, restored, error: None };
        }
        if judge == Judge::Checks {
            let reasoning = if checks.len() == 1 {
                "The check passed.".to_owned()
            } else {
                format!("All {} checks passed.", checks.len())
            };
            let state = VerificationState {
                reasoning,
                output_files: before.output_files,
                checks,
                ..VerificationState::default()
            };
            let finding = Finding { satisfied: Some(true), by_programs: false, news: false, state };
            return Sight { finding, restored, error: None };
        }
        match self.ask_judge(claim, checks, &before).await {
            Ok((state, news)) => {
                let finding = Finding { satisfied: Some(state.satisfied), by_programs: false, news, state };
                Sight { finding, restored, error: None }
            }
            Err(error) => Sight { restored, error: Some(error), ..Sight::default() },
        }
    }

    /// From now on what judges the loop must stay as it is.
    pub(in crate::engine) async fn enforce_protection(&self) {
        if self.access.protects() {
            let access = self.access.clone();
            // A thread that is gone has read nothing: then the first verification reads it.
            let idle = tokio::task::spawn_blocking(move || access.enforce()).await.unwrap_or_default();
            if !idle.is_empty() {
                let patterns = idle.join(", ");
                let message = format!("mechanisms.verification.protect fits no file now: {patterns}");
                self.events.emit(Event::Warning { message });
            }
        }
    }

    /// Puts back what judges the loop, and tells the model. Gives the files that were not as they should be.
    async fn put_back(&self) -> Result<Vec<String>, String> {
        if !self.access.protects() {
            return Ok(Vec::new());
        }
        let (access, name) = (self.access.clone(), self.shared.id.clone());
        let done = tokio::task::spawn_blocking(move || {
            access.enforce();
            access.put_back(&name)
        });
        let restored = done.await.map_err(|error| error.to_string())??;
        if !restored.is_empty() {
            let files = restored.join(", ");
            self.feedback(format!("What judges this loop may not be changed, and was put back: {files}"));
        }
        Ok(restored)
    }

    /// The protected files that changed while the checks ran.
    async fn changed_meanwhile(&self) -> Vec<String> {
        if !self.access.protects() {
            return Vec::new();
        }
        let access = self.access.clone();
        // What could not be looked at cannot be trusted.
        let changed = tokio::task::spawn_blocking(move || access.changed()).await;
        changed.unwrap_or_else(|error| vec![error.to_string()])
    }
}

/// No verdict counts that an edited judge gives.
fn edited(before: VerificationState, restored: Vec<String>, words: &str) -> Sight {
    let state = VerificationState {
        reasoning: "What judges this loop is not what it was.".to_owned(),
        missing: vec![format!("the files that judge this loop, unchanged: {words}")],
        output_files: before.output_files,
        ..VerificationState::default()
    };
    Sight { finding: Finding { satisfied: Some(false), state, ..Finding::default() }, restored, error: None }
}

impl Judged {
    /// The end that follows.
    fn end(&self) -> Option<End> {
        match self.consequence {
            Consequence::Continue | Consequence::Refused => None,
            Consequence::Satisfied => Some(End::new(ExitReason::Satisfied)),
            Consequence::Unverified => Some(End::failed(ExitReason::Unverified, self.unverified())),
        }
    }

    /// What the model is told.
    fn words(&self) -> String {
        match (self.consequence, self.state.outcome) {
            (Consequence::Satisfied, _) => "the goal is reached.".to_owned(),
            (_, _) if self.because.rule == "max_verifications" => {
                "no verification is left; end the loop when the goal is reached.".to_owned()
            }
            (_, VerificationOutcome::Unknown) => {
                "nobody could tell whether the goal is reached. Look at the result once more, and try again.".to_owned()
            }
            (_, VerificationOutcome::None) => "a verification is being made.".to_owned(),
            _ => format!("the goal is not reached yet. {} VERIFICATION says more.", self.what()),
        }
    }

    /// What is not done.
    fn what(&self) -> String {
        if self.state.missing.is_empty() {
            return self.state.reasoning.clone();
        }
        format!("Missing: {}.", self.state.missing.join("; "))
    }

    /// Why nobody can say that the goal is reached.
    fn unverified(&self) -> String {
        let number = |name: &str| self.because.numbers.get(name).map(ToString::to_string).unwrap_or_default();
        let what = self.what();
        match self.because.rule.as_str() {
            "impossible" => format!("nothing that the loop can do will reach the goal. {what}"),
            "max_failures" => {
                format!("{} verifications failed, as many as `max_failures` allows. {what}", number("failures"))
            }
            "same_missing" => format!("{} verifications in a row came to the same. {what}", number("times")),
            "max_refusals" => {
                format!("the loop wanted to end {} times before its goal was reached. {what}", number("refusals"))
            }
            "max_verifications" => format!("all {} verifications are used up. {what}", number("max_verifications")),
            _ => {
                let error = self.error.as_deref().unwrap_or("it is not known why");
                format!("the judge gave no verdict {} times in a row: {error}", number("outages"))
            }
        }
    }
}
