//! Who answers: one file a provider, one line each in [`PROVIDERS`].

mod anthropic;
#[cfg(test)]
mod fixture;
mod gemini;
mod messages;
mod ollama;
mod openai;
mod replay;
mod responses;
mod wire;

pub use replay::{Mode, RecordFile, Recorder, Replay};

use std::marker::PhantomData;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;

use super::{BuildContext, Model, ModelSetupError};
use crate::diag::Diagnostics;
use crate::syntax::{Node, decode};

/// Every provider, by name.
pub const PROVIDERS: &[&dyn AnyProvider] = &[
    &Erased::<anthropic::Anthropic>::NEW,
    &Erased::<gemini::Gemini>::NEW,
    &Erased::<ollama::Ollama>::NEW,
    &Erased::<openai::OpenAi>::NEW,
    &Erased::<Replay>::NEW,
    &Erased::<responses::Responses>::NEW,
];

/// What a provider's file has.
pub trait Provider: 'static {
    /// The name in `provider:`.
    const NAME: &'static str;
    /// One line, which editors show.
    const SUMMARY: &'static str;
    /// The keys of a model of this provider, `provider` among them.
    type Settings: DeserializeOwned + JsonSchema;

    /// Makes the model. Nothing is sent and no key is missed yet: see [`Model::ready`].
    ///
    /// # Errors
    /// Settings that no call could work with.
    fn build(settings: Self::Settings, context: &BuildContext) -> Result<Arc<dyn Model>, ModelSetupError>;
}

/// A [`Provider`] without its types, for the table.
pub trait AnyProvider: Sync {
    /// The name in `provider:`.
    fn name(&self) -> &'static str;
    /// The JSON Schema of its settings, with `provider` fixed to its name.
    fn schema(&self, generator: &mut SchemaGenerator) -> Schema;
    /// Reports everything in the settings that does not decode.
    fn check(&self, settings: &Node, diagnostics: &mut Diagnostics);
    /// Decodes the settings and makes the model.
    ///
    /// # Errors
    /// Settings that do not decode, or that no call could work with.
    fn build(&self, settings: &serde_json::Value, context: &BuildContext) -> Result<Arc<dyn Model>, ModelSetupError>;
}

/// The provider of that name.
///
/// # Errors
/// The names that there are.
pub fn provider(name: &str) -> Result<&'static dyn AnyProvider, ModelSetupError> {
    PROVIDERS.iter().copied().find(|provider| provider.name() == name).ok_or_else(|| ModelSetupError::UnknownProvider {
        name: name.to_owned(),
        known: PROVIDERS.iter().map(|provider| provider.name()).collect::<Vec<_>>().join(", "),
    })
}

struct Erased<P>(PhantomData<fn() -> P>);

impl<P> Erased<P> {
    const NEW: Self = Self(PhantomData);
}

impl<P: Provider> AnyProvider for Erased<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        let mut schema = P::Settings::json_schema(generator);
        let object = schema.ensure_object();
        if let Some(properties) = object.get_mut("properties").and_then(serde_json::Value::as_object_mut) {
            properties.insert("provider".into(), serde_json::json!({ "const": P::NAME, "description": P::SUMMARY }));
        }
        let required = object.entry("required").or_insert_with(|| serde_json::json!([]));
        if let Some(required) = required.as_array_mut() {
            required.retain(|name| name != "provider");
            required.insert(0, "provider".into());
        }
        schema
    }

    fn check(&self, settings: &Node, diagnostics: &mut Diagnostics) {
        decode::<P::Settings>(settings, diagnostics);
    }

    fn build(&self, settings: &serde_json::Value, context: &BuildContext) -> Result<Arc<dyn Model>, ModelSetupError> {
        let settings = serde_json::from_value(settings.clone())
            .map_err(|error| ModelSetupError::Settings { provider: P::NAME, reason: error.to_string() })?;
        P::build(settings, context)
    }
}

/// The decoder of a provider that streams over HTTP.
#[cfg(any(test, feature = "fuzzing"))]
pub(super) fn dialect_for_tests(name: &str) -> Option<Box<dyn super::stream::Dialect>> {
    fn of<W: wire::Wire<Dialect: 'static>>() -> Option<Box<dyn super::stream::Dialect>> {
        Some(Box::new(W::Dialect::default()))
    }
    match name {
        "anthropic" => of::<anthropic::Anthropic>(),
        "gemini" => of::<gemini::Gemini>(),
        "ollama" => of::<ollama::Ollama>(),
        "openai" => of::<openai::OpenAi>(),
        "responses" => of::<responses::Responses>(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_its_schemas_fix_the_name() {
        let names: Vec<&str> = PROVIDERS.iter().map(|provider| provider.name()).collect();
        assert!(names.is_sorted(), "{names:?}");
        for entry in PROVIDERS {
            let schema = entry.schema(&mut SchemaGenerator::default()).to_value();
            assert_eq!(schema["properties"]["provider"]["const"], entry.name());
            assert_eq!(schema["additionalProperties"], false, "{}", entry.name());
            assert_eq!(schema["required"][0], "provider");
            for (name, property) in schema["properties"].as_object().unwrap() {
                let described = property.get("description").is_some() || property.get("$ref").is_some();
                assert!(described, "{}.{name} has no description", entry.name());
            }
        }
    }

    #[test]
    fn settings_are_checked_where_they_stand() {
        let check = |name: &str, settings: serde_json::Value| {
            let mut diagnostics = Diagnostics::default();
            provider(name).unwrap().check(&Node::synthetic(&settings), &mut diagnostics);
            diagnostics.iter().map(|found| found.message.clone()).collect::<Vec<_>>()
        };
        let full = serde_json::json!({
            "provider": "openai", "model": "m", "api_key": { "env": "K" }, "idle_timeout": "3s", "connect_timeout": 2,
            "price": { "input": 1, "output": 2 }, "protocol": "tools", "headers": { "a": "b" }, "extra": { "seed": 1 },
        });
        assert_eq!(check("openai", full.clone()), [""; 0]);
        for name in ["anthropic", "gemini", "ollama", "responses"] {
            assert_eq!(check(name, full.clone()), [""; 0], "{name}");
        }
        let wrong = check("openai", serde_json::json!({ "model": 3, "idle_timeout": "soon", "modle": "m" }));
        assert_eq!(wrong.len(), 3, "{wrong:?}");
        assert_eq!(check("replay", serde_json::json!({ "provider": "replay" })).len(), 1);
    }

    #[test]
    fn an_unknown_provider_names_those_that_exist() {
        let Err(error) = provider("opnai") else { panic!("found") };
        assert!(error.to_string().contains("openai"), "{error}");
    }
}
