//! The tools of an engine: documents and native ones, with their parameters' validators.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use indexmap::IndexMap;
use minijinja::Value;
use minijinja::value::Serde;
use serde_json::{Value as Json, json};

use super::skillbook::{NativeSkill, Natives, SkillBook};
use super::steps::StepList;
use crate::document::{Effect, ToolClass, ToolDoc};
use crate::invoke::{ArgumentsValidator, Skill, Stack};
use crate::load::{Library, Loaded};
use crate::mcp::Servers;
use crate::model::ToolSpec;
use crate::state::lock;
use crate::tool::NativeTool;

/// Tools that no document declares.
#[derive(Clone)]
pub(super) struct Brought {
    pub(super) native: Natives,
    pub(super) servers: Arc<Servers>,
}

/// All tools by name.
pub(super) struct Toolbox {
    tools: ByName,
    servers: Arc<Servers>,
    /// The tools of servers, and the generation of theirs that these are.
    served: Mutex<(u64, Arc<ByName>)>,
    forges: HashMap<String, Stack<Value>>,
    skills: SkillBook,
}

type ByName = IndexMap<String, Arc<Tool>>;

/// A tool.
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) usage: Option<String>,
    pub(super) params: Json,
    pub(super) effect: Effect,
    /// A hint for spin detection.
    pub(super) class: Option<ToolClass>,
    pub(super) body: ToolBody,
    /// What is wrapped around a call. What it counts is shared by all runs of an edition.
    pub(super) stack: Stack<Value>,
    pub(super) validator: ArgumentsValidator,
}

/// What a call does.
pub(super) enum ToolBody {
    /// Steps; decoded when the tool is called for the first time, since most tools of a workspace are not called.
    Declared(Box<Loaded<ToolDoc>>, OnceLock<Result<StepList, String>>),
    /// Rust; also a tool of a server.
    Native(Arc<dyn NativeTool>),
    /// A skill in Rust.
    Skill(Arc<dyn Skill>),
}

impl Toolbox {
    /// The library's tools, and native ones, which win.
    pub(super) fn new(library: &Library, brought: &Brought) -> Self {
        let mut tools = IndexMap::new();
        for (name, loaded) in &library.tools {
            tools.insert(name.clone(), Arc::new(Tool::declared(name, loaded)));
        }
        for tool in &brought.native.tools {
            tools.insert(tool.name().to_owned(), Arc::new(Tool::native(Arc::clone(tool))));
        }
        for skill in &brought.native.skills {
            if let Some(tool) = Tool::skill(skill) {
                tools.insert(tool.name.clone(), Arc::new(tool));
            }
        }
        let forges = library.forges.iter().map(|(name, loaded)| (name.clone(), Stack::new(&loaded.doc.middleware)));
        Self {
            forges: forges.collect(),
            skills: SkillBook::new(library, &brought.native.skills),
            tools,
            servers: Arc::clone(&brought.servers),
            served: Mutex::default(),
        }
    }

    /// What a library offers to who only looks: nothing is started.
    pub(super) fn of_documents(library: &Library) -> Self {
        let access = crate::policy::Access::new(&library.root, &[], Vec::new());
        let servers = Arc::new(Servers::new(&library.workspace.doc.mcp, &access));
        Self::new(library, &Brought { native: Natives::default(), servers })
    }

    /// All of them: also those of servers that were started.
    pub(super) fn all(&self) -> impl Iterator<Item = Arc<Tool>> {
        let served: Vec<Arc<Tool>> = self.served().values().cloned().collect();
        let served = served.into_iter().filter(|tool| !self.tools.contains_key(&tool.name));
        self.tools.values().cloned().chain(served)
    }

    /// A tool by name.
    pub(super) fn get(&self, name: &str) -> Option<Arc<Tool>> {
        match self.tools.get(name) {
            Some(tool) => Some(Arc::clone(tool)),
            None => self.server_of(name).and_then(|_| self.served().get(name).cloned()),
        }
    }

    /// The server that a name or pattern belongs to, unless a document or the program has a tool of that name.
    pub(super) fn server_of(&self, name: &str) -> Option<&str> {
        if self.tools.contains_key(name) { None } else { self.servers.server_of(name) }
    }

    /// The tools that a name or pattern in a loop means. Those of a server that was not started yet are not known: then
    /// it stands for itself.
    ///
    /// # Errors
    /// There is none: why.
    pub(super) fn named(&self, name: &str) -> Result<Vec<String>, String> {
        if self.tools.contains_key(name) {
            return Ok(vec![name.to_owned()]);
        }
        if self.server_of(name).is_none() {
            return Err(format!("there is no tool named `{name}`"));
        }
        Ok(self.servers.named(name)?.unwrap_or_else(|| vec![name.to_owned()]))
    }

    /// Another number means that servers have other tools.
    pub(super) fn generation(&self) -> u64 {
        self.servers.generation()
    }

    fn served(&self) -> Arc<ByName> {
        // Before the tools: those of a later generation under an earlier number are only read once more.
        let generation = self.generation();
        let mut served = lock(&self.served);
        if served.0 != generation {
            let tools = self.servers.tools().into_iter();
            let tools = tools.map(|tool| (tool.listed().name.clone(), Arc::new(Tool::native(Arc::new(tool)))));
            *served = (generation, Arc::new(tools.collect()));
        }
        Arc::clone(&served.1)
    }

    /// The skills.
    pub(super) fn skills(&self) -> &SkillBook {
        &self.skills
    }

    /// What is wrapped around a forge.
    pub(super) fn forge_stack(&self, name: &str) -> Option<&Stack<Value>> {
        self.forges.get(name)
    }

    /// A tool as a provider is told of it.
    pub(super) fn spec(&self, name: &str) -> Option<ToolSpec> {
        self.get(name).map(|tool| ToolSpec {
            name: tool.name.clone(),
            description: tool.description.clone(),
            params: tool.params.clone(),
        })
    }

    /// `tools` in templates.
    pub(super) fn listing(&self, names: &[String]) -> Value {
        let list: Vec<Json> = names
            .iter()
            .filter_map(|name| self.get(name))
            .map(|tool| {
                json!({
                    "name": tool.name, "description": tool.description,
                    "usage": tool.usage, "params": tool.params,
                })
            })
            .collect();
        Value::from(Serde(&list))
    }
}

impl Tool {
    fn declared(name: &str, loaded: &Loaded<ToolDoc>) -> Self {
        let doc = &loaded.doc;
        let params = doc.params.as_ref().map_or_else(no_params, |params| params.schema.clone());
        Self {
            name: name.to_owned(),
            description: doc.description.clone(),
            usage: doc.usage.clone(),
            validator: ArgumentsValidator::new(params.clone()),
            params,
            effect: doc.effect,
            class: doc.class,
            stack: Stack::new(&doc.middleware),
            body: ToolBody::Declared(Box::new(loaded.clone()), OnceLock::new()),
        }
    }

    /// A skill that a program brings, if it takes arguments: one of instructions alone is no tool.
    fn skill(native: &NativeSkill) -> Option<Self> {
        let definition = native.skill.definition();
        let params = definition.input_schema?;
        Some(Self {
            name: definition.name,
            description: definition.description,
            usage: None,
            validator: ArgumentsValidator::new(params.clone()),
            params,
            effect: Effect::AtMostOnce,
            class: None,
            stack: Stack::new(&native.middleware),
            body: ToolBody::Skill(Arc::clone(&native.skill)),
        })
    }

    fn native(tool: Arc<dyn NativeTool>) -> Self {
        let params = tool.params();
        let validator = if tool.foreign() { ArgumentsValidator::lenient } else { ArgumentsValidator::new };
        Self {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            usage: None,
            validator: validator(params.clone()),
            params,
            effect: tool.effect(),
            class: None,
            stack: Stack::new(&[]),
            body: ToolBody::Native(tool),
        }
    }
}

fn no_params() -> Json {
    json!({ "type": "object", "properties": {} })
}
