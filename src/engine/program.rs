//! A loop, compiled once: names resolved, verbs decoded, templates found. Never changes while a run uses it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use indexmap::IndexMap;
use serde_json::Value as Json;

pub(super) use super::action::{ActionKind, ActionProgram};
use super::builtin::{Builtin, Nameable};
use super::error::EngineError;
use super::mechanism::{GateProgram, Prompts};
use super::sections::SectionProgram;
use super::skillbook::BookSkill;
use super::steps::StepList;
use super::toolbox::Toolbox;
use crate::capability::Language;
use crate::document::{Action, BUILTINS, LoopDoc, Spin, StateVar, Tag, Then};
use crate::load::{Library, Loaded};
use crate::mechanism::spin::Rules;
use crate::mechanism::{Mode, Settings};
use crate::model::tokens::Counter;
use crate::model::{ToolSpec, ToolSpecs};
use crate::reply::{ActionGrammar, TagRule};
use crate::state::lock;
use crate::syntax::{Node, Raw};

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
    /// Whether the model may also call tools that a search finds.
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
        let compiler = Compiler { library, doc, toolbox, searches: doc.allow.tool && searches(loaded) };
        let generation = toolbox.generation();
        let skills = compiler.skills()?;
        let tools = compiler.tools(&skills)?;
        let servers = compiler.servers();
        let actions = compiler.actions(&tools, &skills)?;
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

/// Whether a loop looks for capabilities anywhere: as an action of the model, or in a step.
fn searches(loaded: &Loaded<LoopDoc>) -> bool {
    let name = Builtin::SEARCH;
    let listed = loaded.doc.builtins.iter().flatten().any(|listed| listed.as_str() == name);
    listed || ["actions", "hooks"].iter().any(|key| loaded.node.get(key).is_some_and(|node| has_key(node, name)))
}

fn has_key(node: &Node, key: &str) -> bool {
    let below = |node: &Node| has_key(node, key);
    node.entries().iter().any(|entry| &*entry.key == key || below(&entry.value)) || node.items().iter().any(below)
}

/// Compiles one document.
struct Compiler<'a> {
    library: &'a Library,
    doc: &'a LoopDoc,
    toolbox: &'a Toolbox,
    searches: bool,
}

impl Compiler<'_> {
    fn fault(&self, problem: impl Into<String>) -> EngineError {
        EngineError::Document { name: self.doc.name.to_string(), problem: problem.into() }
    }

    fn steps(&self, path: &str, steps: &[crate::document::Step]) -> Result<StepList, EngineError> {
        StepList::compile(path, steps).map_err(|diagnostics| {
            let words: Vec<String> =
                diagnostics.iter().map(|d| format!("{}{}", self.library.place(d.span), d.message)).collect();
            self.fault(words.join("; "))
        })
    }

    fn skills(&self) -> Result<Vec<String>, EngineError> {
        let book = self.toolbox.skills();
        for name in self.doc.skills.iter().flatten() {
            if book.get(name).is_none() {
                let place = self.library.place(Some(name.span));
                return Err(self.fault(format!("{place}there is no skill named `{name}`")));
            }
        }
        let all: Vec<String> = book.all().map(|skill| skill.name.clone()).collect();
        Ok(self.doc.offered_skills(&all))
    }

    /// Skills that the model may call too: those that the document names, and those that a program brings.
    fn callable<'s>(&'s self, skills: &'s [String]) -> impl Iterator<Item = &'s String> {
        let named = |name: &String| self.doc.skills.iter().flatten().any(|listed| listed.value == *name);
        let native = |name: &String| self.toolbox.skills().get(name).is_some_and(|skill| skill.native);
        skills.iter().filter(move |name| (named(name) || native(name)) && self.toolbox.get(name).is_some())
    }

    fn tools(&self, skills: &[String]) -> Result<Vec<String>, EngineError> {
        if !self.doc.allow.tool {
            return Ok(Vec::new());
        }
        let mut tools: Vec<String> = Vec::new();
        for name in self.doc.tools.iter().chain(&self.library.workspace.doc.tools) {
            let named = self.toolbox.named(name);
            let named =
                named.map_err(|problem| self.fault(format!("{}{problem}", self.library.place(Some(name.span)))))?;
            for name in named {
                if !tools.contains(&name) {
                    tools.push(name);
                }
            }
        }
        for name in self.callable(skills) {
            if !tools.contains(name) {
                tools.push(name.clone());
            }
        }
        Ok(tools)
    }

    /// The MCP servers that the loop's tools come from.
    fn servers(&self) -> Vec<String> {
        let listed = self.doc.tools.iter().chain(&self.library.workspace.doc.tools).filter(|_| self.doc.allow.tool);
        let names = listed.map(|name| &name.value).chain(self.tools_of_actions());
        let mut servers: Vec<String> = Vec::new();
        for server in names.filter_map(|name| self.toolbox.server_of(name)) {
            if !servers.iter().any(|known| known == server) {
                servers.push(server.to_owned());
            }
        }
        servers
    }

    /// The tools that actions stand for.
    fn tools_of_actions(&self) -> impl Iterator<Item = &String> {
        self.doc.actions.values().filter_map(|action| action.from_tool.as_ref()).map(|name| &name.value)
    }

    fn actions(
        &self,
        tools: &[String],
        skills: &[String],
    ) -> Result<IndexMap<String, Arc<ActionProgram>>, EngineError> {
        let mut actions = IndexMap::new();
        for (name, action) in &self.doc.actions {
            actions.insert(name.clone(), Arc::new(self.declared(name, action)?));
        }
        for builtin in BUILTINS.iter().filter(|builtin| self.offers(builtin.name, tools, skills)) {
            let Some(which) = Builtin::of(builtin.name) else { continue };
            if actions.contains_key(builtin.name) {
                continue;
            }
            let nameable = Nameable { tools, skills, found: self.searches };
            let (params, tags) = (which.params(nameable), which.tags());
            actions.insert(
                builtin.name.to_owned(),
                Arc::new(ActionProgram {
                    name: builtin.name.to_owned(),
                    description: builtin.description.to_owned(),
                    grammar: grammar(&params, &tags),
                    params,
                    tags,
                    stream: which.stream(),
                    verify: Vec::new(),
                    when: None,
                    key: false,
                    kind: ActionKind::Builtin(which),
                    then: if builtin.ends_loop { Then::Exit } else { Then::Continue },
                }),
            );
        }
        Ok(actions)
    }

    /// Whether the loop offers a built-in action: listed, or allowed when nothing is listed.
    fn offers(&self, name: &str, tools: &[String], skills: &[String]) -> bool {
        let allowed = match Builtin::of(name) {
            None => false,
            Some(Builtin::DirectlyCallTool | Builtin::RequireTool) => !tools.is_empty() || self.searches,
            // What is found may be used: nobody gets that without asking for it.
            Some(Builtin::SearchCapabilities) => self.doc.builtins.is_some(),
            Some(Builtin::AskForClarification) => self.doc.allow.user_interaction,
            Some(Builtin::LoadingSkills) => !skills.is_empty(),
            Some(Builtin::LoadSkillResources) => self.of(skills).any(|skill| !skill.files().is_empty()),
            Some(Builtin::ChangeSkillViewOffset) => {
                let tokens = self.of(skills).map(|skill| Counter::ESTIMATE.count(&skill.instructions));
                tokens.sum::<usize>() > self.doc.limits.max_skill_tokens as usize
            }
            Some(Builtin::Finish | Builtin::DirectlyAnswer) => true,
            // Where nobody named the gate, it costs no model call that nobody listed.
            Some(Builtin::RequestVerification) => match self.verification_mode() {
                Mode::On => true,
                Mode::Free => self.doc.builtins.is_some(),
                Mode::Off => false,
            },
        };
        allowed
            && match &self.doc.builtins {
                Some(listed) => listed.iter().any(|listed| listed.as_str() == name),
                None => true,
            }
    }

    fn verification_mode(&self) -> Mode {
        Settings::new(&self.doc.mechanisms, &self.library.workspace.doc.mechanisms).verification.mode
    }

    fn of<'s>(&'s self, skills: &'s [String]) -> impl Iterator<Item = &'s BookSkill> {
        skills.iter().filter_map(|name| self.toolbox.skills().get(name))
    }

    fn declared(&self, name: &str, action: &Action) -> Result<ActionProgram, EngineError> {
        let mut params = action.params.as_ref().map(|params| params.schema.clone());
        let mut description = action.description.clone();
        let kind = if let Some(tool) = &action.from_tool {
            self.toolbox.named(tool).map_err(|problem| self.fault(format!("action `{name}`: {problem}")))?;
            // Not there yet means that a server is to be started before the first turn.
            if let Some(found) = self.toolbox.get(tool) {
                params.get_or_insert_with(|| found.params.clone());
                if description.is_empty() {
                    description.clone_from(&found.description);
                }
            }
            ActionKind::Tool(tool.to_string())
        } else if let Some(target) = &action.from_loop {
            let found = self
                .library
                .loops
                .get(target.as_str())
                .ok_or_else(|| self.fault(format!("action `{name}`: there is no loop named `{target}`")))?;
            if description.is_empty() {
                description = found.doc.description.as_deref().cloned().unwrap_or_default();
            }
            params.get_or_insert_with(|| {
                serde_json::json!({
                    "type": "object",
                    "properties": { "task": { "type": "string", "description": "What to do; the whole input when left out." } }
                })
            });
            ActionKind::Loop(target.to_string())
        } else {
            ActionKind::Steps(self.steps(&format!("actions.{name}.do"), &action.steps)?)
        };
        let params = params.unwrap_or_else(|| serde_json::json!({ "type": "object", "properties": {} }));
        let verify = action
            .verify
            .iter()
            .map(|verify| (verify.that.to_string(), verify.message.as_ref().map(|message| message.to_string())))
            .collect();
        Ok(ActionProgram {
            name: name.to_owned(),
            description,
            grammar: grammar(&params, &action.tags),
            params,
            tags: action.tags.clone(),
            stream: action.stream.clone(),
            verify,
            when: action.when.as_ref().map(|when| when.to_string()),
            key: action.key,
            kind,
            then: action.then.as_ref().map_or(Then::Continue, |then| then.value),
        })
    }
}

fn grammar(params: &Json, tags: &IndexMap<String, Tag>) -> Arc<ActionGrammar> {
    let tags = tags.iter().map(|(name, tag)| (name.clone(), TagRule { required: tag.required })).collect();
    Arc::new(ActionGrammar::new(params.clone(), tags))
}
