//! One model call with its attempts: retries, waits, events, totals.

use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::core::{LoopCore, millis};
use super::models::{MODEL_HELP, ModelSlot};
use super::time::RunTime;
use crate::event::{CallPurpose, Event, ExitReason, Usage};
use crate::model::{EncodeCache, ErrorClass, ModelError, Reply, Request, Sink, retry};
use crate::verb::{Phase, StepFailure};

/// What a model call is for.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallInfo<'a> {
    pub(super) purpose: CallPurpose,
    pub(super) tier: &'a str,
    pub(super) phase: Phase,
}

/// A call that gave no reply.
#[derive(Debug)]
pub(super) enum CallFailure {
    /// The provider failed, all attempts included.
    Model(ModelError),
    /// The run is stopped, or over a limit.
    Stop(StepFailure),
    /// The reply repeated itself and was cut; the words for the model.
    Cut(String),
}

impl From<StepFailure> for CallFailure {
    fn from(failure: StepFailure) -> Self {
        Self::Stop(failure)
    }
}

/// A sink that can forget what it showed, when an attempt fails half-way.
pub(super) trait Watcher: Sink {
    /// The attempt's text does not count.
    fn retract(&mut self);

    /// Why the reply should not go on: what it repeats.
    fn repeats(&self) -> Option<&str> {
        None
    }
}

impl Watcher for crate::model::NoSink {
    fn retract(&mut self) {}
}

/// Emits the call's end even when its future is dropped half-way.
struct CallGuard<'a> {
    core: &'a LoopCore,
    call: u32,
    attempt: u32,
    open: bool,
}

impl Drop for CallGuard<'_> {
    fn drop(&mut self) {
        if self.open {
            self.core.events.emit(Event::ModelCallFailed {
                call: self.call,
                attempt: self.attempt,
                class: "cancelled".to_owned(),
                message: "stopped before the reply was complete".to_owned(),
                retry_in_ms: None,
                usage: Usage::default(),
                cost_usd: None,
            });
        }
    }
}

impl LoopCore {
    /// Calls a model until it replies, its attempts are used up, or the run is stopped.
    pub(super) async fn call_model(
        &self,
        slot: &ModelSlot,
        info: CallInfo<'_>,
        request: Request<'_>,
        cache: &mut EncodeCache,
        sink: &mut dyn Watcher,
    ) -> Result<Reply, CallFailure> {
        if !info.phase.finishing
            && let Some(reason) = self.used_up()
        {
            return Err(CallFailure::Stop(StepFailure::Ended(reason)));
        }
        if let Some(left) = slot.breaker.open_for() {
            let words = format!("{} failed too often and is left alone for {} s more", slot.label, left.as_secs() + 1);
            return Err(CallFailure::Model(ModelError::new(ErrorClass::Overloaded, words)));
        }
        let request = Request { purpose: Some(info.purpose), ..request };
        let call = self.shared.next_call();
        let policy = &self.shared.engine.retry;
        let mut attempt = 1;
        loop {
            self.events.emit(Event::ModelCallStarted {
                call,
                purpose: info.purpose,
                tier: info.tier.to_owned(),
                model: slot.label.clone(),
                attempt,
            });
            self.beat(Duration::ZERO);
            let started = Instant::now();
            let mut guard = CallGuard { core: self, call, attempt, open: true };
            let cut = Notify::new();
            let alive = (info.purpose == CallPurpose::Action).then_some(self);
            let mut forward = Forward { watcher: &mut *sink, cut: &cut, core: self, alive, time: &self.shared.time };
            let result = tokio::select! {
                biased;
                () = self.token(info.phase).cancelled() => return Err(CallFailure::Stop(StepFailure::Cancelled)),
                () = cut.notified() => None,
                result = slot.model.call(request, cache, &mut forward) => Some(result),
            };
            guard.open = false;
            let Some(result) = result else { return Err(self.cut(call, attempt, sink)) };
            let error = match result {
                Ok(reply) => {
                    slot.breaker.succeeded();
                    self.note_reply(slot, call, attempt, &reply, millis(started.elapsed()));
                    return Ok(reply);
                }
                Err(error) => error,
            };
            sink.retract();
            let usage = error.usage.unwrap_or_default();
            let cost_usd = self.add_usage(slot, usage);
            let wait = retry::next_delay(policy, attempt, &error, &mut retry::random);
            self.events.emit(Event::ModelCallFailed {
                call,
                attempt,
                class: error.class.name().to_owned(),
                message: error.message.clone(),
                retry_in_ms: wait.map(millis),
                usage,
                cost_usd,
            });
            let Some(wait) = wait else { return Err(CallFailure::Model(error)) };
            self.beat(wait);
            self.pause(wait, info.phase).await.map_err(CallFailure::Stop)?;
            attempt += 1;
        }
    }

    /// Gives up a reply that repeats itself. What it cost is not known: the provider would have said so at its end.
    fn cut(&self, call: u32, attempt: u32, sink: &mut dyn Watcher) -> CallFailure {
        let what = sink.repeats().unwrap_or("it repeats itself").to_owned();
        sink.retract();
        self.events.emit(Event::ModelCallFailed {
            call,
            attempt,
            class: "repetition".to_owned(),
            message: format!("the reply was cut: {what}"),
            retry_in_ms: None,
            usage: Usage::default(),
            cost_usd: None,
        });
        CallFailure::Cut(format!(
            "Your reply was cut, because it repeated itself: {what}. Decide now, and reply with one action."
        ))
    }

    fn note_reply(&self, slot: &ModelSlot, call: u32, attempt: u32, reply: &Reply, duration_ms: u64) {
        let usage = reply.usage.unwrap_or_default();
        let cost_usd = self.add_usage(slot, usage);
        crate::state::lock(&self.shared.totals).model_calls += 1;
        self.events.emit(Event::ModelCallFinished {
            call,
            attempt,
            finish: reply.finish.map(|finish| finish.name().to_owned()),
            usage,
            cost_usd,
            duration_ms,
        });
    }

    fn add_usage(&self, slot: &ModelSlot, usage: crate::event::Usage) -> Option<f64> {
        let cost = slot.model.info().cost(usage);
        crate::state::lock(&self.shared.totals).add_call(usage, cost);
        cost
    }

    /// How a call that gave no reply ends a loop.
    pub(super) fn call_end(&self, failure: CallFailure) -> super::finish::End {
        match failure {
            CallFailure::Stop(StepFailure::Ended(reason)) => super::finish::End::new(reason),
            CallFailure::Stop(_) => self.stopped(),
            CallFailure::Cut(words) => super::finish::End::failed(ExitReason::Error, words),
            CallFailure::Model(error) => super::finish::End::failed(ExitReason::Error, self.explain(&error)),
        }
    }

    /// A model's failure in the operator's words.
    pub(super) fn explain(&self, error: &ModelError) -> String {
        let words = format!("the model call failed ({}): {}", error.class.name(), error.message);
        if error.class == ErrorClass::Mismatch {
            return format!("{words}\nFor any other request a model is needed:\n{MODEL_HELP}");
        }
        words
    }
}

/// Hands pieces on: the provider sees a plain sink.
struct Forward<'a> {
    watcher: &'a mut dyn Watcher,
    cut: &'a Notify,
    core: &'a LoopCore,
    /// The loop that is told of each piece: its model is not silent.
    alive: Option<&'a LoopCore>,
    time: &'a RunTime,
}

impl Forward<'_> {
    fn watch(&self) {
        self.core.beat(Duration::ZERO);
        if let Some(core) = self.alive {
            core.note_activity();
        }
        if self.watcher.repeats().is_some() {
            self.cut.notify_one();
        }
    }
}

impl Sink for Forward<'_> {
    fn text(&mut self, piece: &str) {
        self.watcher.text(piece);
        self.watch();
    }

    fn reasoning(&mut self, piece: &str) {
        self.watcher.reasoning(piece);
        self.watch();
    }

    fn arguments(&mut self, index: usize, name: &str, piece: &str) {
        self.watcher.arguments(index, name, piece);
        self.watch();
    }

    fn recorded_at(&mut self, at: Duration) {
        self.time.reached(at);
    }
}
