//! The sections of a loop's prompt: the engine's own, the document's, and who stands where.

use std::sync::Arc;

use crate::document::{LoopDoc, TextSource, Tier, Trust, is_template};
use crate::load::{Library, Loaded};
use crate::model::Protocol;

/// A section, before anything is rendered.
#[derive(Debug, Clone)]
pub(super) struct SectionProgram {
    pub(super) name: String,
    pub(super) tier: Tier,
    pub(super) trust: Trust,
    pub(super) source: Source,
    pub(super) when: Option<String>,
    pub(super) depends: Depends,
    /// Left out under other protocols.
    pub(super) protocol: Option<bool>,
}

/// Where a section's text comes from.
#[derive(Debug, Clone)]
pub(super) enum Source {
    /// Text without template syntax.
    Fixed(Arc<str>),
    /// A template.
    Inline(String),
    /// A template file.
    File(String),
    /// The user's input, as it is.
    Input,
}

/// What a section's text depends on, so that it is rendered only when that changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depends {
    /// Nothing that changes in a run.
    Nothing,
    /// The actions that the turn may take.
    Actions,
    /// The skills that are loaded.
    Skills,
    /// The state of the run.
    State,
}

/// The engine's own sections: name, tier, file, what it depends on, and for which protocols
/// (`Some(true)`: native tools only; `Some(false)`: all others).
const OWN: [(&str, Tier, &str, Depends, Option<bool>); 13] = [
    ("TRAITS", Tier::HighStatic, "prompts/engine/traits.md.j2", Depends::Nothing, None),
    ("PROTOCOL", Tier::HighStatic, "prompts/engine/protocol_json.md.j2", Depends::Nothing, Some(false)),
    ("PROTOCOL", Tier::HighStatic, "prompts/engine/protocol_tools.md.j2", Depends::Nothing, Some(true)),
    ("TOOLS", Tier::Frozen, "prompts/engine/tools.md.j2", Depends::Nothing, Some(false)),
    ("SKILLS", Tier::Frozen, "prompts/engine/skills.md.j2", Depends::Nothing, None),
    ("FORGES", Tier::Frozen, "prompts/engine/forges.md.j2", Depends::Nothing, None),
    ("FOCUS_MODES", Tier::Frozen, "prompts/engine/focus_modes.md.j2", Depends::Nothing, None),
    ("SKILLS_CONTEXT", Tier::SemiDynamic, "prompts/engine/skills_context.md.j2", Depends::Skills, None),
    ("SCHEMA", Tier::SemiDynamic, "prompts/engine/schema.md.j2", Depends::Actions, Some(false)),
    ("EVIDENCE", Tier::TimelineOpen, "prompts/engine/evidence.md.j2", Depends::State, None),
    ("TODO", Tier::TimelineOpen, "prompts/engine/todo.md.j2", Depends::State, None),
    ("EXTRA_CAPABILITIES", Tier::Dynamic, "prompts/engine/extra_capabilities.md.j2", Depends::State, None),
    ("TURN", Tier::Dynamic, "prompts/engine/turn.md.j2", Depends::State, None),
];

impl SectionProgram {
    /// Whether the section is part of a prompt under a protocol.
    pub(super) fn serves(&self, protocol: Protocol) -> bool {
        self.protocol.is_none_or(|tools| tools == (protocol == Protocol::Tools))
    }

    fn new(name: &str, tier: Tier, source: Source) -> Self {
        Self {
            name: name.to_owned(),
            tier,
            trust: Trust::Trusted,
            source,
            when: None,
            depends: Depends::State,
            protocol: None,
        }
    }
}

/// The sections of a loop, in the order of the prompt inside each tier.
///
/// # Errors
/// A file that is not there.
pub(super) fn compile(library: &Library, loaded: &Loaded<LoopDoc>) -> Result<Vec<SectionProgram>, String> {
    let prompt = &loaded.doc.prompt;
    let file = |path: &str| file_source(library, path, &loaded.folder);
    let text = |source: &TextSource| match source {
        TextSource::Inline(text) => Ok(inline(text)),
        TextSource::File(path) => file(path),
    };
    let mut sections = Vec::new();
    let own = |wanted: &[&str], sections: &mut Vec<SectionProgram>| -> Result<(), String> {
        for (name, tier, path, depends, protocol) in OWN.iter().filter(|own| wanted.contains(&own.0)) {
            let mut section = SectionProgram::new(name, *tier, file(path)?);
            section.depends = *depends;
            section.protocol = *protocol;
            if name.starts_with("SKILLS") || *name == "EXTRA_CAPABILITIES" {
                // Whoever wrote a skill, or the descriptions of a server's tools, wrote no part of the loop.
                section.trust = Trust::Untrusted;
            }
            sections.push(section);
        }
        Ok(())
    };
    own(&["TRAITS", "PROTOCOL", "TOOLS", "SKILLS", "FORGES", "FOCUS_MODES"], &mut sections)?;
    sections.push(SectionProgram::new("PERSISTENT", Tier::SemiDynamic, text(&prompt.instruction)?));
    own(&["SCHEMA"], &mut sections)?;
    if let Some(example) = &prompt.output_example {
        sections.push(SectionProgram::new("OUTPUT_EXAMPLE", Tier::SemiDynamic, text(example)?));
    }
    // Last in its tier: loading a skill changes nothing that stands before it.
    own(&["SKILLS_CONTEXT"], &mut sections)?;
    own(&["EVIDENCE", "TODO"], &mut sections)?;
    let mut query = SectionProgram::new("USER_QUERY", Tier::Dynamic, Source::Input);
    query.trust = Trust::Untrusted;
    query.depends = Depends::Nothing;
    sections.push(query);
    own(&["EXTRA_CAPABILITIES"], &mut sections)?;
    let mechanism = |name: &str| file(&library.mechanism_file(loaded, name));
    sections.push(SectionProgram::new("REFLECTION", Tier::Dynamic, mechanism("section")?));
    if library.workspace.doc.mechanisms.verification
        && loaded.doc.mechanisms.verification.as_ref().is_none_or(|own| own.enabled != Some(false))
    {
        sections.push(SectionProgram::new("VERIFICATION", Tier::Dynamic, mechanism("verification_section")?));
    }
    if loaded.doc.mechanisms.todo.as_ref().is_some_and(|todo| todo.enabled == Some(true)) {
        sections.push(SectionProgram::new("TODO_CHECKPOINT", Tier::Dynamic, mechanism("todo_checkpoint")?));
    }
    if let Some(reactive) = &prompt.reactive {
        sections.push(SectionProgram::new("REACTIVE_DATA", Tier::Dynamic, text(reactive)?));
    }
    let mut extra = Vec::new();
    for doc in &prompt.sections {
        let source = match (&doc.text, &doc.file) {
            (Some(text), None) => inline(text),
            (None, Some(path)) => file(path)?,
            _ => return Err(format!("section `{}` needs either `text` or `file`", doc.name)),
        };
        let mut section = SectionProgram::new(&doc.name, doc.tier, source);
        section.trust = doc.trust;
        section.when = doc.when.as_ref().map(|when| when.to_string());
        match sections.iter_mut().find(|known| known.name == *doc.name) {
            Some(known) => {
                section.protocol = known.protocol;
                *known = section;
            }
            None => extra.push(section),
        }
    }
    sections.extend(extra);
    own(&["TURN"], &mut sections)?;
    Ok(sections)
}

pub(super) fn inline(text: &str) -> Source {
    if is_template(text) { Source::Inline(text.to_owned()) } else { Source::Fixed(Arc::from(text.trim_end())) }
}

pub(super) fn file_source(library: &Library, path: &str, folder: &str) -> Result<Source, String> {
    let file = library.files.of_document(path, folder).map_err(|error| error.to_string())?;
    Ok(if is_template(&file.text) { Source::File(file.name) } else { Source::Fixed(Arc::from(file.text.trim_end())) })
}
