//! The engine's public face: build one from a library, run loops with it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use indexmap::IndexMap;
use minijinja::Value;
use minijinja::value::Serde;
use serde_json::{Value as Json, json};

use super::core::{Budget, LoopCore, RunShared};
use super::edition::{Editions, HotReload};
use super::error::EngineError;
use super::handover::Handover;
use super::iteration::LoopRun;
use super::mechanism::Mechanisms;
use super::memory::Memory;
use super::models::{Chain, Models};
use super::render::PromptWatch;
use super::skillbook::{NativeSkill, Natives};
use super::stop::{Cancel, Stop};
use super::sub::Around;
use super::toolbox::Brought;
use crate::document::Middleware;
use crate::event::{Event, EventStream, ExitReason, RunId, Subscriber};
use crate::invoke::Skill;
use crate::load::Library;
use crate::mcp::Servers;
use crate::model::{BoxFuture, Protocol, retry::RetryPolicy};
use crate::policy::Access;
use crate::prompt::RunSecret;
use crate::state::{RunFacts, RunState, ScopeBase, Totals, Vars};
use crate::tool::NativeTool;

/// A model named in short: `provider:model`, or the name of one in the workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelSpec {
    /// The provider; empty for a model of the workspace.
    pub provider: String,
    /// The model.
    pub model: String,
    /// Where the provider is, when not at its usual place.
    pub base_url: Option<String>,
    /// The environment variable with the key.
    pub key: Option<String>,
    /// How actions are asked for.
    pub protocol: Option<Protocol>,
}

impl ModelSpec {
    /// Reads `provider:model`, or the name of a model in the workspace.
    ///
    /// # Errors
    /// Says what to write.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (provider, model) = text.split_once(':').unwrap_or(("", text));
        if model.trim().is_empty() {
            return Err(format!("`{text}` names no model; write provider:model, such as openai:gpt-5-mini"));
        }
        Ok(Self { provider: provider.trim().to_owned(), model: model.trim().to_owned(), ..Self::default() })
    }

    /// As a provider's settings.
    pub(crate) fn settings(&self) -> Json {
        // A script or recording is a file, not a model that a server knows.
        let name = if self.provider == "replay" { "path" } else { "model" };
        let mut settings = json!({ name: self.model });
        if let Some(url) = &self.base_url {
            settings["base_url"] = json!(url);
        }
        if let Some(key) = &self.key {
            settings["api_key"] = json!({ "env": key });
        }
        if let Some(protocol) = self.protocol {
            settings["protocol"] = json!(protocol);
        }
        settings
    }
}

/// Who answers the questions of a run.
pub trait Asker: Send + Sync {
    /// Asks; none when nobody can be asked. Dropping the future gives the question up.
    fn ask<'a>(&'a self, question: String, options: Vec<String>) -> BoxFuture<'a, Option<String>>;
}

/// Nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoAsker;

impl Asker for NoAsker {
    fn ask<'a>(&'a self, _: String, _: Vec<String>) -> BoxFuture<'a, Option<String>> {
        Box::pin(std::future::ready(None))
    }
}

/// One run to be made.
#[derive(Debug, Clone, Default)]
pub struct RunRequest {
    /// The loop's name.
    pub loop_name: String,
    /// The user's input.
    pub input: String,
    /// State variables that start with another value than their default.
    pub set: Vec<(String, Json)>,
    /// Another iteration limit than the loop's.
    pub max_iterations: Option<u32>,
    /// Stops the run.
    pub cancel: Cancel,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Why.
    pub reason: ExitReason,
    /// The process exit code.
    pub exit_code: u8,
    /// Whether a `finish` hook turned a failure into a success.
    pub ignored: bool,
    /// The last answer to the user.
    pub answer: Option<String>,
    /// What went wrong.
    pub error: Option<String>,
    /// The state variables at the end.
    pub state: IndexMap<String, Json>,
    /// What the run used.
    pub totals: Totals,
}

/// Builds an [`Engine`].
pub struct EngineBuilder {
    library: Arc<Library>,
    subscribers: Vec<Arc<dyn Subscriber>>,
    models: HashMap<String, ModelSpec>,
    native: Natives,
    record: Option<PathBuf>,
    accept: bool,
    prompts: Option<PromptWatch>,
    retry: Option<RetryPolicy>,
    asker: Arc<dyn Asker>,
    hot_reload: HotReload,
}

impl EngineBuilder {
    /// Adds someone who sees every event of every run.
    #[must_use]
    pub fn subscriber(mut self, subscriber: Arc<dyn Subscriber>) -> Self {
        self.subscribers.push(subscriber);
        self
    }

    /// Uses another model for a tier than workspace and loop say.
    #[must_use]
    pub fn model(mut self, tier: &str, spec: ModelSpec) -> Self {
        self.models.insert(tier.to_owned(), spec);
        self
    }

    /// Adds a tool written in Rust.
    #[must_use]
    pub fn tool(mut self, tool: Arc<dyn NativeTool>) -> Self {
        self.native.tools.push(tool);
        self
    }

    /// Adds a skill written in Rust. Loops offer it as any other, and their models may call it if it takes arguments. Of a
    /// skill in the workspace with the same name it takes the place.
    #[must_use]
    pub fn skill(self, skill: Arc<dyn Skill>) -> Self {
        self.skill_with(skill, Vec::new())
    }

    /// The same with layers around its calls, the first innermost.
    #[must_use]
    pub fn skill_with(mut self, skill: Arc<dyn Skill>, middleware: Vec<Middleware>) -> Self {
        self.native.skills.push(NativeSkill { skill, middleware });
        self
    }

    /// Records every exchange with a model into a file.
    #[must_use]
    pub fn record(mut self, path: impl Into<PathBuf>) -> Self {
        self.record = Some(path.into());
        self
    }

    /// Lets a script answer requests that it does not know, in its order: how a script's requests are filled in.
    #[must_use]
    pub fn accept_script(mut self) -> Self {
        self.accept = true;
        self
    }

    /// Tries failed model calls again by another policy than the workspace's.
    #[must_use]
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.retry = Some(policy);
        self
    }

    /// Shows every prompt of the loops that are asked for before it is sent.
    #[must_use]
    pub(crate) fn prompts(mut self, watch: PromptWatch) -> Self {
        self.prompts = Some(watch);
        self
    }

    /// Who answers questions. Default: nobody.
    #[must_use]
    pub fn asker(mut self, asker: Arc<dyn Asker>) -> Self {
        self.asker = asker;
        self
    }

    /// Whether runs take over saved changes between their iterations. Default: they do not.
    #[must_use]
    pub fn hot_reload(mut self, mode: HotReload) -> Self {
        self.hot_reload = mode;
        self
    }

    /// Builds the engine.
    ///
    /// # Errors
    /// None today; reserved for what can be told before a loop is named.
    pub fn build(self) -> Result<Engine, EngineError> {
        let workspace = &self.library.workspace.doc;
        let roots: Vec<PathBuf> = workspace.paths.roots.iter().map(|root| PathBuf::from(root.as_str())).collect();
        let paths = &workspace.paths;
        let documents = paths.loops.iter().chain(&paths.prompts).chain(&paths.skills);
        let documents: Vec<PathBuf> = documents.map(|folder| PathBuf::from(folder.as_str())).collect();
        let configured = RetryPolicy {
            max_attempts: workspace.retry.max_attempts,
            base: workspace.retry.base_delay.0,
            max: workspace.retry.max_delay.0,
            max_retry_after: workspace.retry.max_retry_after.0,
        };
        let access = Access::new(&self.library.root, &roots, workspace.policy.clone()).steered_by(documents);
        let servers = Arc::new(Servers::new(&workspace.mcp, &access));
        let brought = Brought { native: self.native, servers: Arc::clone(&servers) };
        let inner = EngineInner {
            editions: Editions::new(Arc::clone(&self.library), brought, self.hot_reload),
            servers,
            access,
            models: Models::new(Arc::clone(&self.library), self.models, self.record, self.accept),
            retry: self.retry.unwrap_or(configured),
            subscribers: self.subscribers,
            prompts: self.prompts,
            asker: self.asker,
            library: self.library,
        };
        inner.models.secrets().add(inner.servers.secrets(inner.access.root()));
        Ok(Engine { inner: Arc::new(inner) })
    }
}

/// What all runs of an engine share.
pub(super) struct EngineInner {
    /// The library that the engine was built over. What a run uses is its edition.
    pub(super) library: Arc<Library>,
    pub(super) editions: Editions,
    pub(super) access: Access,
    pub(super) servers: Arc<Servers>,
    pub(super) models: Models,
    pub(super) retry: RetryPolicy,
    pub(super) asker: Arc<dyn Asker>,
    pub(super) prompts: Option<PromptWatch>,
    subscribers: Vec<Arc<dyn Subscriber>>,
}

/// Runs loops. Cheap to clone; one engine runs many loops at the same time.
#[derive(Clone)]
pub struct Engine {
    pub(super) inner: Arc<EngineInner>,
}

impl Engine {
    /// Starts building an engine over a library.
    #[must_use]
    pub fn builder(library: Arc<Library>) -> EngineBuilder {
        EngineBuilder {
            library,
            subscribers: Vec::new(),
            models: HashMap::new(),
            native: Natives::default(),
            record: None,
            accept: false,
            prompts: None,
            retry: None,
            asker: Arc::new(NoAsker),
            hot_reload: HotReload::Off,
        }
    }

    /// Runs a loop to its end.
    ///
    /// # Errors
    /// Why the run could not start. A run that started ends with an [`Outcome`], whatever happens.
    pub async fn run(&self, request: RunRequest) -> Result<Outcome, EngineError> {
        let Prepared { core, chain, max_iterations } = self.prepare(&request)?;
        let chain = chain?;
        core.events.emit(Event::RunStarted {
            loop_name: core.program.name.clone(),
            source: chain[0].model.info().source.clone(),
            model: chain[0].label.clone(),
            input_bytes: request.input.len(),
            max_iterations,
        });
        let memory = Memory::new(&core, request.input.as_str().into());
        let mut run = LoopRun::new(Arc::clone(&core), memory, chain, request.max_iterations);
        let (mut end, mut ignored) = run.run().await;
        run.tell_refusals();
        if let Some(lease) = &core.shared.servers {
            lease.close().await;
        }
        if let Some(problem) = self.inner.models.record_failure() {
            end = super::finish::End::failed(ExitReason::Error, problem);
            ignored = false;
        }
        Ok(finish(&core, end, ignored))
    }

    /// A run that is ready to begin.
    pub(super) fn prepare(&self, request: &RunRequest) -> Result<Prepared, EngineError> {
        let edition = self.inner.editions.begin(&request.loop_name)?;
        let program = edition.program(&request.loop_name)?;
        let chain = self.inner.models.chain(&program, "main");
        let mut vars = Vars::new(&program.state)?;
        for (name, value) in &request.set {
            vars.set(name, Value::from(Serde(value)))?;
        }
        let mut state = RunState { vars, ..RunState::default() };
        state.offer(edition.listed(&program));
        let state = Arc::new(Mutex::new(state));
        let max_iterations = request.max_iterations.unwrap_or(program.limits.max_iterations);
        let secret = RunSecret::from_os()?;
        let id = run_id(&secret);
        let secrets = self.inner.models.secrets().clone();
        let events = EventStream::new(RunId(id.clone()), self.inner.subscribers.clone(), secrets);
        let (engine, cancel) = (Arc::clone(&self.inner), request.cancel.clone());
        let shared = RunShared::new(engine, id.clone(), &request.loop_name, secret, cancel);
        let shared = Arc::new(shared.with_servers(&events));
        let base = Arc::new(ScopeBase {
            input: Value::from(request.input.as_str()),
            facts: RunFacts { id, loop_name: program.name.clone(), max_iterations, started: shared.started },
            workspace: edition.workspace_value(),
            env: program.env(),
            tools: edition.toolbox.listing(&program.tools),
            skills: program.offered_skills(edition.toolbox.skills()),
            totals: Arc::clone(&shared.totals),
            state: Arc::clone(&state),
        });
        let gate = Arc::clone(&program.gate);
        let access = self.inner.access.protecting(&gate.protect).map_err(|error| EngineError::Document {
            name: program.name.clone(),
            problem: format!("mechanisms.verification.protect: {error}"),
        })?;
        let core = Arc::new(LoopCore {
            budgets: vec![Budget::outermost(&program.limits)],
            stop: Stop::outermost(&request.cancel),
            depth: 0,
            line: vec![Around::outermost(&program.name, base.input.clone(), program.limits.max_depth)],
            handover: Handover::new(),
            mechanisms: Mechanisms::new(shared.time.now()),
            shared,
            edition,
            program,
            base,
            state,
            events,
            gate,
            access,
        });
        Ok(Prepared { core, chain, max_iterations })
    }
}

/// A run that is ready to begin.
pub(super) struct Prepared {
    pub(super) core: Arc<LoopCore>,
    pub(super) chain: Result<Chain, EngineError>,
    pub(super) max_iterations: u32,
}

fn finish(core: &LoopCore, end: super::finish::End, ignored: bool) -> Outcome {
    let totals = core.totals();
    let ignored = ignored && end.reason.exit_code() == 1;
    let exit_code = if ignored { 0 } else { end.reason.exit_code() };
    let state = core.state();
    let error = end.error.map(|error| core.events.secrets().mask(&error).into_owned());
    core.events.emit(Event::RunFinished {
        reason: end.reason,
        exit_code,
        error: error.clone(),
        ignored,
        iterations: totals.iterations,
        model_calls: totals.model_calls,
        tool_calls: totals.tool_calls,
        usage: totals.usage,
        cost_usd: totals.cost_usd,
        duration_ms: super::core::millis(core.shared.started.elapsed()),
    });
    let vars = state
        .vars
        .names()
        .filter_map(|name| Some((name.to_owned(), serde_json::to_value(state.vars.get(name)?).unwrap_or(Json::Null))));
    Outcome {
        reason: end.reason,
        exit_code,
        ignored,
        answer: state.answer.clone(),
        error,
        state: vars.collect(),
        totals,
    }
}

/// A run's id: the time in milliseconds, which sorts, and enough of the run's own randomness to be unique.
fn run_id(secret: &RunSecret) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let nonce = crate::prompt::NonceSource::new(secret).draw("run id");
    format!("{:012x}-{}", now.as_millis(), &nonce.as_str()[..8])
}
