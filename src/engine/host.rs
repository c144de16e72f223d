//! What steps ask of the engine: tool calls, forges, sub-loops, questions.

use std::time::Instant;

use minijinja::Value;
use serde_json::Value as Json;
use tokio_util::sync::CancellationToken;

use super::core::{LoopCore, millis};
use super::steps::StepList;
use super::toolbox::{Tool, ToolBody};
use crate::document::{Decision, Middleware};
use crate::event::{Event, ToolStatus};
use crate::model::BoxFuture;
use crate::state::{Frame, lock};
use crate::verb::{ForgeCall, Host, LoopCall, Phase, ReflectCall, StepContext, StepFailure, ToolCallRequest};

/// Tools that call tools that call tools: deeper than this is a cycle.
const MAX_NESTING: u32 = 16;

impl Host for LoopCore {
    fn forge<'a>(&'a self, call: ForgeCall, cx: &'a StepContext<'a>) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(self.run_forge(call, cx.phase))
    }

    fn tool<'a>(&'a self, call: ToolCallRequest, cx: &'a StepContext<'a>) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(self.call_tool_owned(call, cx.phase))
    }

    fn run_loop<'a>(&'a self, call: LoopCall, _cx: &'a StepContext<'a>) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(self.run_subtask(call))
    }

    fn ask<'a>(
        &'a self,
        question: String,
        options: Vec<String>,
        cx: &'a StepContext<'a>,
    ) -> BoxFuture<'a, Result<Option<String>, StepFailure>> {
        Box::pin(self.ask_user(question, options, cx.phase))
    }

    fn perceive<'a>(&'a self, reason: String, cx: &'a StepContext<'a>) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(self.perceive_step(reason, cx.phase))
    }

    fn reflect<'a>(&'a self, call: ReflectCall, cx: &'a StepContext<'a>) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(self.reflect_step(call, cx.phase))
    }

    fn check_spin<'a>(
        &'a self,
        review: Option<bool>,
        cx: &'a StepContext<'a>,
    ) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(self.check_spin_step(review, cx.phase))
    }
}

/// Emits the call's end even when its future is dropped half-way.
struct ToolGuard<'a> {
    core: &'a LoopCore,
    tool: &'a str,
    tool_call: u32,
    started: Instant,
    open: bool,
}

impl ToolGuard<'_> {
    fn end(&mut self, status: ToolStatus, result: Json) {
        self.open = false;
        self.core.events.emit(Event::ToolFinished {
            tool_call: self.tool_call,
            tool: self.tool.to_owned(),
            status,
            result,
            duration_ms: millis(self.started.elapsed()),
        });
    }
}

impl Drop for ToolGuard<'_> {
    fn drop(&mut self) {
        if self.open {
            self.end(ToolStatus::Error, Json::from("cancelled"));
        }
    }
}

impl LoopCore {
    async fn call_tool_owned(&self, call: ToolCallRequest, phase: Phase) -> Result<Value, StepFailure> {
        self.call_tool(&call.tool, call.params, call.identifier, phase, false).await
    }

    /// One tool call, with its events. `by_model` says that policy decides; a step that the author wrote runs as written.
    ///
    /// # Errors
    /// The tool's own failure in words, or what ends the run.
    pub(super) async fn call_tool(
        &self,
        name: &str,
        params: Value,
        identifier: Option<String>,
        phase: Phase,
        by_model: bool,
    ) -> Result<Value, StepFailure> {
        let tool = self
            .edition
            .toolbox
            .get(name)
            .ok_or_else(|| StepFailure::new(format!("there is no tool named `{name}`")))?;
        if phase.nesting >= MAX_NESTING {
            return Err(StepFailure::new(format!("tool `{name}` is called by itself, {MAX_NESTING} tools deep")));
        }
        self.may_call_tool()?;
        lock(&self.shared.totals).tool_calls += 1;
        let json = serde_json::to_value(&params).map_err(|e| StepFailure::new(e.to_string()))?;
        let tool_call = self.shared.next_tool_call();
        self.events.emit(Event::ToolStarted { tool_call, tool: name.to_owned(), identifier, params: json.clone() });
        let mut guard = ToolGuard { core: self, tool: name, tool_call, started: Instant::now(), open: true };
        if let Err(problem) = tool.check(&json) {
            guard.end(ToolStatus::Error, Json::from(problem.as_str()));
            return Err(StepFailure::new(problem));
        }
        if by_model && let Err(words) = self.permit(tool, &json, phase).await? {
            guard.end(ToolStatus::Denied, Json::from(words.as_str()));
            return Err(StepFailure::new(words));
        }
        let result = self.run_tool(tool, params, json, phase).await;
        match &result {
            Ok(value) => guard.end(ToolStatus::Done, serde_json::to_value(value).unwrap_or(Json::Null)),
            Err(StepFailure::Failed(words)) => guard.end(ToolStatus::Error, Json::from(words.as_str())),
            Err(other) => guard.end(ToolStatus::Error, Json::from(other.to_string())),
        }
        result
    }

    /// Whether policy lets the model make this call; the words of a denial.
    async fn permit(&self, tool: &Tool, params: &Json, phase: Phase) -> Result<Result<(), String>, StepFailure> {
        let (decision, words) = self.shared.engine.access.decide(&tool.name, params, tool.effect);
        match decision {
            Decision::Allow => Ok(Ok(())),
            Decision::Deny => Ok(Err(words)),
            Decision::Ask => {
                let question = format!("Allow the tool `{}` with {params}?", tool.name);
                let options = vec!["yes".to_owned(), "no".to_owned()];
                let answer = self.ask_user(question, options, phase).await?;
                Ok(match answer.as_deref().map(str::trim) {
                    Some("yes" | "y" | "1") => Ok(()),
                    Some(_) => Err("the user did not allow this call".to_owned()),
                    None => Err(format!("{words}; nobody could be asked, so the call is denied")),
                })
            }
        }
    }

    /// The tool's work inside its middleware, the first innermost.
    async fn run_tool(&self, tool: &Tool, params: Value, json: Json, phase: Phase) -> Result<Value, StepFailure> {
        self.run_layer(tool, tool.middleware.len(), params, json, phase).await
    }

    fn run_layer<'a>(
        &'a self,
        tool: &'a Tool,
        layers: usize,
        params: Value,
        json: Json,
        phase: Phase,
    ) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(async move {
            let Some(layer) = layers.checked_sub(1).and_then(|at| tool.middleware.get(at)) else {
                return self.run_body(tool, params, json, phase).await;
            };
            match layer {
                Middleware::Timeout(limit) => {
                    let work = self.run_layer(tool, layers - 1, params, json, phase);
                    tokio::time::timeout(limit.0, work)
                        .await
                        .unwrap_or_else(|_| Err(StepFailure::new(format!("timed out after {limit}"))))
                }
                Middleware::Retry(times) => {
                    let mut wait = std::time::Duration::from_millis(200);
                    for _ in 0..*times {
                        match self.run_layer(tool, layers - 1, params.clone(), json.clone(), phase).await {
                            Err(StepFailure::Failed(_)) => self.pause(wait, phase).await?,
                            other => return other,
                        }
                        wait = wait.saturating_mul(2);
                    }
                    self.run_layer(tool, layers - 1, params, json, phase).await
                }
            }
        })
    }

    async fn run_body(&self, tool: &Tool, params: Value, json: Json, phase: Phase) -> Result<Value, StepFailure> {
        match &tool.body {
            ToolBody::Native(native) => {
                let token = self.token(phase);
                let value = unless_stopped(token, native.call(json)).await?.map_err(StepFailure::Failed)?;
                Ok(Value::from(minijinja::value::Serde(&value)))
            }
            ToolBody::Declared(loaded, steps) => {
                let path = format!("tools.{}.do", tool.name);
                let steps = steps
                    .get_or_init(|| StepList::compile(&path, &loaded.doc.steps).map_err(|found| words(&found)))
                    .as_ref()
                    .map_err(|problem| StepFailure::new(format!("the tool's document is wrong: {problem}")))?;
                let mut frame = Frame::default().with("params", params);
                self.run_steps(steps, &mut frame, phase.nested()).await?;
                Ok(frame.handler_result().unwrap_or_default())
            }
        }
    }

    /// Asks the user; none when nobody can be asked.
    pub(super) async fn ask_user(
        &self,
        question: String,
        options: Vec<String>,
        phase: Phase,
    ) -> Result<Option<String>, StepFailure> {
        self.events.emit(Event::Ask { question: question.clone(), options: options.clone() });
        let answer = if self.program.allow.user_interaction {
            unless_stopped(self.token(phase), self.shared.engine.asker.ask(question, options)).await?
        } else {
            None
        };
        self.events.emit(Event::Asked { answer: answer.clone() });
        if answer.is_some() {
            self.note_person();
        }
        Ok(answer)
    }
}

/// Waits for work that can be dropped at any time.
pub(super) async fn unless_stopped<T>(
    token: &CancellationToken,
    work: impl Future<Output = T>,
) -> Result<T, StepFailure> {
    tokio::select! {
        biased;
        () = token.cancelled() => Err(StepFailure::Cancelled),
        value = work => Ok(value),
    }
}

fn words(found: &[crate::diag::Diagnostic]) -> String {
    found.iter().map(|diagnostic| diagnostic.message.clone()).collect::<Vec<_>>().join("; ")
}
