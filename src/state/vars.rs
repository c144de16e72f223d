//! Typed variables: a value can only become what its declaration allows.

use std::sync::Arc;

use indexmap::IndexMap;
use minijinja::Value;
use minijinja::value::Serde;

use crate::document::StateVar;

/// A loop's variables.
#[derive(Debug, Default, Clone)]
pub struct Vars {
    slots: IndexMap<String, Slot>,
}

#[derive(Debug, Clone)]
struct Slot {
    value: Value,
    schema: Arc<jsonschema::Validator>,
}

/// Why a variable was not set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    /// The loop declares no such variable.
    #[error("the loop declares no state variable `{name}` (it has: {known})")]
    Unknown {
        /// The name.
        name: String,
        /// The declared names.
        known: String,
    },
    /// The value does not fit.
    #[error("state variable `{name}`: {problem}")]
    Type {
        /// The name.
        name: String,
        /// What does not fit.
        problem: String,
    },
    /// The declaration is no JSON Schema.
    #[error("state variable `{name}` has a broken declaration: {problem}")]
    Declaration {
        /// The name.
        name: String,
        /// What is wrong.
        problem: String,
    },
}

impl Vars {
    /// The variables with their defaults.
    ///
    /// # Errors
    /// A declaration that is no JSON Schema, or a default that does not fit it.
    pub fn new(declared: &IndexMap<String, StateVar>) -> Result<Self, SetError> {
        let mut vars = Self::default();
        for (name, var) in declared {
            let schema = jsonschema::validator_for(&var.schema)
                .map_err(|e| SetError::Declaration { name: name.clone(), problem: e.to_string() })?;
            vars.slots.insert(name.clone(), Slot { value: Value::from(Serde(&var.default)), schema: Arc::new(schema) });
            vars.set(name, Value::from(Serde(&var.default)))?;
        }
        Ok(vars)
    }

    /// Adds the variables that are not there yet, with their defaults. One whose default does not fit is left out; what
    /// declares it was checked before.
    pub fn add(&mut self, declared: &IndexMap<String, StateVar>) {
        let new = declared.iter().filter(|(name, _)| !self.slots.contains_key(*name));
        let new = new.map(|(name, var)| (name.clone(), var.clone())).collect();
        if let Ok(added) = Self::new(&new) {
            self.slots.extend(added.slots);
        }
    }

    /// A variable's value.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Value> {
        self.slots.get(name).map(|slot| slot.value.clone())
    }

    /// The names, in the order of the document.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.slots.keys().map(String::as_str)
    }

    /// Sets a variable.
    ///
    /// # Errors
    /// An unknown name, or a value that the declaration does not allow.
    pub fn set(&mut self, name: &str, value: Value) -> Result<(), SetError> {
        let known = || self.slots.keys().cloned().collect::<Vec<_>>().join(", ");
        let Some(slot) = self.slots.get(name) else {
            return Err(SetError::Unknown { name: name.to_owned(), known: known() });
        };
        let json = serde_json::to_value(&value)
            .map_err(|e| SetError::Type { name: name.to_owned(), problem: e.to_string() })?;
        if let Err(error) = slot.schema.validate(&json) {
            return Err(SetError::Type { name: name.to_owned(), problem: error.to_string() });
        }
        if let Some(slot) = self.slots.get_mut(name) {
            slot.value = value;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vars() -> Vars {
        let declared: IndexMap<String, StateVar> = serde_json::from_value(serde_json::json!({
            "count": { "type": "integer" },
            "names": { "type": "array", "items": { "type": "string" } },
            "note": "draft"
        }))
        .unwrap();
        Vars::new(&declared).unwrap()
    }

    #[test]
    fn defaults_follow_the_type_and_bare_values_infer_it() {
        let vars = vars();
        assert_eq!(vars.get("count"), Some(Value::from(0)));
        assert_eq!(vars.get("note"), Some(Value::from("draft")));
        assert_eq!(vars.get("names").unwrap().len(), Some(0));
    }

    #[test]
    fn a_value_of_another_type_is_refused_and_nothing_changes() {
        let mut vars = vars();
        let error = vars.set("count", Value::from("five")).unwrap_err();
        assert!(error.to_string().contains("count"), "{error}");
        assert_eq!(vars.get("count"), Some(Value::from(0)));
        assert!(matches!(vars.set("cuont", Value::from(1)), Err(SetError::Unknown { .. })));
    }
}
