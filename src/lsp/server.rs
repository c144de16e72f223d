//! The session: what arrives in which state, when workspaces are read again, what the editor is told of its own accord.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use super::analysis::{Analysis, is_template, root_of};
use super::buffers::Buffers;
use super::position::Encoding;
use super::protocol::{
    DidChangeParams, DidOpenParams, DocumentParams, FoldersChange, InitializeParams, PublishDiagnostics,
    WorkspaceFolder,
};
use super::request::{REQUESTS, View, diagnostics};
use super::transport::{ErrorCode, Failure, Incoming, Message, write};
use super::{End, uri};
use crate::check::Haste;
use crate::load::WORKSPACE_FILES;
use crate::syntax::Format;

/// How long the keyboard must rest before a workspace is checked; a request does not wait for it.
const REST: Duration = Duration::from_millis(60);
/// How long a check waits at most while somebody goes on typing.
const PATIENCE: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    New,
    Running,
    ShutDown,
}

pub(super) struct Server<'o> {
    output: &'o mut dyn Write,
    phase: Phase,
    encoding: Encoding,
    /// Whether the client tells of changed files when it is asked to.
    watches: bool,
    folders: Vec<PathBuf>,
    buffers: Buffers,
    /// By the workspace's folder.
    analyses: BTreeMap<PathBuf, Analysis>,
    /// Workspaces of which something changed since they were read.
    unread: BTreeSet<PathBuf>,
    /// Workspaces of which not every document was checked since something changed, and since when.
    stale: BTreeSet<PathBuf>,
    stale_since: Option<Instant>,
    /// What the client was told, by address.
    published: BTreeMap<String, Json>,
}

impl<'o> Server<'o> {
    pub(super) fn new(output: &'o mut dyn Write) -> Self {
        Self {
            output,
            phase: Phase::New,
            encoding: Encoding::default(),
            watches: false,
            folders: Vec::new(),
            buffers: Buffers::default(),
            analyses: BTreeMap::new(),
            unread: BTreeSet::new(),
            stale: BTreeSet::new(),
            stale_since: None,
            published: BTreeMap::new(),
        }
    }

    /// Answers until the client leaves.
    pub(super) fn run(mut self, incoming: Receiver<Incoming>) -> io::Result<End> {
        let mut waiting: VecDeque<Incoming> = VecDeque::new();
        loop {
            let next = match waiting.pop_front() {
                Some(next) => Some(next),
                None => match self.wait(&incoming) {
                    Ok(next) => next,
                    Err(end) => return Ok(end),
                },
            };
            let Some(next) = next else {
                self.refresh(Haste::None)?;
                continue;
            };
            waiting.extend(incoming.try_iter());
            match next {
                Incoming::Broken { id, code, problem } => self.refuse(&id, &Failure::new(code, problem))?,
                Incoming::Message(message) => {
                    if message.method.as_deref() == Some("exit") {
                        return Ok(if self.phase == Phase::ShutDown { End::Proper } else { End::Abrupt });
                    }
                    self.message(message, &waiting)?;
                }
            }
            if self.stale_since.is_some_and(|since| since.elapsed() > PATIENCE) {
                self.refresh(Haste::None)?;
            }
        }
    }

    /// The next message; nothing when it is time to check.
    fn wait(&self, incoming: &Receiver<Incoming>) -> Result<Option<Incoming>, End> {
        if self.stale.is_empty() {
            return incoming.recv().map(Some).map_err(|_| End::Abrupt);
        }
        match incoming.recv_timeout(REST) {
            Ok(message) => Ok(Some(message)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(End::Abrupt),
        }
    }

    fn message(&mut self, message: Message, waiting: &VecDeque<Incoming>) -> io::Result<()> {
        let Message { id, method, params } = message;
        // A reply to something that was asked here: nothing hangs on it.
        let Some(method) = method else { return Ok(()) };
        let Some(id) = id else { return self.notification(&method, params) };
        let is_cancelled = waiting.iter().any(|later| {
            matches!(later, Incoming::Message(m) if m.method.as_deref() == Some("$/cancelRequest") && m.params["id"] == id)
        });
        let result = if is_cancelled {
            Err(Failure::new(ErrorCode::Cancelled, "cancelled"))
        } else {
            self.request(&method, params)?
        };
        match result {
            Ok(result) => write(self.output, &json!({ "id": id, "result": result })),
            Err(failure) => self.refuse(&id, &failure),
        }
    }

    fn refuse(&mut self, id: &Json, failure: &Failure) -> io::Result<()> {
        let error = json!({ "code": failure.code as i32, "message": failure.message });
        write(self.output, &json!({ "id": id, "error": error }))
    }

    fn request(&mut self, method: &str, params: Json) -> io::Result<Result<Json, Failure>> {
        match (self.phase, method) {
            (Phase::New, "initialize") => return Ok(read(params).map(|params| self.initialize(params))),
            (Phase::New, _) => {
                return Ok(Err(Failure::new(ErrorCode::NotInitialized, "`initialize` must come first")));
            }
            (Phase::ShutDown, _) => {
                return Ok(Err(Failure::new(ErrorCode::InvalidRequest, "the server is shut down")));
            }
            (Phase::Running, "initialize") => {
                return Ok(Err(Failure::new(ErrorCode::InvalidRequest, "the server is initialized already")));
            }
            (Phase::Running, "shutdown") => {
                self.phase = Phase::ShutDown;
                return Ok(Ok(Json::Null));
            }
            (Phase::Running, _) => {}
        }
        let Some((_, answer)) = REQUESTS.iter().find(|(known, _)| *known == method) else {
            return Ok(Err(Failure::new(ErrorCode::MethodNotFound, format!("`{method}` is not known here"))));
        };
        self.refresh(Haste::OwnFilesOnly)?;
        let view =
            View { buffers: &self.buffers, folders: &self.folders, analyses: &self.analyses, encoding: self.encoding };
        // A mistake in one answer must not end the session, whose buffers are not saved.
        let result = catch_unwind(AssertUnwindSafe(|| answer(&view, params)));
        Ok(result.unwrap_or_else(|_| Err(Failure::new(ErrorCode::Internal, format!("`{method}` failed")))))
    }

    fn initialize(&mut self, params: InitializeParams) -> Json {
        let capabilities = &params.capabilities;
        let offered = capabilities["general"]["positionEncodings"].as_array();
        self.encoding = Encoding::of_offer(offered.into_iter().flatten().filter_map(Json::as_str));
        self.watches = capabilities["workspace"]["didChangeWatchedFiles"]["dynamicRegistration"] == json!(true);
        let root = params.root_uri.map(|uri| WorkspaceFolder { uri });
        self.add_folders(params.workspace_folders.unwrap_or_default().into_iter().chain(root));
        self.phase = Phase::Running;
        json!({
            "serverInfo": { "name": "loopwright", "version": env!("CARGO_PKG_VERSION") },
            "capabilities": {
                "positionEncoding": self.encoding.name(),
                "textDocumentSync": { "openClose": true, "change": 2, "save": {} },
                "workspace": { "workspaceFolders": { "supported": true, "changeNotifications": true } },
                "definitionProvider": true,
                "hoverProvider": true,
                "completionProvider": { "triggerCharacters": [".", "|", " ", "{", "/", ":"] },
                "documentFormattingProvider": true,
                "documentSymbolProvider": true,
                "referencesProvider": true,
                "renameProvider": { "prepareProvider": true },
                "codeActionProvider": { "codeActionKinds": ["quickfix"] },
            }
        })
    }

    fn add_folders(&mut self, folders: impl IntoIterator<Item = WorkspaceFolder>) {
        for folder in folders {
            let Some(path) = uri::to_path(&folder.uri).map(|path| uri::real(&path)) else { continue };
            // A folder that is a workspace is checked before anything of it is open.
            if WORKSPACE_FILES.iter().any(|name| path.join(name).is_file()) {
                self.mark_stale(path.clone());
            }
            if !self.folders.contains(&path) {
                self.folders.push(path);
            }
        }
    }

    fn notification(&mut self, method: &str, params: Json) -> io::Result<()> {
        if self.phase != Phase::Running {
            return Ok(());
        }
        match method {
            "initialized" => return self.watch_files(),
            "textDocument/didOpen" => {
                if let Ok(DidOpenParams { text_document: open }) = read(params) {
                    self.buffers.open(open.uri.clone(), open.version, open.text);
                    self.touched(&open.uri);
                }
            }
            "textDocument/didChange" => {
                if let Ok(DidChangeParams { text_document: changed, content_changes }) = read(params) {
                    self.buffers.change(&changed.uri, changed.version, content_changes, self.encoding);
                    self.touched(&changed.uri);
                }
            }
            "textDocument/didSave" => {
                if let Ok(DocumentParams { text_document }) = read(params) {
                    self.touched(&text_document.uri);
                }
            }
            "textDocument/didClose" => {
                if let Ok(DocumentParams { text_document }) = read(params) {
                    self.touched(&text_document.uri);
                    self.buffers.close(&text_document.uri);
                }
            }
            "workspace/didChangeWatchedFiles" => self.all_stale(),
            "workspace/didChangeWorkspaceFolders" => {
                if let Ok(FoldersChange { event }) = read(params) {
                    for folder in &event.removed {
                        let path = uri::to_path(&folder.uri).map(|path| uri::real(&path));
                        self.folders.retain(|known| Some(known) != path.as_ref());
                    }
                    self.add_folders(event.added);
                    self.all_stale();
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Asks the client to tell of files that others change.
    fn watch_files(&mut self) -> io::Result<()> {
        if !self.watches {
            return Ok(());
        }
        let watchers = [json!({ "globPattern": "**/*.{yaml,yml,toml,j2,jinja,jinja2}" })];
        let registration = json!({
            "id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": { "watchers": watchers }
        });
        let params = json!({ "registrations": [registration] });
        write(self.output, &json!({ "id": "register-files", "method": "client/registerCapability", "params": params }))
    }

    /// Marks the workspace of a document.
    fn touched(&mut self, uri: &str) {
        let Some(path) = self.buffers.get(uri).map(|buffer| buffer.path.clone()) else { return };
        if is_ours(&path) {
            self.mark_stale(root_of(&path, &self.folders));
        }
        // A template outside of its workspace's folder, or a workspace's file that appears, may matter to others.
        let others: Vec<PathBuf> = self.analyses.keys().filter(|root| path.starts_with(root)).cloned().collect();
        others.into_iter().for_each(|root| self.mark_stale(root));
    }

    fn mark_stale(&mut self, root: PathBuf) {
        self.unread.insert(root.clone());
        self.stale.insert(root);
        self.stale_since.get_or_insert_with(Instant::now);
    }

    fn all_stale(&mut self) {
        let open = self.buffers.iter().filter(|buffer| is_ours(&buffer.path));
        let roots: Vec<PathBuf> = open.map(|buffer| root_of(&buffer.path, &self.folders)).collect();
        for root in self.analyses.keys().cloned().chain(roots).collect::<Vec<_>>() {
            self.mark_stale(root);
        }
    }

    /// Reads what changed and tells the client what is wrong now. A request is in haste: it waits for the documents that
    /// were edited, and what that means for others is looked at when the keyboard rests.
    fn refresh(&mut self, haste: Haste) -> io::Result<()> {
        let unread = std::mem::take(&mut self.unread);
        let unfinished = if haste == Haste::None { std::mem::take(&mut self.stale) } else { unread.clone() };
        let roots: BTreeSet<PathBuf> = unfinished.into_iter().chain(unread).collect();
        if roots.is_empty() {
            return Ok(());
        }
        for root in roots {
            let is_open = self.buffers.iter().any(|buffer| root_of(&buffer.path, &self.folders) == root);
            if !is_open && !self.folders.contains(&root) {
                self.analyses.remove(&root);
                self.stale.remove(&root);
                continue;
            }
            let made =
                catch_unwind(AssertUnwindSafe(|| Analysis::new(&root, &self.buffers, self.analyses.get(&root), haste)));
            if let Ok(analysis) = made {
                if analysis.is_thorough() {
                    self.stale.remove(&root);
                }
                self.analyses.insert(root, analysis);
            }
        }
        self.stale_since = self.stale_since.filter(|_| !self.stale.is_empty());
        self.publish()
    }

    fn publish(&mut self) -> io::Result<()> {
        let view =
            View { buffers: &self.buffers, folders: &self.folders, analyses: &self.analyses, encoding: self.encoding };
        let mut found = diagnostics::all(&view);
        for uri in self.published.keys().chain(self.buffers.iter().map(|buffer| &buffer.uri)) {
            found.entry(uri.clone()).or_default();
        }
        for (uri, diagnostics) in found {
            let buffer = self.buffers.get(&uri);
            let version = buffer.and_then(|buffer| buffer.version);
            let is_known = buffer.is_some() || !diagnostics.is_empty();
            let params = serde_json::to_value(PublishDiagnostics { uri: uri.clone(), version, diagnostics })?;
            if self.published.get(&uri) != Some(&params) {
                write(self.output, &json!({ "method": "textDocument/publishDiagnostics", "params": params }))?;
            }
            match is_known {
                true => self.published.insert(uri, params),
                false => self.published.remove(&uri),
            };
        }
        Ok(())
    }
}

/// Whether a file can be a document or a template.
fn is_ours(path: &Path) -> bool {
    is_template(path) || Format::of_path(path).is_some()
}

fn read<T: DeserializeOwned>(params: Json) -> Result<T, Failure> {
    serde_json::from_value(params).map_err(|error| Failure::new(ErrorCode::InvalidParams, error.to_string()))
}
