//! Spin: what the detector is shown, the helper model's opinion, and what follows from both.

use std::sync::Arc;

use indexmap::IndexMap;
use minijinja::Value;
use minijinja::value::Serde;
use serde_json::{Value as Json, json};

use super::Ask;
use crate::document::{Effect, ToolClass};
use crate::engine::act::{Handled, outcome_text, shorten};
use crate::engine::core::LoopCore;
use crate::engine::finish::End;
use crate::engine::program::ActionKind;
use crate::engine::turn::Chosen;
use crate::event::{CallPurpose, Event, ExitReason, MechanismName, SpinConsequence, SpinState};
use crate::mechanism::spin::{Class, Detector, Kind, Record};
use crate::mechanism::{Mode, Opinion, Repetition, Sight, Verdict};
use crate::state::{ActionRecord, Frame, Scope};
use crate::verb::{Phase, StepFailure};

/// The most bytes of a result that a warning quotes.
const BROUGHT: usize = 400;

/// What spin detection says of an iteration.
#[derive(Default)]
pub(super) struct SpinSeen {
    /// An incident begins.
    pub(super) begins: bool,
    /// The loop ends.
    pub(super) end: Option<End>,
}

/// The helper model was asked, and did not say that it is a spin.
struct Reviewed {
    verdict: Verdict,
    error: Option<String>,
}

impl LoopCore {
    /// Looks for a spin after an action, warns, and says whether the loop ends.
    pub(super) async fn watch_for_spin(&self, chosen: &Chosen, handled: &Handled) -> SpinSeen {
        let settings = &self.program.mechanisms.spin;
        if settings.mode == Mode::Off {
            return SpinSeen::default();
        }
        self.show_detector(chosen, handled);
        let (found, reviewed) = self.find_spin(Review::AsSuspected, true, Phase::WORK).await;
        let (consequence, begins, state) = {
            let mut memory = self.mechanism_memory();
            let (consequence, begins) = memory.watch.conclude(settings, found.as_ref());
            (consequence, begins, memory.watch.state.clone())
        };
        self.state().seen.spin = Value::from(Serde(&state));
        let Some(found) = found else {
            if let Some(Reviewed { verdict, error }) = reviewed {
                let consequence = SpinConsequence::None;
                self.events.emit(Event::Spin { grounds: verdict.grounds, state, consequence, error });
            }
            return SpinSeen::default();
        };
        let grounds = found.grounds.with("warnings", state.warnings).with("max_warnings", settings.max_warnings);
        self.events.emit(Event::Spin { grounds, state: state.clone(), consequence, error: None });
        if consequence == SpinConsequence::End {
            return SpinSeen { begins, end: Some(spin_end(&state)) };
        }
        self.warn_of_spin(&state);
        SpinSeen { begins, end: None }
    }

    /// What a `check_spin` step asks for: looks without consequences.
    pub(in crate::engine) async fn check_spin_step(
        &self,
        review: Option<bool>,
        phase: Phase,
    ) -> Result<Value, StepFailure> {
        let review = match review {
            None => Review::AsSuspected,
            Some(true) => Review::Always,
            Some(false) => Review::Never,
        };
        let (found, reviewed) = self.find_spin(review, false, phase).await;
        self.still_running(phase)?;
        let state = {
            let mut memory = self.mechanism_memory();
            if let Some(found) = &found {
                memory.watch.show(found);
            }
            memory.watch.state.clone()
        };
        let seen = Value::from(Serde(&state));
        self.state().seen.spin = seen.clone();
        let (grounds, error) = match (found, reviewed) {
            (Some(found), _) => (found.grounds, None),
            (None, Some(Reviewed { verdict, error })) => (verdict.grounds, error),
            (None, None) => return Ok(seen),
        };
        self.events.emit(Event::Spin { grounds, state, consequence: SpinConsequence::None, error });
        Ok(seen)
    }

    /// The pattern that the detector found, or else what the helper model says, when its throttle lets it be asked.
    /// `told` says that the decision belongs to the iteration; what a step asks for is told by its own event.
    async fn find_spin(&self, review: Review, told: bool, phase: Phase) -> (Option<Repetition>, Option<Reviewed>) {
        let settings = &self.program.mechanisms.spin;
        let now = self.moment();
        let (pattern, verdict) = {
            let memory = self.mechanism_memory();
            let verdict = memory.watch.should_review(settings, review == Review::Always, now);
            (memory.watch.sight.pattern.clone(), verdict)
        };
        if let Some(found) = pattern {
            if told {
                self.decided(MechanismName::Spin, &Verdict { act: true, grounds: found.grounds.clone() });
            }
            return (Some(found), None);
        }
        if review == Review::Never {
            return (None, None);
        }
        if told {
            self.decided(MechanismName::Spin, &verdict);
        }
        if !verdict.act {
            return (None, None);
        }
        let (opinion, error) = match self.second_opinion(phase).await {
            Ok(opinion) => (Some(opinion), None),
            Err(error) => (None, Some(error)),
        };
        let now = self.moment();
        let found = self.mechanism_memory().watch.weigh(settings, opinion, now);
        (found, Some(Reviewed { verdict, error }))
    }

    /// Shows the detector what was done in this iteration and what came of it.
    fn show_detector(&self, chosen: &Chosen, handled: &Handled) {
        let (iteration, feedback) = {
            let state = self.state();
            (u64::from(state.iteration), state.feedback.join("\n"))
        };
        let mut records = Vec::new();
        if let Some(thought) = chosen.thought.as_deref().filter(|thought| !thought.trim().is_empty()) {
            records.push(Record::text(Kind::Think, thought));
        }
        for result in &handled.calls {
            let (text, error) = match &result.outcome {
                Ok(value) => (outcome_text(value), false),
                Err(words) => (words.clone(), true),
            };
            let mut record = Record::call(result.call.tool.as_str(), result.call.params.clone(), text);
            record.error = error;
            record.batch = Some(iteration);
            record.changes = self.changes(&result.call.tool);
            records.push(record);
        }
        if handled.calls.is_empty() {
            let mut texts = handled.outcomes.clone();
            texts.extend(handled.error.iter().cloned());
            texts.push(feedback);
            texts.retain(|text| !text.is_empty());
            let params = Json::Object(chosen.params.clone());
            let mut record = Record::call(chosen.action.name.as_str(), params, texts.join("\n"));
            record.error = !handled.ok;
            // An action that says nothing of what it did may have done something each time.
            record.observation = record.observation.filter(|text| !text.is_empty());
            records.push(record);
        }
        let mut memory = self.mechanism_memory();
        let memory = &mut *memory;
        let known = memory.detector.take().filter(|(_, program)| program.same_spin(&self.program));
        let (detector, _) =
            memory.detector.insert(known.unwrap_or_else(|| (self.new_detector(), Arc::clone(&self.program))));
        let rejected = std::mem::take(&mut memory.rejected);
        memory.watch.sight = Sight::default();
        for record in rejected.iter().chain(&records) {
            let found = detector.observe_all(record);
            let action = if record.action.is_empty() { &chosen.action.name } else { &record.action };
            memory.watch.sight.add(action, &found);
        }
    }

    /// Notes a reply that gave no action: to the detector it is a call that failed.
    pub(in crate::engine) fn note_rejected(&self, class: &str, message: &str) {
        if self.program.mechanisms.spin.mode == Mode::Off {
            return;
        }
        let mut record = Record::call("invalid_reply", json!({ "class": class }), message);
        record.error = true;
        self.mechanism_memory().rejected.push(record);
    }

    /// A detector with the loop's thresholds, and the classes that its tools declare.
    fn new_detector(&self) -> Detector {
        let own = self.program.tools.iter().map(|name| (name, name));
        let actions = self.program.actions.iter().filter_map(|(name, action)| match &action.kind {
            ActionKind::Tool(tool) => Some((name, tool)),
            _ => None,
        });
        let classes = own.chain(actions).filter_map(|(name, tool)| {
            let class = match self.edition.toolbox.get(tool)?.class? {
                ToolClass::Poll => Class::Poll,
                ToolClass::Wait => Class::Wait,
                ToolClass::Enumerate => Class::Enumerate,
                ToolClass::SideEffect => Class::SideEffect,
            };
            Some((name.clone(), class))
        });
        Detector::new(self.program.spin_rules()).with_classes(classes.collect())
    }

    /// Whether a tool changes anything, where its document says that it does not.
    fn changes(&self, tool: &str) -> Option<bool> {
        (self.edition.toolbox.get(tool)?.effect == Effect::Pure).then_some(false)
    }

    /// The helper model's opinion on the last records.
    async fn second_opinion(&self, phase: Phase) -> Result<Opinion, String> {
        let settings = &self.program.mechanisms.spin;
        let action = self.mechanism_memory().watch.sight.action.clone();
        let material = vec![
            ("USER_QUERY", self.task_text()),
            ("RECENT_ACTIONS", self.actions_text(settings.same_logic as usize)),
            ("NOTES", self.notes_text()),
        ];
        let ask = Ask {
            purpose: CallPurpose::Spin,
            tier: &settings.tier,
            prompt: &self.program.prompts.spin,
            frame: Frame::default().with("action", Value::from(action)),
            material,
            schema: schema(),
            stream: IndexMap::new(),
            phase,
        };
        self.ask_mechanism(ask).await
    }

    /// Tells the model what it repeats, how often, and what came of it.
    fn warn_of_spin(&self, state: &SpinState) {
        let (failed, brought) = {
            let state = self.state();
            let last = state.history.last();
            let failed = last.is_some_and(|last| last.error.is_some());
            let words = |last: &ActionRecord| last.error.clone().unwrap_or_else(|| outcome_text(&last.result));
            (failed, last.map(words).unwrap_or_default())
        };
        let frame = Frame::default()
            .with("failed", Value::from(failed))
            .with("brought", Value::from(shorten(brought, BROUGHT)));
        let context = Scope::new(self.base.clone(), frame).context();
        let words = self.render_source(&self.program.prompts.spin_warning, &context);
        let words = words.unwrap_or_else(|_| format!("You repeat `{}` ({} times).", state.action, state.count));
        self.feedback(words.trim());
    }
}

fn spin_end(state: &SpinState) -> End {
    let SpinState { action, count, family, warnings, reason, .. } = state;
    let warnings = if *warnings == 1 { "1 warning".to_owned() } else { format!("{warnings} warnings") };
    End::failed(
        ExitReason::Spin,
        format!("the loop repeats `{action}` ({family}, {count} times) after {warnings}: {reason}"),
    )
}

/// Whether the helper model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Review {
    /// When something is suspected, and its throttle allows.
    AsSuspected,
    /// In any case.
    Always,
    /// Not at all.
    Never,
}

/// What the model answers.
fn schema() -> Json {
    let list =
        |about: &str| json!({ "type": "array", "items": { "type": "string" }, "maxItems": 8, "description": about });
    json!({
        "type": "object",
        "required": ["reason", "is_spinning", "confidence"],
        "additionalProperties": false,
        "properties": {
            "reason": { "type": "string", "description": "What the last actions have in common, and whether they bring anything new." },
            "is_spinning": { "type": "boolean", "description": "Whether the agent repeats itself without getting on." },
            "confidence": { "type": "number", "minimum": 0, "maximum": 1, "description": "How sure you are." },
            "suggestions": list("What it should do differently."),
            "next_actions": list("Actions that it should take next, by name.")
        }
    })
}
