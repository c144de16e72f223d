//! The stream: one order, redaction before anybody sees an event, then every subscriber in turn.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use super::{EVENT_VERSION, Envelope, Event, RunId, Secrets};

/// Sees every event of a run, in order. Called with the stream's lock held: do little and never block for long.
pub trait Subscriber: Send + Sync {
    /// Takes one event.
    fn on_event(&self, event: &Envelope);
}

struct Inner {
    run: RunId,
    order: Mutex<Order>,
    subscribers: Vec<Arc<dyn Subscriber>>,
    secrets: Secrets,
}

/// What one event after the other needs.
#[derive(Default)]
struct Order {
    seq: u64,
    held: Vec<Held>,
}

/// The end of a streamed text that may be the beginning of a secret: nobody sees it until it is known to be none.
struct Held {
    task: Arc<str>,
    node: String,
    content_type: String,
    text: String,
}

/// Where a run's events go. Cheap to clone; clones share one order.
#[derive(Clone)]
pub struct EventStream {
    inner: Arc<Inner>,
    task: Arc<str>,
}

impl EventStream {
    /// A stream for one run. `secrets` are masked in every string of every event.
    #[must_use]
    pub fn new(run: RunId, subscribers: Vec<Arc<dyn Subscriber>>, secrets: Secrets) -> Self {
        let task = Arc::from(run.0.as_str());
        Self { inner: Arc::new(Inner { run, order: Mutex::default(), subscribers, secrets }), task }
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

    /// What is masked.
    #[must_use]
    pub fn secrets(&self) -> &Secrets {
        &self.inner.secrets
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
        // A subscriber that panicked must not silence the others: the order is all that the lock protects.
        let mut order = self.inner.order.lock().unwrap_or_else(PoisonError::into_inner);
        if self.inner.secrets.is_empty() {
            self.send(&mut order.seq, &self.task, event);
            return;
        }
        let Order { seq, held } = &mut *order;
        match event {
            Event::Delta { node, content_type, text } => {
                if let Some(text) = self.hold(held, &node, &content_type, text) {
                    self.send(seq, &self.task, Event::Delta { node, content_type, text });
                }
            }
            event => {
                let last = matches!(event, Event::RunFinished { .. });
                if let Event::Correction { node, .. } = &event {
                    held.retain(|held| held.task != self.task || held.node != *node);
                }
                for Held { task, node, content_type, text } in
                    held.extract_if(.., |held| last || held.task == self.task)
                {
                    self.send(seq, &task, Event::Delta { node, content_type, text });
                }
                self.send(seq, &self.task, self.redact(event));
            }
        }
    }

    /// The part of a streamed text that may be shown now; its end is held back while it may be a secret's beginning.
    fn hold(&self, held: &mut Vec<Held>, node: &str, content_type: &str, text: String) -> Option<String> {
        let before = held.extract_if(.., |held| held.task == self.task && held.node == node).next();
        let text = before.map_or_else(String::new, |held| held.text) + &text;
        let mut text = self.inner.secrets.mask(&text).into_owned();
        let rest = text.split_off(self.inner.secrets.open_end(&text));
        if !rest.is_empty() {
            held.push(Held {
                task: Arc::clone(&self.task),
                node: node.to_owned(),
                content_type: content_type.to_owned(),
                text: rest,
            });
        }
        (!text.is_empty()).then_some(text)
    }

    fn send(&self, seq: &mut u64, task: &str, event: Event) {
        *seq += 1;
        let envelope = Envelope {
            v: EVENT_VERSION,
            seq: *seq,
            at_ms: now_ms(),
            run: self.inner.run.clone(),
            task: task.to_owned(),
            event,
        };
        for subscriber in &self.inner.subscribers {
            subscriber.on_event(&envelope);
        }
    }

    fn redact(&self, event: Event) -> Event {
        if serde_json::to_string(&event).is_ok_and(|text| !self.inner.secrets.may_be_in(&text)) {
            return event;
        }
        let Ok(mut value) = serde_json::to_value(&event) else { return event };
        if !self.inner.secrets.mask_value(&mut value) {
            return event;
        }
        serde_json::from_value(value).unwrap_or(event)
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
        let secrets = Secrets::default();
        let stream = EventStream::new(RunId("r1".into()), vec![seen.clone()], secrets.clone());
        // A model that is built while the run goes on brings its key along.
        secrets.add(["sk-very-secret".to_owned(), "ok".to_owned()]);
        stream.emit(Event::Feedback { text: "key sk-very-secret is ok".into() });
        stream.for_task("r1/sub").emit(Event::Status { text: "fine".into() });
        let seen = seen.0.lock().unwrap();
        assert_eq!(seen.iter().map(|e| e.seq).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(seen[0].event, Event::Feedback { text: "key [secret] is ok".into() });
        assert_eq!(seen[1].task, "r1/sub");
    }

    #[test]
    fn a_secret_that_arrives_in_pieces_is_masked_too() {
        let seen = Arc::new(Collect::default());
        let secrets = Secrets::default();
        secrets.add(["sk-very-secret".to_owned()]);
        let stream = EventStream::new(RunId("r1".into()), vec![seen.clone()], secrets);
        let say = |stream: &EventStream, node: &str, text: &str| {
            stream.emit(Event::Delta { node: node.into(), content_type: "text/plain".into(), text: text.into() });
        };
        for piece in ["it is sk", "-", "very-sec", "ret, s", "o"] {
            say(&stream, "answer", piece);
            say(&stream, "thought", "hm");
        }
        say(&stream.for_task("r1/sub"), "answer", "whole s");
        say(&stream, "answer", " sk-ver");
        stream.emit(Event::Status { text: "done".into() });
        say(&stream, "answer", "gone sk-v");
        stream.emit(Event::Correction { node: "answer".into(), text: String::new() });
        stream.for_task("r1/sub").emit(Event::Status { text: "sub".into() });
        let seen = seen.0.lock().unwrap();
        assert_eq!(seen.iter().map(|e| e.seq).collect::<Vec<_>>(), (1..=seen.len() as u64).collect::<Vec<_>>());
        let text = |task: &str| {
            let texts = seen.iter().filter(|e| e.task == task).filter_map(|e| match &e.event {
                Event::Delta { node, text, .. } if node == "answer" => Some(text.as_str()),
                Event::Status { text } | Event::Correction { text, .. } => Some(text.as_str()),
                _ => None,
            });
            texts.collect::<Vec<_>>()
        };
        assert_eq!(text("r1"), ["it is ", "[secret], ", "so", " ", "sk-ver", "done", "gone ", ""]);
        assert_eq!(text("r1/sub"), ["whole ", "s", "sub"]);
    }
}
