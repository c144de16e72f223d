//! What the engine makes of a loop, in names: the actions it offers, the tools, the sections of the prompt.

use serde::Serialize;
use serde_json::Value as Json;

use super::program::{ActionKind, Program};
use super::toolbox::Toolbox;
use crate::load::Library;

/// What a loop consists of once the engine has added its own.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outline {
    /// The actions that it offers, conditions aside.
    pub actions: Vec<OutlineAction>,
    /// The tools that its model may call.
    pub tools: Vec<String>,
    /// The sections of its prompt, in their order.
    pub sections: Vec<OutlineSection>,
}

/// An action that a loop offers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutlineAction {
    /// Its name.
    pub name: String,
    /// Whether the program brings it.
    pub builtin: bool,
    /// What it does, as the model reads it.
    pub description: String,
    /// JSON Schema of its parameters.
    pub params: Json,
    /// Whether the loop ends when it was taken.
    pub ends: bool,
}

/// A section of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutlineSection {
    /// Its name.
    pub name: String,
    /// How long its bytes stay the same.
    pub tier: &'static str,
}

/// The outline of a loop; none when it does not compile.
#[must_use]
pub fn outline(library: &Library, name: &str) -> Option<Outline> {
    let loaded = library.loops.get(name)?;
    let program = Program::compile(library, loaded, &Toolbox::of_documents(library)).ok()?;
    let actions = program.actions.values().map(|action| OutlineAction {
        name: action.name.clone(),
        builtin: matches!(action.kind, ActionKind::Builtin(_)),
        description: action.description.clone(),
        params: action.params.clone(),
        ends: action.ends_loop(),
    });
    let mut sections: Vec<_> = program.sections.iter().collect();
    // Inside a tier the order is the loop's; PROTOCOL is there twice, once for each way to reply.
    sections.sort_by_key(|section| section.tier);
    sections.dedup_by(|one, other| one.name == other.name);
    let sections =
        sections.iter().map(|section| OutlineSection { name: section.name.clone(), tier: section.tier.name() });
    Some(Outline { actions: actions.collect(), tools: program.tools.clone(), sections: sections.collect() })
}
