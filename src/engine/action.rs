//! A compiled action: what the model must give, and what taking it does.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value as Json;

use super::builtin::Builtin;
use super::steps::StepList;
use crate::document::{StreamTo, Tag, Then};
use crate::model::ToolSpec;
use crate::reply::ActionGrammar;

/// A compiled action.
pub(super) struct ActionProgram {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) params: Json,
    pub(super) grammar: Arc<ActionGrammar>,
    pub(super) tags: IndexMap<String, Tag>,
    pub(super) stream: IndexMap<String, StreamTo>,
    pub(super) verify: Vec<(String, Option<String>)>,
    pub(super) when: Option<String>,
    /// Its outcome deserves a deep reflection.
    pub(super) key: bool,
    pub(super) kind: ActionKind,
    pub(super) then: Then,
}

/// What taking an action does.
pub(super) enum ActionKind {
    Builtin(Builtin),
    Steps(StepList),
    Tool(String),
    Loop(String),
}

impl ActionProgram {
    /// Whether taking the action ends the loop, as far as its declaration says.
    pub(super) fn ends_loop(&self) -> bool {
        match &self.kind {
            ActionKind::Builtin(builtin) => matches!(builtin, Builtin::Finish | Builtin::DirectlyAnswer),
            ActionKind::Loop(_) => true,
            ActionKind::Tool(_) => self.then != Then::Continue,
            ActionKind::Steps(steps) => self.then != Then::Continue || steps.ends_unconditionally(),
        }
    }

    /// Whether the action is offered as a native tool: tool calls have their own tools there, but for tools that are found
    /// later, which the request's head cannot have.
    pub(super) fn is_native(&self, searches: bool) -> bool {
        match self.kind {
            ActionKind::Builtin(Builtin::DirectlyCallTool) => searches,
            ActionKind::Builtin(Builtin::RequireTool) => false,
            _ => true,
        }
    }

    /// The action as a native tool. Its tags have no place in the parameters, so the description names them.
    pub(super) fn spec(&self) -> ToolSpec {
        let mut description = self.description.clone();
        for (name, tag) in &self.tags {
            let need = if tag.required { "required" } else { "optional" };
            description.push_str(&format!("\nTag {name} ({need})"));
            if let Some(words) = &tag.description {
                description.push_str(&format!(": {words}"));
            }
        }
        ToolSpec { name: self.name.clone(), description, params: self.params.clone() }
    }
}
