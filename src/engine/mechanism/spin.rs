//! Spin: what the detector is shown, the helper model's opinion, and what follows from both.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;
use minijinja::Value;
use minijinja::value::Serde;
use serde_json::{Map, Value as Json, json};

use super::{Ask, MechanismMemory};
use crate::document::{Effect, ToolClass};
use crate::engine::act::{Handled, outcome_text, shorten};
use crate::engine::core::LoopCore;
use crate::engine::finish::End;
use crate::engine::program::ActionKind;
use crate::engine::turn::Chosen;
use crate::event::{CallPurpose, Event, ExitReason, Grounds, MechanismName, SpinConsequence, SpinOpinion, SpinState};
use crate::mechanism::spin::{Class, Detector, Finding, Kind, Record};
use crate::mechanism::{Mode, Opinion, Repetition, Sight, Verdict, Weighed};
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
    grounds: Grounds,
    opinion: Option<SpinOpinion>,
    error: Option<String>,
}

/// What is found, and what the helper model said of it.
#[derive(Default)]
struct Found {
    repetition: Option<Repetition>,
    reviewed: Option<Reviewed>,
}

impl LoopCore {
    /// Looks for a spin after an action, warns, and says whether the loop ends.
    pub(super) async fn watch_for_spin(&self, chosen: &Chosen, handled: &Handled) -> SpinSeen {
        let settings = &self.program.mechanisms.spin;
        if settings.mode == Mode::Off {
            self.forget_spin();
            return SpinSeen::default();
        }
        self.show_detector(chosen, handled);
        let Found { repetition, reviewed } = self.find_spin(Review::AsSuspected, true, Phase::WORK).await;
        let (consequence, begins, state) = {
            let mut memory = self.mechanism_memory();
            let MechanismMemory { watch, detector, .. } = &mut *memory;
            let is_over = |found: &Finding| detector.as_ref().is_none_or(|(detector, _)| detector.is_over(found));
            let (consequence, begins) = watch.conclude(settings, repetition.as_ref(), is_over);
            (consequence, begins, watch.state.clone())
        };
        self.state().seen.spin = Value::from(Serde(&state));
        let (opinion, error) = match &reviewed {
            Some(Reviewed { opinion, error, .. }) => (opinion.clone(), error.clone()),
            None => (None, None),
        };
        let Some(found) = repetition else {
            if let Some(Reviewed { grounds, .. }) = reviewed {
                let consequence = SpinConsequence::None;
                self.events.emit(Event::Spin { grounds, state, consequence, opinion, error });
            }
            return SpinSeen::default();
        };
        let grounds = found.grounds.with("warnings", state.warnings).with("max_warnings", settings.max_warnings);
        self.events.emit(Event::Spin { grounds, state: state.clone(), consequence, opinion, error });
        if consequence == SpinConsequence::End {
            return SpinSeen { begins, end: Some(spin_end(&state)) };
        }
        self.warn_of_spin(&state);
        SpinSeen { begins, end: None }
    }

    /// Spin detection was switched off while the loop runs: nothing of what it knew holds any more.
    fn forget_spin(&self) {
        let mut memory = self.mechanism_memory();
        if memory.detector.take().is_some() {
            memory.watch.close();
            self.state().seen.spin = Value::from(Serde(SpinState::default()));
        }
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
        let Found { repetition, reviewed } = self.find_spin(review, false, phase).await;
        self.still_running(phase)?;
        let state = {
            let memory = self.mechanism_memory();
            repetition.as_ref().map_or_else(|| memory.watch.state.clone(), |found| memory.watch.with(found))
        };
        let seen = Value::from(Serde(&state));
        self.state().seen.spin = seen.clone();
        let (grounds, opinion, error) = match (repetition, reviewed) {
            (Some(found), None) => (found.grounds, None, None),
            (Some(found), Some(Reviewed { opinion, error, .. })) => (found.grounds, opinion, error),
            (None, Some(Reviewed { grounds, opinion, error })) => (grounds, opinion, error),
            (None, None) => return Ok(seen),
        };
        self.events.emit(Event::Spin { grounds, state, consequence: SpinConsequence::None, opinion, error });
        Ok(seen)
    }

    /// The pattern that the detector found, or else what the helper model says, when its throttle lets it be asked.
    /// `told` says that the decision belongs to the iteration; what a step asks for is told by its own event.
    async fn find_spin(&self, review: Review, told: bool, phase: Phase) -> Found {
        let settings = &self.program.mechanisms.spin;
        let now = self.moment();
        let (known, verdict) = {
            let memory = self.mechanism_memory();
            let watch = &memory.watch;
            let known = watch.sight.pattern.clone().or_else(|| watch.standing(settings));
            (known, watch.should_review(settings, review == Review::Always, now))
        };
        if let Some(found) = known {
            if told {
                self.decided(MechanismName::Spin, &Verdict { act: true, grounds: found.grounds.clone() });
            }
            return Found { repetition: Some(found), reviewed: None };
        }
        if review == Review::Never {
            return Found::default();
        }
        if told {
            self.decided(MechanismName::Spin, &verdict);
        }
        if !verdict.act {
            return Found::default();
        }
        let (opinion, error) = match self.second_opinion(phase).await {
            Ok(opinion) => (Some(opinion), None),
            Err(error) => (None, Some(error)),
        };
        let now = self.moment();
        let Weighed { found, opinion, grounds } = self.mechanism_memory().watch.weigh(settings, opinion, now);
        // The rule stays the one that asked; the numbers are those that decided.
        let numbers = grounds.numbers.into_iter().filter(|_| opinion.is_some());
        let grounds = numbers.fold(verdict.grounds, |grounds, (name, figure)| grounds.with(&name, figure));
        Found { repetition: found, reviewed: Some(Reviewed { grounds, opinion, error }) }
    }

    /// Shows the detector what was done in this iteration and what came of it.
    fn show_detector(&self, chosen: &Chosen, handled: &Handled) {
        let (iteration, feedback, moved) = {
            let state = self.state();
            (u64::from(state.iteration), state.feedback.join("\n"), state.moved)
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
            record.moved = moved;
            record.finish = chosen.action.ends_loop();
            // An action that says nothing of what it did may have done something each time.
            record.observation = record.observation.filter(|text| !text.is_empty());
            records.push(record);
        }
        let mut memory = self.mechanism_memory();
        let refused = std::mem::take(&mut memory.refused);
        memory.watch.sight = Sight::default();
        self.with_detector(&mut memory, |detector, sight| {
            for record in refused.iter().chain(&records) {
                let found = detector.observe_all(record);
                let action = if record.action.is_empty() { &chosen.action.name } else { &record.action };
                sight.add(action, &found);
            }
        });
    }

    /// Hands out the detector, made when it is first needed, with the thresholds that are in force.
    fn with_detector(&self, memory: &mut MechanismMemory, work: impl FnOnce(&mut Detector, &mut Sight)) {
        let MechanismMemory { watch, detector, .. } = memory;
        let rules = self.program.spin_rules();
        let (detector, program) = detector.get_or_insert_with(|| {
            (Detector::new(rules).with_classes(self.declared_classes()), Arc::clone(&self.program))
        });
        if !Arc::ptr_eq(program, &self.program) {
            detector.adopt(rules, self.declared_classes());
            *program = Arc::clone(&self.program);
        }
        work(detector, &mut watch.sight);
    }

    /// Notes a wish to end the loop that was refused, once a turn: the model may mend its reply, and what it does then
    /// counts. Any other reply that the model mends in its turn counts for nothing.
    pub(in crate::engine) fn note_refused_end(&self, action: &str, params: &Map<String, Json>, message: &str) {
        let mut memory = self.mechanism_memory();
        if self.program.mechanisms.spin.mode == Mode::Off || memory.refused.iter().any(|known| known.action == action) {
            return;
        }
        let mut record = Record::call(action, Json::Object(params.clone()), message);
        (record.error, record.finish) = (true, true);
        memory.refused.push(record);
    }

    /// A person spoke: what was done before is another matter.
    pub(in crate::engine) fn note_person(&self) {
        if let Some((detector, _)) = &mut self.mechanism_memory().detector {
            detector.observe_all(&Record { kind: Kind::User, ..Record::default() });
        }
    }

    /// The classes that the loop's tools declare.
    fn declared_classes(&self) -> BTreeMap<String, Class> {
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
        classes.collect()
    }

    /// Whether a tool changes anything, where its document says that it does not.
    pub(super) fn changes(&self, tool: &str) -> Option<bool> {
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
            let history = &self.state().history;
            // The last thing that was done may be another one. Of a tool it is the action that called it.
            let known = self.program.actions.contains_key(&state.action);
            let last = history.iter().rev().find(|record| !known || record.action == state.action);
            let failed = last.is_some_and(|last| last.error.is_some());
            let words = |last: &ActionRecord| last.error.clone().unwrap_or_else(|| outcome_text(&last.result));
            (failed, last.map(words).unwrap_or_default())
        };
        let frame = Frame::default()
            .with("failed", Value::from(failed))
            .with("brought", Value::from(shorten(brought, BROUGHT)));
        let context = Scope::new(self.base.clone(), frame).context();
        let words = self.render_source(&self.program.prompts.spin_warning, &context);
        let words = words.unwrap_or_else(|_| format!("You repeat `{}`: {}", state.action, state.reason));
        self.feedback(words.trim());
    }
}

fn spin_end(state: &SpinState) -> End {
    let SpinState { action, count, family, warnings, reason, .. } = state;
    let warnings = if *warnings == 1 { "1 warning".to_owned() } else { format!("{warnings} warnings") };
    let times = if *count > 0 { format!("{family}, {count} times") } else { family.clone() };
    End::failed(ExitReason::Spin, format!("the loop repeats `{action}` ({times}) after {warnings}: {reason}"))
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
