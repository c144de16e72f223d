//! Work that a loop hands over: a forge that runs as a task of its own, while the loop comes to its end.
//!
//! The run owns the work: it waits for it, a cancellation or a limit reaches it, and when the run is dropped it is gone.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use minijinja::Value;
use serde_json::Value as Json;
use tokio::task::JoinHandle;

use super::builtin::ANSWER_NODE;
use super::core::{LoopCore, millis};
use super::finish::End;
use crate::document::{DEFAULT_CONTENT_TYPE, ForgeDoc};
use crate::event::{AsyncStatus, Event, ExitReason};
use crate::state::lock;
use crate::verb::{ForgeCall, Phase, StepFailure};

/// What a task has handed over. A loop that shares its parent's task shares this too.
pub(super) struct Handover {
    /// Whether the task is asynchronous: then nothing more can be handed over from it.
    taken: AtomicBool,
    running: Mutex<Option<Running>>,
    pulse: Pulse,
}

/// Work that goes on; dropping it ends it.
struct Running {
    forge: String,
    task: String,
    started: Instant,
    work: JoinHandle<Ending>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.work.abort();
    }
}

/// How handed-over work ended.
enum Ending {
    Done(Value),
    Silent(Duration),
    Failed(StepFailure),
}

/// When a task last showed that it is alive.
struct Pulse {
    from: Instant,
    last: Mutex<Duration>,
}

impl Pulse {
    fn beat(&self, wait: Duration) {
        *lock(&self.last) = self.from.elapsed().saturating_add(wait);
    }

    /// Waits until there was no sign of life for so long.
    async fn silent_for(&self, patience: Duration) {
        loop {
            let last = *lock(&self.last);
            let left = last.saturating_add(patience).saturating_sub(self.from.elapsed());
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left).await;
        }
    }
}

impl Handover {
    /// That of a task that begins.
    pub(super) fn new() -> Arc<Self> {
        let pulse = Pulse { from: Instant::now(), last: Mutex::default() };
        Arc::new(Self { taken: AtomicBool::new(false), running: Mutex::default(), pulse })
    }

    /// That of a task that was handed over itself.
    fn asynchronous() -> Arc<Self> {
        let handover = Self::new();
        handover.taken.store(true, Ordering::Relaxed);
        handover
    }
}

impl LoopCore {
    /// Notes that the task's model shows life, or will be quiet for a known while.
    pub(super) fn beat(&self, wait: Duration) {
        self.handover.pulse.beat(wait);
    }

    /// Whether work goes on that was handed over.
    pub(super) fn has_handed_over(&self) -> bool {
        lock(&self.handover.running).is_some()
    }

    /// Whether nothing can be handed over from this task any more.
    pub(super) fn is_async(&self) -> bool {
        self.handover.taken.load(Ordering::Relaxed) || self.state().request_async
    }

    /// Lets a forge take the work over: it begins now, and the loop ends with `async` after this handler. The value is the new
    /// task's name.
    ///
    /// # Errors
    /// The task is asynchronous already.
    pub(super) fn hand_over(&self, forge: &ForgeDoc, input: Value) -> Result<String, StepFailure> {
        let name = forge.name.to_string();
        if self.is_async() {
            return Err(StepFailure::new(format!(
                "`{name}` cannot take the work over: this task has handed its work over already"
            )));
        }
        self.handover.taken.store(true, Ordering::Relaxed);
        let task = format!("{}_forge_{name}", self.events.task());
        let (core, patience) = (self.apart(&task), forge.watchdog.0);
        self.events.emit(Event::AsyncStarted {
            name: name.clone(),
            async_task: task.clone(),
            watchdog_ms: millis(patience),
        });
        let call = ForgeCall { forge: name.clone(), input, tier: None, stream: Vec::new() };
        let work = tokio::spawn(async move { core.forge_under_watch(call, patience).await });
        let running = Running { forge: name, task: task.clone(), started: Instant::now(), work };
        *lock(&self.handover.running) = Some(running);
        self.state().request_async = true;
        Ok(task)
    }

    /// The same loop as another task: with a copy of its state, which from then on is the task's own.
    fn apart(&self, task: &str) -> Arc<Self> {
        let state = Arc::new(Mutex::new(self.state().clone()));
        Arc::new(Self {
            shared: Arc::clone(&self.shared),
            edition: Arc::clone(&self.edition),
            program: Arc::clone(&self.program),
            base: Arc::new(self.base.over(Arc::clone(&state))),
            state,
            events: self.events.for_task(task),
            stop: self.stop.child(),
            depth: self.depth,
            line: self.line.clone(),
            budgets: self.budgets.clone(),
            mechanisms: Arc::clone(&self.mechanisms),
            gate: Arc::clone(&self.gate),
            handover: Handover::asynchronous(),
            access: self.access.clone(),
        })
    }

    async fn forge_under_watch(&self, call: ForgeCall, patience: Duration) -> Ending {
        self.beat(Duration::ZERO);
        tokio::select! {
            biased;
            result = self.call_forge(call, Phase::WORK) => match result {
                Ok(value) => Ending::Done(value),
                Err(failure) => Ending::Failed(failure),
            },
            () = self.handover.pulse.silent_for(patience) => Ending::Silent(patience),
        }
    }

    /// Waits for the work that was handed over, if any. What it makes is the answer; what it fails with ends the run.
    pub(super) async fn settle_handover(&self, end: &mut End) {
        let Some(mut running) = lock(&self.handover.running).take() else { return };
        let ending = if end.reason == ExitReason::Async {
            // A panic in a program's own code never escapes a run.
            (&mut running.work).await.unwrap_or_else(|error| {
                let what = if error.is_panic() { "it panicked" } else { "it was stopped" };
                Ending::Failed(StepFailure::new(what))
            })
        } else {
            // The loop has come to another end since.
            Ending::Failed(StepFailure::Cancelled)
        };
        let name = &running.forge;
        let (status, result) = match ending {
            Ending::Done(value) => {
                let json = serde_json::to_value(&value).unwrap_or(Json::Null);
                self.answer_with(name, &json);
                (AsyncStatus::Done, json)
            }
            Ending::Silent(patience) => {
                let words = format!("its model sent nothing for {} s", patience.as_secs_f32());
                *end = End::failed(ExitReason::Error, format!("the forge `{name}` was ended: {words}"));
                (AsyncStatus::Silent, Json::from(words))
            }
            Ending::Failed(StepFailure::Failed(words)) => {
                *end = End::failed(ExitReason::Error, format!("the forge `{name}` failed: {words}"));
                (AsyncStatus::Error, Json::from(words))
            }
            Ending::Failed(stop) => {
                if end.reason == ExitReason::Async {
                    *end = match stop {
                        StepFailure::Ended(reason) => End::new(reason),
                        _ => self.stopped(),
                    };
                }
                (AsyncStatus::Stopped, Json::from(stop.to_string()))
            }
        };
        let duration_ms = millis(running.started.elapsed());
        let async_task = running.task.clone();
        self.events.emit(Event::AsyncFinished { name: name.clone(), async_task, status, result, duration_ms });
    }

    /// Gives the user what a forge made: the field that it streams as the answer, its only text, or all of it as JSON.
    fn answer_with(&self, forge: &str, output: &Json) {
        let loaded = self.edition.library.forges.get(forge);
        let to_answer = loaded.and_then(|loaded| loaded.doc.stream.iter().find(|(_, to)| to.node == ANSWER_NODE));
        let text_of = |field: &str| output.get(field).and_then(Json::as_str);
        let only = output.as_object().filter(|fields| fields.len() == 1).and_then(|fields| fields.values().next());
        let streamed = to_answer.and_then(|(field, to)| Some((text_of(field)?, to.content_type.clone())));
        let (text, content_type, streamed) = match (streamed, only.and_then(Json::as_str)) {
            (Some((text, content_type)), _) => (text.to_owned(), content_type, true),
            (None, Some(text)) => (text.to_owned(), DEFAULT_CONTENT_TYPE.to_owned(), false),
            (None, None) => {
                let json = serde_json::to_string_pretty(output).unwrap_or_else(|_| output.to_string());
                (json, "application/json".to_owned(), false)
            }
        };
        self.state().answer = Some(text.clone());
        self.events.emit(Event::Answer { text, content_type, streamed });
    }
}
