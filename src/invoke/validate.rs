//! Values against a schema, in words for the model.

use std::sync::OnceLock;

use serde_json::Value as Json;

/// How many mistakes are told at once.
const MAX_TOLD: usize = 8;

/// A schema, compiled when it is first needed: most tools of a workspace are not called.
pub struct ArgumentsValidator {
    schema: Json,
    compiled: OnceLock<Result<jsonschema::Validator, String>>,
}

impl ArgumentsValidator {
    /// For this schema.
    #[must_use]
    pub fn new(schema: Json) -> Self {
        Self { schema, compiled: OnceLock::new() }
    }

    /// Whether a value fits.
    ///
    /// # Errors
    /// What does not fit, each with its place.
    pub fn check(&self, value: &Json) -> Result<(), String> {
        let compile = || jsonschema::validator_for(&self.schema).map_err(|error| error.to_string());
        let validator = self
            .compiled
            .get_or_init(compile)
            .as_ref()
            .map_err(|problem| format!("the schema itself is broken: {problem}"))?;
        let words = validator.iter_errors(value).take(MAX_TOLD).map(|error| match error.instance_path().to_string() {
            place if place.is_empty() => error.to_string(),
            place => format!("{place}: {error}"),
        });
        let words: Vec<String> = words.collect();
        if words.is_empty() { Ok(()) } else { Err(words.join("; ")) }
    }
}
