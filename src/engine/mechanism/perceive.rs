//! Perception: one structured call that says what the loop is doing.

use indexmap::IndexMap;
use minijinja::Value;
use minijinja::value::Serde;
use serde_json::json;

use super::Ask;
use crate::engine::core::LoopCore;
use crate::event::{CallPurpose, Event, MechanismName, PerceptionTrigger};
use crate::mechanism::Account;
use crate::state::Frame;
use crate::verb::{Phase, StepFailure};

/// Actions that the model sees.
const ACTIONS: usize = 8;

impl LoopCore {
    /// What a `perceive` step asks for.
    pub(in crate::engine) async fn perceive_step(&self, reason: String, phase: Phase) -> Result<Value, StepFailure> {
        self.perceive(PerceptionTrigger::Forced, Some(reason), phase).await;
        self.still_running(phase)?;
        Ok(self.state().seen.perception.clone())
    }

    /// Looks, when the throttle lets this trigger.
    pub(in crate::engine) async fn perceive(&self, trigger: PerceptionTrigger, reason: Option<String>, phase: Phase) {
        let settings = &self.program.mechanisms.perception;
        let now = self.moment();
        let verdict = self.mechanism_memory().perception.should_update(settings, trigger, now);
        // What a step asks for is told by its own event.
        if trigger != PerceptionTrigger::Forced {
            self.decided(MechanismName::Perception, &verdict);
        }
        if !verdict.act {
            return;
        }
        let before = self.mechanism_memory().perception.state.clone();
        let frame = Frame::default()
            .with("trigger", Value::from(trigger.name()))
            .with("reason", Value::from(reason.as_deref().unwrap_or_default()));
        let mut material = vec![("USER_QUERY", self.task_text()), ("RECENT_ACTIONS", self.actions_text(ACTIONS))];
        material.push(("NOTES", self.notes_text()));
        // Words of a step are often about values of the run, so the whole of them is not trusted.
        if let Some(reason) = reason.as_deref().filter(|reason| !reason.trim().is_empty()) {
            material.push(("ATTENTION", reason.to_owned()));
        }
        if before.epoch > 0 {
            material.push(("LAST_ACCOUNT", format!("{}\ntopics: {}", before.summary, before.topics.join(", "))));
        }
        let ask = Ask {
            purpose: CallPurpose::Perception,
            tier: &settings.tier,
            prompt: &self.program.prompts.perception,
            frame,
            material,
            schema: schema(),
            stream: IndexMap::new(),
            phase,
        };
        let answer = self.ask_mechanism::<Account>(ask).await;
        let now = self.moment();
        let (written, state, error) = {
            let mut memory = self.mechanism_memory();
            memory.perception.looked(now);
            match answer {
                Ok(account) => {
                    let written = memory.perception.apply(account, trigger, now);
                    (written, Some(memory.perception.state.clone()), None)
                }
                Err(error) => (false, None, Some(error)),
            }
        };
        if let Some(state) = &state {
            self.state().seen.perception = Value::from(Serde(state));
        }
        self.events.emit(Event::Perception { trigger, reason, grounds: verdict.grounds, written, state, error });
    }
}

/// What the model answers.
fn schema() -> serde_json::Value {
    let words = |most: u32, about: &str| json!({ "type": "array", "items": { "type": "string" }, "maxItems": most, "description": about });
    json!({
        "type": "object",
        "required": ["summary", "topics", "keywords", "confidence"],
        "additionalProperties": false,
        "properties": {
            "summary": { "type": "string", "description": "What the agent is doing now, in one line." },
            "topics": words(8, "What its work is about now: 2 to 5 noun phrases."),
            "keywords": words(16, "Words to search tools and skills by: 3 to 8."),
            "confidence": { "type": "number", "minimum": 0, "maximum": 1, "description": "How sure you are." }
        }
    })
}
