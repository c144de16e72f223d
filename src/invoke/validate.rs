//! Values against a schema, in words for the model.

use std::sync::OnceLock;

use serde_json::Value as Json;

/// How many mistakes are told at once.
const MAX_TOLD: usize = 8;

/// A schema, compiled when it is first needed: most tools of a workspace are not called.
pub struct ArgumentsValidator {
    schema: Json,
    /// Strangers wrote it: one that cannot be compiled lets everything through.
    lenient: bool,
    compiled: OnceLock<Result<jsonschema::Validator, String>>,
}

impl ArgumentsValidator {
    /// For this schema.
    #[must_use]
    pub fn new(schema: Json) -> Self {
        Self { schema, lenient: false, compiled: OnceLock::new() }
    }

    /// For a schema that strangers wrote. One that cannot be used lets everything through, and its patterns are matched
    /// without backtracking: what they are matched with is a model's, and no pair of the two may take for ever.
    #[must_use]
    pub fn lenient(schema: Json) -> Self {
        Self { lenient: true, ..Self::new(schema) }
    }

    /// Whether a value fits.
    ///
    /// # Errors
    /// What does not fit, each with its place.
    pub fn check(&self, value: &Json) -> Result<(), String> {
        let compile = || {
            let mut options = jsonschema::options();
            if self.lenient {
                options = options.with_pattern_options(jsonschema::PatternOptions::regex());
            }
            options.build(&self.schema).map_err(|error| error.to_string())
        };
        let validator = match self.compiled.get_or_init(compile) {
            Ok(validator) => validator,
            Err(_) if self.lenient => return Ok(()),
            Err(problem) => return Err(format!("the schema itself is broken: {problem}")),
        };
        let words = validator.iter_errors(value).take(MAX_TOLD).map(|error| match error.instance_path().to_string() {
            place if place.is_empty() => error.to_string(),
            place => format!("{place}: {error}"),
        });
        let words: Vec<String> = words.collect();
        if words.is_empty() { Ok(()) } else { Err(words.join("; ")) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_of_strangers_is_used_as_far_as_it_goes() {
        let elsewhere = json!({ "properties": { "a": { "$ref": "https://example.com/a.json" } } });
        assert!(ArgumentsValidator::new(elsewhere.clone()).check(&json!({ "a": 1 })).is_err());
        assert_eq!(ArgumentsValidator::lenient(elsewhere).check(&json!({ "a": 1 })), Ok(()));
        let typed = ArgumentsValidator::lenient(json!({ "properties": { "a": { "type": "string" } } }));
        assert!(typed.check(&json!({ "a": 1 })).is_err());
        // With backtracking this pair takes longer than anybody waits.
        let slow = ArgumentsValidator::lenient(json!({ "properties": { "a": { "pattern": "^(a+)+$" } } }));
        assert!(slow.check(&json!({ "a": format!("{}b", "a".repeat(5000)) })).is_err());
    }
}
