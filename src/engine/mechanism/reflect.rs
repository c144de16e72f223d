//! Reflection: what an action brought, as deep as the circumstances ask for.

use indexmap::IndexMap;
use minijinja::Value;
use minijinja::value::Serde;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{Ask, Wish};
use crate::document::{Level, StreamTo};
use crate::engine::act::Handled;
use crate::engine::core::LoopCore;
use crate::engine::live::THOUGHT_NODE;
use crate::engine::program::ActionKind;
use crate::engine::turn::Chosen;
use crate::event::{CallPurpose, Event, MechanismName, ReflectionState};
use crate::mechanism::{Circumstances, Mode, Verdict, level};
use crate::state::Frame;
use crate::verb::{Phase, ReflectCall, StepFailure};

/// Actions that the model sees: the one that it is about, and what came before it.
const ACTIONS: usize = 3;

/// The most suggestions that are kept, and characters of what the model says.
const SUGGESTIONS: usize = 8;
const WORDS: usize = 2000;

/// What the model answers.
#[derive(Debug, Deserialize)]
struct Assessment {
    assessment: String,
    #[serde(default)]
    cause: String,
    #[serde(default)]
    suggestions: String,
}

impl LoopCore {
    /// Reflects on the action of this iteration, at the level that its circumstances ask for.
    pub(super) async fn reflect_on_action(&self, chosen: &Chosen, handled: &Handled, spin: bool) {
        let (wish, calls) = {
            let mut memory = self.mechanism_memory();
            (memory.wished.take(), memory.reflections)
        };
        let now = Circumstances {
            set: wish.as_ref().map(|wish| wish.level),
            held: handled.held,
            failed: !handled.ok,
            spin,
            key: chosen.action.key,
            builtin: matches!(chosen.action.kind, ActionKind::Builtin(_)),
            calls,
        };
        let (level, verdict) = level(&self.program.mechanisms.reflection, now);
        self.decided(MechanismName::Reflection, &verdict);
        self.reflect_at(level, &verdict, wish.map(|wish| wish.data), Phase::WORK).await;
    }

    /// What a `reflect` step asks for. While an action is being done it waits for the action's end; in hooks it is about
    /// the last action, and happens at once.
    pub(in crate::engine) async fn reflect_step(&self, call: ReflectCall, phase: Phase) -> Result<Value, StepFailure> {
        let ReflectCall { level: wanted, data } = call;
        let done = {
            let state = self.state();
            state.history.last().is_some_and(|record| record.iteration == state.iteration)
        };
        if !done {
            self.mechanism_memory().wished = Some(Wish { level: wanted, data });
            return Ok(self.state().seen.reflection.clone());
        }
        let calls = self.mechanism_memory().reflections;
        let now = Circumstances { set: Some(wanted), calls, ..Circumstances::default() };
        let (level, verdict) = level(&self.program.mechanisms.reflection, now);
        self.reflect_at(level, &verdict, Some(data), phase).await;
        self.still_running(phase)?;
        Ok(self.state().seen.reflection.clone())
    }

    async fn reflect_at(&self, level: Level, verdict: &Verdict, data: Option<Json>, phase: Phase) {
        let Some(mut state) = self.blank_reflection(level, data.clone()) else { return };
        if !verdict.act {
            self.state().seen.reflection = Value::from(Serde(&state));
            // A record is told only when a step had something to say in it.
            if data.is_some_and(|data| !data.is_null()) {
                let grounds = verdict.grounds.clone();
                self.events.emit(Event::Reflection { grounds, state: Some(state), error: None });
            }
            return;
        }
        self.mechanism_memory().reflections += 1;
        let mut material = vec![("USER_QUERY", self.task_text()), ("RECENT_ACTIONS", self.actions_text(ACTIONS))];
        material.push(("NOTES", self.notes_text()));
        let data = &state.data;
        if !data.is_null() {
            material.push(("DATA", data.to_string()));
        }
        let settings = &self.program.mechanisms.reflection;
        let stream = StreamTo { node: THOUGHT_NODE.to_owned(), content_type: "text/markdown".to_owned() };
        let frame = Frame::default()
            .with("level", Value::from(level.name()))
            .with("rule", Value::from(verdict.grounds.rule.as_str()))
            .with("action", Value::from(state.action.as_str()));
        let ask = Ask {
            purpose: CallPurpose::Reflection,
            tier: &settings.tier,
            prompt: self.program.prompts.reflection(level),
            frame,
            material,
            schema: schema(level),
            stream: IndexMap::from([("suggestions".to_owned(), stream)]),
            phase,
        };
        let error = match self.ask_mechanism::<Assessment>(ask).await {
            Ok(answer) => {
                state.assessment = shorten(&answer.assessment);
                state.cause = shorten(&answer.cause);
                state.suggestions = lines(&answer.suggestions);
                None
            }
            Err(error) => Some(error),
        };
        // What the step handed over reaches the next prompt, whether or not the model had something to add.
        self.state().seen.reflection = Value::from(Serde(&state));
        let state = error.is_none().then_some(state);
        self.events.emit(Event::Reflection { grounds: verdict.grounds.clone(), state, error });
    }

    /// A reflection on the last action that says nothing yet; none where there is nothing to record.
    fn blank_reflection(&self, level: Level, data: Option<Json>) -> Option<ReflectionState> {
        if level == Level::None || self.program.mechanisms.reflection.mode == Mode::Off {
            return None;
        }
        let state = self.state();
        let last = state.history.last();
        Some(ReflectionState {
            level: level.name().to_owned(),
            iteration: state.iteration,
            action: last.map(|record| record.action.clone()).unwrap_or_default(),
            data: data.unwrap_or(Json::Null),
            ..ReflectionState::default()
        })
    }
}

fn shorten(text: &str) -> String {
    crate::engine::act::shorten(text.trim().to_owned(), WORDS)
}

/// Suggestions, one a line, without the marks of a list.
fn lines(text: &str) -> Vec<String> {
    let marks = |c: char| c.is_whitespace() || matches!(c, '-' | '*' | '•');
    let numbered = |line: &str| {
        let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        match line[digits..].strip_prefix(['.', ')']) {
            Some(rest) if digits > 0 => rest.trim().to_owned(),
            _ => line.to_owned(),
        }
    };
    let lines = text.lines().map(|line| numbered(line.trim_start_matches(marks).trim_end()));
    lines.filter(|line| !line.is_empty()).take(SUGGESTIONS).map(|line| shorten(&line)).collect()
}

/// What the model answers at a level.
fn schema(level: Level) -> Json {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let mut properties = json!({
        "assessment": text("What the action brought, in one to three sentences."),
        "suggestions": text("What to do differently: one suggestion a line, at most five. Empty when all is well.")
    });
    let mut required = vec!["assessment", "suggestions"];
    if level == Level::Critical {
        properties["cause"] = text("Why it failed: the root cause, in one or two sentences.");
        required.push("cause");
    }
    json!({ "type": "object", "required": required, "additionalProperties": false, "properties": properties })
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn suggestions_are_lines_without_the_marks_of_a_list() {
        assert_eq!(lines("- a b\n2. 3 of them\n\n * c\n10 apples"), ["a b", "3 of them", "c", "10 apples"]);
        assert!(lines(" \n").is_empty());
    }
}
