//! The history that a run's event log tells: each action with what it brought.

use serde_json::json;

use super::read::ReadError;
use super::record::{History, Kind, Record};
use crate::event::{Envelope, Event, StepStatus, ToolStatus};

/// Reads a log with one event a line. `None` when its first line is no event.
pub(super) fn from_log(text: &str) -> Option<Result<History, ReadError>> {
    let mut fold = Fold::default();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str::<Envelope>(line) {
            Ok(envelope) => fold.add(&envelope),
            Err(_) if !fold.begun => return None,
            Err(error) => {
                let message = format!("this is no event of a run: {error}");
                return Some(Err(ReadError { path: format!("line {}", at + 1), message }));
            }
        }
    }
    fold.close();
    fold.begun.then_some(Ok(fold.history))
}

/// Joins an action with the events up to the next one.
#[derive(Debug, Default)]
struct Fold {
    begun: bool,
    history: History,
    open: Option<Record>,
}

impl Fold {
    fn add(&mut self, envelope: &Envelope) {
        self.begun = true;
        match &envelope.event {
            Event::Action { action, params, thought, .. } => {
                self.close();
                if let Some(thought) = thought.as_deref().filter(|thought| !thought.trim().is_empty()) {
                    self.history.records.push(Self::of_task(Record::text(Kind::Think, thought), envelope));
                }
                self.open = Some(Self::of_task(Record::call(action.clone(), params.clone(), ""), envelope));
            }
            Event::ActionRejected { class, message, .. } => {
                self.close();
                let mut record = Record::call("invalid_reply", json!({ "class": class }), message.clone());
                record.error = true;
                self.history.records.push(Self::of_task(record, envelope));
            }
            Event::ToolFinished { status, result, .. } => {
                let text = result.as_str().map_or_else(|| result.to_string(), str::to_owned);
                self.brought(&text, *status != ToolStatus::Done);
            }
            Event::Feedback { text } | Event::Answer { text, .. } => self.brought(text, false),
            Event::StepFinished { status: StepStatus::Failed, message, .. } => {
                self.brought(message.as_deref().unwrap_or_default(), true);
            }
            Event::Asked { answer: Some(answer) } => {
                self.close();
                self.history.records.push(Self::of_task(Record::text(Kind::User, answer), envelope));
            }
            Event::Shrunk { .. } => {
                self.close();
                self.history.records.push(Self::of_task(Record { kind: Kind::Event, ..Record::default() }, envelope));
            }
            _ => {}
        }
    }

    /// The task tells sub-loops with a task of their own apart. The time is left out: in a run an agent is never idle, it
    /// only waits for a model or a tool, however long.
    fn of_task(record: Record, envelope: &Envelope) -> Record {
        Record { agent: Some(envelope.task.clone()), ..record }
    }

    fn brought(&mut self, text: &str, error: bool) {
        let Some(record) = &mut self.open else { return };
        let observation = record.observation.get_or_insert_default();
        if !observation.is_empty() {
            observation.push('\n');
        }
        observation.push_str(text);
        record.error |= error;
    }

    fn close(&mut self) {
        self.history.records.extend(self.open.take());
    }
}
