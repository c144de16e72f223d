//! Replies that were written down: by hand in a script, or recorded from a model. Both answer only the request that
//! they were written for, and neither passes for a model.

mod canonical;
mod file;
mod lines;
mod pieces;
mod record;
mod write;

pub use record::{RecordFile, Recorder};

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::canonical::{Volatile, canonical, first_difference};
use self::file::{RepliesFile, RepliesKind, Written};
use super::Provider;
use crate::event::{CallPurpose, ReplySource};
use crate::model::{
    BoxFuture, BuildContext, EncodeCache, ErrorClass, Model, ModelError, ModelInfo, ModelSetupError, Reply, Request,
    Sink,
};

/// Replies from a script or a recording. No model is called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplaySettings {
    /// `replay`.
    #[serde(default)]
    pub provider: Option<String>,
    /// The file with the replies, relative to the workspace.
    pub path: PathBuf,
    /// Answer in order whatever is asked, and write the requests into the file. For the author of a script. Default: false.
    #[serde(default)]
    pub accept: bool,
}

/// What is done with the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A request that is not in the file is refused, with the first difference.
    Strict,
    /// Replies are given in order, and the file takes over the requests.
    Accept,
}

/// A file of replies.
pub struct Replay {
    info: ModelInfo,
    path: PathBuf,
    mode: Mode,
    state: Mutex<State>,
}

struct State {
    file: RepliesFile,
    /// The request of every exchange, where it is known.
    requests: Vec<Option<String>>,
    used: Vec<bool>,
    /// Requests so far.
    asked: usize,
}

impl Replay {
    /// Opens a script or a recording.
    ///
    /// # Errors
    /// The file cannot be read or is no such file.
    pub fn open(path: &Path, mode: Mode) -> Result<Self, ModelSetupError> {
        let path = from_here(path);
        let file = RepliesFile::read(path)?;
        let shown = path.display().to_string();
        let fail = |reason: String| ModelSetupError::Replies { path: shown.clone(), reason };
        let requests = file.requests().map_err(fail)?;
        let source = match file.kind {
            RepliesKind::Script => ReplySource::Script { path: shown.clone() },
            RepliesKind::Recording => ReplySource::Recording { path: shown.clone() },
        };
        let name = path.file_name().map_or_else(|| shown.clone(), |name| name.to_string_lossy().into_owned());
        let info = ModelInfo {
            provider: Self::NAME.to_owned(),
            model: name,
            protocol: file.protocol,
            context: None,
            price: None,
            source,
            input_includes_cache: true,
        };
        let used = vec![false; requests.len()];
        Ok(Self { info, path: path.to_owned(), mode, state: Mutex::new(State { file, requests, used, asked: 0 }) })
    }

    async fn answer(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<Reply, ModelError> {
        let volatile = Volatile::new(request.volatile);
        let (written, kind) = self.find(request, &volatile)?;
        if let Some(after) = written.after {
            tokio::time::sleep(after.0).await;
        }
        let id_base = request.transcript.turns().len() + request.retry.len();
        let reply = written.to_reply(kind, &volatile, id_base);
        pieces::give_out(&reply, written.chunks.as_deref(), sink);
        if let Some(at) = written.at {
            sink.recorded_at(at.0);
        }
        Ok(reply)
    }

    /// The reply to a request, which is used up with it.
    fn find(&self, request: &Request<'_>, volatile: &Volatile<'_>) -> Result<(Written, RepliesKind), ModelError> {
        let text = canonical(request, volatile);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.asked += 1;
        let at = match self.mode {
            // Calls that run at the same time come in any order, so the text decides and not the place.
            Mode::Strict => (0..state.used.len())
                .find(|&at| !state.used[at] && state.requests[at].as_deref() == Some(&text))
                .ok_or_else(|| self.mismatch(&state, request.purpose, &text))?,
            Mode::Accept => {
                let at = state
                    .used
                    .iter()
                    .position(|used| !used)
                    .ok_or_else(|| self.mismatch(&state, request.purpose, &text))?;
                state.requests[at] = Some(text);
                let State { file, requests, .. } = &mut *state;
                file.set_requests(requests);
                file.write(&self.path).map_err(|reason| ModelError::new(ErrorClass::Mismatch, reason))?;
                at
            }
        };
        state.used[at] = true;
        let exchange = state.file.exchanges.get(at);
        let written = exchange.map(|exchange| exchange.reply.clone()).unwrap_or_default();
        Ok((written, state.file.kind))
    }

    fn mismatch(&self, state: &State, purpose: Option<CallPurpose>, text: &str) -> ModelError {
        let what = match state.file.kind {
            RepliesKind::Script => "script",
            RepliesKind::Recording => "recording",
        };
        let (path, count) = (self.path.display(), state.used.len());
        let purpose_of = |at: usize| state.file.exchanges.get(at).and_then(|exchange| exchange.purpose);
        let called = |purpose: Option<CallPurpose>| purpose.map_or(String::new(), |p| format!(" ({})", p.name()));
        let asked = format!("request {}{}", state.asked, called(purpose));
        let message = match nearest(state, purpose, text) {
            None => format!("The {what} {path} has no more replies for {asked}: all {count} are used"),
            Some((at, None)) => format!(
                "The {what} {path} does not say which request its reply {} of {count} answers; \
                 its author takes the requests over with accept: true",
                at + 1
            ),
            Some((at, Some(expected))) => format!(
                "The {what} {path} has no reply for {asked}: it answers only what it was written for. \
                 Its nearest unused reply, {} of {count}{}, is for a request that differs first in {}",
                at + 1,
                called(purpose_of(at)),
                first_difference(expected, text)
            ),
        };
        ModelError::new(ErrorClass::Mismatch, message)
    }
}

/// The unused reply whose request is most like this one: of the same purpose where one is, then equal for longest.
fn nearest<'a>(state: &'a State, purpose: Option<CallPurpose>, text: &str) -> Option<(usize, Option<&'a str>)> {
    let common = |other: &str| other.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
    let unused = (0..state.used.len()).filter(|at| !state.used[*at]);
    let likeness = |at: usize| {
        let known = state.requests.get(at).and_then(Option::as_deref);
        let same = purpose.is_some() && state.file.exchanges.get(at).and_then(|exchange| exchange.purpose) == purpose;
        (same, known.map_or(0, common))
    };
    // The first of several that are equally alike.
    let at = unused.rev().max_by_key(|at| likeness(*at))?;
    Some((at, state.requests.get(at).and_then(Option::as_deref)))
}

/// The path from the working folder, where the file lies below it: what a person would type.
fn from_here(path: &Path) -> &Path {
    std::env::current_dir().ok().and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path)
}

impl Provider for Replay {
    const NAME: &'static str = "replay";
    const SUMMARY: &'static str = "Replies from a script or a recording; no model is called.";
    type Settings = ReplaySettings;

    fn build(settings: ReplaySettings, context: &BuildContext) -> Result<Arc<dyn Model>, ModelSetupError> {
        let mode = if settings.accept { Mode::Accept } else { Mode::Strict };
        Ok(Arc::new(Self::open(&context.root.join(&settings.path), mode)?))
    }
}

impl Model for Replay {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn call<'a>(
        &'a self,
        request: Request<'a>,
        _: &'a mut EncodeCache,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move { self.answer(&request, sink).await })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{Block, NoSink, Sampling, Transcript, Turn};

    fn unused(model: &Replay) -> usize {
        model.state.lock().unwrap().used.iter().filter(|used| !**used).count()
    }

    /// A run of three calls over one log, with nonces of its own.
    async fn run(model: &dyn Model, log: &str, nonce: &str) -> Result<Vec<Reply>, ModelError> {
        let system = [Block { text: "You read logs.".into() }];
        let sampling = Sampling::default();
        let mut transcript = Transcript::default();
        let volatile = [("nonce", format!("turn{nonce}")), ("nonce:LOG", format!("log{nonce}"))];
        let mut replies = Vec::new();
        let mut cache = EncodeCache::default();
        for step in 0..3 {
            let last = format!("<|LOG_log{nonce}|>\n{log}\n<|LOG_END_log{nonce}|>\nstep {step}");
            let request = Request {
                purpose: None,
                system: &system,
                transcript: &transcript,
                last: &last,
                retry: &[],
                tools: None,
                force_tool: None,
                schema: None,
                sampling: &sampling,
                volatile: &volatile,
            };
            replies.push(model.call(request, &mut cache, &mut NoSink).await?);
            transcript.push(Turn::User(format!("found {step}").into()));
        }
        Ok(replies)
    }

    fn log(lines: usize) -> String {
        (0..lines).map(|at| format!("Nov 30 10:00:{at:02} host sshd[{at}]: Failed password for root\n")).collect()
    }

    const SCRIPT: &str = r#"# A comment of the author.
kind: script
note: Written by hand.
exchanges:
- reply:
    text: |
      {"@action": "a"}
      <|T_{{ nonce }}|>{{ other }}<|T_END_{{nonce}}|>
- reply: { text: '{"@action": "b"}', usage: { input: 5, output: 2 } }
- reply: { calls: [ { name: f, arguments: { x: 1 } } ] }
"#;

    fn write_script(folder: &Path) -> PathBuf {
        let path = folder.join("log.script.yaml");
        std::fs::write(&path, SCRIPT).unwrap();
        path
    }

    #[tokio::test]
    async fn a_script_takes_over_its_requests_and_then_answers_only_those() {
        let folder = tempfile::tempdir().unwrap();
        let path = write_script(folder.path());
        let open = |mode| Replay::open(&path, mode).unwrap();

        let error = run(&open(Mode::Strict), &log(200), "aaaa").await.unwrap_err();
        assert_eq!(error.class, ErrorClass::Mismatch);
        assert!(error.message.contains("reply 1 of 3"), "{error}");

        run(&open(Mode::Accept), &log(200), "aaaa").await.unwrap();
        // The log is in the file once, though every request has it.
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches("sshd[7]").count(), 1, "{text}");
        assert!(!text.contains("aaaa") && text.contains("Written by hand."), "{text}");

        let model = open(Mode::Strict);
        assert!(matches!(&model.info().source, ReplySource::Script { .. }));
        let replies = run(&model, &log(200), "bbbb").await.unwrap();
        assert_eq!(replies[0].text, "{\"@action\": \"a\"}\n<|T_turnbbbb|>{{ other }}<|T_END_turnbbbb|>\n");
        assert_eq!(replies[1].usage.unwrap().input, 5);
        assert_eq!(replies[2].calls[0].id, "call_2_1");
        assert_eq!(replies[2].calls[0].arguments, "{\"x\":1}");
        assert_eq!(replies[2].finish, Some(crate::model::Finish::ToolCalls));
        assert_eq!(unused(&model), 0);
        let error = run(&model, &log(200), "bbbb").await.unwrap_err();
        assert!(error.message.contains("no more replies"), "{error}");

        let changed = log(200).replace("10:00:42", "10:00:43");
        let error = run(&open(Mode::Strict), &changed, "bbbb").await.unwrap_err();
        assert_eq!(error.class, ErrorClass::Mismatch);
        let words = &error.message;
        assert!(words.contains("section LOG") && words.contains("line 47"), "{words}");
        assert!(words.contains("expected: Nov 30 10:00:42") && words.contains("got:      Nov 30 10:00:43"), "{words}");
    }

    #[tokio::test]
    async fn what_was_recorded_is_given_again_piece_by_piece() {
        #[derive(Default)]
        struct Pieces(Vec<String>);
        impl Sink for Pieces {
            fn text(&mut self, piece: &str) {
                self.0.push(format!("t {piece}"));
            }
            fn reasoning(&mut self, piece: &str) {
                self.0.push(format!("r {piece}"));
            }
            fn arguments(&mut self, index: usize, name: &str, piece: &str) {
                self.0.push(format!("a{index} {name} {piece}"));
            }
        }
        /// Says the same things in pieces, with the nonce of the request.
        struct Talker(ModelInfo);
        impl Model for Talker {
            fn info(&self) -> &ModelInfo {
                &self.0
            }
            fn call<'a>(
                &'a self,
                request: Request<'a>,
                _: &'a mut EncodeCache,
                sink: &'a mut dyn Sink,
            ) -> BoxFuture<'a, Result<Reply, ModelError>> {
                Box::pin(async move {
                    let text = format!("é: {{x}} <|T_{}|>", request.volatile[0].1);
                    sink.reasoning("hm");
                    sink.text(&text[..2]);
                    sink.arguments(0, "f", "{\"a\"");
                    sink.text(&text[2..]);
                    sink.arguments(0, "f", ":1}");
                    let call = crate::model::ToolCall {
                        id: "id7".into(),
                        name: "f".into(),
                        arguments: "{\"a\":1}".into(),
                        echo: None,
                    };
                    Ok(Reply { text, reasoning: "hm".into(), calls: vec![call], finish: None, usage: None })
                })
            }
        }

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recording.yaml");
        let info = ModelInfo {
            provider: "openai".into(),
            model: "m".into(),
            protocol: Default::default(),
            context: None,
            price: None,
            source: ReplySource::Model,
            input_includes_cache: true,
        };
        let file = RecordFile::create(&path, &info).unwrap();
        // A file that was begun is a file.
        assert_eq!(unused(&Replay::open(&path, Mode::Strict).unwrap()), 0);
        let recorder = Recorder::new(Arc::new(Talker(info)), Arc::clone(&file));
        let recorded = run(&recorder, &log(50), "aaaa").await.unwrap();
        assert_eq!(file.failure(), None);

        let replay = Replay::open(&path, Mode::Strict).unwrap();
        assert!(matches!(&replay.info().source, ReplySource::Recording { .. }));
        assert_eq!(run(&replay, &log(50), "aaaa").await.unwrap(), recorded);
        let replay = Replay::open(&path, Mode::Strict).unwrap();
        let other = run(&replay, &log(50), "bbbb").await.unwrap();
        assert_eq!(other[1].text, "é: {x} <|T_turnbbbb|>");
        assert_eq!(other[1].calls, recorded[1].calls);

        let written = RepliesFile::read(&path).unwrap().exchanges.remove(0).reply;
        let volatile = [("nonce", "turnaaaa".to_owned())];
        let reply = written.to_reply(RepliesKind::Recording, &Volatile::new(&volatile), 0);
        let mut pieces = Pieces::default();
        pieces::give_out(&reply, written.chunks.as_deref(), &mut pieces);
        assert_eq!(pieces.0, ["r hm", "t é", "a0 f {\"a\"", "t : {x} <|T_turnaaaa|>", "a0 f :1}"]);
    }

    #[test]
    fn a_file_that_is_none_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.yaml");
        let missing = Replay::open(&path, Mode::Strict).err().unwrap().to_string();
        assert!(missing.contains("x.yaml"), "{missing}");
        for text in [
            "kind: loop\n",
            "kind: script\nexchanges:\n- reply: { txt: a }\n",
            "{",
            "kind: script\nexchanges:\n- {reply: {}, request: [{same: 1-9}]}\n",
        ] {
            std::fs::write(&path, text).unwrap();
            assert!(Replay::open(&path, Mode::Strict).is_err(), "{text}");
        }
    }
}
