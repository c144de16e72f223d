//! The skills of an engine: those of the workspace's folders, and those that a program brings.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use crate::document::Middleware;
use crate::invoke::Skill;
use crate::load::Library;
use crate::skill::list_resources;
use crate::tool::NativeTool;

/// What a program brings, beside the documents.
#[derive(Clone, Default)]
pub(super) struct Natives {
    pub(super) tools: Vec<Arc<dyn NativeTool>>,
    pub(super) skills: Vec<NativeSkill>,
}

/// A skill that a program brings, with what is wrapped around its calls.
#[derive(Clone)]
pub(super) struct NativeSkill {
    pub(super) skill: Arc<dyn Skill>,
    pub(super) middleware: Vec<Middleware>,
}

/// Skills by name; whatever is listed is in the order of the names.
#[derive(Default)]
pub(super) struct SkillBook {
    skills: BTreeMap<String, BookSkill>,
}

/// A skill that can be loaded.
pub(super) struct BookSkill {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) instructions: Arc<str>,
    /// Where its files lie; a program's skill has none.
    pub(super) folder: Option<PathBuf>,
    /// Whether a program brings it: its author means it to be called.
    pub(super) native: bool,
    files: OnceLock<Arc<[String]>>,
}

impl BookSkill {
    /// Its files, looked up when they are first needed.
    pub(super) fn files(&self) -> &Arc<[String]> {
        self.files.get_or_init(|| self.folder.as_deref().map(list_resources).unwrap_or_default().into())
    }
}

impl SkillBook {
    /// The skills of the library, and native ones, which win.
    pub(super) fn new(library: &Library, native: &[NativeSkill]) -> Self {
        let mut skills = BTreeMap::new();
        for (entry, skill) in library.skills.skills() {
            let book = BookSkill {
                name: skill.name.clone(),
                description: skill.description.clone(),
                instructions: Arc::clone(&skill.instructions),
                folder: Some(entry.folder.clone()),
                native: false,
                files: OnceLock::new(),
            };
            skills.insert(skill.name.clone(), book);
        }
        for NativeSkill { skill, .. } in native {
            let definition = skill.definition();
            let book = BookSkill {
                name: definition.name.clone(),
                description: definition.description,
                instructions: skill.instructions().into(),
                folder: None,
                native: true,
                files: OnceLock::new(),
            };
            skills.insert(definition.name, book);
        }
        Self { skills }
    }

    pub(super) fn get(&self, name: &str) -> Option<&BookSkill> {
        self.skills.get(name)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &BookSkill> {
        self.skills.values()
    }
}
