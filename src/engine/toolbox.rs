//! The tools of an engine: documents and native ones, with their parameters' validators.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use indexmap::IndexMap;
use minijinja::Value;
use minijinja::value::Serde;
use serde_json::{Value as Json, json};

use super::steps::StepList;
use crate::document::{Effect, ToolClass, ToolDoc};
use crate::invoke::{ArgumentsValidator, Stack};
use crate::load::{Library, Loaded};
use crate::model::ToolSpec;
use crate::tool::NativeTool;

/// All tools by name.
pub(super) struct Toolbox {
    tools: IndexMap<String, Arc<Tool>>,
    forges: HashMap<String, Stack<Value>>,
}

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
    /// Rust.
    Native(Arc<dyn NativeTool>),
}

impl Toolbox {
    /// The library's tools, and native ones, which win.
    pub(super) fn new(library: &Library, native: &[Arc<dyn NativeTool>]) -> Self {
        let mut tools = IndexMap::new();
        for (name, loaded) in &library.tools {
            tools.insert(name.clone(), Arc::new(Tool::declared(name, loaded)));
        }
        for tool in native {
            tools.insert(tool.name().to_owned(), Arc::new(Tool::native(tool)));
        }
        let forges = library.forges.iter().map(|(name, loaded)| (name.clone(), Stack::new(&loaded.doc.middleware)));
        Self { forges: forges.collect(), tools }
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.tools.values()
    }

    /// A tool by name.
    pub(super) fn get(&self, name: &str) -> Option<&Arc<Tool>> {
        self.tools.get(name)
    }

    /// What is wrapped around a forge.
    pub(super) fn forge_stack(&self, name: &str) -> Option<&Stack<Value>> {
        self.forges.get(name)
    }

    /// A tool as a provider is told of it.
    pub(super) fn spec(&self, name: &str) -> Option<ToolSpec> {
        self.tools.get(name).map(|tool| ToolSpec {
            name: tool.name.clone(),
            description: tool.description.clone(),
            params: tool.params.clone(),
        })
    }

    /// `tools` in templates.
    pub(super) fn listing(&self, names: &[String]) -> Value {
        let list: Vec<Json> = names
            .iter()
            .filter_map(|name| self.tools.get(name))
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

    fn native(tool: &Arc<dyn NativeTool>) -> Self {
        let params = tool.params();
        Self {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            usage: None,
            validator: ArgumentsValidator::new(params.clone()),
            params,
            effect: tool.effect(),
            class: None,
            stack: Stack::new(&[]),
            body: ToolBody::Native(Arc::clone(tool)),
        }
    }
}

fn no_params() -> Json {
    json!({ "type": "object", "properties": {} })
}
