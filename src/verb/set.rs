//! `set`: changes state variables, all or none.

use indexmap::IndexMap;
use minijinja::Value;
use schemars::JsonSchema;
use serde::Deserialize;

use super::shape::{json, plain};
use super::{Group, Reference, StepContext, StepFailure, Verb};
use crate::event::Event;

/// Sets state variables: name → value, a template at any depth.
///
/// All or none: when one value does not fit its declaration, none is set and the step fails.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(example = serde_json::json!({ "found": "{{ state.found + [params] }}", "done": true }))]
pub(super) struct Set(IndexMap<String, serde_json::Value>);

impl Verb for Set {
    const NAME: &'static str = "set";
    const GROUP: Group = Group::State;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let mut values = serde_json::Map::new();
        for (name, source) in &self.0 {
            values.insert(name.clone(), json(&cx.json(source)?)?);
        }
        {
            let mut state = cx.state();
            let mut vars = state.vars.clone();
            for (name, value) in &values {
                vars.set(name, plain(value)).map_err(|e| StepFailure::new(e.to_string()))?;
            }
            state.moved |= values.keys().any(|name| vars.get(name) != state.vars.get(name));
            state.vars = vars;
        }
        let values = serde_json::Value::Object(values);
        let result = plain(&values);
        cx.emit(Event::StateSet { values });
        Ok(result)
    }

    fn references(&self) -> Vec<Reference> {
        self.0.keys().cloned().map(Reference::State).collect()
    }
}
