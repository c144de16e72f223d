//! What a rule works with: the library, the findings, and the files that it reads.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use crate::diag::{Diagnostic, Diagnostics, SourceId, SourceMap, Span, codes};
use crate::document::{ForgeDoc, Kind, LoopDoc, PresetDoc, ToolDoc, WorkspaceDoc};
use crate::load::{Library, Loaded, PromptFile, PromptFileError};

use super::kept::{Asked, Lookup, Verdict};
use super::places::TemplatePlace;
use super::text::Text;
use super::writes::Writes;

/// A document that is checked.
#[derive(Clone, Copy)]
pub(super) enum Subject<'a> {
    Loop(&'a Loaded<LoopDoc>),
    Tool(&'a Loaded<ToolDoc>),
    Forge(&'a Loaded<ForgeDoc>),
    Preset(&'a Loaded<PresetDoc>),
    Workspace(&'a Loaded<WorkspaceDoc>),
}

impl Subject<'_> {
    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Loop(_) => Kind::Loop,
            Self::Tool(_) => Kind::Tool,
            Self::Forge(_) => Kind::Forge,
            Self::Preset(_) => Kind::Preset,
            Self::Workspace(_) => Kind::Workspace,
        }
    }

    pub(super) fn node(&self) -> &crate::syntax::Node {
        match self {
            Self::Loop(loaded) => &loaded.node,
            Self::Tool(loaded) => &loaded.node,
            Self::Forge(loaded) => &loaded.node,
            Self::Preset(loaded) => &loaded.node,
            Self::Workspace(loaded) => &loaded.node,
        }
    }

    pub(super) fn source(self) -> SourceId {
        match self {
            Self::Loop(loaded) => loaded.source,
            Self::Tool(loaded) => loaded.source,
            Self::Forge(loaded) => loaded.source,
            Self::Preset(loaded) => loaded.source,
            Self::Workspace(loaded) => loaded.source,
        }
    }
}

/// What a rule works with.
pub(super) struct Cx<'a> {
    /// Everything that was read.
    pub(super) library: &'a Library,
    /// Where findings go.
    pub(super) found: &'a mut Diagnostics,
    /// The library's sources, and template files as they are read.
    pub(super) sources: &'a mut SourceMap,
    /// The state variables that the current loop's templates read.
    pub(super) state_reads: StateReads,
    writes: OnceCell<Arc<Writes>>,
    /// Where templates are noted as they are checked, when somebody wants to know.
    pub(super) places: Option<Vec<TemplatePlace>>,
    files: BTreeMap<String, SourceId>,
    /// Template files that were read and not searched for secrets yet.
    unsearched: Vec<SourceId>,
    searched: HashSet<SourceId>,
    hidden: Vec<Span>,
    lookups: Vec<Lookup>,
}

/// What checking some of the documents leaves behind beside its verdicts.
pub(super) struct Leavings {
    /// The sources to begin with, and then the template files that were read.
    sources: SourceMap,
    files: BTreeMap<String, SourceId>,
}

/// Which state variables templates and expressions read.
#[derive(Debug, Default)]
pub(super) struct StateReads {
    pub(super) names: HashSet<String>,
    /// Something may read any of them: `{{ state }}`, `state[name]`, a template that cannot be read.
    pub(super) all: bool,
}

impl<'a> Cx<'a> {
    pub(super) fn new(library: &'a Library, sources: &'a mut SourceMap, found: &'a mut Diagnostics) -> Self {
        Self {
            library,
            found,
            sources,
            places: None,
            state_reads: StateReads::default(),
            writes: OnceCell::new(),
            files: BTreeMap::new(),
            unsearched: Vec::new(),
            searched: HashSet::new(),
            hidden: Vec::new(),
            lookups: Vec::new(),
        }
    }

    /// The same with what is known of all documents together, so that it is looked up once.
    pub(super) fn knowing(self, writes: Arc<Writes>) -> Self {
        Self { writes: writes.into(), ..self }
    }

    /// What is left when some of the documents are checked.
    pub(super) fn leave(self) -> Leavings {
        Leavings { sources: self.sources.clone(), files: self.files }
    }

    /// Takes over what others left behind who began with these sources, of which there were `first`. Gives the id here of
    /// each source there.
    pub(super) fn take_over(&mut self, left: Leavings, first: usize) -> impl Fn(SourceId) -> SourceId + use<> {
        let names: HashMap<SourceId, String> = left.files.into_iter().map(|(name, id)| (id, name)).collect();
        let ids: Vec<SourceId> = left
            .sources
            .ids()
            .skip(first)
            .map(|id| {
                let known = names.get(&id).and_then(|name| self.files.get(name).copied());
                let own = known.unwrap_or_else(|| self.sources.adopt(&left.sources, id));
                self.files.extend(names.get(&id).map(|name| (name.clone(), own)));
                own
            })
            .collect();
        move |id: SourceId| {
            let added = (id.0 as usize).checked_sub(first);
            added.and_then(|added| ids.get(added)).copied().unwrap_or(id)
        }
    }

    /// What was found since the last verdict, as the rules' part of one.
    pub(super) fn verdict(&mut self) -> Verdict {
        Verdict {
            rules: std::mem::take(self.found),
            schema: Diagnostics::new(),
            places: self.places.as_mut().map(std::mem::take).unwrap_or_default(),
            hidden: std::mem::take(&mut self.hidden),
            lookups: std::mem::take(&mut self.lookups),
        }
    }

    /// Takes over what a verdict holds beside findings.
    pub(super) fn take_verdict(&mut self, verdict: &Verdict) {
        self.hidden.extend(&verdict.hidden);
        if let Some(places) = &mut self.places {
            places.extend(verdict.places.iter().cloned());
        }
    }

    /// The id of a template file that was read.
    pub(super) fn file_id(&self, name: &str) -> Option<SourceId> {
        self.files.get(name).copied()
    }

    /// Looks a template file up.
    pub(super) fn look_up(&mut self, asked: Asked) -> Result<PromptFile, PromptFileError> {
        let lookup = Lookup::of(self.library, asked);
        let answer = lookup.answer.clone();
        self.lookups.push(lookup);
        answer
    }

    pub(super) fn push(&mut self, finding: Diagnostic) {
        self.found.push(finding);
    }

    /// Which state variables steps set, and which loops others run.
    pub(super) fn writes(&self) -> Arc<Writes> {
        Arc::clone(self.writes.get_or_init(|| Arc::new(Writes::of(self.library))))
    }

    /// The template files that were read since this was asked last.
    pub(super) fn new_templates(&mut self) -> Vec<SourceId> {
        std::mem::take(&mut self.unsearched)
    }

    /// Whether this file is searched for secrets for the first time.
    pub(super) fn first_search(&mut self, source: SourceId) -> bool {
        self.searched.insert(source)
    }

    /// Masks a part of a file in everything that will be shown of it.
    pub(super) fn hide(&mut self, span: Span) {
        self.hidden.push(span);
    }

    /// Masks what was to be hidden.
    pub(super) fn mask_sources(&mut self) {
        for span in std::mem::take(&mut self.hidden) {
            self.sources.hide(span);
        }
    }

    /// The workspace.
    pub(super) fn workspace(&self) -> &'a WorkspaceDoc {
        &self.library.workspace.doc
    }

    /// The template file that a document in `folder` names; what is wrong with it is reported at `span`.
    pub(super) fn document_file(&mut self, name: &str, folder: &str, span: Span) -> Option<Text<'static>> {
        let result = self.look_up(Asked::Document(name.to_owned(), folder.to_owned()));
        self.file(result, (name, folder), span, codes::FILE_MISSING)
    }

    /// The template file of this name, which was named by the path that people see.
    pub(super) fn template_file(&mut self, name: &str, shown: &std::path::Path) -> Option<Text<'static>> {
        let result = self.library.files.read(name).map(|file| PromptFile { path: shown.to_owned(), ..file });
        let place = Span::new(SourceId(u32::try_from(self.sources.len()).unwrap_or(u32::MAX)), 0, 0);
        if result.is_err() {
            self.sources.add(shown, "");
        }
        self.file(result, (name, ""), place, codes::FILE_MISSING)
    }

    /// The template file that the template `parent` names.
    pub(super) fn included_file(
        &mut self,
        result: Result<PromptFile, PromptFileError>,
        (name, parent): (&str, &str),
        span: Span,
    ) -> Option<Text<'static>> {
        let folder = parent.rsplit_once('/').map_or("", |(folder, _)| folder);
        self.file(result, (name, folder), span, codes::TEMPLATE_NOT_FOUND)
    }

    fn file(
        &mut self,
        result: Result<PromptFile, PromptFileError>,
        (name, folder): (&str, &str),
        span: Span,
        missing: crate::diag::Code,
    ) -> Option<Text<'static>> {
        let finding = match result {
            Ok(file) => return Some(self.text_of(&file)),
            Err(PromptFileError::Missing(_)) => {
                let help = match self.library.files.near(name, folder) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => {
                        "paths are relative to the workspace, or to the folder of the file that names them".to_owned()
                    }
                };
                Diagnostic::error(missing, span, format!("the file `{name}` does not exist")).help(help)
            }
            Err(PromptFileError::Outside(_)) => Diagnostic::error(
                codes::TEMPLATE_OUTSIDE_ROOT,
                span,
                format!("the file `{name}` lies outside the workspace"),
            )
            .help("use a relative name without `..`, written with `/`"),
            Err(PromptFileError::Unreadable { problem, .. }) => {
                Diagnostic::error(codes::FILE_UNREADABLE, span, format!("the file `{name}` cannot be read: {problem}"))
            }
            Err(PromptFileError::Encoding { name, path, text, finding }) => {
                let source = self.source_of(&name, &path, &text);
                let mut finding = *finding;
                finding.span = finding.span.or(Some(Span::new(source, 0, 0)));
                finding.span = finding.span.map(|place| Span::new(source, place.start, place.end));
                finding
            }
        };
        self.push(finding);
        None
    }

    /// The template files that were read.
    pub(super) fn template_files(&self) -> Vec<Text<'static>> {
        let text = |(name, source): (&String, &SourceId)| {
            Some(Text::File(name.clone(), self.sources.shared_text(*source)?, *source))
        };
        self.files.iter().filter_map(text).collect()
    }

    fn text_of(&mut self, file: &PromptFile) -> Text<'static> {
        let source = self.source_of(&file.name, &file.path, &file.text);
        Text::File(file.name.clone(), file.text.clone(), source)
    }

    /// The id of a template file, which is now one of the sources.
    pub(super) fn source_of(&mut self, name: &str, path: &std::path::Path, text: &Arc<str>) -> SourceId {
        if let Some(known) = self.files.get(name) {
            return *known;
        }
        let source = self.sources.add(path, text.clone());
        self.files.insert(name.to_owned(), source);
        self.unsearched.push(source);
        source
    }
}
