//! What no schema can say about the parameters of built-in actions. Nothing happens here.

use serde_json::Value as Json;

use super::builtin::Builtin;
use super::core::LoopCore;
use super::structured::{valid, wants_object};
use super::turn::Refused;
use crate::event::CapabilityKind;
use crate::reply::Extracted;

impl LoopCore {
    /// What no schema says of a built-in action's parameters.
    pub(super) fn check_builtin(&self, builtin: Builtin, extracted: &Extracted) -> Result<(), Refused> {
        let has = |key: &str| extracted.params.get(key).is_some_and(|value| !value.is_null());
        match builtin {
            Builtin::DirectlyAnswer => match (has("answer_payload"), extracted.tags.contains_key("FINAL_ANSWER")) {
                (true, true) => Err(missing("Use either `answer_payload` or the FINAL_ANSWER tag, not both.")),
                (false, false) => {
                    Err(missing("The answer is missing: put it into `answer_payload` or into the FINAL_ANSWER tag."))
                }
                _ => Ok(()),
            },
            Builtin::DirectlyCallTool | Builtin::RequireTool => match (has("tool_name"), has("calls")) {
                (true, true) => Err(missing("Use either `tool_name` or `calls`, not both.")),
                (false, false) => Err(missing("Name a tool in `tool_name`, or several under `calls`.")),
                _ if builtin == Builtin::DirectlyCallTool => self.check_calls(extracted),
                _ => Ok(()),
            },
            Builtin::Finish
            | Builtin::AskForClarification
            | Builtin::RequestVerification
            | Builtin::LoadingSkills
            | Builtin::LoadSkillResources
            | Builtin::ChangeSkillViewOffset
            | Builtin::SearchCapabilities
            | Builtin::LoadCapability => Ok(()),
            Builtin::EnterFocusMode => self.check_named(CapabilityKind::FocusMode, "focus mode", extracted),
            Builtin::RequireAiBlueprint => {
                self.check_named(CapabilityKind::Forge, "forge", extracted)?;
                self.check_input(extracted)
            }
        }
    }

    /// What is used by its name must be there, and offered or found.
    fn check_named(&self, kind: CapabilityKind, what: &str, extracted: &Extracted) -> Result<(), Refused> {
        let name = extracted.params.get("name").and_then(Json::as_str).unwrap_or_default();
        let known = self.names_of(kind);
        if known.iter().any(|one| one == name) {
            return Ok(());
        }
        let help = match known.is_empty() {
            true => "Search for one that does what you need.".to_owned(),
            false => format!("You have: {}.", known.join(", ")),
        };
        Err(missing(format!("There is no {what} `{name}`. {help}")))
    }

    /// A forge's input must fit before it runs.
    fn check_input(&self, extracted: &Extracted) -> Result<(), Refused> {
        let name = extracted.params.get("name").and_then(Json::as_str).unwrap_or_default();
        let given = extracted.params.get("params").filter(|given| given.as_object().is_some_and(|own| !own.is_empty()));
        let schema = self.edition.forge_input(name).filter(wants_object);
        let (Some(given), Some(schema)) = (given, schema) else { return Ok(()) };
        valid(&schema, given).map_err(|problem| Refused {
            class: "type_mismatch".to_owned(),
            message: format!("The input of forge `{name}` does not fit: {problem}"),
        })
    }

    /// Tool calls must fit their tools before anything runs.
    fn check_calls(&self, extracted: &Extracted) -> Result<(), Refused> {
        for call in super::batch::calls(&extracted.params) {
            if !self.may_call(&call.tool) {
                return Err(missing(format!("There is no tool `{}`. {}", call.tool, self.tools_in_words())));
            }
            if let Some(tool) = self.edition.toolbox.get(&call.tool) {
                tool.validator.check(&call.params).map_err(|problem| Refused {
                    class: "type_mismatch".to_owned(),
                    message: format!("The parameters of tool `{}` do not fit: {problem}", call.tool),
                })?;
            }
        }
        Ok(())
    }
}

fn missing(message: impl Into<String>) -> Refused {
    Refused { class: "missing_param".to_owned(), message: message.into() }
}
