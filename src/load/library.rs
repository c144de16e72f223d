//! The library: what a workspace holds, found by kind and name.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};

use super::admit::{Admission, Content, Decoded};
use super::again::Added;
use super::discover::{documents, find_workspace, says_document};
use super::exclude::Exclude;
use super::extends::{Layer, Presets};
use super::memory::Memory;
use super::overlay::Overlay;
use super::prompt_files::PromptFiles;
use super::read::{Place, ReadDoc, Reading};
use crate::diag::{Diagnostic, Diagnostics, Severity, SourceId, SourceMap, Span, codes};
use crate::document::{ForgeDoc, Kind, LoopDoc, PresetDoc, ToolDoc, WorkspaceDoc};
use crate::parallel;
use crate::skill::SkillSet;
use crate::syntax::{Node, Spanned, Style, Value, decode_partial};

/// Fewer files than this are not worth a thread.
pub(super) const LEAST: usize = 8;

/// A document with where it came from.
#[derive(Debug, Clone)]
pub struct Loaded<T> {
    /// The document, what it extends included.
    pub doc: Arc<T>,
    /// The same as a tree; every value has the place in the file that it came from.
    pub node: Node,
    /// The file's path, as people see it.
    pub path: PathBuf,
    /// The document's folder from the workspace's folder, written with `/`.
    pub folder: String,
    /// The file.
    pub source: SourceId,
    /// Whether it is part of the program.
    pub shipped: bool,
}

/// A file that gives no document. What is wrong with it is among the findings.
#[derive(Debug, Clone)]
pub struct Unusable {
    /// Its kind, as far as it could be told.
    pub kind: Kind,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// The tree, if it could be read.
    pub node: Option<Node>,
    /// The file's path, as people see it.
    pub path: PathBuf,
    /// The file.
    pub source: SourceId,
}

/// A document's kind and name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DocRef {
    /// The kind.
    pub kind: Kind,
    /// The name.
    pub name: String,
}

/// Everything that a workspace and the program itself bring.
#[derive(Debug, Clone)]
pub struct Library {
    /// The workspace's folder, absolute.
    pub root: PathBuf,
    /// The text of every file that was read.
    pub sources: SourceMap,
    /// The workspace; one with defaults when no file declares it.
    pub workspace: Loaded<WorkspaceDoc>,
    /// Loops by name.
    pub loops: IndexMap<String, Loaded<LoopDoc>>,
    /// Tools by name.
    pub tools: IndexMap<String, Loaded<ToolDoc>>,
    /// Forges by name.
    pub forges: IndexMap<String, Loaded<ForgeDoc>>,
    /// Presets by name.
    pub presets: IndexMap<String, Loaded<PresetDoc>>,
    /// Files that give no document.
    pub unusable: Vec<Unusable>,
    /// Skills, in the order in which their folders are searched.
    pub skills: Arc<SkillSet>,
    /// Template files.
    pub files: PromptFiles,
    /// The workspace's folder, where it really is.
    pub(super) real_root: PathBuf,
    pub(super) shown_root: PathBuf,
    pub(super) overlay: Overlay,
    pub(super) docs: Vec<ReadDoc>,
    passed_over: usize,
    /// Files that were read, by their real paths.
    pub(super) known: HashMap<PathBuf, SourceId>,
    /// What was added by hand, to be added again when everything is read again.
    pub(super) added: IndexSet<Added>,
    pub(super) findings: Diagnostics,
    pub(super) memory: Memory,
}

impl Library {
    /// Reads the workspace that `start` (a folder, or a file in one) lies in, or the folder itself when there is none.
    ///
    /// What is wrong is returned and also kept, see [`Self::findings`]; a document with a mistake is kept as far as it
    /// can be understood.
    #[must_use]
    pub fn open(start: &Path) -> (Self, Diagnostics) {
        Self::open_with(start, Overlay::default())
    }

    /// The same with texts that stand before the files of their paths.
    #[must_use]
    pub(crate) fn open_with(start: &Path, overlay: Overlay) -> (Self, Diagnostics) {
        Self::open_after(start, overlay, Memory::default())
    }

    /// The same as [`Self::open_with`] after the same was opened before: only what changed is parsed again.
    #[must_use]
    pub(crate) fn open_again(&self, start: &Path, overlay: Overlay) -> Self {
        let mut library = Self::open_after(start, overlay, Memory::after(&self.memory)).0;
        library.memory.settle();
        library
    }

    fn open_after(start: &Path, overlay: Overlay, memory: Memory) -> (Self, Diagnostics) {
        let start = absolute(start);
        let start = if start.is_file() { start.parent().unwrap_or(&start).to_owned() } else { start };
        let (root, files) = find_workspace(&start).unwrap_or((start, Vec::new()));
        Self::open_root(root, &files, overlay, memory)
    }

    /// Reads the workspace in this folder, declared by these files.
    pub(super) fn open_root(root: PathBuf, files: &[PathBuf], overlay: Overlay, memory: Memory) -> (Self, Diagnostics) {
        let mut sources = SourceMap::new();
        let mut findings = Diagnostics::new();
        let shown_root = shown(&root);
        let workspace = read_workspace(&root, &shown_root, (files, &overlay), &mut sources, &mut findings);
        let own = files.first().and_then(|file| std::fs::canonicalize(file).ok());
        let known = own.into_iter().map(|file| (file, workspace.source)).collect();
        let folders = workspace.doc.paths.prompts.iter().map(|path| plain(&path.value)).collect();
        let mut library = Self {
            files: PromptFiles::with_overlay(&root, &shown_root, folders, overlay.clone()),
            real_root: std::fs::canonicalize(&root).unwrap_or_else(|_| root.clone()),
            root,
            sources,
            workspace,
            loops: IndexMap::new(),
            tools: IndexMap::new(),
            forges: IndexMap::new(),
            presets: IndexMap::new(),
            unusable: Vec::new(),
            skills: Arc::default(),
            shown_root,
            overlay,
            docs: Vec::new(),
            passed_over: 0,
            known,
            added: IndexSet::new(),
            findings,
            memory,
        };
        library.read_folders();
        library.read_skills();
        library.read_shipped();
        library.read_extended(0);
        library.admit(0);
        library.admit_skills();
        let findings = library.findings.clone();
        (library, findings)
    }

    /// A place in words, to stand before a message: `path:line:column: `. Empty where there is none.
    #[must_use]
    pub fn place(&self, span: Option<Span>) -> String {
        match span {
            Some(span) if !span.is_none() => {
                let at = self.sources.position(span.source, span.start);
                format!("{}:{}:{}: ", self.sources.path(span.source).display(), at.line, at.column)
            }
            _ => String::new(),
        }
    }

    /// What was found wrong while reading.
    #[must_use]
    pub fn findings(&self) -> &Diagnostics {
        &self.findings
    }

    /// Whether a file was read without errors.
    #[must_use]
    pub fn is_sound(&self, source: SourceId) -> bool {
        let here = |span: &Span| span.source == source;
        !self.findings.iter().any(|finding| {
            finding.severity == Severity::Error
                && (finding.span.iter().any(here) || finding.labels.iter().any(|(span, _)| here(span)))
        })
    }

    /// How many files of folders that were added are no documents.
    #[must_use]
    pub fn passed_over(&self) -> usize {
        self.passed_over
    }

    /// Adds a document by its path, or all documents below a folder. A document that was read already is not read again.
    ///
    /// Below a folder that is none of the workspace's folders of documents, only those files count that say that they
    /// are documents: Cargo.toml and a test's data lie there too.
    ///
    /// A loop that is named so stands before one of the same name in the workspace.
    pub fn add_path(&mut self, path: &Path) -> Vec<SourceId> {
        self.note_added(Added::Path(absolute(path), path.to_owned()));
        let mut added = Vec::new();
        let first = self.docs.len();
        if path.is_dir() {
            let root = &self.real_root;
            if self.workspace.source != SourceId::NONE && real(&self.workspace.path).starts_with(real(path)) {
                added.push(self.workspace.source);
            }
            let own: Vec<PathBuf> =
                self.workspace.doc.paths.loops.iter().map(|folder| root.join(plain(&folder.value))).collect();
            added.extend(self.skill_sources_below(path));
            let files = documents(path, path, &mut self.sources, &mut self.findings).into_iter();
            let exclude = self.exclude();
            let files = files.map(|file| path.join(file)).filter(|file| !exclude.covers(file));
            let (files, others): (Vec<_>, Vec<_>) =
                files.partition(|file| own.iter().any(|folder| real(file).starts_with(folder)) || says_document(file));
            self.passed_over += others.len();
            added.extend(self.read(files.into_iter().map(|file| (file.clone(), file)).collect()));
        } else {
            added.extend(self.read(vec![(path.to_owned(), path.to_owned())]));
        }
        self.read_extended(first);
        self.admit(first);
        added
    }

    /// What is passed over when a folder is looked through.
    #[must_use]
    pub fn exclude(&self) -> Exclude {
        Exclude::of(&self.workspace.doc, &self.real_root)
    }

    /// Adds a document whose text is at hand, as if it lay at `path`: an editor's draft. It stands before a file there.
    pub fn add_text(&mut self, path: &Path, bytes: &[u8]) -> SourceId {
        self.note_added(Added::Text(path.to_owned(), bytes.into()));
        let first = self.docs.len();
        let root = absolute(&self.root);
        let folder = absolute(path).parent().and_then(|folder| folder.strip_prefix(&root).ok()).map(slashed);
        let folder = folder.unwrap_or_default();
        let place = Place { file: path.to_owned(), shown: path.to_owned(), folder, expected: None };
        let source = self.sources.next();
        let reading = self.memory.reading(&place, source, bytes);
        self.keep_reading(&reading.unwrap_or_else(|| Arc::new(Reading::of_bytes(&place, source, bytes))));
        self.read_extended(first);
        self.admit(first);
        source
    }

    /// The document that a file gives, when it has a name.
    #[must_use]
    pub fn doc_ref(&self, source: SourceId) -> Option<DocRef> {
        let doc = self.docs.iter().find(|doc| doc.source == source)?;
        let (name, _) = doc.name()?;
        Some(DocRef { kind: doc.kind, name: name.to_owned() })
    }

    /// The documents that a document consists of: what it extends, the lowest first, and itself last.
    #[must_use]
    pub fn layers(&self, source: SourceId) -> Vec<Layer> {
        let doc = self.docs.iter().find(|doc| doc.source == source);
        // What is wrong was reported when the document was read.
        doc.map(|doc| Presets { docs: &self.docs }.layers(doc, &mut Diagnostics::new())).unwrap_or_default()
    }

    /// Every file that holds a document of the workspace, its own file included; shipped ones are left out.
    #[must_use]
    pub fn own_sources(&self) -> Vec<SourceId> {
        let workspace = Some(self.workspace.source).filter(|source| *source != SourceId::NONE);
        let skills = self.skills.entries().iter().map(|entry| entry.source);
        let docs = self.docs.iter().filter(|doc| !doc.shipped).map(|doc| doc.source);
        workspace.into_iter().chain(docs).chain(skills).collect()
    }

    fn read_folders(&mut self) {
        let folders: Vec<Spanned<String>> = self.workspace.doc.paths.loops.clone();
        for folder in folders {
            let path = self.root.join(&folder.value);
            let shown = self.shown_root.join(plain(&folder.value));
            if path.is_dir() {
                let files = documents(&path, &shown, &mut self.sources, &mut self.findings).into_iter();
                self.read(files.map(|file| (path.join(&file), shown.join(&file))).collect());
            } else if path.is_file() {
                self.read(vec![(path, shown)]);
            } else if !folder.span.is_none() {
                let message = format!("the folder `{}` does not exist", folder.value);
                self.findings.push(Diagnostic::error(codes::FILE_MISSING, folder.span, message));
            }
        }
    }

    /// Reads presets that are extended by path and lie outside the folders of documents.
    fn read_extended(&mut self, first: usize) {
        let mut next = first;
        while let Some(doc) = self.docs.get(next) {
            next += 1;
            let Some(extends) = doc.node.as_ref().and_then(|node| node.get("extends")) else { continue };
            let wanted = extends.items().iter().chain(std::iter::once(extends)).filter_map(Node::as_str);
            let paths: Vec<String> = wanted.filter(|name| is_path(name)).map(plain).collect();
            let folder = doc.folder.clone();
            for path in paths {
                let found =
                    [path.clone(), format!("{folder}/{path}")].into_iter().find(|path| self.root.join(path).is_file());
                if let Some(path) = found {
                    self.read(vec![(self.root.join(&path), self.shown_root.join(&path))]);
                }
            }
        }
    }

    /// Extends and decodes the documents from `first` on.
    fn admit(&mut self, first: usize) {
        let docs = std::mem::take(&mut self.docs);
        let since = docs.get(first).map_or(SourceId::NONE, |doc| doc.source);
        let sources = &self.sources;
        let size = |(doc, known): &(&ReadDoc, Option<Arc<Decoded>>)| match known {
            Some(_) => 1,
            None => sources.text(doc.source).len(),
        };
        let steady = self.memory.is_steady();
        let wanted: Vec<_> =
            docs.iter().enumerate().skip(first).map(|(at, doc)| (doc, self.memory.decoded(at, steady))).collect();
        let decoded = parallel::map(&wanted, LEAST, size, |(doc, known)| match known {
            Some(known) => Arc::clone(known),
            None => Arc::new(Decoded::of(doc, &docs)),
        });
        for (doc, decoded) in docs[first..].iter().zip(decoded) {
            self.memory.keep_decoded(doc.source, &decoded);
            self.admit_one(doc, &decoded, since);
        }
        self.docs = docs;
    }

    fn admit_one(&mut self, doc: &ReadDoc, decoded: &Decoded, since: SourceId) {
        let Decoded { node, content, extending, decoding, .. } = decoded;
        self.findings.extend(extending.iter().cloned());
        let Some(node) = node else { return self.refuse(doc, None) };
        if matches!(content, Content::None) {
            // A second workspace file inside the workspace: it can be checked, and is otherwise left alone.
            self.findings.extend(decoding.iter().cloned());
            return self.refuse(doc, Some(node.clone()));
        }
        let admission = Admission { doc, node, since, decoding, findings: &mut self.findings };
        let kept = match content.clone() {
            Content::Loop(content) => admission.keep(content, &mut self.loops),
            Content::Tool(content) => admission.keep(content, &mut self.tools),
            Content::Forge(content) => admission.keep(content, &mut self.forges),
            Content::Preset(content) => admission.keep(content, &mut self.presets),
            Content::None => false,
        };
        if !kept {
            self.refuse(doc, Some(node.clone()));
        }
    }

    fn refuse(&mut self, doc: &ReadDoc, node: Option<Node>) {
        self.unusable.push(Unusable {
            kind: doc.kind,
            name: doc.name().map(|(name, _)| name.to_owned()),
            node,
            path: doc.path.clone(),
            source: doc.source,
        });
    }
}

fn read_workspace(
    root: &Path,
    shown_root: &Path,
    (files, overlay): (&[PathBuf], &Overlay),
    sources: &mut SourceMap,
    findings: &mut Diagnostics,
) -> Loaded<WorkspaceDoc> {
    let empty = Node::new(Value::Map([].into()), Span::NONE, Style::Synthetic);
    let mut loaded = Loaded {
        doc: Arc::default(),
        node: empty,
        path: shown_root.join("loopwright.yaml"),
        folder: String::new(),
        source: SourceId::NONE,
        shipped: false,
    };
    let Some(file) = files.first() else { return loaded };
    loaded.path = shown_root.join(file.strip_prefix(root).unwrap_or(file));
    let place = Place {
        file: file.clone(),
        shown: loaded.path.clone(),
        folder: String::new(),
        expected: Some(Kind::Workspace),
    };
    let reading = match std::fs::canonicalize(file).ok().and_then(|real| overlay.get(&real)) {
        Some(text) => Arc::new(Reading::of_bytes(&place, sources.next(), text.as_bytes())),
        None => Reading::of_file(&place, sources.next(), |_| None),
    };
    sources.add(&loaded.path, Arc::clone(&reading.text));
    findings.extend(reading.findings.iter().cloned());
    let read = reading.doc.clone();
    loaded.source = read.source;
    if let Some(second) = files.get(1) {
        let message = format!("the workspace has two files: this one and `{}`", second.display());
        let finding = Diagnostic::error(codes::DUPLICATE_NAME, Span::new(read.source, 0, 0), message);
        findings.push(finding.help("keep one of them"));
    }
    if let Some(node) = read.node {
        loaded.doc = decode_partial::<WorkspaceDoc>(&node, findings).map(Arc::new).unwrap_or_default();
        loaded.node = node;
    }
    loaded
}

/// A path as documents write it, without `./` in front and `/` at the end.
fn plain(path: &str) -> String {
    let path = path.trim_end_matches('/');
    path.strip_prefix("./").unwrap_or(path).to_owned()
}

/// Whether a name of a preset is the path of a file.
pub(super) fn is_path(name: &str) -> bool {
    [".yaml", ".yml", ".toml"].iter().any(|end| name.ends_with(end))
}

pub(super) fn slashed(path: &Path) -> String {
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    });
    parts.collect::<Vec<_>>().join("/")
}

/// Where a path really leads, as far as that can be told.
pub(super) fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| absolute(path))
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// An absolute path as people see it: from the working folder, if it lies below it.
fn shown(path: &Path) -> PathBuf {
    let below = std::env::current_dir().ok().and_then(|here| path.strip_prefix(here).map(Path::to_owned).ok());
    below.unwrap_or_else(|| path.to_owned())
}
