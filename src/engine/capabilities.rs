//! What the loops of a workspace could use: its tools, forges, skills and loops in one registry.

use serde_json::Value as Json;

use super::edition::Edition;
use super::program::Program;
use super::skillbook::BookSkill;
use super::toolbox::{Tool, Toolbox};
use crate::capability::{Capability, CapabilityKind, Registry, words_of_params};
use crate::event::ExtraCapability;
use crate::load::Library;
use crate::state::Listed;

/// The capabilities of a workspace, without tools written in Rust and those of MCP servers.
pub(crate) fn capabilities(library: &Library) -> Registry {
    registry(library, &Toolbox::of_documents(library))
}

/// The capabilities of a workspace; of MCP servers, the tools of those that were started.
pub(super) fn registry(library: &Library, toolbox: &Toolbox) -> Registry {
    let tools = toolbox.all().map(|tool| Capability::from(&*tool));
    let forges = library.forges.values().map(|loaded| Capability::from(&*loaded.doc));
    let skills = toolbox.skills().all().map(Capability::from);
    let loops = library.loops.values().filter(|loaded| !loaded.doc.hidden).map(|loaded| Capability::from(&*loaded.doc));
    Registry::new(tools.chain(forges).chain(skills).chain(loops))
}

impl Edition {
    /// What a loop offers beside tools and skills, for templates and its prompt.
    pub(super) fn listed(&self, program: &Program) -> Listed {
        let language = program.language;
        let extra = |one: Capability, params: Option<Json>| ExtraCapability {
            usage: one.usage_hint(language),
            name: one.name,
            kind: one.kind,
            description: one.description.split_whitespace().collect::<Vec<_>>().join(" "),
            params,
        };
        let forges = program.forges.iter().filter_map(|name| self.library.forges.get(name));
        let loops = program.focus_modes.iter().filter_map(|name| self.library.loops.get(name));
        Listed {
            forges: forges.map(|forge| extra((&*forge.doc).into(), self.forge_input(&forge.doc.name))).collect(),
            focus_modes: loops.map(|known| extra((&*known.doc).into(), None)).collect(),
            more: program.more,
        }
    }
}

impl From<&Tool> for Capability {
    fn from(tool: &Tool) -> Self {
        Self {
            kind: CapabilityKind::Tool,
            name: tool.name.clone(),
            description: tool.description.trim().to_owned(),
            usage: tool.usage.clone(),
            keywords: words_of_params(&tool.params),
        }
    }
}

impl From<&BookSkill> for Capability {
    fn from(skill: &BookSkill) -> Self {
        Self {
            kind: CapabilityKind::Skill,
            name: skill.name.clone(),
            description: skill.description.trim().to_owned(),
            usage: None,
            keywords: String::new(),
        }
    }
}
