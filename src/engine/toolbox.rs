//! The tools of an engine: documents and native ones, with their parameters' validators.

use std::sync::{Arc, OnceLock};

use indexmap::IndexMap;
use minijinja::Value;
use minijinja::value::Serde;
use serde_json::{Value as Json, json};

use super::steps::StepList;
use crate::document::{Effect, Middleware, ToolClass, ToolDoc};
use crate::load::{Library, Loaded};
use crate::model::ToolSpec;
use crate::tool::NativeTool;

/// All tools by name.
pub(super) struct Toolbox {
    tools: IndexMap<String, Arc<Tool>>,
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
    pub(super) middleware: Vec<Middleware>,
    validator: OnceLock<Result<jsonschema::Validator, String>>,
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
            let doc = &loaded.doc;
            tools.insert(
                name.clone(),
                Arc::new(Tool {
                    name: name.clone(),
                    description: doc.description.clone(),
                    usage: doc.usage.clone(),
                    params: doc.params.as_ref().map_or_else(no_params, |params| params.schema.clone()),
                    effect: doc.effect,
                    class: doc.class,
                    middleware: doc.middleware.clone(),
                    body: ToolBody::Declared(Box::new(loaded.clone()), OnceLock::new()),
                    validator: OnceLock::new(),
                }),
            );
        }
        for tool in native {
            tools.insert(
                tool.name().to_owned(),
                Arc::new(Tool {
                    name: tool.name().to_owned(),
                    description: tool.description().to_owned(),
                    usage: None,
                    params: tool.params(),
                    effect: tool.effect(),
                    class: None,
                    middleware: Vec::new(),
                    body: ToolBody::Native(Arc::clone(tool)),
                    validator: OnceLock::new(),
                }),
            );
        }
        Self { tools }
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.tools.values()
    }

    /// A tool by name.
    pub(super) fn get(&self, name: &str) -> Option<&Arc<Tool>> {
        self.tools.get(name)
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
    /// Whether parameters fit the tool.
    ///
    /// # Errors
    /// What does not fit, for the model.
    pub(super) fn check(&self, params: &Json) -> Result<(), String> {
        let validator = self
            .validator
            .get_or_init(|| jsonschema::validator_for(&self.params).map_err(|error| error.to_string()))
            .as_ref()
            .map_err(|problem| format!("the tool's own schema is broken: {problem}"))?;
        let problems: Vec<String> = validator
            .iter_errors(params)
            .take(8)
            .map(|error| {
                let place = error.instance_path().to_string();
                if place.is_empty() { error.to_string() } else { format!("{place}: {error}") }
            })
            .collect();
        if problems.is_empty() { Ok(()) } else { Err(problems.join("; ")) }
    }
}

fn no_params() -> Json {
    json!({ "type": "object", "properties": {} })
}
