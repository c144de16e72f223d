//! What steps ask of the engine: tool calls, forges, sub-loops, questions.

use std::time::Instant;

use minijinja::Value;
use serde_json::Value as Json;
use tokio_util::sync::CancellationToken;

use super::core::{LoopCore, millis};
use super::steps::StepList;
use super::toolbox::{Tool, ToolBody};
use crate::document::Decision;
use crate::event::{Event, ToolStatus};
use crate::invoke::{BoxError, Failure, Invocation, Leaf, Outcome};
use crate::model::BoxFuture;
use crate::state::{Frame, lock};
use crate::verb::{
    ForgeCall, Host, LoadCall, LoopCall, Phase, ReflectCall, SearchCall, StepContext, StepFailure, ToolCallRequest,
};

/// Tools that call tools that call tools: deeper than this is a cycle.
const MAX_NESTING: u32 = 16;

impl Host for LoopCore {
    fn forge<'a>(&'a self, call: ForgeCall, cx: &'a StepContext<'a>) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(self.call_forge(call, cx.phase))
    }

    fn tool<'a>(&'a self, call: ToolCallRequest, cx: &'a StepContext<'a>) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(self.call_tool_owned(call, cx.phase))
    }

    fn run_loop<'a>(&'a self, call: LoopCall, _cx: &'a StepContext<'a>) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(self.run_step_loop(call))
    }

    fn ask<'a>(
        &'a self,
        question: String,
        options: Vec<String>,
        cx: &'a StepContext<'a>,
    ) -> BoxFuture<'a, Result<Option<String>, StepFailure>> {
        Box::pin(self.ask_user(question, options, cx.phase))
    }

    fn load_skills<'a>(
        &'a self,
        names: Vec<String>,
        _: &'a StepContext<'a>,
    ) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(async move { self.load_skills(&names).map(|views| super::skills::value_of(&views)) })
    }

    fn perceive<'a>(&'a self, reason: String, cx: &'a StepContext<'a>) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(self.perceive_step(reason, cx.phase))
    }

    fn reflect<'a>(&'a self, call: ReflectCall, cx: &'a StepContext<'a>) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(self.reflect_step(call, cx.phase))
    }

    fn search_capabilities<'a>(
        &'a self,
        call: SearchCall,
        cx: &'a StepContext<'a>,
    ) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(self.search_capabilities(call, cx.phase))
    }

    fn load_capability<'a>(
        &'a self,
        call: LoadCall,
        cx: &'a StepContext<'a>,
    ) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(async move { Ok(self.load_capability(call, cx.phase).await?.value()) })
    }

    fn check_spin<'a>(
        &'a self,
        review: Option<bool>,
        cx: &'a StepContext<'a>,
    ) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(self.check_spin_step(review, cx.phase))
    }

    fn verify_goal<'a>(
        &'a self,
        reason: Option<String>,
        cx: &'a StepContext<'a>,
    ) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(self.verify_goal_step(reason, cx.phase))
    }
}

/// The work at the bottom of a stack: one of the engine's own futures, made anew for each attempt.
struct Work<F>(F);

impl<F, Fut> Leaf<Value> for Work<F>
where
    F: Fn() -> Fut + Send + Sync,
    Fut: Future<Output = Result<Value, StepFailure>> + Send,
{
    fn run(&self) -> BoxFuture<'_, Outcome<Value>> {
        Box::pin(async move {
            (self.0)().await.map_err(|failure| match failure {
                StepFailure::Failed(words) => BoxError::from(Failure::Failed(words)),
                ending @ (StepFailure::Cancelled | StepFailure::Ended(_)) => ending.into(),
            })
        })
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
        let tool = &*self.find_tool(name, phase).await?;
        if phase.nesting >= MAX_NESTING {
            return Err(StepFailure::new(format!("tool `{name}` is called by itself, {MAX_NESTING} tools deep")));
        }
        self.may_call_tool()?;
        lock(&self.shared.totals).tool_calls += 1;
        let json = serde_json::to_value(&params).map_err(|e| StepFailure::new(e.to_string()))?;
        let tool_call = self.shared.next_tool_call();
        self.events.emit(Event::ToolStarted { tool_call, tool: name.to_owned(), identifier, params: json.clone() });
        let mut guard = ToolGuard { core: self, tool: name, tool_call, started: Instant::now(), open: true };
        if let Err(problem) = tool.validator.check(&json) {
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
        let (decision, words) = self.access.decide(&tool.name, params, tool.effect);
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

    /// The tool's work inside its middleware.
    async fn run_tool(&self, tool: &Tool, params: Value, json: Json, phase: Phase) -> Result<Value, StepFailure> {
        let work = Work(|| self.run_body(tool, params.clone(), json.clone(), phase));
        let (name, stop) = (tool.name.as_str(), self.token(phase));
        let outcome = tool.stack.call(Invocation { name, arguments: &json, stop, leaf: &work }).await;
        outcome.map_err(|error| self.step_failure(error, phase))
    }

    /// A forge inside its middleware.
    pub(super) async fn call_forge(&self, call: ForgeCall, phase: Phase) -> Result<Value, StepFailure> {
        let Some(stack) = self.edition.toolbox.forge_stack(&call.forge) else {
            return self.run_forge(call, phase).await;
        };
        let arguments = serde_json::to_value(&call.input).map_err(|error| StepFailure::new(error.to_string()))?;
        let work = Work(|| self.run_forge(call.clone(), phase));
        let (name, stop) = (call.forge.as_str(), self.token(phase));
        let outcome = stack.call(Invocation { name, arguments: &arguments, stop, leaf: &work }).await;
        outcome.map_err(|error| self.step_failure(error, phase))
    }

    /// What a stack gave up with: what ends the run stays as it was, everything else is words.
    fn step_failure(&self, error: BoxError, phase: Phase) -> StepFailure {
        match error.downcast::<StepFailure>() {
            Ok(ending) => *ending,
            Err(_) if self.token(phase).is_cancelled() => StepFailure::Cancelled,
            Err(other) => StepFailure::Failed(other.to_string()),
        }
    }

    async fn run_body(&self, tool: &Tool, params: Value, json: Json, phase: Phase) -> Result<Value, StepFailure> {
        match &tool.body {
            ToolBody::Native(native) => {
                let token = self.token(phase);
                let value = unless_stopped(token, native.call(json)).await?.map_err(StepFailure::Failed)?;
                Ok(Value::from(minijinja::value::Serde(&value)))
            }
            ToolBody::Skill(skill) => {
                let token = self.token(phase);
                let output = unless_stopped(token, skill.invoke(json)).await?;
                let output = output.map_err(|error| StepFailure::new(error.to_string()))?;
                Ok(if output.data.is_null() {
                    Value::from(output.content)
                } else {
                    Value::from(minijinja::value::Serde(&output.data))
                })
            }
            ToolBody::Declared(loaded, steps) => {
                let path = format!("tools.{}.do", tool.name);
                let steps = steps
                    .get_or_init(|| StepList::compile(&path, &loaded.doc.steps).map_err(|found| words(&found)))
                    .as_ref()
                    .map_err(|problem| StepFailure::new(format!("the tool's document is wrong: {problem}")))?;
                let here = self.edition.library.root.join(&loaded.folder);
                let here = Value::from(here.to_string_lossy());
                let mut frame = Frame::default().with("params", params).with("here", here);
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
