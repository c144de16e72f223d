//! Writing down what a model says, as it says it.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::super::{
    BoxFuture, EncodeCache, Model, ModelError, ModelInfo, ModelSetupError, Reply, Request, Sink,
};
use super::canonical::{Volatile, canonical};
use super::file::{Exchange, RepliesFile, RepliesKind, Written};
use super::lines::describe;
use super::pieces::Noting;
use crate::event::ReplySource;

/// A file that the exchanges of one run are appended to, whichever model they are with.
pub struct RecordFile {
    path: PathBuf,
    state: Mutex<State>,
}

struct State {
    file: File,
    /// The last request written.
    before: String,
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
        let head = RepliesFile { kind, note, model, protocol: info.protocol, exchanges: None };
        let begin = || -> Result<File, String> {
            let head = serde_yaml::to_string(&head).map_err(|error| error.to_string())?;
            let mut file = File::create(path).map_err(|error| error.to_string())?;
            // The exchanges follow as list items, one after the other.
            let head = head.strip_suffix("exchanges: null\n").unwrap_or(&head);
            file.write_all(format!("{head}exchanges:\n").as_bytes()).map_err(|error| error.to_string())?;
            Ok(file)
        };
        let file = begin().map_err(|reason| ModelSetupError::Replies { path: path.display().to_string(), reason })?;
        let state = State { file, before: String::new(), failed: None };
        Ok(Arc::new(Self { path: path.to_owned(), state: Mutex::new(state) }))
    }

    /// Why the file is not whole, if a write failed. A run goes on without it.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).failed.clone()
    }

    fn append(&self, label: String, request: &str, reply: Written) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.failed.is_some() {
            return;
        }
        let exchange = Exchange { model: Some(label), reply, request: Some(describe(&state.before, request)) };
        let written = serde_yaml::to_string(&[exchange])
            .map_err(|error| error.to_string())
            .and_then(|text| state.file.write_all(text.as_bytes()).map_err(|error| error.to_string()));
        match written {
            Ok(()) => request.clone_into(&mut state.before),
            Err(reason) => state.failed = Some(format!("Cannot record to {}: {reason}", self.path.display())),
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
            let written = Written::from_reply(&reply, noting.into_noted(), &volatile);
            self.file.append(self.model.info().label(), &canonical(&request, &volatile), written);
            Ok(reply)
        })
    }
}
