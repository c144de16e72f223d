//! Doing what was chosen: built-in actions, handlers, tools, sub-loops. A failure is feedback, never a crash.

use minijinja::Value;
use minijinja::value::Serde;
use serde_json::Value as Json;

use super::batch::{self, CallResult};
use super::builtin::{ANSWER_NODE, Builtin, FINAL_ANSWER};
use super::finish::End;
use super::iteration::LoopRun;
use super::program::{ActionKind, ActionProgram};
use super::skills;
use super::steps::{Flow, StepList};
use super::turn::Chosen;
use crate::document::{DEFAULT_CONTENT_TYPE, Then};
use crate::event::{CapabilityKind, Event};
use crate::model::ToolCall;
use crate::state::Frame;
use crate::verb::{LoadCall, Phase, StepFailure};

/// What an action brought.
pub(super) struct Handled {
    pub(super) ok: bool,
    pub(super) result: Value,
    /// What the model is told of it, one text a native call.
    pub(super) outcomes: Vec<String>,
    pub(super) end: Option<End>,
    /// Why it failed.
    pub(super) error: Option<String>,
    /// The tool calls that it consisted of.
    pub(super) calls: Vec<CallResult>,
    /// It was held back: nothing of it was done.
    pub(super) held: bool,
}

impl Handled {
    fn done(result: Value, outcome: String, then: Then) -> Self {
        Self {
            ok: true,
            result,
            outcomes: vec![outcome],
            end: End::of(then),
            error: None,
            calls: Vec::new(),
            held: false,
        }
    }

    /// The model is told of it in place of a result.
    pub(super) fn held(words: String) -> Self {
        Self { outcomes: vec![words.clone()], held: true, ..Self::failed(words) }
    }

    /// The model is told of it as feedback.
    fn failed(words: String) -> Self {
        let outcomes = vec![String::new()];
        Self {
            ok: false,
            result: Value::from(()),
            outcomes,
            end: None,
            error: Some(words),
            calls: Vec::new(),
            held: false,
        }
    }
}

impl LoopRun {
    /// Does what the turn chose.
    ///
    /// # Errors
    /// Only what ends the loop: a cancellation or a limit.
    pub(super) async fn act(&mut self, chosen: &Chosen) -> Result<Handled, End> {
        let action = &chosen.action;
        let handled = match &action.kind {
            ActionKind::Builtin(builtin) => self.act_builtin(*builtin, chosen).await,
            ActionKind::Steps(steps) => self.act_steps(action, steps, chosen).await,
            ActionKind::Tool(tool) => self.act_tool(action, tool, chosen).await,
            ActionKind::Loop(name) => return Ok(self.act_loop(name, chosen).await),
        };
        match handled {
            Ok(handled) => Ok(handled),
            Err(StepFailure::Failed(words)) => {
                self.core.feedback(format!("{} failed: {words}", action.name));
                Ok(Handled::failed(words))
            }
            Err(StepFailure::Cancelled) => Err(self.core.stopped()),
            Err(StepFailure::Ended(reason)) => Err(End::new(reason)),
        }
    }

    async fn act_steps(
        &self,
        action: &ActionProgram,
        steps: &StepList,
        chosen: &Chosen,
    ) -> Result<Handled, StepFailure> {
        let mut frame = Frame::default()
            .with("params", Value::from(Serde(&chosen.params)))
            .with("tags", Value::from(Serde(&chosen.tags)));
        let flow = self.core.run_steps(steps, &mut frame, Phase::WORK).await?;
        let then = match flow {
            Flow::Ended(then) => then,
            Flow::Done => action.then,
        };
        let result = frame.handler_result().unwrap_or_default();
        let told = if frame.has_given() { outcome_text(&result) } else { String::new() };
        Ok(Handled::done(result, told, then))
    }

    async fn act_tool(&self, action: &ActionProgram, tool: &str, chosen: &Chosen) -> Result<Handled, StepFailure> {
        let params = Value::from(Serde(&chosen.params));
        let value = self.core.call_tool(tool, params, chosen.identifier.clone(), Phase::WORK, true).await?;
        let told = outcome_text(&value);
        Ok(Handled::done(value, told, action.then))
    }

    async fn act_builtin(&mut self, builtin: Builtin, chosen: &Chosen) -> Result<Handled, StepFailure> {
        match builtin {
            Builtin::Finish => Ok(Handled::done(Value::from(()), String::new(), Then::Exit)),
            Builtin::DirectlyAnswer => Ok(self.answer(chosen)),
            Builtin::AskForClarification => self.ask(chosen).await,
            Builtin::RequestVerification => {
                let reason = chosen.params.get("reason").and_then(Json::as_str).map(str::to_owned);
                let (told, value, end) = self.core.verify_request(reason).await;
                self.core.still_running(Phase::WORK)?;
                Ok(Handled { end, ..Handled::done(value, told, Then::Continue) })
            }
            Builtin::SearchCapabilities => self.search(chosen).await,
            Builtin::LoadCapability => self.use_by_name(chosen, "identifier", None).await,
            Builtin::EnterFocusMode => self.use_by_name(chosen, "name", Some(CapabilityKind::FocusMode)).await,
            Builtin::RequireAiBlueprint => self.use_by_name(chosen, "name", Some(CapabilityKind::Forge)).await,
            Builtin::DirectlyCallTool => {
                let calls = batch::calls(&chosen.params);
                Ok(self.handle_calls(self.core.run_calls(calls).await?, &chosen.calls))
            }
            Builtin::LoadingSkills => {
                let views = self.core.load_skills(&skills::texts(&chosen.params, "names"))?;
                Ok(Handled::done(skills::value_of(&views), skills::told(&views), Then::Continue))
            }
            Builtin::LoadSkillResources => {
                let (skill, paths) = (skills::text(&chosen.params, "skill"), skills::texts(&chosen.params, "paths"));
                let text = shorten(self.core.skill_resources(&skill, &paths)?, MAX_OUTCOME);
                Ok(Handled::done(Value::from(text.as_str()), text, Then::Continue))
            }
            Builtin::ChangeSkillViewOffset => {
                let line = chosen.params.get("offset").and_then(Json::as_u64).unwrap_or(1);
                let line = usize::try_from(line).unwrap_or(usize::MAX);
                let view = [self.core.move_skill_view(&skills::text(&chosen.params, "skill"), line)?];
                Ok(Handled::done(skills::value_of(&view), skills::told(&view), Then::Continue))
            }
            Builtin::RequireTool => {
                let mut calls = batch::calls(&chosen.params);
                for call in &mut calls {
                    call.params = self.core.ask_for_parameters(call, self.memory_text()).await?;
                }
                Ok(self.handle_calls(self.core.run_calls(calls).await?, &chosen.calls))
            }
        }
    }

    fn answer(&self, chosen: &Chosen) -> Handled {
        let payload = chosen.params.get("answer_payload").and_then(Json::as_str);
        let text = chosen.tags.get(FINAL_ANSWER).map(String::as_str).or(payload).unwrap_or_default().to_owned();
        let streamed = chosen.shown.text(ANSWER_NODE).is_some_and(|shown| shown.trim() == text.trim());
        self.core.state().answer = Some(text.clone());
        self.core.events.emit(Event::Answer {
            text: text.clone(),
            content_type: DEFAULT_CONTENT_TYPE.to_owned(),
            streamed,
        });
        Handled::done(Value::from(text), String::new(), Then::Exit)
    }

    /// What was found stands in a section of its own from the next turn on; the transcript only says that it does.
    async fn search(&self, chosen: &Chosen) -> Result<Handled, StepFailure> {
        let record = self.core.search_capabilities(super::discover::asked(&chosen.params), Phase::WORK).await?;
        let told = self.core.told_of_search(&record);
        Ok(Handled::done(record, told, Then::Continue))
    }

    async fn use_by_name(
        &self,
        chosen: &Chosen,
        key: &str,
        kind: Option<CapabilityKind>,
    ) -> Result<Handled, StepFailure> {
        let call = LoadCall {
            identifier: skills::text(&chosen.params, key),
            kind,
            task: chosen.params.get("task").and_then(Json::as_str).map(str::to_owned),
            params: chosen.params.get("params").cloned(),
        };
        let used = self.core.load_capability(call, Phase::WORK).await?;
        let result = if used.calls.is_empty() { used.value() } else { used.result };
        Ok(Handled { calls: used.calls, ..Handled::done(result, used.told, Then::Continue) })
    }

    async fn ask(&self, chosen: &Chosen) -> Result<Handled, StepFailure> {
        let question = chosen.params.get("question").and_then(Json::as_str).unwrap_or_default().to_owned();
        let options = chosen.params.get("options").and_then(Json::as_array).into_iter().flatten();
        let options = options.filter_map(Json::as_str).map(str::to_owned).collect();
        let told = match self.core.ask_user(question, options, Phase::WORK).await? {
            Some(answer) => format!("The user answered: {answer}"),
            None => "Nobody can be asked now. Decide with what you have, and say what you assumed.".to_owned(),
        };
        Ok(Handled::done(Value::from(told.as_str()), told, Then::Continue))
    }

    /// Results of tool calls: one alone keeps its type, several are a list.
    fn handle_calls(&self, results: Vec<CallResult>, native: &[ToolCall]) -> Handled {
        let ok = results.iter().any(|result| result.outcome.is_ok());
        let several = results.len() > 1;
        let outcomes: Vec<String> = results.iter().map(|result| call_text(result, several, native.len() > 1)).collect();
        let outcomes = if native.len() == outcomes.len() { outcomes } else { vec![outcomes.join("\n")] };
        let failed = results.iter().filter_map(|result| result.outcome.as_ref().err().map(String::as_str));
        let error = (!ok).then(|| failed.collect::<Vec<_>>().join("; "));
        let mut values = results.iter().map(|result| match &result.outcome {
            Ok(value) => value.clone(),
            Err(words) => Value::from_pairs([("error", Value::from(words.as_str()))]),
        });
        let result = if several { Value::from_iter(values) } else { values.next().unwrap_or_default() };
        Handled { ok, result, outcomes, end: None, error, calls: results, held: false }
    }

    /// The text of the last part of the transcript and the input: what a second call needs to know.
    fn memory_text(&self) -> String {
        self.memory.recent_text()
    }
}

/// What the model reads of a call's outcome.
fn call_text(result: &CallResult, several: bool, native: bool) -> String {
    let text = match &result.outcome {
        Ok(value) => outcome_text(value),
        Err(words) => format!("error: {words}"),
    };
    if !several || native {
        return text;
    }
    match &result.call.identifier {
        Some(identifier) => format!("{} ({identifier}): {text}", result.call.tool),
        None => format!("{}: {text}", result.call.tool),
    }
}

/// The most characters of one result that go into the transcript; the middle of a longer one is left out.
const MAX_OUTCOME: usize = 32 * 1024;

/// A value as the model reads it: text as it is, anything else as compact JSON.
pub(super) fn outcome_text(value: &Value) -> String {
    if value.is_none() || value.is_undefined() {
        return String::new();
    }
    let text = match value.as_str() {
        Some(text) => text.to_owned(),
        None => serde_json::to_string(value).unwrap_or_else(|_| value.to_string()),
    };
    shorten(text, MAX_OUTCOME)
}

/// At most about `max` bytes: the middle of a longer text is left out.
pub(super) fn shorten(text: String, max: usize) -> String {
    if text.len() <= max {
        return text;
    }
    let head = text.floor_char_boundary(max * 3 / 4);
    let tail = text.ceil_char_boundary(text.len() - max / 4);
    format!("{}\n[… {} bytes left out …]\n{}", &text[..head], tail - head, &text[tail..])
}
