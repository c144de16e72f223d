//! Skills written in Rust: the trait, and two ready-made kinds.

use std::marker::PhantomData;
use std::pin::Pin;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::failure::{BoxError, Failure};

/// What a model is told of a skill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// What it does and when to use it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// JSON Schema of its arguments. A skill of instructions alone has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Json>,
}

/// A definition with the rest of what a skill says about itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// What a model is told.
    #[serde(flatten)]
    pub definition: Definition,
    /// The version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Markdown that the model reads when the skill is loaded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub instructions: String,
}

impl Manifest {
    /// A manifest with a name and a description.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        let definition = Definition { name: name.into(), description: description.into(), input_schema: None };
        Self { definition, version: None, instructions: String::new() }
    }

    /// Adds instructions.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = instructions.into();
        self
    }

    /// Adds the schema of the arguments. [`FnSkill`] takes it from its type when there is none.
    #[must_use]
    pub fn input_schema(mut self, schema: Json) -> Self {
        self.definition.input_schema = Some(schema);
        self
    }
}

/// What a skill gives.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SkillOutput {
    /// The text for the model.
    pub content: String,
    /// The same as data, for programs.
    pub data: Json,
}

impl SkillOutput {
    /// A value as data and as text: a string as it is, anything else as JSON.
    #[must_use]
    pub fn of(data: Json) -> Self {
        let content = match &data {
            Json::String(text) => text.clone(),
            Json::Null => String::new(),
            other => other.to_string(),
        };
        Self { content, data }
    }
}

/// The future of a call.
type Invoking<'a> = Pin<Box<dyn Future<Output = Result<SkillOutput, BoxError>> + Send + 'a>>;

/// A skill that a program brings.
pub trait Skill: Send + Sync {
    /// What a model is told.
    fn definition(&self) -> Definition;

    /// Markdown that the model reads when the skill is loaded; may be empty.
    fn instructions(&self) -> &str {
        ""
    }

    /// Does the work with arguments that fit the schema. Dropping the future must stop it. An error is told to the model, in
    /// its own words; a panic too.
    fn invoke(&self, arguments: Json) -> Invoking<'_>;
}

/// A skill of instructions alone. When it is invoked it gives them.
#[derive(Debug, Clone, PartialEq)]
pub struct StaticSkill {
    manifest: Manifest,
}

impl StaticSkill {
    /// The skill of a manifest.
    #[must_use]
    pub fn new(manifest: Manifest) -> Self {
        Self { manifest }
    }
}

impl Skill for StaticSkill {
    fn definition(&self) -> Definition {
        self.manifest.definition.clone()
    }

    fn instructions(&self) -> &str {
        &self.manifest.instructions
    }

    fn invoke(&self, _: Json) -> Invoking<'_> {
        let output = SkillOutput::of(Json::from(self.manifest.instructions.as_str()));
        Box::pin(std::future::ready(Ok(output)))
    }
}

/// A function as a skill: its arguments are a type, whose schema the model is told.
pub struct FnSkill<In, F> {
    manifest: Manifest,
    run: F,
    input: PhantomData<fn(In)>,
}

impl<In, Out, F, Work> FnSkill<In, F>
where
    In: DeserializeOwned + JsonSchema,
    Out: Serialize,
    F: Fn(In) -> Work + Send + Sync,
    Work: Future<Output = Result<Out, BoxError>> + Send,
{
    /// A skill that calls this function.
    #[must_use]
    pub fn new(mut manifest: Manifest, run: F) -> Self {
        let schema = || schemars::schema_for!(In).to_value();
        manifest.definition.input_schema.get_or_insert_with(schema);
        Self { manifest, run, input: PhantomData }
    }
}

impl<In, Out, F, Work> Skill for FnSkill<In, F>
where
    In: DeserializeOwned + JsonSchema,
    Out: Serialize,
    F: Fn(In) -> Work + Send + Sync,
    Work: Future<Output = Result<Out, BoxError>> + Send,
{
    fn definition(&self) -> Definition {
        self.manifest.definition.clone()
    }

    fn instructions(&self) -> &str {
        &self.manifest.instructions
    }

    fn invoke(&self, arguments: Json) -> Invoking<'_> {
        Box::pin(async move {
            let input =
                serde_json::from_value(arguments).map_err(|error| Failure::InvalidArguments(error.to_string()))?;
            let output = (self.run)(input).await?;
            let data = serde_json::to_value(output).map_err(|error| Failure::InvalidResult(error.to_string()))?;
            Ok(SkillOutput::of(data))
        })
    }
}
