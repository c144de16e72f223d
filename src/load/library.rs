//! The library: what a workspace holds, found by kind and name.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use indexmap::IndexMap;
use serde::de::DeserializeOwned;

use super::again::Added;
use super::discover::{documents, find_workspace, says_document};
use super::extends::{Layer, Presets};
use super::overlay::Overlay;
use super::prompt_files::PromptFiles;
use super::read::{ReadDoc, read_file, read_given, read_shipped};
use super::shipped::SHIPPED;
use crate::diag::{Diagnostic, Diagnostics, Severity, SourceId, SourceMap, Span, codes};
use crate::document::{ForgeDoc, Kind, LoopDoc, PresetDoc, ToolDoc, WorkspaceDoc};
use crate::skill::SkillSet;
use crate::syntax::{Node, Spanned, Style, Value, decode_partial};

/// A document with where it came from.
#[derive(Debug, Clone)]
pub struct Loaded<T> {
    /// The document, what it extends included.
    pub doc: T,
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
    pub(super) shown_root: PathBuf,
    pub(super) overlay: Overlay,
    pub(super) docs: Vec<ReadDoc>,
    passed_over: usize,
    /// Files that were read, by their real paths.
    pub(super) known: HashMap<PathBuf, SourceId>,
    /// What was added by hand, to be added again when everything is read again.
    pub(super) added: Vec<Added>,
    pub(super) findings: Diagnostics,
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
        let start = absolute(start);
        let start = if start.is_file() { start.parent().unwrap_or(&start).to_owned() } else { start };
        let (root, files) = find_workspace(&start).unwrap_or((start, Vec::new()));
        Self::open_root(root, &files, overlay)
    }

    /// Reads the workspace in this folder, declared by these files.
    pub(super) fn open_root(root: PathBuf, files: &[PathBuf], overlay: Overlay) -> (Self, Diagnostics) {
        let mut sources = SourceMap::new();
        let mut findings = Diagnostics::new();
        let shown_root = shown(&root);
        let workspace = read_workspace(&root, &shown_root, (files, &overlay), &mut sources, &mut findings);
        let own = files.first().and_then(|file| std::fs::canonicalize(file).ok());
        let known = own.into_iter().map(|file| (file, workspace.source)).collect();
        let folders = workspace.doc.paths.prompts.iter().map(|path| plain(&path.value)).collect();
        let mut library = Self {
            files: PromptFiles::with_overlay(&root, &shown_root, folders, overlay.clone()),
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
            added: Vec::new(),
            findings,
        };
        library.read_folders();
        library.read_skills();
        library.read_shipped();
        library.read_extended(0);
        library.admit(0);
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
            let root = std::fs::canonicalize(&self.root).unwrap_or_else(|_| self.root.clone());
            let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| absolute(path));
            if self.workspace.source != SourceId::NONE && real(&self.workspace.path).starts_with(real(path)) {
                added.push(self.workspace.source);
            }
            let own: Vec<PathBuf> =
                self.workspace.doc.paths.loops.iter().map(|folder| root.join(plain(&folder.value))).collect();
            added.extend(self.skill_sources_below(path));
            for file in documents(path, path, &mut self.sources, &mut self.findings) {
                let file = path.join(&file);
                let real = std::fs::canonicalize(&file).unwrap_or_else(|_| absolute(&file));
                if own.iter().any(|folder| real.starts_with(folder)) || says_document(&file) {
                    added.push(self.read_or_known(&file, &file));
                } else {
                    self.passed_over += 1;
                }
            }
        } else {
            added.push(self.read_or_known(path, path));
        }
        self.read_extended(first);
        self.admit(first);
        added
    }

    /// Adds a document whose text is at hand, as if it lay at `path`: an editor's draft. It stands before a file there.
    pub fn add_text(&mut self, path: &Path, bytes: &[u8]) -> SourceId {
        self.note_added(Added::Text(path.to_owned(), bytes.into()));
        let first = self.docs.len();
        let root = absolute(&self.root);
        let folder = absolute(path).parent().and_then(|folder| folder.strip_prefix(&root).ok()).map(slashed);
        let folder = folder.unwrap_or_default();
        let doc = read_given(bytes, path, folder, None, &mut self.sources, &mut self.findings);
        let source = doc.source;
        self.docs.push(doc);
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
            if path.is_dir() {
                let shown = self.shown_root.join(plain(&folder.value));
                for file in documents(&path, &shown, &mut self.sources, &mut self.findings) {
                    self.read_or_known(&path.join(&file), &shown.join(&file));
                }
            } else if path.is_file() {
                let shown = self.shown_root.join(plain(&folder.value));
                self.read_or_known(&path, &shown);
            } else if !folder.span.is_none() {
                let message = format!("the folder `{}` does not exist", folder.value);
                self.findings.push(Diagnostic::error(codes::FILE_MISSING, folder.span, message));
            }
        }
    }

    /// Reads a file, unless it was read already.
    fn read_or_known(&mut self, file: &Path, shown: &Path) -> SourceId {
        let real = std::fs::canonicalize(file).unwrap_or_else(|_| absolute(file));
        if let Some(known) = self.known.get(&real) {
            return *known;
        }
        let root = std::fs::canonicalize(&self.root).unwrap_or_else(|_| self.root.clone());
        let folder = real.parent().and_then(|folder| folder.strip_prefix(&root).ok()).map(slashed).unwrap_or_default();
        let (sources, findings) = (&mut self.sources, &mut self.findings);
        let doc = match self.overlay.get(&real) {
            Some(text) => read_given(text.as_bytes(), shown, folder, None, sources, findings),
            None => read_file(file, shown, folder, None, sources, findings),
        };
        let source = doc.source;
        self.known.insert(real, source);
        self.docs.push(doc);
        source
    }

    fn read_shipped(&mut self) {
        for (path, text) in SHIPPED {
            let is_document = path.starts_with("loops/") && !path.ends_with(".j2");
            if !is_document {
                continue;
            }
            let doc = read_shipped(path, text, &mut self.sources, &mut self.findings);
            self.docs.extend(doc);
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
                    let (file, shown) = (self.root.join(&path), self.shown_root.join(&path));
                    self.read_or_known(&file, &shown);
                }
            }
        }
    }

    /// Extends and decodes the documents from `first` on.
    fn admit(&mut self, first: usize) {
        let docs = std::mem::take(&mut self.docs);
        let since = docs.get(first).map_or(SourceId::NONE, |doc| doc.source);
        for doc in &docs[first..] {
            match (Presets { docs: &docs }).merged(doc, &mut self.findings) {
                Some(node) => self.decode(doc, node, since),
                None => self.refuse(doc, None),
            }
        }
        self.docs = docs;
    }

    fn decode(&mut self, doc: &ReadDoc, node: Node, since: SourceId) {
        let mut admission = Admission { doc, node: &node, since, findings: &mut self.findings };
        let kept = match doc.kind {
            Kind::Loop => admission.keep(&mut self.loops),
            Kind::Tool => admission.keep(&mut self.tools),
            Kind::Forge => admission.keep(&mut self.forges),
            Kind::Preset => admission.keep(&mut self.presets),
            Kind::Workspace => {
                // A second workspace file inside the workspace: it can be checked, and is otherwise left alone.
                let _ = decode_partial::<WorkspaceDoc>(&node, &mut self.findings);
                false
            }
        };
        if !kept {
            self.refuse(doc, Some(node));
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

/// One document on its way into the library.
struct Admission<'a> {
    doc: &'a ReadDoc,
    node: &'a Node,
    /// Documents from here on were read together; two of one name among them are a mistake.
    since: SourceId,
    findings: &'a mut Diagnostics,
}

impl Admission<'_> {
    /// Decodes the document and puts it under its name. False when that was not possible.
    fn keep<T: DeserializeOwned>(&mut self, map: &mut IndexMap<String, Loaded<T>>) -> bool {
        let name = self.doc.name();
        let known = name.and_then(|(name, _)| map.get(name));
        if self.doc.shipped && known.is_some() {
            return true;
        }
        let clash = known.filter(|known| known.source >= self.since).map(|known| (known.source, known.path.clone()));
        let Some(doc) = decode_partial::<T>(self.node, self.findings) else { return false };
        let Some((name, span)) = name else { return false };
        if let Some((other, path)) = clash {
            let message = format!("another {} is named `{name}`: {}", self.doc.kind.name(), path.display());
            let other =
                map.get(name).and_then(|known| known.node.get("name")).map_or(Span::new(other, 0, 0), |name| name.span);
            self.findings.push(
                Diagnostic::error(codes::DUPLICATE_NAME, span, message)
                    .label(other, "the other one")
                    .help("give one of them another name"),
            );
            return false;
        }
        let loaded = Loaded {
            doc,
            node: self.node.clone(),
            path: self.doc.path.clone(),
            folder: self.doc.folder.clone(),
            source: self.doc.source,
            shipped: self.doc.shipped,
        };
        map.insert(name.to_owned(), loaded);
        true
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
        doc: WorkspaceDoc::default(),
        node: empty,
        path: shown_root.join("loopwright.yaml"),
        folder: String::new(),
        source: SourceId::NONE,
        shipped: false,
    };
    let Some(file) = files.first() else { return loaded };
    loaded.path = shown_root.join(file.strip_prefix(root).unwrap_or(file));
    let kind = Some(Kind::Workspace);
    let read = match std::fs::canonicalize(file).ok().and_then(|real| overlay.get(&real)) {
        Some(text) => read_given(text.as_bytes(), &loaded.path, String::new(), kind, sources, findings),
        None => read_file(file, &loaded.path, String::new(), kind, sources, findings),
    };
    loaded.source = read.source;
    if let Some(second) = files.get(1) {
        let message = format!("the workspace has two files: this one and `{}`", second.display());
        let finding = Diagnostic::error(codes::DUPLICATE_NAME, Span::new(read.source, 0, 0), message);
        findings.push(finding.help("keep one of them"));
    }
    if let Some(node) = read.node {
        loaded.doc = decode_partial::<WorkspaceDoc>(&node, findings).unwrap_or_default();
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

fn slashed(path: &Path) -> String {
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    });
    parts.collect::<Vec<_>>().join("/")
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// An absolute path as people see it: from the working folder, if it lies below it.
fn shown(path: &Path) -> PathBuf {
    let below = std::env::current_dir().ok().and_then(|here| path.strip_prefix(here).map(Path::to_owned).ok());
    below.unwrap_or_else(|| path.to_owned())
}
