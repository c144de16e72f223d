//! Skills by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::skill::{Definition, Skill};

/// Two skills want one name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a skill named `{0}` is registered already")]
pub struct DuplicateSkill(pub String);

/// Skills by name, each once. Everything that it lists is in the order of the names, so that a prompt is the same each time.
#[derive(Clone, Default)]
pub struct Registry {
    skills: BTreeMap<String, Arc<dyn Skill>>,
}

impl Registry {
    /// No skills.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// These skills.
    ///
    /// # Errors
    /// When two have the same name.
    pub fn with(skills: impl IntoIterator<Item = Arc<dyn Skill>>) -> Result<Self, DuplicateSkill> {
        let mut registry = Self::new();
        skills.into_iter().try_for_each(|skill| registry.register_shared(skill))?;
        Ok(registry)
    }

    /// Adds a skill.
    ///
    /// # Errors
    /// When its name is taken; the first keeps it.
    pub fn register(&mut self, skill: impl Skill + 'static) -> Result<(), DuplicateSkill> {
        self.register_shared(Arc::new(skill))
    }

    /// The same for a skill that is shared already.
    ///
    /// # Errors
    /// When its name is taken; the first keeps it.
    pub fn register_shared(&mut self, skill: Arc<dyn Skill>) -> Result<(), DuplicateSkill> {
        let name = skill.definition().name;
        if self.skills.contains_key(&name) {
            return Err(DuplicateSkill(name));
        }
        self.skills.insert(name, skill);
        Ok(())
    }

    /// The skill of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Skill>> {
        self.skills.get(name)
    }

    /// The skills.
    pub fn skills(&self) -> impl Iterator<Item = &Arc<dyn Skill>> {
        self.skills.values()
    }

    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.skills.keys().map(String::as_str)
    }

    /// What a model is told of all skills.
    #[must_use]
    pub fn definitions(&self) -> Vec<Definition> {
        self.skills().map(|skill| skill.definition()).collect()
    }

    /// The instructions of all skills that have some, each under its name.
    #[must_use]
    pub fn instructions(&self) -> String {
        let with_text = self.skills.iter().filter(|(_, skill)| !skill.instructions().trim().is_empty());
        with_text
            .map(|(name, skill)| format!("## {name}\n\n{}\n", skill.instructions().trim()))
            .collect::<Vec<_>>()
            .join("\n")
    }
}
