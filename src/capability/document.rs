//! Capabilities from documents: forges, loops and skills. Tools come from the engine, which also has those written in Rust.

use serde_json::Value;

use super::registry::Capability;
use crate::document::{ForgeDoc, LoopDoc};
use crate::event::CapabilityKind;
use crate::skill::Skill;

impl From<&ForgeDoc> for Capability {
    fn from(forge: &ForgeDoc) -> Self {
        let params = [forge.input.as_ref(), Some(&forge.output)];
        let words: Vec<String> = params.into_iter().flatten().map(|params| words_of_params(&params.schema)).collect();
        Self {
            kind: CapabilityKind::Forge,
            name: forge.name.to_string(),
            description: forge.description.trim().to_owned(),
            usage: forge.usage.clone(),
            keywords: words.join(" ").trim().to_owned(),
        }
    }
}

impl From<&LoopDoc> for Capability {
    fn from(doc: &LoopDoc) -> Self {
        Self {
            kind: CapabilityKind::FocusMode,
            name: doc.name.to_string(),
            description: doc.description.as_ref().map(|text| text.trim().to_owned()).unwrap_or_default(),
            usage: doc.usage.clone(),
            keywords: String::new(),
        }
    }
}

impl From<&Skill> for Capability {
    fn from(skill: &Skill) -> Self {
        Self {
            kind: CapabilityKind::Skill,
            name: skill.name.clone(),
            description: skill.description.trim().to_owned(),
            usage: None,
            keywords: skill.input_schema.as_ref().map(|params| words_of_params(&params.schema)).unwrap_or_default(),
        }
    }
}

/// The names of the parameters of a JSON Schema, as words to be found by.
#[must_use]
pub fn words_of_params(schema: &Value) -> String {
    let names = schema.get("properties").and_then(Value::as_object).into_iter().flat_map(|own| own.keys());
    names.map(String::as_str).collect::<Vec<_>>().join(" ")
}
