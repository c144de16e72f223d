//! `evidence`: facts that the goal is judged by, each under an id.

use indexmap::IndexMap;
use minijinja::Value;
use minijinja::value::Serde;
use schemars::JsonSchema;
use serde::Deserialize;

use super::shape::{Strings, json, plain};
use super::{Group, StepContext, StepFailure, Verb};
use crate::event::Event;

/// Changes the evidence, which templates read as `evidence`: facts by id, such as quotes and figures.
///
/// All or none: when one change fails, none is made.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(example = serde_json::json!({ "add": { "first_login": "{{ params.line }}" } }))]
pub(super) struct Evidence {
    /// New evidence: id → content; the id may be a template. An id that exists already is a failure.
    add: IndexMap<String, serde_json::Value>,
    /// New content for evidence that exists: id → content.
    update: IndexMap<String, serde_json::Value>,
    /// Ids of evidence that no longer holds.
    remove: Strings,
}

impl Verb for Evidence {
    const NAME: &'static str = "evidence";
    const GROUP: Group = Group::State;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let render = |entries: &IndexMap<String, serde_json::Value>| -> Result<Vec<(String, Value)>, StepFailure> {
            entries.iter().map(|(id, content)| Ok((cx.text(id)?, plain(&json(&cx.json(content)?)?)))).collect()
        };
        let (add, update, remove) = (render(&self.add)?, render(&self.update)?, self.remove.render(cx)?);
        let all = {
            let mut state = cx.state();
            let mut evidence = state.evidence.clone();
            for (id, content) in add {
                if evidence.contains_key(&id) {
                    return Err(StepFailure::new(format!("evidence `{id}` exists already; change it with `update`")));
                }
                evidence.insert(id, content);
            }
            for (id, content) in update {
                let known = known(&evidence);
                let slot = evidence.get_mut(&id).ok_or_else(|| missing(&id, &known))?;
                *slot = content;
            }
            for id in remove {
                let known = known(&evidence);
                evidence.shift_remove(&id).ok_or_else(|| missing(&id, &known))?;
            }
            state.evidence = evidence.clone();
            evidence
        };
        let all = Value::from(Serde(&all));
        cx.emit(Event::Evidence { evidence: json(&all)? });
        Ok(all)
    }
}

fn known(evidence: &IndexMap<String, Value>) -> String {
    evidence.keys().cloned().collect::<Vec<_>>().join(", ")
}

fn missing(id: &str, known: &str) -> StepFailure {
    let known = if known.is_empty() { "there is none yet" } else { known };
    StepFailure::new(format!("there is no evidence `{id}` (known: {known})"))
}
