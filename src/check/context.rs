//! What a rule works with: the library, the findings, and the files that it reads.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

use crate::diag::{Diagnostic, Diagnostics, SourceId, SourceMap, Span, codes};
use crate::document::{ForgeDoc, Kind, LoopDoc, PresetDoc, ToolDoc, WorkspaceDoc};
use crate::load::{Library, Loaded, PromptFile, PromptFileError};

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
    writes: OnceCell<Rc<Writes>>,
    /// Where templates are noted as they are checked, when somebody wants to know.
    pub(super) places: Option<Vec<TemplatePlace>>,
    files: BTreeMap<String, SourceId>,
    looked_at: HashSet<SourceId>,
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
            looked_at: HashSet::new(),
        }
    }

    pub(super) fn push(&mut self, finding: Diagnostic) {
        self.found.push(finding);
    }

    /// Which state variables steps set, and which loops others run.
    pub(super) fn writes(&self) -> Rc<Writes> {
        Rc::clone(self.writes.get_or_init(|| Rc::new(Writes::of(self.library))))
    }

    /// The template files that were read so far.
    pub(super) fn template_sources(&self) -> Vec<SourceId> {
        let mut sources: Vec<SourceId> = self.files.values().copied().collect();
        sources.sort_unstable();
        sources
    }

    /// Whether this file was not asked about before.
    pub(super) fn first_look(&mut self, source: SourceId) -> bool {
        self.looked_at.insert(source)
    }

    /// The workspace.
    pub(super) fn workspace(&self) -> &'a WorkspaceDoc {
        &self.library.workspace.doc
    }

    /// The template file that a document in `folder` names; what is wrong with it is reported at `span`.
    pub(super) fn document_file(&mut self, name: &str, folder: &str, span: Span) -> Option<Text<'static>> {
        let result = self.library.files.of_document(name, folder);
        self.file(result, name, span, codes::FILE_MISSING)
    }

    /// The template file of this name, which was named by the path that people see.
    pub(super) fn template_file(&mut self, name: &str, shown: &std::path::Path) -> Option<Text<'static>> {
        let result = self.library.files.read(name).map(|file| PromptFile { path: shown.to_owned(), ..file });
        let place = Span::new(SourceId(u32::try_from(self.sources.len()).unwrap_or(u32::MAX)), 0, 0);
        if result.is_err() {
            self.sources.add(shown, "");
        }
        self.file(result, name, place, codes::FILE_MISSING)
    }

    /// The template file that the template `parent` names.
    pub(super) fn included_file(
        &mut self,
        result: Result<PromptFile, PromptFileError>,
        name: &str,
        span: Span,
    ) -> Option<Text<'static>> {
        self.file(result, name, span, codes::TEMPLATE_NOT_FOUND)
    }

    fn file(
        &mut self,
        result: Result<PromptFile, PromptFileError>,
        name: &str,
        span: Span,
        missing: crate::diag::Code,
    ) -> Option<Text<'static>> {
        let finding = match result {
            Ok(file) => return Some(self.text_of(&file)),
            Err(PromptFileError::Missing(_)) => {
                Diagnostic::error(missing, span, format!("the file `{name}` does not exist"))
                    .help("paths are relative to the workspace, or to the folder of the file that names them")
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

    fn source_of(&mut self, name: &str, path: &std::path::Path, text: &std::sync::Arc<str>) -> SourceId {
        let sources = &mut *self.sources;
        *self.files.entry(name.to_owned()).or_insert_with(|| sources.add(path, text.clone()))
    }
}
