//! Step lists: compiled, and run with their common keys (`when`, `for_each`, `timeout`, `retry`, `on_error`, `then`).

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use minijinja::Value;

use super::core::LoopCore;
use crate::diag::{Diagnostic, Diagnostics};
use crate::document::{OnError, Step, StepKeys, Then};
use crate::event::{Event, StepStatus};
use crate::model::BoxFuture;
use crate::state::{Frame, Scope};
use crate::verb::{AnyStep, Phase, StepFailure};

/// Compiled steps, in order.
#[derive(Default)]
pub(super) struct StepList {
    steps: Vec<StepProgram>,
}

struct StepProgram {
    path: String,
    keys: StepKeys,
    verb: Option<Verb>,
    on_error: Recover,
}

struct Verb {
    name: &'static str,
    nests: bool,
    gives: bool,
    step: Box<dyn AnyStep>,
}

enum Recover {
    Fail,
    Feedback,
    Continue,
    Steps(StepList),
}

/// What a step list ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// All steps ran.
    Done,
    /// A step said how the handler ends; later steps did not run.
    Ended(Then),
}

impl StepList {
    /// Decodes every step.
    ///
    /// # Errors
    /// What is wrong with them, each with its place.
    pub(super) fn compile(path: &str, steps: &[Step]) -> Result<Self, Vec<Diagnostic>> {
        let mut diagnostics = Diagnostics::new();
        let list = Self::decode(path, steps, &mut diagnostics);
        if diagnostics.has_errors() { Err(diagnostics.iter().cloned().collect()) } else { Ok(list) }
    }

    fn decode(path: &str, steps: &[Step], diagnostics: &mut Diagnostics) -> Self {
        let steps = steps
            .iter()
            .enumerate()
            .filter_map(|(index, step)| StepProgram::decode(format!("{path}[{index}]"), step, diagnostics))
            .collect();
        Self { steps }
    }

    /// Whether the list always ends with a terminal outcome.
    pub(super) fn ends_unconditionally(&self) -> bool {
        self.steps.iter().any(|step| {
            step.keys.when.is_none() && step.keys.then.as_ref().is_some_and(|then| then.value != Then::Continue)
        })
    }

    /// Whether they end the loop in this way, whatever happens.
    pub(super) fn ends_with(&self, how: Then) -> bool {
        let mut ends = self.steps.iter().filter(|step| step.keys.when.is_none());
        ends.find_map(|step| step.keys.then.as_ref().map(|then| then.value).filter(|then| *then != Then::Continue))
            == Some(how)
    }

    /// Whether there is nothing to run.
    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

impl StepProgram {
    fn decode(path: String, step: &Step, diagnostics: &mut Diagnostics) -> Option<Self> {
        let verb = match &step.verb {
            None => None,
            Some(verb) => {
                let Some(found) = crate::verb::find(&verb.name) else {
                    diagnostics.push(Diagnostic::error(
                        crate::diag::codes::UNKNOWN_KEY,
                        verb.name.span,
                        format!("unknown verb `{}`", verb.name),
                    ));
                    return None;
                };
                let step = found.decode(verb.args.node(), diagnostics)?;
                Some(Verb { name: found.name(), nests: found.nests(), gives: found.gives(), step })
            }
        };
        let on_error = match &step.keys.on_error {
            OnError::Fail => Recover::Fail,
            OnError::Feedback => Recover::Feedback,
            OnError::Continue => Recover::Continue,
            OnError::Steps(steps) => Recover::Steps(StepList::decode(&format!("{path}.on_error"), steps, diagnostics)),
        };
        Some(Self { path, keys: step.keys.clone(), verb, on_error })
    }

    fn verb_name(&self) -> &'static str {
        self.verb.as_ref().map_or("then", |verb| verb.name)
    }
}

/// Emits the step's end even when its future is dropped half-way.
struct StepGuard<'a> {
    core: &'a LoopCore,
    step: &'a StepProgram,
    started: Instant,
    open: bool,
}

impl StepGuard<'_> {
    fn end(&mut self, status: StepStatus, message: Option<String>) {
        self.open = false;
        self.core.events.emit(Event::StepFinished {
            path: self.step.path.clone(),
            verb: self.step.verb_name().to_owned(),
            status,
            duration_ms: super::core::millis(self.started.elapsed()),
            message,
        });
    }
}

impl Drop for StepGuard<'_> {
    fn drop(&mut self) {
        if self.open {
            self.end(StepStatus::Cancelled, None);
        }
    }
}

impl LoopCore {
    /// Runs steps in order; `frame` gains their results.
    ///
    /// # Errors
    /// The first failure that no `on_error` took, or the end of the run.
    pub(super) fn run_steps<'a>(
        &'a self,
        list: &'a StepList,
        frame: &'a mut Frame,
        phase: Phase,
    ) -> BoxFuture<'a, Result<Flow, StepFailure>> {
        Box::pin(async move {
            for step in &list.steps {
                if let Flow::Ended(then) = self.run_step(step, frame, phase).await? {
                    return Ok(Flow::Ended(then));
                }
            }
            Ok(Flow::Done)
        })
    }

    async fn run_step(&self, step: &StepProgram, frame: &mut Frame, phase: Phase) -> Result<Flow, StepFailure> {
        if let Some(when) = &step.keys.when
            && !self.eval(when, frame)?.is_true()
        {
            return Ok(Flow::Done);
        }
        if step.keys.ignore_error == Some(true) {
            self.state().ignore_error = true;
        }
        if let Some(verb) = &step.verb {
            self.events.emit(Event::StepStarted { path: step.path.clone(), verb: verb.name.to_owned() });
            let mut guard = StepGuard { core: self, step, started: Instant::now(), open: true };
            match self.run_items(step, verb, frame, phase).await {
                Ok(value) => {
                    guard.end(StepStatus::Ok, None);
                    if verb.gives {
                        frame.give(value.clone());
                    }
                    frame.step_result(step.keys.id.as_ref().map(|id| id.as_str()), value);
                }
                Err(StepFailure::Cancelled) => {
                    guard.end(StepStatus::Cancelled, None);
                    return Err(StepFailure::Cancelled);
                }
                Err(StepFailure::Ended(reason)) => {
                    guard.end(StepStatus::Failed, Some(reason.name().to_owned()));
                    return Err(StepFailure::Ended(reason));
                }
                Err(StepFailure::Failed(message)) => {
                    guard.end(StepStatus::Failed, Some(message.clone()));
                    if let Flow::Ended(then) = self.recover(step, message, frame, phase).await? {
                        return Ok(Flow::Ended(then));
                    }
                    // The step did not do its work, so what would follow its work does not follow.
                    return Ok(Flow::Done);
                }
            }
        }
        Ok(match step.keys.then.as_ref().map(|then| then.value) {
            None | Some(Then::Continue) => Flow::Done,
            Some(then) => Flow::Ended(then),
        })
    }

    /// Does what `on_error` says about a failure.
    async fn recover(
        &self,
        step: &StepProgram,
        message: String,
        frame: &mut Frame,
        phase: Phase,
    ) -> Result<Flow, StepFailure> {
        match &step.on_error {
            Recover::Fail => Err(StepFailure::Failed(message)),
            Recover::Feedback => {
                self.feedback(message);
                Ok(Flow::Done)
            }
            Recover::Continue => Ok(Flow::Done),
            Recover::Steps(steps) => {
                frame.set("error", Value::from(message));
                self.run_steps(steps, frame, phase).await
            }
        }
    }

    /// Runs the verb once, or once an item of `for_each`.
    async fn run_items(
        &self,
        step: &StepProgram,
        verb: &Verb,
        frame: &Frame,
        phase: Phase,
    ) -> Result<Value, StepFailure> {
        let Some(for_each) = &step.keys.for_each else {
            return self.run_attempts(step, verb, frame.clone(), phase).await;
        };
        let list = self.eval(for_each, frame)?;
        let items: Vec<Value> = list
            .try_iter()
            .map_err(|_| StepFailure::new(format!("for_each: `{}` gives {}, not a list", **for_each, list.kind())))?
            .collect();
        let frames = items.into_iter().enumerate().map(|(index, item)| {
            let frame = frame.clone().with("item", item).with("index", Value::from(index));
            async move {
                // Ten thousand items that never wait would keep a Ctrl-C from being noticed.
                tokio::task::yield_now().await;
                self.run_attempts(step, verb, frame, phase).await
            }
        });
        let parallel = step.keys.max_parallel.unwrap_or(1).max(1) as usize;
        let mut running = futures_util::stream::iter(frames).buffered(parallel);
        let mut results = Vec::new();
        while let Some(result) = running.next().await {
            results.push(result?);
        }
        Ok(Value::from(results))
    }

    /// Runs the verb until it succeeds or `retry` is used up.
    async fn run_attempts(
        &self,
        step: &StepProgram,
        verb: &Verb,
        frame: Frame,
        phase: Phase,
    ) -> Result<Value, StepFailure> {
        let scope = Scope::new(self.base.clone(), frame);
        let (times, mut wait) = step.keys.retry.map_or((0, Duration::ZERO), |retry| (retry.times, retry.backoff.0));
        let mut attempt = 0;
        loop {
            match self.run_once(step, verb, &scope, phase).await {
                Err(StepFailure::Failed(_)) if attempt < times => {
                    attempt += 1;
                    self.pause(wait, phase).await?;
                    wait = wait.saturating_mul(2).min(Duration::from_secs(60));
                }
                other => return other,
            }
        }
    }

    async fn run_once(
        &self,
        step: &StepProgram,
        verb: &Verb,
        scope: &Scope,
        phase: Phase,
    ) -> Result<Value, StepFailure> {
        let token = self.token(phase);
        let cx = self.step_context(scope, phase);
        let work = async {
            match &step.keys.timeout {
                None => verb.step.run(&cx).await,
                Some(timeout) => {
                    let limit = cx.get(timeout)?;
                    tokio::time::timeout(limit.0, verb.step.run(&cx))
                        .await
                        .unwrap_or_else(|_| Err(StepFailure::new(format!("timed out after {limit}"))))
                }
            }
        };
        if verb.nests {
            // A sub-loop or tool inside watches the token itself and runs its own finish hooks.
            return work.await;
        }
        tokio::select! {
            biased;
            () = token.cancelled() => Err(StepFailure::Cancelled),
            done = work => done,
        }
    }
}
