//! A loop, compiled once: names resolved, verbs decoded, templates found. Never changes while a run uses it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use indexmap::IndexMap;
use serde_json::Value as Json;

pub(super) use super::action::{ActionKind, ActionProgram};
use super::builtin::Builtin;
use super::compile::{Compiler, Offered, searches};
use super::error::EngineError;
use super::mechanism::{GateProgram, Prompts};
use super::sections::SectionProgram;
use super::steps::StepList;
use super::toolbox::Toolbox;
use crate::capability::{CapabilityKind, Language};
use crate::document::{LoopDoc, Spin, StateVar};
use crate::load::{Library, Loaded};
use crate::mechanism::Settings;
use crate::mechanism::spin::Rules;
use crate::model::{ToolSpec, ToolSpecs};
use crate::state::lock;
use crate::syntax::Raw;

/// A compiled loop.
pub(super) struct Program {
    pub(super) name: String,
    pub(super) limits: crate::document::Limits,
    pub(super) allow: crate::document::Allow,
    pub(super) overflow: crate::document::Overflow,
    pub(super) state: IndexMap<String, StateVar>,
    pub(super) actions: IndexMap<String, Arc<ActionProgram>>,
    /// Tools that the model may call, in the order of the document.
    pub(super) tools: Vec<String>,
    /// The MCP servers that bring some of its tools.
    pub(super) servers: Vec<String>,
    /// Whether names of tools are still to be resolved, since a server was not started yet.
    pub(super) pending: bool,
    /// The generation of the servers' tools that it was compiled with.
    generation: u64,
    /// Skills that the model may load, in the order of their names or of the document.
    pub(super) skills: Vec<String>,
    /// Forges that the model may run.
    pub(super) forges: Vec<String>,
    /// Loops that the model may enter.
    pub(super) focus_modes: Vec<String>,
    /// Whether the workspace may have capabilities beside those that the loop offers.
    pub(super) more: bool,
    /// Whether the model may also use what a search finds.
    pub(super) searches: bool,
    /// The language in which the model is told of capabilities.
    pub(super) language: Language,
    pub(super) sections: Vec<SectionProgram>,
    pub(super) mechanisms: Settings,
    pub(super) prompts: Prompts,
    pub(super) gate: Arc<GateProgram>,
    spin: Option<Spin>,
    spin_rules: OnceLock<Rules>,
    pub(super) init: StepList,
    pub(super) after_iteration: StepList,
    pub(super) finish: StepList,
    /// Tier → model, as the loop writes it.
    pub(super) models: IndexMap<String, Raw>,
    pub(super) env: Vec<String>,
    /// The input and script that show the loop without a model.
    pub(super) example: Option<(String, String)>,
    sets: Mutex<HashMap<Vec<String>, Arc<ActionSet>>>,
}

/// The actions that a turn may take, in every form that a request or a reader needs.
pub(super) struct ActionSet {
    pub(super) actions: Vec<Arc<ActionProgram>>,
    /// For templates: `[{ name, description, params, tags }]`.
    pub(super) listing: minijinja::Value,
    /// One object schema that admits exactly these actions.
    pub(super) schema: Json,
    /// Each action, and each tool of the loop, as a native tool.
    pub(super) specs: ToolSpecs,
}

impl Program {
    /// Compiles a loop.
    ///
    /// # Errors
    /// A name that refers to nothing, a step that cannot be decoded.
    pub(super) fn compile(library: &Library, loaded: &Loaded<LoopDoc>, toolbox: &Toolbox) -> Result<Self, EngineError> {
        let doc = &loaded.doc;
        let generation = toolbox.generation();
        let mut compiler = Compiler::new(library, doc, toolbox);
        let skills = compiler.skills()?;
        let tools = compiler.tools(&skills)?;
        let offered = compiler.offered(tools, skills)?;
        let more = compiler.has_more(&offered);
        compiler.searches = more && searches(loaded);
        let servers = compiler.servers();
        let actions = compiler.actions(&offered)?;
        let Offered { tools, skills, forges, focus_modes } = offered;
        Ok(Self {
            name: doc.name.to_string(),
            limits: doc.limits.clone(),
            allow: doc.allow.clone(),
            overflow: doc.prompt.overflow.clone(),
            state: doc.state.clone(),
            actions,
            sections: super::sections::compile(library, loaded).map_err(|problem| compiler.fault(problem))?,
            mechanisms: Settings::new(&doc.mechanisms, &library.workspace.doc.mechanisms),
            prompts: Prompts::compile(library, loaded).map_err(|problem| compiler.fault(problem))?,
            gate: Arc::new(GateProgram::compile(library, loaded).map_err(|problem| compiler.fault(problem))?),
            spin: doc.mechanisms.spin.clone(),
            spin_rules: OnceLock::new(),
            pending: !servers.is_empty()
                && tools.iter().chain(compiler.tools_of_actions()).any(|name| toolbox.get(name).is_none()),
            servers,
            generation,
            tools,
            skills,
            forges,
            focus_modes,
            more,
            searches: compiler.searches,
            language: Language::of(doc.language.as_deref().or(library.workspace.doc.language.as_deref())),
            init: compiler.steps("hooks.init", &doc.hooks.init)?,
            after_iteration: compiler.steps("hooks.after_iteration", &doc.hooks.after_iteration)?,
            finish: compiler.steps("hooks.finish", &doc.hooks.finish)?,
            models: doc.model.as_ref().map(|choice| choice.tiers.clone()).unwrap_or_default(),
            env: library.workspace.doc.env.iter().chain(&doc.env).map(|name| name.to_string()).collect(),
            example: doc.example.as_ref().map(|e| (e.input.to_string(), e.script.to_string())),
            sets: Mutex::default(),
        })
    }

    /// What it offers of a kind by name.
    pub(super) fn offered(&self, kind: CapabilityKind) -> &[String] {
        match kind {
            CapabilityKind::Tool => &self.tools,
            CapabilityKind::Forge => &self.forges,
            CapabilityKind::Skill => &self.skills,
            CapabilityKind::FocusMode => &self.focus_modes,
        }
    }

    /// The names of all that it offers.
    pub(super) fn offered_names(&self) -> impl Iterator<Item = &String> {
        CapabilityKind::ALL.into_iter().flat_map(|kind| self.offered(kind))
    }

    /// Whether servers have the same tools as when it was compiled, as far as that matters to it.
    pub(super) fn is_current(&self, toolbox: &Toolbox) -> bool {
        self.servers.is_empty() || self.generation == toolbox.generation()
    }

    /// `env` in the loop's templates: the variables that it may read.
    pub(super) fn env(&self) -> minijinja::Value {
        let set = self.env.iter().filter_map(|name| Some((name.as_str(), std::env::var(name).ok()?)));
        minijinja::Value::from_pairs(set.map(|(name, value)| (name, minijinja::Value::from(value))))
    }

    /// What the spin detector goes by, made once.
    pub(super) fn spin_rules(&self) -> &Rules {
        self.spin_rules.get_or_init(|| self.spin.as_ref().map_or_else(Rules::default, |spin| Rules::new(spin.into())))
    }

    /// The set of the actions with these names, made once.
    pub(super) fn action_set(&self, names: Vec<String>, toolbox: &Toolbox) -> Arc<ActionSet> {
        if let Some(set) = lock(&self.sets).get(&names) {
            return Arc::clone(set);
        }
        let set = Arc::new(self.make_set(&names, toolbox));
        lock(&self.sets).insert(names, Arc::clone(&set));
        set
    }

    fn make_set(&self, names: &[String], toolbox: &Toolbox) -> ActionSet {
        let actions: Vec<_> = names.iter().filter_map(|name| self.actions.get(name)).cloned().collect();
        let listing: Vec<Json> = actions
            .iter()
            .map(|action| {
                let tags: Vec<Json> = action
                    .tags
                    .iter()
                    .map(|(name, tag)| {
                        serde_json::json!({
                            "name": name,
                            "required": tag.required,
                            "description": tag.description.clone().unwrap_or_default(),
                        })
                    })
                    .collect();
                serde_json::json!({
                    "name": action.name, "description": action.description, "params": action.params, "tags": tags,
                })
            })
            .collect();
        let can_call = actions.iter().any(|a| matches!(a.kind, ActionKind::Builtin(Builtin::DirectlyCallTool)));
        let mut specs: Vec<ToolSpec> =
            actions.iter().filter(|a| a.is_native(self.searches)).map(|a| a.spec()).collect();
        if can_call {
            let known: Vec<_> = specs.iter().map(|spec| spec.name.clone()).collect();
            specs.extend(self.tools.iter().filter(|name| !known.contains(name)).filter_map(|name| toolbox.spec(name)));
        }
        ActionSet {
            listing: minijinja::Value::from(minijinja::value::Serde(&listing)),
            schema: union_schema(&actions),
            specs: ToolSpecs::new(specs),
            actions,
        }
    }
}

/// One schema for a reply under constrained decoding: an alternative an action.
fn union_schema(actions: &[Arc<ActionProgram>]) -> Json {
    let alternatives: Vec<Json> = actions
        .iter()
        .map(|action| {
            let mut properties = serde_json::Map::new();
            properties.insert("@action".into(), serde_json::json!({ "const": action.name }));
            properties.insert("identifier".into(), serde_json::json!({ "type": "string" }));
            properties.insert("human_readable_thought".into(), serde_json::json!({ "type": "string" }));
            if let Some(own) = action.params.get("properties").and_then(Json::as_object) {
                properties.extend(own.clone());
            }
            let mut required = vec![Json::from("@action")];
            required.extend(action.params.get("required").and_then(Json::as_array).cloned().unwrap_or_default());
            serde_json::json!({
                "type": "object", "properties": properties, "required": required, "additionalProperties": false,
            })
        })
        .collect();
    serde_json::json!({ "type": "object", "anyOf": alternatives })
}
