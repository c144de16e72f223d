//! Stage 7 of an iteration: the mechanisms look at what happened. What they decide is in [`crate::mechanism`]; here it
//! is carried out: model calls, events, what templates see, the end of the loop.
//!
//! A mechanism's model that fails, or takes too long, never ends or holds the loop.

mod chant;
mod checks;
mod gate;
mod judge;
mod look;
mod perceive;
mod progress;
mod prompts;
mod reflect;
mod spin;
mod todo;
mod verify;

pub(super) use chant::ChantWatch;
pub(super) use gate::GateProgram;
pub(super) use prompts::Prompts;
pub(super) use verify::Leave;

use std::sync::{Arc, Mutex};

use indexmap::IndexMap;
use minijinja::Value;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::act::Handled;
use super::core::LoopCore;
use super::finish::End;
use super::iteration::LoopRun;
use super::program::Program;
use super::sections::Source;
use super::structured::Structured;
use super::turn::Chosen;
use crate::document::{Level, StreamTo};
use crate::event::{CallPurpose, Decision, Event, MechanismName, PerceptionTrigger};
use crate::mechanism::spin::{Detector, Record};
use crate::mechanism::{Checkpoints, Mode, Moment, Perception, Progress, ProgressSettings, Verdict, Watch};
use crate::prompt::Trust;
use crate::state::{Frame, Scope, lock};
use crate::verb::{Phase, StepFailure};
use gate::SharedGate;

/// How long a mechanism waits for its model, all attempts included: a help that comes later than this is none.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(120);

/// How often a mechanism's model may try again when its reply does not fit.
const RETRIES: u32 = 1;

/// What the mechanisms of one running loop remember. It outlives a reload of the loop's document.
pub(super) struct Mechanisms {
    /// When the loop began, in the run's time.
    began: std::time::Duration,
    memory: Mutex<MechanismMemory>,
    gate: Arc<SharedGate>,
    /// Iterations of the loops around that share the gate.
    before: u32,
}

#[derive(Default)]
struct MechanismMemory {
    perception: Perception,
    watch: Watch,
    /// Made when the first action is over, and again when a reload brings other thresholds. With the program whose they
    /// are.
    detector: Option<(Detector, Arc<Program>)>,
    /// Wishes to end the loop that were refused in this turn.
    refused: Vec<Record>,
    /// Reflections that asked a model.
    reflections: u32,
    /// How the figure moves, with the settings by which it is taken.
    metric: Option<(ProgressSettings, Progress)>,
    todos: Checkpoints,
    /// What a `reflect` step set for the action that is being done.
    wished: Option<Wish>,
    /// The decisions of this iteration.
    decisions: Vec<Decision>,
}

/// What a `reflect` step asks for.
#[derive(Debug, Clone)]
pub(super) struct Wish {
    level: Level,
    data: Json,
}

impl Mechanisms {
    /// Those of a loop that begins now, in the run's time.
    pub(super) fn new(began: std::time::Duration) -> Arc<Self> {
        Arc::new(Self { began, memory: Mutex::default(), gate: Arc::new(SharedGate::new(began)), before: 0 })
    }

    /// What a loop begins with that shares this one's task, after so many of its iterations.
    pub(super) fn inside(&self, began: std::time::Duration, iterations: u32) -> Arc<Self> {
        // Its prompt is another one.
        lock(&self.gate.memory).gate.forget_prompt();
        let (gate, before) = (Arc::clone(&self.gate), self.before.saturating_add(iterations));
        Arc::new(Self { began, memory: Mutex::default(), gate, before })
    }
}

/// One structured call of a mechanism.
struct Ask<'a> {
    purpose: CallPurpose,
    tier: &'a str,
    prompt: &'a Source,
    /// Names that its prompt sees beside those of every template.
    frame: Frame,
    /// What comes from the run: name of the section and text. None of it is trusted.
    material: Vec<(&'a str, String)>,
    schema: Json,
    stream: IndexMap<String, StreamTo>,
    phase: Phase,
}

impl LoopRun {
    /// The mechanisms look at the action that was just done, each with its own throttle.
    pub(super) async fn observe(&mut self, chosen: &Chosen, handled: &Handled) -> Option<End> {
        let core = &self.core;
        core.watch_todos(handled);
        core.note_action(chosen, handled);
        if let Some(end) = core.settled() {
            return Some(end);
        }
        let spin = core.watch_for_spin(chosen, handled).await;
        if spin.end.is_none() {
            core.reflect_on_action(chosen, handled, spin.begins).await;
            let trigger = if spin.begins { PerceptionTrigger::SpinDetected } else { PerceptionTrigger::PostAction };
            core.perceive(trigger, None, Phase::WORK).await;
            return core.verify_after_action().await;
        }
        spin.end
    }
}

impl LoopCore {
    /// A loop inside another one begins: what it is doing is seen afresh.
    pub(super) async fn enter(&self) {
        if self.depth > 0 {
            self.perceive(PerceptionTrigger::LoopSwitch, None, Phase::WORK).await;
        }
    }

    /// A step of a mechanism was not cut short: what the mechanism itself overlooks, the step's list must not.
    pub(super) fn still_running(&self, phase: Phase) -> Result<(), StepFailure> {
        if self.token(phase).is_cancelled() { Err(StepFailure::Cancelled) } else { Ok(()) }
    }

    /// A watch over what a model thinks aloud, where spin detection is on.
    pub(super) fn chant_watch(&self) -> Option<ChantWatch<'_>> {
        let on = self.program.mechanisms.spin.mode != Mode::Off;
        on.then(|| ChantWatch::new(self.program.spin_rules()))
    }

    /// Now, for a throttle.
    fn moment(&self) -> Moment {
        let iteration = self.state().iteration;
        Moment { at: self.shared.time.now().saturating_sub(self.mechanisms.began), iteration }
    }

    /// The mechanisms' memory, locked. Never held over an await.
    fn mechanism_memory(&self) -> std::sync::MutexGuard<'_, MechanismMemory> {
        lock(&self.mechanisms.memory)
    }

    /// Notes a decision for the event of this iteration.
    fn decided(&self, mechanism: MechanismName, verdict: &Verdict) {
        let decision = Decision { mechanism, act: verdict.act, grounds: verdict.grounds.clone() };
        self.mechanism_memory().decisions.push(decision);
    }

    /// Tells the decisions of this iteration, where the loop names a mechanism at all.
    pub(super) fn tell_decisions(&self) {
        let decisions = std::mem::take(&mut self.mechanism_memory().decisions);
        // A loop that names no mechanism may be judged by the gate of the loop around it.
        let watched = self.program.mechanisms.watched() || self.gate.guards();
        if watched && !decisions.is_empty() {
            self.events.emit(Event::Mechanisms { iteration: self.state().iteration, decisions });
        }
    }

    /// Asks a mechanism's model.
    ///
    /// # Errors
    /// Why there is no answer, in words.
    async fn ask_mechanism<T: DeserializeOwned>(&self, ask: Ask<'_>) -> Result<T, String> {
        let frame = ask.frame.with("schema", Value::from(minijinja::value::Serde(&ask.schema)));
        let context = Scope::new(self.base.clone(), frame).context();
        let prompts = &self.program.prompts;
        let system = self.render_source(&prompts.system, &context)?;
        let task = self.render_source(ask.prompt, &context)?;
        let mut sections: Vec<(&str, String, Trust)> =
            ask.material.into_iter().map(|(name, text)| (name, text, Trust::Untrusted)).collect();
        sections.push(("TASK", task, Trust::Trusted));
        let call = Structured {
            purpose: ask.purpose,
            tier: ask.tier,
            system,
            sections,
            schema: &ask.schema,
            stream: ask.stream,
            retries: RETRIES,
            max_tokens: None,
        };
        let object = match tokio::time::timeout(PATIENCE, self.structured(call, ask.phase)).await {
            Ok(Ok(object)) => object,
            Ok(Err(StepFailure::Ended(reason))) => return Err(format!("the loop is at its limit ({})", reason.name())),
            Ok(Err(failure)) => return Err(failure.to_string()),
            Err(_) => return Err(format!("no answer within {} s", PATIENCE.as_secs())),
        };
        serde_json::from_value(object).map_err(|error| error.to_string())
    }

    fn render_source(&self, source: &Source, context: &Value) -> Result<String, String> {
        let templates = &self.edition.templates;
        let rendered = match source {
            Source::Fixed(text) => return Ok(text.to_string()),
            Source::Input => return Ok(super::sub::input_text(&self.base.input)),
            Source::Inline(text) => templates.render_prompt(text, context),
            Source::File(name) => templates.render_prompt_file(name, context),
        };
        rendered.map(|rendered| rendered.text).map_err(|error| error.to_string())
    }
}
