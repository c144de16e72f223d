//! The history that a run's events tell: `run --events FILE`, or `run --format json`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::history::{Call, History, HistoryError, Iteration, Recorded, TodoNow};
use crate::document::builtin;
use crate::event::{CallPurpose, Envelope, Event, ExitReason, MechanismName, StepStatus, ToolStatus};

/// Actions that consist of calls of tools.
const CALLERS: [&str; 2] = ["directly_call_tool", "require_tool"];

/// Reads a log with one event a line. `None` when its first line is no event.
pub(super) fn from_log(text: &str) -> Option<Result<History, HistoryError>> {
    let mut fold = Fold::default();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str::<Envelope>(line) {
            Ok(envelope) => fold.add(&envelope),
            Err(_) if fold.began.is_none() => return None,
            Err(error) => return Some(Err(HistoryError(format!("line {} is no event of a run: {error}", at + 1)))),
        }
    }
    fold.began?;
    fold.close();
    if fold.history.iterations.is_empty() {
        return Some(Err(HistoryError("these events hold no action, so there is nothing to replay".to_owned())));
    }
    Some(Ok(fold.history))
}

/// Joins the events of each iteration of the outermost loop.
#[derive(Default)]
struct Fold {
    history: History,
    began: Option<u64>,
    /// Loops inside this one that are at work.
    inside: u32,
    open: Option<Iteration>,
    /// The mechanisms have begun to look at the open iteration.
    looked: bool,
    /// Calls of mechanisms that are under way: their number, and when they began.
    asking: BTreeMap<u32, u64>,
    /// Milliseconds that mechanisms took.
    asked_ms: u64,
    /// Parameters of the tools that are at work, by the call's number.
    tools: BTreeMap<u32, Value>,
    /// The loop's variables, as far as they were set.
    variables: Map<String, Value>,
    prompt_tokens: u32,
    todo: Option<TodoNow>,
}

impl Fold {
    fn add(&mut self, envelope: &Envelope) {
        let began = *self.began.get_or_insert(envelope.at_ms);
        match &envelope.event {
            Event::FocusOn { .. } => self.inside += 1,
            Event::FocusOff { .. } => self.inside = self.inside.saturating_sub(1),
            _ => {}
        }
        if self.inside > 0 {
            return;
        }
        self.time(&envelope.event, envelope.at_ms);
        if !self.looked && self.asking.is_empty() {
            let passed = envelope.at_ms.saturating_sub(began).saturating_sub(self.asked_ms);
            if let Some(open) = &mut self.open {
                open.at = std::time::Duration::from_millis(passed).as_secs_f64();
            }
        }
        self.take(&envelope.event);
    }

    /// Takes the time that mechanisms spend out of the run's.
    fn time(&mut self, event: &Event, at_ms: u64) {
        match event {
            Event::ModelCallStarted { call, purpose, attempt, .. } if is_mechanism(*purpose) => {
                self.asking.insert(*call, at_ms);
                if *attempt == 1 {
                    let recorded = self.history.recorded.get_or_insert_default();
                    *count(recorded, *purpose) += 1;
                }
            }
            Event::ModelCallFinished { call, .. } | Event::ModelCallFailed { call, .. } => {
                let began = self.asking.remove(call);
                self.asked_ms += began.map_or(0, |began| at_ms.saturating_sub(began));
            }
            Event::Mechanisms { .. } => {
                self.history.recorded.get_or_insert_default();
            }
            _ => {}
        }
        let asks = matches!(event, Event::ModelCallStarted { purpose, .. } if is_mechanism(*purpose));
        self.looked |= asks || matches!(event, Event::Mechanisms { .. } | Event::Progress { .. });
    }

    fn take(&mut self, event: &Event) {
        match event {
            Event::RunStarted { loop_name, .. } => self.history.name.clone_from(loop_name),
            Event::IterationStarted { .. } => self.close(),
            Event::PromptProfile { tokens, .. } => self.prompt_tokens = u32::try_from(*tokens).unwrap_or(u32::MAX),
            Event::Action { action, params, thought, .. } => {
                self.open = Some(Iteration {
                    action: action.clone(),
                    args: params.clone(),
                    thought: thought.clone().unwrap_or_default(),
                    prompt_tokens: self.prompt_tokens,
                    builtin: builtin(action).is_some(),
                    ..Iteration::default()
                });
            }
            Event::ToolStarted { tool_call, params, .. } => drop(self.tools.insert(*tool_call, params.clone())),
            Event::ToolFinished { tool_call, tool, status, result, .. } => {
                let args = self.tools.remove(tool_call).unwrap_or_default();
                self.tool(tool, args, *status != ToolStatus::Done, result);
            }
            Event::Feedback { text } if !self.looked => self.brought(text, false),
            Event::Answer { text, .. } => self.brought(text, false),
            Event::StateSet { values } => self.set(values),
            Event::StepFinished { status: StepStatus::Failed, message, .. } if !self.looked => {
                self.brought(message.as_deref().unwrap_or_default(), true);
            }
            Event::Todo { todo } => self.todo = Some(plan(todo)),
            Event::Mechanisms { decisions, .. } => {
                let key = |d: &crate::event::Decision| {
                    d.mechanism == MechanismName::Reflection && d.grounds.rule == "key_action"
                };
                if let Some(open) = self.open.as_mut().filter(|_| decisions.iter().any(key)) {
                    open.key = true;
                }
            }
            Event::Perception { state: Some(state), written: true, .. } => {
                if let Some(open) = &mut self.open {
                    open.topics.clone_from(&state.topics);
                }
            }
            Event::Progress { state, error: None, .. } => {
                if let Some(open) = &mut self.open {
                    open.figure = state.figure;
                }
            }
            Event::RunFinished { reason, .. } => self.ended(*reason),
            _ => {}
        }
    }

    fn tool(&mut self, tool: &str, args: Value, error: bool, result: &Value) {
        let text = result.as_str().map_or_else(|| result.to_string(), str::to_owned);
        let Some(open) = self.open.as_mut().filter(|_| !self.looked) else { return };
        if CALLERS.contains(&open.action.as_str()) {
            open.calls.push(Call { tool: tool.to_owned(), args, result: Some(text), error });
            open.error = open.calls.iter().all(|call| call.error);
        } else {
            self.brought(&text, error);
        }
    }

    /// Variables were set; whether that changed them tells what is known of them.
    fn set(&mut self, values: &Value) {
        for (name, value) in values.as_object().into_iter().flatten() {
            let moved = self.variables.insert(name.clone(), value.clone()).as_ref() != Some(value);
            if let Some(open) = self.open.as_mut().filter(|_| !self.looked) {
                open.moved |= moved;
            }
        }
    }

    fn brought(&mut self, text: &str, error: bool) {
        let Some(open) = &mut self.open else { return };
        let result = open.result.get_or_insert_default();
        if !result.is_empty() {
            result.push('\n');
        }
        result.push_str(text);
        open.error |= error;
    }

    fn ended(&mut self, reason: ExitReason) {
        let Some(open) = &mut self.open else { return };
        // The gate ends the loop in place of the action that would have.
        let leaves = builtin(&open.action).is_some_and(|builtin| builtin.ends_loop);
        open.ends = matches!(reason, ExitReason::Exit | ExitReason::Fail) || leaves;
        self.close();
        if reason == ExitReason::Satisfied {
            self.history.goal_at = Some(self.history.count());
        }
    }

    fn close(&mut self) {
        self.looked = false;
        let Some(mut open) = self.open.take() else { return };
        open.todo = self.todo.take();
        self.history.iterations.push(open);
    }
}

fn is_mechanism(purpose: CallPurpose) -> bool {
    matches!(purpose, CallPurpose::Perception | CallPurpose::Reflection | CallPurpose::Spin | CallPurpose::Verification)
}

fn count(recorded: &mut Recorded, purpose: CallPurpose) -> &mut u32 {
    match purpose {
        CallPurpose::Perception => &mut recorded.perception,
        CallPurpose::Reflection => &mut recorded.reflection,
        CallPurpose::Spin => &mut recorded.spin,
        _ => &mut recorded.verification,
    }
}

/// What a list of todos says.
fn plan(todo: &Value) -> TodoNow {
    let open: Vec<&Value> = todo.as_array().into_iter().flatten().filter(|item| item["status"] != "done").collect();
    let marked = open.iter().find(|item| item["status"] == "current").or(open.first());
    let current = marked.and_then(|item| item["id"].as_str()).map(str::to_owned);
    TodoNow { open: u32::try_from(open.len()).unwrap_or(u32::MAX), current }
}
