//! `load_skill`: puts the instructions of skills into the prompt.

use minijinja::Value;
use schemars::JsonSchema;
use serde::Deserialize;

use super::shape::Strings;
use super::{Group, Reference, StepContext, StepFailure, Verb};

/// Loads skills: their instructions stand in the prompt from the next turn on. A name, or a list of names.
///
/// The result lists what is shown of each: `name`, `text`, `first_line`, `last_line`, `lines`, `files`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(example = "release-notes")]
pub(super) struct LoadSkill(Strings);

impl Verb for LoadSkill {
    const NAME: &'static str = "load_skill";
    const GROUP: Group = Group::Capability;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let names = self.0.render(cx)?;
        cx.host.load_skills(names, cx).await
    }

    fn references(&self) -> Vec<Reference> {
        self.0.literals().map(|name| Reference::Skill(name.to_owned())).collect()
    }
}
