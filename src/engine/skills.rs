//! Loading skills: into the prompt, and their files into the transcript.

use minijinja::Value;
use minijinja::value::Serde;
use serde_json::{Map, Value as Json};

use super::core::LoopCore;
use super::program::Program;
use super::skillbook::{BookSkill, SkillBook};
use crate::diag::{did_you_mean, list_words};
use crate::event::{Event, SkillChange};
use crate::skill::read_resource;
use crate::state::{OfferedSkill, SkillView};
use crate::verb::StepFailure;

impl Program {
    /// The skills that the loop offers, for templates.
    pub(super) fn offered_skills(&self, book: &SkillBook) -> std::sync::Arc<[OfferedSkill]> {
        let known = self.skills.iter().filter_map(|name| book.get(name));
        let offered = |skill: &BookSkill| OfferedSkill {
            name: skill.name.clone(),
            // One line each in the inventory, whatever the author wrote.
            description: skill.description.split_whitespace().collect::<Vec<_>>().join(" "),
        };
        known.map(offered).collect()
    }
}

impl LoopCore {
    fn budget(&self) -> usize {
        self.program.limits.max_skill_tokens as usize
    }

    fn skill(&self, name: &str) -> Result<&BookSkill, StepFailure> {
        let book = self.edition.toolbox.skills();
        book.get(name).ok_or_else(|| {
            let known: Vec<&str> = book.all().map(|skill| skill.name.as_str()).collect();
            let help = match did_you_mean(name, &known) {
                Some(near) => format!("did you mean `{near}`?"),
                None if known.is_empty() => "there are none".to_owned(),
                None => format!("the skills are {}", list_words(&known)),
            };
            StepFailure::new(format!("there is no skill named `{name}`; {help}"))
        })
    }

    /// Loads skills: their instructions stand in the prompt from the next turn on. All or none.
    ///
    /// # Errors
    /// A name that no skill has.
    pub(super) fn load_skills(&self, names: &[String]) -> Result<Vec<SkillView>, StepFailure> {
        let skills = names.iter().map(|name| self.skill(name)).collect::<Result<Vec<_>, _>>()?;
        let mut views = Vec::new();
        for skill in skills {
            let mut state = self.state();
            let gone = state.skills.load(&skill.name, &skill.instructions, skill.files(), self.budget());
            let view = state.skills.view(&skill.name).cloned();
            drop(state);
            for name in gone {
                self.events.emit(Event::Skill { skill: name, change: SkillChange::PutAway, detail: String::new() });
            }
            if let Some(view) = view {
                self.tell(SkillChange::Loaded, &view);
                views.push(view);
            }
        }
        Ok(views)
    }

    /// Shows a loaded skill from another line on.
    ///
    /// # Errors
    /// The skill is not loaded.
    pub(super) fn move_skill_view(&self, name: &str, line: usize) -> Result<SkillView, StepFailure> {
        let mut state = self.state();
        let moved = state.skills.look_from(name, line, self.budget());
        let view = state.skills.view(name).filter(|_| moved).cloned();
        let loaded: Vec<String> = state.skills.names().map(str::to_owned).collect();
        drop(state);
        let view = view.ok_or_else(|| {
            let known = if loaded.is_empty() { "none is".to_owned() } else { list_words(&loaded) };
            StepFailure::new(format!("the skill `{name}` is not loaded (loaded: {known}); load it first"))
        })?;
        self.tell(SkillChange::Moved, &view);
        Ok(view)
    }

    fn tell(&self, change: SkillChange, view: &SkillView) {
        let detail = format!("lines {} to {} of {}", view.first_line, view.last_line, view.lines);
        self.events.emit(Event::Skill { skill: view.name.clone(), change, detail });
    }

    /// The texts of a skill's files, each under its path. A file that cannot be read says why in its place.
    ///
    /// # Errors
    /// A name that no skill has, and when no file can be read.
    pub(super) fn skill_resources(&self, name: &str, paths: &[String]) -> Result<String, StepFailure> {
        let skill = self.skill(name)?;
        let Some(folder) = &skill.folder else {
            return Err(StepFailure::new(format!("the skill `{name}` has no files")));
        };
        let mut texts = Vec::new();
        let mut problems = Vec::new();
        for path in paths {
            let (text, detail) = match read_resource(folder, path) {
                Ok(text) => (text, path.clone()),
                Err(error) => {
                    problems.push(error.to_string());
                    (format!("error: {error}"), error.to_string())
                }
            };
            let change = SkillChange::Resource;
            self.events.emit(Event::Skill { skill: name.to_owned(), change, detail });
            texts.push(format!("--- {name}/{path}\n{text}"));
        }
        if problems.len() == paths.len() {
            let known = skill.files();
            let known = if known.is_empty() { "it has none".to_owned() } else { list_words(&**known) };
            return Err(StepFailure::new(format!("{} (its files: {known})", problems.join("; "))));
        }
        Ok(texts.join("\n"))
    }

    /// Gives loaded skills the texts of this edition, and drops those that are gone.
    pub(super) fn refresh_skills(&self) {
        let loaded: Vec<String> = self.state().skills.names().map(str::to_owned).collect();
        for name in loaded {
            match self.edition.toolbox.skills().get(&name) {
                Some(skill) => {
                    self.state().skills.load(&name, &skill.instructions, skill.files(), self.budget());
                }
                None => self.state().skills.remove(&name, self.budget()),
            }
        }
    }
}

/// What the model is told of skills that it loaded.
pub(super) fn told(views: &[SkillView]) -> String {
    let one = |view: &SkillView| match view.lines == view.last_line && view.first_line <= 1 {
        true => format!("`{}`", view.name),
        false => format!("`{}` (lines {} to {} of {})", view.name, view.first_line, view.last_line, view.lines),
    };
    let names: Vec<String> = views.iter().map(one).collect();
    format!("SKILLS_CONTEXT has {} from now on.", names.join(", "))
}

/// The value of skills that were loaded, for steps.
pub(super) fn value_of(views: &[SkillView]) -> Value {
    Value::from(Serde(&views))
}

/// A text parameter of an action.
pub(super) fn text(params: &Map<String, Json>, key: &str) -> String {
    params.get(key).and_then(Json::as_str).unwrap_or_default().to_owned()
}

/// A parameter that is a list of texts.
pub(super) fn texts(params: &Map<String, Json>, key: &str) -> Vec<String> {
    let items = params.get(key).and_then(Json::as_array).into_iter().flatten();
    items.filter_map(Json::as_str).map(str::to_owned).collect()
}
