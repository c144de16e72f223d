//! Writing down what a model says, as it says it.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;

use super::canonical::{Volatile, canonical};
use super::file::{Exchange, RepliesFile, RepliesKind, Written};
use super::lines::describe;
use super::pieces::Noting;
use super::write;
use crate::document::Duration;
use crate::event::{CallPurpose, ReplySource};
use crate::model::{BoxFuture, EncodeCache, Model, ModelError, ModelInfo, ModelSetupError, Reply, Request, Sink};

/// A file that the exchanges of one run are appended to, whichever model they are with.
pub struct RecordFile {
    path: PathBuf,
    began: Instant,
    state: Mutex<State>,
}

struct State {
    file: File,
    /// The last request written.
    before: String,
    /// Whether the list of exchanges was begun.
    begun: bool,
    failed: Option<String>,
}

impl RecordFile {
    /// Begins a file, in place of one that is there. Replies that come from a script make a script again.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn create(path: &Path, info: &ModelInfo) -> Result<Arc<Self>, ModelSetupError> {
        let (kind, note) = match &info.source {
            ReplySource::Model => (RepliesKind::Recording, None),
            ReplySource::Recording { path } => (RepliesKind::Recording, Some(format!("Taken from {path}."))),
            ReplySource::Script { path } => {
                (RepliesKind::Script, Some(format!("Written by hand; taken from {path}. No model gave these replies.")))
            }
        };
        let model = Some(info.label());
        let head = RepliesFile { kind, note, model, protocol: info.protocol, exchanges: Vec::new() };
        let file = File::create(path)
            .and_then(|mut file| file.write_all(write::head(&head).as_bytes()).map(|()| file))
            .map_err(|error| ModelSetupError::Replies {
                path: path.display().to_string(),
                reason: error.to_string(),
            })?;
        let state = State { file, before: String::new(), begun: false, failed: None };
        Ok(Arc::new(Self { path: path.to_owned(), began: Instant::now(), state: Mutex::new(state) }))
    }

    /// Why the file is not whole, if a write failed. A run goes on without it.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).failed.clone()
    }

    fn append(&self, label: String, purpose: Option<CallPurpose>, request: &str, reply: Written) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.failed.is_some() {
            return;
        }
        let exchange = Exchange { model: Some(label), purpose, reply, request: Some(describe(&state.before, request)) };
        let list = if std::mem::replace(&mut state.begun, true) { "" } else { "exchanges:\n" };
        let text = format!("{list}{}", write::exchange(&exchange));
        match state.file.write_all(text.as_bytes()) {
            Ok(()) => request.clone_into(&mut state.before),
            Err(error) => state.failed = Some(format!("Cannot record to {}: {error}", self.path.display())),
        }
    }
}

/// A model whose replies are written down.
pub struct Recorder {
    model: Arc<dyn Model>,
    file: Arc<RecordFile>,
}

impl Recorder {
    /// Writes this model's replies to the file, those of failed calls left out.
    #[must_use]
    pub fn new(model: Arc<dyn Model>, file: Arc<RecordFile>) -> Self {
        Self { model, file }
    }
}

impl Model for Recorder {
    fn info(&self) -> &ModelInfo {
        self.model.info()
    }

    fn ready(&self) -> Result<(), ModelSetupError> {
        self.model.ready()
    }

    fn secrets(&self) -> Vec<String> {
        self.model.secrets()
    }

    fn call<'a>(
        &'a self,
        request: Request<'a>,
        cache: &'a mut EncodeCache,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move {
            let mut noting = Noting::new(sink);
            let reply = self.model.call(request, cache, &mut noting).await?;
            let volatile = Volatile::new(request.volatile);
            let (chunks, at) = noting.into_noted();
            let at = Duration(at.unwrap_or_else(|| self.file.began.elapsed()));
            let written = Written::from_reply(&reply, chunks, at, &volatile);
            self.file.append(self.model.info().label(), request.purpose, &canonical(&request, &volatile), written);
            Ok(reply)
        })
    }
}
