//! The built-in actions: their parameters and tags. What they do is in [`super::act`].

use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use super::compile::Offered;
use crate::document::{DEFAULT_CONTENT_TYPE, StreamTo, Tag};

/// A built-in action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Builtin {
    Finish,
    DirectlyAnswer,
    AskForClarification,
    DirectlyCallTool,
    RequireTool,
    RequestVerification,
    LoadingSkills,
    LoadSkillResources,
    ChangeSkillViewOffset,
    SearchCapabilities,
    LoadCapability,
    EnterFocusMode,
    RequireAiBlueprint,
}

/// What a loop's model may name.
#[derive(Clone, Copy)]
pub(super) struct Nameable<'a> {
    /// The loop's own.
    pub(super) offered: &'a Offered,
    /// Whether those count too that a search finds later. The schema cannot list them, since it may not change with each search.
    pub(super) found: bool,
}

/// The tag that carries a long answer.
pub(super) const FINAL_ANSWER: &str = "FINAL_ANSWER";

/// The node that shows the answer.
pub(super) const ANSWER_NODE: &str = "answer";

/// The most calls in one action.
pub(super) const MAX_CALLS: usize = 8;

impl Builtin {
    /// The name of the action that looks for capabilities, and of the step that does the same.
    pub(super) const SEARCH: &'static str = "search_capabilities";
    /// The name of the action that uses something by its name, and of the step that does the same.
    pub(super) const LOAD: &'static str = "load_capability";

    /// The built-in of a name.
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "finish" => Self::Finish,
            "directly_answer" => Self::DirectlyAnswer,
            "ask_for_clarification" => Self::AskForClarification,
            "directly_call_tool" => Self::DirectlyCallTool,
            "require_tool" => Self::RequireTool,
            "request_verification" => Self::RequestVerification,
            "loading_skills" => Self::LoadingSkills,
            "load_skill_resources" => Self::LoadSkillResources,
            "change_skill_view_offset" => Self::ChangeSkillViewOffset,
            Self::SEARCH => Self::SearchCapabilities,
            Self::LOAD => Self::LoadCapability,
            "enter_focus_mode" => Self::EnterFocusMode,
            "require_ai_blueprint" => Self::RequireAiBlueprint,
            _ => return None,
        })
    }

    /// Its parameters.
    pub(super) fn params(self, nameable: Nameable<'_>) -> Json {
        let Nameable { offered, found } = nameable;
        let skill = json!({ "type": "string", "enum": offered.skills });
        let one_of = |names: &[String], what: &str| match found {
            false => json!({ "type": "string", "enum": names }),
            true => {
                let about = format!("One of your {what}, or one that EXTRA_CAPABILITIES lists.");
                json!({ "type": "string", "description": about })
            }
        };
        let tool = one_of(&offered.tools, "tools");
        let id = json!({ "type": "string", "description": "Your own short name for this call." });
        match self {
            Self::Finish => json!({ "type": "object", "properties": {} }),
            Self::DirectlyAnswer => json!({
                "type": "object",
                "properties": { "answer_payload": { "type": "string", "description": "The answer, when it is short. Leave it out when you use the FINAL_ANSWER tag." } }
            }),
            Self::RequestVerification => json!({
                "type": "object",
                "properties": { "reason": { "type": "string", "description": "Why you think that the goal is reached." } }
            }),
            Self::AskForClarification => json!({
                "type": "object",
                "required": ["question"],
                "properties": {
                    "question": { "type": "string" },
                    "options": { "type": "array", "items": { "type": "string" }, "description": "Answers to choose from." }
                }
            }),
            Self::DirectlyCallTool => json!({
                "type": "object",
                "properties": {
                    "tool_name": tool,
                    "params": { "type": "object", "description": "The tool's parameters." },
                    "calls": {
                        "type": "array", "minItems": 2, "maxItems": MAX_CALLS,
                        "description": "Independent calls that run at the same time, instead of tool_name and params.",
                        "items": {
                            "type": "object", "required": ["tool_name", "params"],
                            "properties": { "tool_name": tool, "params": { "type": "object" }, "identifier": id }
                        }
                    }
                }
            }),
            Self::LoadingSkills => json!({
                "type": "object",
                "required": ["names"],
                "properties": {
                    "names": { "type": "array", "minItems": 1, "maxItems": MAX_CALLS, "items": skill }
                }
            }),
            Self::LoadSkillResources => json!({
                "type": "object",
                "required": ["skill", "paths"],
                "properties": {
                    "skill": skill,
                    "paths": {
                        "type": "array", "minItems": 1, "maxItems": MAX_CALLS, "items": { "type": "string" },
                        "description": "Paths from the skill's folder down, such as references/guide.md."
                    }
                }
            }),
            Self::ChangeSkillViewOffset => json!({
                "type": "object",
                "required": ["skill", "offset"],
                "properties": {
                    "skill": skill,
                    "offset": { "type": "integer", "minimum": 1, "description": "The first line to show." }
                }
            }),
            Self::SearchCapabilities => json!({
                "type": "object",
                "required": ["query"],
                "properties": {
                    "query": { "type": "string", "description": "What it should do, in a few words, or its name." },
                    "queries": {
                        "type": "array", "items": { "type": "string" }, "maxItems": MAX_CALLS,
                        "description": "Further sides of the same need, in other words."
                    }
                }
            }),
            Self::LoadCapability => json!({
                "type": "object",
                "required": ["identifier"],
                "properties": { "identifier": { "type": "string", "minLength": 1, "description": "Its exact name." } }
            }),
            Self::EnterFocusMode => json!({
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": one_of(&offered.focus_modes, "focus modes"),
                    "task": { "type": "string", "description": "What to do there; the whole task when left out." }
                }
            }),
            Self::RequireAiBlueprint => json!({
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": one_of(&offered.forges, "forges"),
                    "params": { "type": "object", "description": "Its input; you are asked for it when it is left out." }
                }
            }),
            Self::RequireTool => json!({
                "type": "object",
                "properties": {
                    "tool_name": tool,
                    "reason": { "type": "string" },
                    "calls": {
                        "type": "array", "minItems": 2, "maxItems": MAX_CALLS,
                        "items": {
                            "type": "object", "required": ["tool_name"],
                            "properties": { "tool_name": tool, "reason": { "type": "string" }, "identifier": id }
                        }
                    }
                }
            }),
        }
    }

    /// Its tags.
    pub(super) fn tags(self) -> IndexMap<String, Tag> {
        match self {
            Self::DirectlyAnswer => IndexMap::from([(
                FINAL_ANSWER.to_owned(),
                Tag {
                    node: Some(ANSWER_NODE.to_owned()),
                    content_type: None,
                    required: false,
                    description: Some("The answer, when it is long.".to_owned()),
                },
            )]),
            _ => IndexMap::new(),
        }
    }

    /// Its streamed parameters.
    pub(super) fn stream(self) -> IndexMap<String, StreamTo> {
        match self {
            Self::DirectlyAnswer => IndexMap::from([(
                "answer_payload".to_owned(),
                StreamTo { node: ANSWER_NODE.to_owned(), content_type: DEFAULT_CONTENT_TYPE.to_owned() },
            )]),
            _ => IndexMap::new(),
        }
    }
}
