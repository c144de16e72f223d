//! The stream: one order, redaction before anybody sees an event, then every subscriber in turn.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use super::{EVENT_VERSION, Envelope, Event, RunId};

/// Sees every event of a run, in order. Called with the stream's lock held: do little and never block for long.
pub trait Subscriber: Send + Sync {
    /// Takes one event.
    fn on_event(&self, event: &Envelope);
}

struct Inner {
    run: RunId,
    seq: Mutex<u64>,
    subscribers: Vec<Arc<dyn Subscriber>>,
    secrets: Vec<String>,
}

/// Where a run's events go. Cheap to clone; clones share one order.
#[derive(Clone)]
pub struct EventStream {
    inner: Arc<Inner>,
    task: Arc<str>,
}

/// What stands in place of a secret.
const MASK: &str = "[secret]";

impl EventStream {
    /// A stream for one run. `secrets` are masked in every string of every event.
    #[must_use]
    pub fn new(run: RunId, subscribers: Vec<Arc<dyn Subscriber>>, secrets: Vec<String>) -> Self {
        let task = Arc::from(run.0.as_str());
        // Short values would mask half the alphabet; keys are far longer.
        let secrets = secrets.into_iter().filter(|s| s.len() >= 8).collect();
        Self { inner: Arc::new(Inner { run, seq: Mutex::new(0), subscribers, secrets }), task }
    }

    /// The same stream under another task's name.
    #[must_use]
    pub fn for_task(&self, task: &str) -> Self {
        Self { inner: Arc::clone(&self.inner), task: Arc::from(task) }
    }

    /// The run's id.
    #[must_use]
    pub fn run(&self) -> &RunId {
        &self.inner.run
    }

    /// The task's name.
    #[must_use]
    pub fn task(&self) -> &str {
        &self.task
    }

    /// Whether anybody listens: an event that costs something to build may be left out otherwise.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        !self.inner.subscribers.is_empty()
    }

    /// Sends one event to every subscriber.
    pub fn emit(&self, event: Event) {
        if self.inner.subscribers.is_empty() {
            return;
        }
        let event = self.redact(event);
        // A subscriber that panicked must not silence the others: the order is all that the lock protects.
        let mut seq = self.inner.seq.lock().unwrap_or_else(PoisonError::into_inner);
        *seq += 1;
        let envelope = Envelope {
            v: EVENT_VERSION,
            seq: *seq,
            at_ms: now_ms(),
            run: self.inner.run.clone(),
            task: self.task.to_string(),
            event,
        };
        for subscriber in &self.inner.subscribers {
            subscriber.on_event(&envelope);
        }
    }

    fn redact(&self, event: Event) -> Event {
        if self.inner.secrets.is_empty() {
            return event;
        }
        let Ok(mut value) = serde_json::to_value(&event) else { return event };
        if !mask(&mut value, &self.inner.secrets) {
            return event;
        }
        serde_json::from_value(value).unwrap_or(event)
    }
}

/// Masks every secret in every string; whether there was one.
fn mask(value: &mut serde_json::Value, secrets: &[String]) -> bool {
    match value {
        serde_json::Value::String(text) => {
            let mut found = false;
            for secret in secrets {
                if text.contains(secret.as_str()) {
                    *text = text.replace(secret.as_str(), MASK);
                    found = true;
                }
            }
            found
        }
        serde_json::Value::Array(items) => items.iter_mut().fold(false, |found, item| mask(item, secrets) | found),
        serde_json::Value::Object(map) => map.values_mut().fold(false, |found, item| mask(item, secrets) | found),
        _ => false,
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Collect(Mutex<Vec<Envelope>>);

    impl Subscriber for Collect {
        fn on_event(&self, event: &Envelope) {
            self.0.lock().unwrap().push(event.clone());
        }
    }

    #[test]
    fn events_are_numbered_and_secrets_masked() {
        let seen = Arc::new(Collect::default());
        let stream =
            EventStream::new(RunId("r1".into()), vec![seen.clone()], vec!["sk-very-secret".into(), "ok".into()]);
        stream.emit(Event::Feedback { text: "key sk-very-secret is ok".into() });
        stream.for_task("r1/sub").emit(Event::Status { text: "fine".into() });
        let seen = seen.0.lock().unwrap();
        assert_eq!(seen.iter().map(|e| e.seq).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(seen[0].event, Event::Feedback { text: "key [secret] is ok".into() });
        assert_eq!(seen[1].task, "r1/sub");
    }
}
