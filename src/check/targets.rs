//! Which documents a check covers: those that were named, or all that a loop needs.

use std::collections::BTreeSet;

use super::Targets;
use super::context::Subject;
use super::steps::{each, lists};
use crate::diag::{Diagnostic, Diagnostics, Severity, SourceId};
use crate::document::Kind;
use crate::load::Library;
use crate::syntax::Node;
use crate::verb::{Reference, find};

/// The files that a check covers.
pub(super) struct Selection {
    sources: BTreeSet<SourceId>,
    /// Errors here matter to every document.
    workspace: SourceId,
}

impl Selection {
    pub(super) fn of(library: &Library, targets: Targets<'_>) -> Self {
        let mut sources = BTreeSet::new();
        match targets {
            Targets::All => sources.extend(library.own_sources()),
            Targets::Files(files) => sources.extend(files.iter().copied()),
            Targets::Loop(name) => {
                sources.insert(library.workspace.source);
                let mut closure = Closure { library, sources: &mut sources };
                closure.document(Kind::Loop, name);
                for tool in &library.workspace.doc.tools {
                    closure.document(Kind::Tool, tool);
                }
            }
        }
        Self { sources, workspace: library.workspace.source }
    }

    pub(super) fn has(&self, source: SourceId) -> bool {
        self.sources.contains(&source)
    }

    /// The files of the workspace that are checked.
    pub(super) fn own(&self, library: &Library) -> Vec<SourceId> {
        library.own_sources().into_iter().filter(|source| self.has(*source)).collect()
    }

    /// All of them, in the order in which they were read.
    pub(super) fn sources(&self) -> Vec<SourceId> {
        self.sources.iter().copied().filter(|source| *source != SourceId::NONE).collect()
    }

    /// Whether a finding is about a file that is checked, or about none.
    pub(super) fn covers(&self, finding: &Diagnostic) -> bool {
        let Some(place) = finding.span else { return true };
        let is_error = finding.severity == Severity::Error;
        self.has(place.source)
            || finding.labels.iter().any(|(span, _)| self.has(span.source))
            || (is_error && place.source == self.workspace)
    }

    /// The documents, in the order of the library.
    pub(super) fn subjects<'a>(&self, library: &'a Library) -> Vec<Subject<'a>> {
        let workspace = std::iter::once(Subject::Workspace(&library.workspace));
        let all = workspace
            .chain(library.presets.values().map(Subject::Preset))
            .chain(library.forges.values().map(Subject::Forge))
            .chain(library.tools.values().map(Subject::Tool))
            .chain(library.loops.values().map(Subject::Loop));
        all.filter(|subject| self.has(subject.source())).collect()
    }
}

/// Follows references from document to document.
struct Closure<'a> {
    library: &'a Library,
    sources: &'a mut BTreeSet<SourceId>,
}

impl Closure<'_> {
    /// The file of a skill; what it does when it is called is a tool.
    fn skill(&mut self, name: &str) {
        if let Some(entry) = self.library.skills.get(name) {
            self.sources.insert(entry.source);
        }
    }

    fn document(&mut self, kind: Kind, name: &str) {
        let library = self.library;
        let broken = library.unusable.iter().filter(|doc| doc.kind == kind && doc.name.as_deref() == Some(name));
        self.sources.extend(broken.map(|doc| doc.source));
        let (node, source) = match kind {
            Kind::Loop => match library.loops.get(name) {
                Some(loaded) => (&loaded.node, loaded.source),
                None => return,
            },
            Kind::Tool => match library.tools.get(name) {
                Some(loaded) => (&loaded.node, loaded.source),
                None => return,
            },
            Kind::Forge => match library.forges.get(name) {
                Some(loaded) => (&loaded.node, loaded.source),
                None => return,
            },
            Kind::Preset | Kind::Workspace => return,
        };
        if !self.sources.insert(source) {
            return;
        }
        // What was merged in has the places of the preset's file.
        sources_of(node, self.sources);
        if let Some(loaded) = library.loops.get(name).filter(|_| kind == Kind::Loop) {
            for tool in loaded
                .doc
                .tools
                .iter()
                .chain(loaded.doc.actions.values().filter_map(|action| action.from_tool.as_ref()))
            {
                self.document(Kind::Tool, tool);
            }
            for skill in loaded.doc.offered_skills(&self.library.skills.names()) {
                self.skill(&skill);
            }
            for inner in loaded.doc.actions.values().filter_map(|action| action.from_loop.as_ref()) {
                self.document(Kind::Loop, inner);
            }
        }
        for list in lists(node) {
            let mut references = Vec::new();
            each(list.node, &mut |step| {
                for verb in step.verbs() {
                    let decoded = find(&verb.key).and_then(|known| known.decode(&verb.value, &mut Diagnostics::new()));
                    references.extend(decoded.into_iter().flat_map(|decoded| decoded.references()));
                }
            });
            for reference in references {
                match reference {
                    Reference::Tool(name) => self.document(Kind::Tool, &name),
                    Reference::Forge(name) => self.document(Kind::Forge, &name),
                    Reference::Loop(name) => self.document(Kind::Loop, &name),
                    Reference::Skill(name) => self.skill(&name),
                    Reference::Action(_) | Reference::State(_) => {}
                }
            }
        }
    }
}

fn sources_of(node: &Node, sources: &mut BTreeSet<SourceId>) {
    for entry in node.entries() {
        if !entry.key_span.is_none() {
            sources.insert(entry.key_span.source);
        }
        sources_of(&entry.value, sources);
    }
}
