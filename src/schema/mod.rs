//! Every JSON Schema, made from the document types and the tables, and the reference pages made from the same.

mod files;
mod reference;
mod transform;

pub use files::{check_drift, check_reference_drift, write, write_reference};

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value as Json, json};

use crate::document::{ForgeDoc, Kind, LoopDoc, PresetDoc, ToolDoc, WorkspaceDoc};
use crate::event::Envelope;
use crate::model::PROVIDERS;
use crate::tune::History;
use crate::verb::VERBS;

/// What has a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaKind {
    /// A document.
    Document(Kind),
    /// An event of the event stream.
    Event,
    /// A recorded run.
    History,
}

impl SchemaKind {
    /// Everything that has a schema.
    pub const ALL: [Self; 7] = [
        Self::Document(Kind::Loop),
        Self::Document(Kind::Tool),
        Self::Document(Kind::Forge),
        Self::Document(Kind::Preset),
        Self::Document(Kind::Workspace),
        Self::Event,
        Self::History,
    ];

    /// Its word on the command line and in file names.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Document(kind) => kind.name(),
            Self::Event => "event",
            Self::History => "history",
        }
    }

    /// The file's name in `schemas/`.
    #[must_use]
    pub fn file_name(self) -> String {
        format!("{}.schema.json", self.name())
    }

    fn title(self) -> &'static str {
        match self {
            Self::Document(Kind::Loop) => "Loopwright loop",
            Self::Document(Kind::Tool) => "Loopwright tool",
            Self::Document(Kind::Forge) => "Loopwright forge",
            Self::Document(Kind::Preset) => "Loopwright preset",
            Self::Document(Kind::Workspace) => "Loopwright workspace",
            Self::Event => "Loopwright event",
            Self::History => "Loopwright recorded run",
        }
    }
}

/// The JSON Schema (2020-12) of a kind of document, or of an event.
#[must_use]
pub fn generate(kind: SchemaKind) -> Json {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = match kind {
        SchemaKind::Document(Kind::Loop) => of_document::<LoopDoc>(generator),
        SchemaKind::Document(Kind::Tool) => of_document::<ToolDoc>(generator),
        SchemaKind::Document(Kind::Forge) => of_document::<ForgeDoc>(generator),
        SchemaKind::Document(Kind::Preset) => of_document::<PresetDoc>(generator),
        SchemaKind::Document(Kind::Workspace) => of_document::<WorkspaceDoc>(generator),
        SchemaKind::History => of_document::<History>(generator),
        // Events are written, not read: an absent value is null there.
        SchemaKind::Event => {
            let settings = SchemaSettings::draft2020_12().for_serialize();
            settings.into_generator().into_root_schema_for::<Envelope>().to_value()
        }
    };
    transform::readable(&mut schema);
    if kind != SchemaKind::Event {
        transform::enumerated(&mut schema);
        transform::stated_defaults(&mut schema);
    }
    transform::keep_used_definitions(&mut schema);
    headed(kind, schema)
}

fn of_document<T: schemars::JsonSchema>(mut generator: SchemaGenerator) -> Json {
    let _ = generator.subschema_for::<T>();
    if generator.definitions().contains_key("Step") {
        add_verbs(&mut generator);
    }
    if generator.definitions().contains_key("Check") {
        add_check_arguments(&mut generator);
    }
    if generator.definitions().contains_key("Model") || generator.definitions().contains_key("ModelChoice") {
        add_providers(&mut generator);
    }
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    transform::without_null(&mut schema);
    transform::exact_integers(&mut schema);
    schema
}

/// A step is its common keys and exactly one verb; without a verb it says what follows.
fn add_verbs(generator: &mut SchemaGenerator) {
    let mut verbs = Map::new();
    for verb in VERBS {
        verbs.insert(verb.name().to_owned(), verb.schema(generator).to_value());
    }
    let one_verb = verbs.keys().map(|name| json!({ "required": [name] }));
    let none = json!({
        "not": { "anyOf": one_verb.clone().collect::<Vec<_>>() },
        "anyOf": [{ "required": ["then"] }, { "required": ["ignore_error"] }]
    });
    let one_of: Vec<Json> = one_verb.chain([none]).collect();
    let Some(step) = generator.definitions_mut().get_mut("Step") else { return };
    if let Some(properties) = step.get_mut("properties").and_then(Json::as_object_mut) {
        properties.extend(verbs);
    }
    step["additionalProperties"] = json!(false);
    step["description"] = json!("One step of a handler or a hook: one verb, and the keys that every step may have.");
    step["oneOf"] = Json::Array(one_of);
}

/// A check that runs a program takes the arguments of the step `run`.
fn add_check_arguments(generator: &mut SchemaGenerator) {
    let Some(verb) = crate::verb::find("run") else { return };
    let arguments = verb.schema(generator).to_value();
    if let Some(run) =
        generator.definitions_mut().get_mut("Check").and_then(|check| check.pointer_mut("/properties/run"))
    {
        let description = run.get("description").cloned().unwrap_or_default();
        *run = arguments;
        run["description"] = description;
    }
}

/// A model is the settings of one provider.
fn add_providers(generator: &mut SchemaGenerator) {
    let mut alternatives = Vec::new();
    for provider in PROVIDERS {
        let name = format!("Model_{}", provider.name());
        let schema = provider.schema(generator).to_value();
        generator.definitions_mut().insert(name.clone(), schema);
        alternatives.push(json!({ "$ref": format!("#/$defs/{name}") }));
    }
    let names: Vec<&str> = PROVIDERS.iter().map(|provider| provider.name()).collect();
    let model = json!({
        "description": "A model: `provider` says which other keys there are.",
        "type": "object",
        "required": ["provider"],
        "properties": { "provider": { "description": "Who answers.", "enum": names } },
        "oneOf": alternatives
    });
    let definitions = generator.definitions_mut();
    definitions.insert("Model".to_owned(), model);
    if let Some(inline) = definitions
        .get_mut("ModelChoice")
        .and_then(|choice| choice.pointer_mut("/anyOf/1/additionalProperties/anyOf/1"))
    {
        *inline = json!({ "$ref": "#/$defs/Model" });
    }
    if let Some(choices) = definitions.get_mut("ModelChoice").and_then(|choice| choice["anyOf"].as_array_mut()) {
        choices.insert(1, json!({ "$ref": "#/$defs/Model" }));
        // A map with `provider` is one model, any other map goes from tier to model.
        choices[2]["not"] = json!({ "required": ["provider"] });
    }
}

/// The schema with its head first and the rest in a fixed order.
fn headed(kind: SchemaKind, schema: Json) -> Json {
    let Json::Object(mut rest) = schema else { return schema };
    let mut head = Map::new();
    head.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    head.insert("$id".to_owned(), json!(format!("urn:loopwright:schema:{}", kind.name())));
    head.insert("title".to_owned(), json!(kind.title()));
    let mut definitions = rest.remove("$defs");
    if let Some(Json::Object(map)) = &mut definitions {
        map.sort_keys();
    }
    for (key, value) in rest {
        head.entry(key).or_insert(value);
    }
    if let Some(definitions) = definitions {
        head.insert("$defs".to_owned(), definitions);
    }
    Json::Object(head)
}

#[cfg(test)]
mod tests;
