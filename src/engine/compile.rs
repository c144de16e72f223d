//! From a checked document to a program: names resolved, built-in actions offered or not.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value as Json;

use super::action::{ActionKind, ActionProgram};
use super::builtin::{Builtin, Nameable};
use super::error::EngineError;
use super::skillbook::BookSkill;
use super::steps::StepList;
use super::toolbox::Toolbox;
use crate::document::{Action, BUILTIN_TOOLS, BUILTINS, LoopDoc, Tag, Then};
use crate::load::{Library, Loaded};
use crate::mechanism::{Mode, Settings};
use crate::model::tokens::Counter;
use crate::reply::{ActionGrammar, TagRule};
use crate::syntax::{Node, Spanned};

/// Whether a loop gets capabilities beside its own anywhere: by an action of the model, or in a step.
pub(super) fn searches(loaded: &Loaded<LoopDoc>) -> bool {
    [Builtin::SEARCH, Builtin::LOAD].iter().any(|name| {
        let listed = loaded.doc.builtins.iter().flatten().any(|listed| listed.as_str() == *name);
        listed || ["actions", "hooks"].iter().any(|key| loaded.node.get(key).is_some_and(|node| has_key(node, name)))
    })
}

fn has_key(node: &Node, key: &str) -> bool {
    let below = |node: &Node| has_key(node, key);
    node.entries().iter().any(|entry| &*entry.key == key || below(&entry.value)) || node.items().iter().any(below)
}

/// What a loop offers by name.
pub(super) struct Offered {
    pub(super) tools: Vec<String>,
    pub(super) skills: Vec<String>,
    pub(super) forges: Vec<String>,
    pub(super) focus_modes: Vec<String>,
}

impl Offered {
    /// Anything but tools, which have actions of their own.
    fn any(&self) -> bool {
        [&self.skills, &self.forges, &self.focus_modes].iter().any(|names| !names.is_empty())
    }
}

/// Compiles one document.
pub(super) struct Compiler<'a> {
    library: &'a Library,
    doc: &'a LoopDoc,
    toolbox: &'a Toolbox,
    pub(super) searches: bool,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(library: &'a Library, doc: &'a LoopDoc, toolbox: &'a Toolbox) -> Self {
        Self { library, doc, toolbox, searches: false }
    }

    /// What the loop offers beside tools and skills.
    ///
    /// # Errors
    /// A name of nothing.
    pub(super) fn offered(&self, tools: Vec<String>, skills: Vec<String>) -> Result<Offered, EngineError> {
        let (forges, loops) = (&self.library.forges, &self.library.loops);
        let missing = |names: &Option<Vec<Spanned<String>>>, is_there: &dyn Fn(&str) -> bool, kind: &str| {
            let name = names.iter().flatten().find(|name| !is_there(name.as_str()))?;
            Some(format!("{}there is no {kind} named `{name}`", self.library.place(Some(name.span))))
        };
        let problem = missing(&self.doc.forges, &|name| forges.contains_key(name), "forge");
        let problem = problem.or_else(|| missing(&self.doc.focus_modes, &|name| loops.contains_key(name), "loop"));
        if let Some(problem) = problem {
            return Err(self.fault(problem));
        }
        let forges: Vec<String> = self.own_forges().map(str::to_owned).collect();
        let loops: Vec<String> = self.own_loops().map(str::to_owned).collect();
        let (forges, focus_modes) = (self.doc.offered_forges(&forges), self.doc.offered_focus_modes(&loops));
        Ok(Offered { tools, skills, forges, focus_modes })
    }

    /// The forges that the workspace brings: those that are part of the program are offered where they are named.
    fn own_forges(&self) -> impl Iterator<Item = &str> {
        self.library.forges.values().filter(|forge| !forge.shipped).map(|forge| forge.doc.name.as_str())
    }

    /// The loops that the workspace brings, and that another one could enter.
    fn own_loops(&self) -> impl Iterator<Item = &str> {
        let loops = self.library.loops.values().filter(|known| !known.shipped && !known.doc.hidden);
        loops.map(|known| known.doc.name.as_str()).filter(|name| *name != self.doc.name.as_str())
    }

    /// Whether the workspace may have something that the loop may use, and that it does not offer itself.
    pub(super) fn has_more(&self, offered: &Offered) -> bool {
        let allow = &self.doc.allow;
        let of_server = !self.library.workspace.doc.mcp.is_empty();
        let is_more = |name: &str| !BUILTIN_TOOLS.contains(&name) && !offered.tools.iter().any(|own| own == name);
        (allow.tool && (of_server || self.toolbox.all().any(|tool| is_more(&tool.name))))
            || (allow.forge && self.own_forges().any(|name| !offered.forges.iter().any(|own| own == name)))
            || (allow.skill && self.toolbox.skills().all().any(|skill| !offered.skills.contains(&skill.name)))
            || (allow.focus_mode && self.own_loops().any(|name| !offered.focus_modes.iter().any(|own| own == name)))
    }

    pub(super) fn fault(&self, problem: impl Into<String>) -> EngineError {
        EngineError::Document { name: self.doc.name.to_string(), problem: problem.into() }
    }

    pub(super) fn steps(&self, path: &str, steps: &[crate::document::Step]) -> Result<StepList, EngineError> {
        StepList::compile(path, steps).map_err(|diagnostics| {
            let words: Vec<String> =
                diagnostics.iter().map(|d| format!("{}{}", self.library.place(d.span), d.message)).collect();
            self.fault(words.join("; "))
        })
    }

    pub(super) fn skills(&self) -> Result<Vec<String>, EngineError> {
        let book = self.toolbox.skills();
        for name in self.doc.skills.iter().flatten() {
            if book.get(name).is_none() {
                let place = self.library.place(Some(name.span));
                return Err(self.fault(format!("{place}there is no skill named `{name}`")));
            }
        }
        let all: Vec<String> = book.all().map(|skill| skill.name.clone()).collect();
        Ok(self.doc.offered_skills(&all))
    }

    /// Skills that the model may call too: those that the document names, and those that a program brings.
    fn callable<'s>(&'s self, skills: &'s [String]) -> impl Iterator<Item = &'s String> {
        let named = |name: &String| self.doc.skills.iter().flatten().any(|listed| listed.value == *name);
        let native = |name: &String| self.toolbox.skills().get(name).is_some_and(|skill| skill.native);
        skills.iter().filter(move |name| (named(name) || native(name)) && self.toolbox.get(name).is_some())
    }

    pub(super) fn tools(&self, skills: &[String]) -> Result<Vec<String>, EngineError> {
        if !self.doc.allow.tool {
            return Ok(Vec::new());
        }
        let mut tools: Vec<String> = Vec::new();
        for name in self.doc.tools.iter().chain(&self.library.workspace.doc.tools) {
            let named = self.toolbox.named(name);
            let named =
                named.map_err(|problem| self.fault(format!("{}{problem}", self.library.place(Some(name.span)))))?;
            for name in named {
                if !tools.contains(&name) {
                    tools.push(name);
                }
            }
        }
        for name in self.callable(skills) {
            if !tools.contains(name) {
                tools.push(name.clone());
            }
        }
        Ok(tools)
    }

    /// The MCP servers that the loop's tools come from.
    pub(super) fn servers(&self) -> Vec<String> {
        let listed = self.doc.tools.iter().chain(&self.library.workspace.doc.tools).filter(|_| self.doc.allow.tool);
        let names = listed.map(|name| &name.value).chain(self.tools_of_actions());
        let mut servers: Vec<String> = Vec::new();
        for server in names.filter_map(|name| self.toolbox.server_of(name)) {
            if !servers.iter().any(|known| known == server) {
                servers.push(server.to_owned());
            }
        }
        servers
    }

    /// The tools that actions stand for.
    pub(super) fn tools_of_actions(&self) -> impl Iterator<Item = &String> {
        self.doc.actions.values().filter_map(|action| action.from_tool.as_ref()).map(|name| &name.value)
    }

    pub(super) fn actions(&self, offered: &Offered) -> Result<IndexMap<String, Arc<ActionProgram>>, EngineError> {
        let mut actions = IndexMap::new();
        for (name, action) in &self.doc.actions {
            actions.insert(name.clone(), Arc::new(self.declared(name, action)?));
        }
        for builtin in BUILTINS.iter().filter(|builtin| self.offers(builtin.name, offered)) {
            let Some(which) = Builtin::of(builtin.name) else { continue };
            if actions.contains_key(builtin.name) {
                continue;
            }
            let nameable = Nameable { offered, found: self.searches };
            let (params, tags) = (which.params(nameable), which.tags());
            actions.insert(
                builtin.name.to_owned(),
                Arc::new(ActionProgram {
                    name: builtin.name.to_owned(),
                    description: builtin.description.to_owned(),
                    grammar: grammar(&params, &tags),
                    params,
                    tags,
                    stream: which.stream(),
                    verify: Vec::new(),
                    when: None,
                    key: false,
                    kind: ActionKind::Builtin(which),
                    then: if builtin.ends_loop { Then::Exit } else { Then::Continue },
                }),
            );
        }
        Ok(actions)
    }

    /// Whether the loop offers a built-in action: listed, or allowed when nothing is listed.
    fn offers(&self, name: &str, offered: &Offered) -> bool {
        let skills = &offered.skills;
        let allowed = match Builtin::of(name) {
            None => false,
            Some(Builtin::DirectlyCallTool | Builtin::RequireTool) => {
                !offered.tools.is_empty() || (self.searches && self.doc.allow.tool)
            }
            // What is found may be used: nobody gets that without asking for it.
            Some(Builtin::SearchCapabilities) => self.doc.builtins.is_some() && self.searches,
            Some(Builtin::LoadCapability) => self.doc.builtins.is_some() && (self.searches || offered.any()),
            Some(Builtin::RequireAiBlueprint) => {
                let found = self.searches && self.doc.allow.forge && self.own_forges().next().is_some();
                !offered.forges.is_empty() || found
            }
            Some(Builtin::EnterFocusMode) => {
                let found = self.searches && self.doc.allow.focus_mode && self.own_loops().next().is_some();
                !offered.focus_modes.is_empty() || found
            }
            Some(Builtin::AskForClarification) => self.doc.allow.user_interaction,
            Some(Builtin::LoadingSkills) => !skills.is_empty(),
            Some(Builtin::LoadSkillResources) => self.of(skills).any(|skill| !skill.files().is_empty()),
            Some(Builtin::ChangeSkillViewOffset) => {
                let tokens = self.of(skills).map(|skill| Counter::ESTIMATE.count(&skill.instructions));
                tokens.sum::<usize>() > self.doc.limits.max_skill_tokens as usize
            }
            Some(Builtin::Finish | Builtin::DirectlyAnswer) => true,
            // Where nobody named the gate, it costs no model call that nobody listed.
            Some(Builtin::RequestVerification) => match self.verification_mode() {
                Mode::On => true,
                Mode::Free => self.doc.builtins.is_some(),
                Mode::Off => false,
            },
        };
        allowed
            && match &self.doc.builtins {
                Some(listed) => listed.iter().any(|listed| listed.as_str() == name),
                None => true,
            }
    }

    fn verification_mode(&self) -> Mode {
        Settings::new(&self.doc.mechanisms, &self.library.workspace.doc.mechanisms).verification.mode
    }

    fn of<'s>(&'s self, skills: &'s [String]) -> impl Iterator<Item = &'s BookSkill> {
        skills.iter().filter_map(|name| self.toolbox.skills().get(name))
    }

    fn declared(&self, name: &str, action: &Action) -> Result<ActionProgram, EngineError> {
        let mut params = action.params.as_ref().map(|params| params.schema.clone());
        let mut description = action.description.clone();
        let kind = if let Some(tool) = &action.from_tool {
            self.toolbox.named(tool).map_err(|problem| self.fault(format!("action `{name}`: {problem}")))?;
            // Not there yet means that a server is to be started before the first turn.
            if let Some(found) = self.toolbox.get(tool) {
                params.get_or_insert_with(|| found.params.clone());
                if description.is_empty() {
                    description.clone_from(&found.description);
                }
            }
            ActionKind::Tool(tool.to_string())
        } else if let Some(target) = &action.from_loop {
            let found = self
                .library
                .loops
                .get(target.as_str())
                .ok_or_else(|| self.fault(format!("action `{name}`: there is no loop named `{target}`")))?;
            if description.is_empty() {
                description = found.doc.description.as_deref().cloned().unwrap_or_default();
            }
            params.get_or_insert_with(|| {
                serde_json::json!({
                    "type": "object",
                    "properties": { "task": { "type": "string", "description": "What to do; the whole input when left out." } }
                })
            });
            ActionKind::Loop(target.to_string())
        } else {
            ActionKind::Steps(self.steps(&format!("actions.{name}.do"), &action.steps)?)
        };
        let params = params.unwrap_or_else(|| serde_json::json!({ "type": "object", "properties": {} }));
        let verify = action
            .verify
            .iter()
            .map(|verify| (verify.that.to_string(), verify.message.as_ref().map(|message| message.to_string())))
            .collect();
        Ok(ActionProgram {
            name: name.to_owned(),
            description,
            grammar: grammar(&params, &action.tags),
            params,
            tags: action.tags.clone(),
            stream: action.stream.clone(),
            verify,
            when: action.when.as_ref().map(|when| when.to_string()),
            key: action.key,
            kind,
            then: action.then.as_ref().map_or(Then::Continue, |then| then.value),
        })
    }
}

fn grammar(params: &Json, tags: &IndexMap<String, Tag>) -> Arc<ActionGrammar> {
    let tags = tags.iter().map(|(name, tag)| (name.clone(), TagRule { required: tag.required })).collect();
    Arc::new(ActionGrammar::new(params.clone(), tags))
}
