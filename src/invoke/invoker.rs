//! The invoker: resolve, validate, middleware, work. It always gives a result.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value as Json};
use tokio_util::sync::CancellationToken;
use tower::{Layer, Service};

use super::failure::{BoxError, Failure};
use super::registry::Registry;
use super::skill::{Skill, SkillOutput};
use super::stack::{BoxFuture, Invocation, Leaf, Link, Outcome, Stack};
use super::validate::ArgumentsValidator;
use crate::diag::did_you_mean;
use crate::document::Middleware;

/// A call that a model made.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// What the model calls it.
    pub id: Option<String>,
    /// The skill's name.
    pub name: String,
    /// The arguments; an error where they are no JSON.
    arguments: Result<Json, String>,
}

impl Call {
    /// A call with arguments. No arguments are an empty object.
    #[must_use]
    pub fn new(name: impl Into<String>, arguments: Json) -> Self {
        let arguments = if arguments.is_null() { Json::Object(Map::new()) } else { arguments };
        Self { id: None, name: name.into(), arguments: Ok(arguments) }
    }

    /// A call with arguments as the model wrote them. Nothing at all is an empty object.
    #[must_use]
    pub fn parse(name: impl Into<String>, arguments: &str) -> Self {
        if arguments.trim().is_empty() {
            return Self::new(name, Json::Null);
        }
        match serde_json::from_str(arguments) {
            Ok(json) => Self::new(name, json),
            Err(error) => Self { id: None, name: name.into(), arguments: Err(format!("they are no JSON: {error}")) },
        }
    }
}

/// What a call gave, whatever happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SkillResult {
    /// The text for the model: the result, or what went wrong.
    pub content: String,
    /// The result as data.
    #[serde(skip_serializing_if = "Json::is_null")]
    pub data: Json,
    /// Whether the call failed.
    pub is_error: bool,
    /// Why, for programs; the model reads the content.
    #[serde(skip)]
    pub error: Option<Failure>,
}

impl From<Outcome<SkillOutput>> for SkillResult {
    fn from(outcome: Outcome<SkillOutput>) -> Self {
        match outcome {
            Ok(SkillOutput { content, data }) => Self { content, data, is_error: false, error: None },
            Err(error) => {
                let failure = match error.downcast::<Failure>() {
                    Ok(failure) => *failure,
                    Err(other) => Failure::Failed(other.to_string()),
                };
                Self { content: failure.to_string(), data: Json::Null, is_error: true, error: Some(failure) }
            }
        }
    }
}

/// Makes calls of registered skills.
pub struct Invoker {
    registry: Registry,
    stack: Stack<SkillOutput>,
    validators: HashMap<String, ArgumentsValidator>,
}

impl Invoker {
    /// An invoker that catches panics and has no other middleware.
    #[must_use]
    pub fn new(registry: Registry) -> Self {
        let definitions = registry.definitions().into_iter();
        let with_schema =
            definitions.filter_map(|skill| Some((skill.name, ArgumentsValidator::new(skill.input_schema?))));
        Self { validators: with_schema.collect(), stack: Stack::new(&[]), registry }
    }

    /// Puts layers around every call, the first innermost.
    #[must_use]
    pub fn middleware(mut self, layers: Vec<Middleware>) -> Self {
        self.stack = Stack::new(&layers);
        self
    }

    /// Puts a layer of tower's, or of your own, around the others.
    #[must_use]
    pub fn layer<L>(mut self, layer: &L) -> Self
    where
        L: Layer<Link<SkillOutput>>,
        L::Service: Clone + Send + Sync + 'static,
        L::Service: for<'a> Service<Invocation<'a, SkillOutput>, Response = SkillOutput, Error = BoxError>,
        for<'a> <L::Service as Service<Invocation<'a, SkillOutput>>>::Future: Send + 'a,
    {
        self.stack = self.stack.layer(layer);
        self
    }

    /// The skills.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Makes a call. Whatever fails is a result that says so.
    pub async fn invoke(&self, call: Call) -> SkillResult {
        self.invoke_until(call, &CancellationToken::new()).await
    }

    /// The same; layers stop waiting when the token is cancelled.
    pub async fn invoke_until(&self, call: Call, stop: &CancellationToken) -> SkillResult {
        self.resolve_and_call(call, stop).await.into()
    }

    async fn resolve_and_call(&self, call: Call, stop: &CancellationToken) -> Outcome<SkillOutput> {
        let Some(skill) = self.registry.get(&call.name) else {
            let near = did_you_mean(&call.name, self.registry.names()).map(str::to_owned);
            return Err(Failure::NotFound { name: call.name, near }.into());
        };
        let arguments = call.arguments.map_err(Failure::InvalidArguments)?;
        if let Some(validator) = self.validators.get(&call.name) {
            validator.check(&arguments).map_err(Failure::InvalidArguments)?;
        }
        let work = SkillWork { skill: Arc::clone(skill), arguments: &arguments };
        self.stack.call(Invocation { name: &call.name, arguments: &arguments, stop, leaf: &work }).await
    }
}

/// A skill with the arguments of one call.
pub(crate) struct SkillWork<'a> {
    pub(crate) skill: Arc<dyn Skill>,
    pub(crate) arguments: &'a Json,
}

impl Leaf<SkillOutput> for SkillWork<'_> {
    fn run(&self) -> BoxFuture<'_, Outcome<SkillOutput>> {
        Box::pin(async move {
            // The skill's own words, as a failure that layers understand.
            self.skill.invoke(self.arguments.clone()).await.map_err(|error| match error.downcast::<Failure>() {
                Ok(failure) => failure as BoxError,
                Err(other) => Failure::Failed(other.to_string()).into(),
            })
        })
    }
}
