//! Which model answers: tiers, overrides from the command line, environment, and a loop's example script.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use super::builder::ModelSpec;
use super::error::EngineError;
use super::program::Program;
use crate::event::{ReplySource, Secrets};
use crate::load::Library;
use crate::model::{self, BuildContext, Model, ModelSetupError, RecordFile, Recorder, Replay, ReplayMode};
use crate::state::lock;
use crate::syntax::Node;

/// A model as the engine calls it.
pub(super) struct ModelSlot {
    pub(super) model: Arc<dyn Model>,
    /// `provider:model`.
    pub(super) label: String,
    /// Whether requests are matched or recorded, so that volatile values must be named.
    pub(super) matches_requests: bool,
    /// Remembers failures across the runs of an engine.
    pub(super) breaker: Arc<Breaker>,
}

/// A tier's model, and those that stand in for it.
pub(super) type Chain = Arc<[Arc<ModelSlot>]>;

/// Leaves a model alone for a while after calls that failed for good.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    state: Mutex<(u32, Option<Instant>)>,
}

impl Breaker {
    /// How much longer the model is left alone; none when it may be asked. After the wait one call may try again.
    pub(super) fn open_for(&self) -> Option<Duration> {
        let until = lock(&self.state).1?;
        until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }

    /// Notes a call that failed for good.
    pub(super) fn failed(&self, limit: u32, cooldown: Duration) {
        let mut state = lock(&self.state);
        state.0 += 1;
        if state.0 >= limit {
            state.1 = Some(Instant::now() + cooldown);
        }
    }

    /// Notes a reply.
    pub(super) fn succeeded(&self) {
        *lock(&self.state) = (0, None);
    }
}

/// All models of an engine, built when they are first needed.
pub(super) struct Models {
    secrets: Secrets,
    library: Arc<Library>,
    context: BuildContext,
    overrides: HashMap<String, ModelSpec>,
    record: Option<PathBuf>,
    recording: Mutex<Option<Arc<RecordFile>>>,
    accept: bool,
    built: Mutex<HashMap<String, Chain>>,
    breakers: Mutex<HashMap<String, Arc<Breaker>>>,
    /// A script has one place in its story, whichever tier asks.
    scripts: Mutex<HashMap<PathBuf, Arc<dyn Model>>>,
}

impl Models {
    pub(super) fn new(
        library: Arc<Library>,
        overrides: HashMap<String, ModelSpec>,
        record: Option<PathBuf>,
        accept: bool,
    ) -> Self {
        let context = BuildContext::new(library.root.clone());
        let secrets = Secrets::default();
        // Also the keys of models that this run does not ask: a tool may come across them, a replayed run too.
        secrets.add(library.workspace.doc.models.values().filter_map(|doc| {
            let settings = doc.settings.node().to_json();
            model::key_of(&settings, &context)
        }));
        secrets.add(HOSTED.iter().filter_map(|(key, ..)| (context.env)(key)).map(|key| key.trim().to_owned()));
        Self {
            secrets,
            library,
            context,
            overrides,
            record,
            recording: Mutex::default(),
            accept,
            built: Mutex::default(),
            breakers: Mutex::default(),
            scripts: Mutex::default(),
        }
    }

    /// The models of a tier for a loop: its own, then its fallbacks.
    ///
    /// # Errors
    /// No model is configured, or it cannot be used as it is. A fallback that cannot be used is left out.
    pub(super) fn chain(&self, program: &Program, tier: &str) -> Result<Chain, EngineError> {
        let key = format!("{}\0{tier}", program.name);
        if let Some(chain) = lock(&self.built).get(&key) {
            return Ok(Arc::clone(chain));
        }
        let model = self.resolve(program, tier)?;
        model.ready().map_err(|error| setup(&error))?;
        let mut slots = vec![Arc::new(self.wrap(model)?)];
        // A script or a model named on the command line stands for itself.
        if slots[0].model.info().source == ReplySource::Model && !self.overrides.contains_key(tier) {
            for name in self.library.workspace.doc.tiers.fallback.get(tier).into_iter().flatten() {
                let model = self.named(name, program, tier, &mut Vec::new())?;
                if model.ready().is_ok() {
                    slots.push(Arc::new(self.wrap(model)?));
                }
            }
        }
        let chain: Chain = slots.into();
        lock(&self.built).insert(key, Arc::clone(&chain));
        Ok(chain)
    }

    fn wrap(&self, model: Arc<dyn Model>) -> Result<ModelSlot, EngineError> {
        self.secrets.add(model.secrets());
        let info = model.info();
        let (label, replayed) = (info.label(), info.source != ReplySource::Model);
        let breaker = Arc::clone(lock(&self.breakers).entry(label.clone()).or_default());
        let Some(path) = &self.record else {
            return Ok(ModelSlot { model, label, matches_requests: replayed, breaker });
        };
        let mut recording = lock(&self.recording);
        let file = match &*recording {
            Some(file) => Arc::clone(file),
            None => {
                let file = RecordFile::create(path, info).map_err(|error| setup(&error))?;
                *recording = Some(Arc::clone(&file));
                file
            }
        };
        Ok(ModelSlot { model: Arc::new(Recorder::new(model, file)), label, matches_requests: true, breaker })
    }

    /// Why the recording is not whole, when it is not.
    pub(super) fn record_failure(&self) -> Option<String> {
        lock(&self.recording).as_ref().and_then(|file| file.failure())
    }

    /// The keys of all models that could be asked, and of those that are.
    pub(super) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    fn resolve(&self, program: &Program, tier: &str) -> Result<Arc<dyn Model>, EngineError> {
        self.of_tier(program, tier, &mut Vec::new())
    }

    /// The model of a tier. `seen` are the tiers that led here.
    fn of_tier(&self, program: &Program, tier: &str, seen: &mut Vec<String>) -> Result<Arc<dyn Model>, EngineError> {
        // A loop that runs on `helper`, where a helper without a model of its own is the main model: that of the workspace then.
        if seen.iter().any(|before| before == tier) {
            return self.main_of_workspace(program, seen);
        }
        seen.push(tier.to_owned());
        if let Some(spec) = self.overrides.get(tier) {
            return self.build_spec(spec);
        }
        if let Some(choice) = program.models.get(tier) {
            return match choice.node().as_str() {
                Some(name) => self.named(name, program, tier, seen),
                None => self.build(choice.node()),
            };
        }
        if let Some(name) = self.library.workspace.doc.tiers.named.get(tier) {
            return self.named(name, program, tier, seen);
        }
        if tier != "main" {
            // A helper without a model of its own is the main model.
            return self.shared_main(program, seen);
        }
        self.of_environment(program)
    }

    /// The main model, whatever the loop says.
    fn main_of_workspace(&self, program: &Program, seen: &mut Vec<String>) -> Result<Arc<dyn Model>, EngineError> {
        const MARK: &str = "main of the workspace";
        let first = !seen.iter().any(|before| before == MARK);
        seen.push(MARK.to_owned());
        match (self.overrides.get("main"), self.library.workspace.doc.tiers.named.get("main")) {
            (Some(spec), _) => self.build_spec(spec),
            (None, Some(name)) if first => self.named(name, program, "main", seen),
            _ => self.of_environment(program),
        }
    }

    fn of_environment(&self, program: &Program) -> Result<Arc<dyn Model>, EngineError> {
        match environment_model(&*self.context.env) {
            Some(spec) => self.build_spec(&spec),
            None => self.example(program),
        }
    }

    fn shared_main(&self, program: &Program, seen: &mut Vec<String>) -> Result<Arc<dyn Model>, EngineError> {
        let key = format!("{}\0main", program.name);
        if let Some(chain) = lock(&self.built).get(&key) {
            return Ok(Arc::clone(&chain[0].model));
        }
        self.of_tier(program, "main", seen)
    }

    /// A model of the workspace, or a tier.
    fn named(
        &self,
        name: &str,
        program: &Program,
        tier: &str,
        seen: &mut Vec<String>,
    ) -> Result<Arc<dyn Model>, EngineError> {
        let workspace = &self.library.workspace.doc;
        if let Some(doc) = workspace.models.get(name) {
            return self.build(doc.settings.node());
        }
        if name != tier {
            let is_new = !seen.iter().any(|before| before == name);
            if let (Some(target), true) = (workspace.tiers.named.get(name), is_new) {
                seen.push(name.to_owned());
                return self.named(target, program, name, seen);
            }
            if program.models.contains_key(name) || self.overrides.contains_key(name) || name == "main" {
                return self.of_tier(program, name, seen);
            }
        }
        if tier != "main" && self.overrides.contains_key("main") {
            return self.of_tier(program, "main", seen);
        }
        if UNDECLARED.contains(&name) {
            return self.shared_main(program, seen);
        }
        // A loop that names a tier which this workspace does not define runs on whatever the main model is.
        if workspace.models.is_empty() && workspace.tiers.named.is_empty() {
            return match self.overrides.get("main").cloned().or_else(|| environment_model(&*self.context.env)) {
                Some(spec) => self.build_spec(&spec),
                None => self.example(program),
            };
        }
        let known: Vec<&str> =
            workspace.models.keys().chain(workspace.tiers.named.keys()).map(String::as_str).collect();
        Err(EngineError::Model {
            message: format!(
                "The loop `{}` wants the model `{name}`, which the workspace does not define",
                program.name
            ),
            help: Some(format!("the workspace has: {}", known.join(", "))),
        })
    }

    fn build(&self, node: &Node) -> Result<Arc<dyn Model>, EngineError> {
        let mut settings = node.to_json();
        let provider = settings.get("provider").and_then(Json::as_str).unwrap_or_default().to_owned();
        if let Some(map) = settings.as_object_mut() {
            map.shift_remove("provider");
        }
        let settings = self.accepting(&provider, settings);
        let provider = model::provider(&provider).map_err(|error| setup(&error))?;
        provider.build(&settings, &self.context).map_err(|error| setup(&error))
    }

    fn build_spec(&self, spec: &ModelSpec) -> Result<Arc<dyn Model>, EngineError> {
        if let Some(doc) = self.library.workspace.doc.models.get(&spec.model)
            && spec.provider.is_empty()
        {
            return self.build(doc.settings.node());
        }
        if spec.provider.is_empty() {
            return Err(EngineError::Model {
                message: format!("The workspace has no model `{}`", spec.model),
                help: Some(
                    "write PROVIDER:MODEL, such as openai:gpt-5-mini, or the name of a model of the workspace"
                        .to_owned(),
                ),
            });
        }
        let provider = model::provider(&spec.provider).map_err(|error| setup(&error))?;
        let settings = self.accepting(&spec.provider, spec.settings());
        provider.build(&settings, &self.context).map_err(|error| setup(&error))
    }

    /// The settings of a model; of a script, with what was asked for all scripts.
    fn accepting(&self, provider: &str, mut settings: Json) -> Json {
        if let Some(map) = settings.as_object_mut().filter(|_| self.accept && provider == "replay") {
            map.insert("accept".to_owned(), Json::Bool(true));
        }
        settings
    }

    /// The loop's own script, which answers its own input and nothing else.
    fn example(&self, program: &Program) -> Result<Arc<dyn Model>, EngineError> {
        let Some((_, script)) = &program.example else { return Err(no_model(None)) };
        let path = self.library.root.join(script);
        if !path.is_file() {
            return Err(no_model(Some(script)));
        }
        if let Some(model) = lock(&self.scripts).get(&path) {
            return Ok(Arc::clone(model));
        }
        let mode = if self.accept { ReplayMode::Accept } else { ReplayMode::Strict };
        let model: Arc<dyn Model> = Arc::new(Replay::open(&path, mode).map_err(|error| setup(&error))?);
        lock(&self.scripts).insert(path, Arc::clone(&model));
        Ok(model)
    }
}

/// Tiers that every workspace has: the main model where it declares none.
const UNDECLARED: [&str; 3] = ["helper", "quality", "speed"];

/// Hosted models that a key in the environment alone configures: variable, provider, model.
const HOSTED: [(&str, &str, &str); 2] =
    [("ANTHROPIC_API_KEY", "anthropic", "claude-sonnet-5"), ("OPENAI_API_KEY", "openai", "gpt-5-mini")];

/// The model that the environment names: one of LOOPWRIGHT_MODEL, or a hosted one whose key is there.
pub(crate) fn environment_model(env: &dyn Fn(&str) -> Option<String>) -> Option<ModelSpec> {
    let set = |name: &str| env(name).filter(|value| !value.trim().is_empty());
    if let Some(text) = set("LOOPWRIGHT_MODEL") {
        let mut spec = ModelSpec::parse(&text).ok()?;
        spec.base_url = set("LOOPWRIGHT_BASE_URL");
        return Some(spec);
    }
    HOSTED.iter().find(|(key, ..)| set(key).is_some()).map(|(key, provider, model)| ModelSpec {
        provider: (*provider).to_owned(),
        model: (*model).to_owned(),
        key: Some((*key).to_owned()),
        ..ModelSpec::default()
    })
}

/// How to get a model, in words that can be typed.
pub(crate) const MODEL_HELP: &str = "\
a hosted model: export ANTHROPIC_API_KEY=YOUR-KEY (or OPENAI_API_KEY=YOUR-KEY)
a local server: export LOOPWRIGHT_MODEL=openai:NAME
                export LOOPWRIGHT_BASE_URL=http://127.0.0.1:8080/v1
for good: `models` and `tiers` in loopwright.yaml (docs/providers.md)";

fn no_model(script: Option<&str>) -> EngineError {
    let more = script.map(|script| format!(" (its script {script} is not in this workspace)")).unwrap_or_default();
    EngineError::Model {
        message: format!("This loop needs a model and none is configured{more}"),
        help: Some(MODEL_HELP.to_owned()),
    }
}

fn setup(error: &ModelSetupError) -> EngineError {
    EngineError::Model { message: error.to_string(), help: None }
}
