//! A workspace as it is while somebody writes: its library with the buffers over the files, what is wrong, what every
//! template sees.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::buffers::Buffers;
use super::index::Index;
use super::uri;
use crate::check::{Haste, TemplatePlace, Verdicts, check_again, check_template_noting};
use crate::diag::{Diagnostics, SourceId, Span};
use crate::load::{Library, Overlay, find_workspace, says_document_text};
use crate::syntax::Format;

/// A workspace, read and checked.
pub(super) struct Analysis {
    pub(super) library: Library,
    pub(super) findings: Diagnostics,
    pub(super) places: Vec<TemplatePlace>,
    pub(super) index: Index,
    /// The real path of each source; none for what is part of the program.
    paths: Vec<Option<PathBuf>>,
    /// What was found in each document, for the next time.
    verdicts: Verdicts,
}

/// Whether a file is a template.
pub(super) fn is_template(path: &Path) -> bool {
    path.extension().is_some_and(|end| ["j2", "jinja", "jinja2"].iter().any(|known| end == *known))
}

/// The folder of the workspace that a file lies in: the one with a workspace's file, else the client's folder around the
/// file, else the file's own.
pub(super) fn root_of(path: &Path, folders: &[PathBuf]) -> PathBuf {
    let folder = path.parent().unwrap_or(path);
    if let Some((root, _)) = find_workspace(folder) {
        return root;
    }
    let around = folders.iter().filter(|around| path.starts_with(around)).max_by_key(|around| around.as_os_str().len());
    around.map_or_else(|| folder.to_owned(), Clone::clone)
}

impl Analysis {
    /// Reads and checks the workspace at `root`. What has not changed since `earlier` is neither parsed nor checked again;
    /// in haste only documents are checked that were themselves edited, or whose templates were.
    pub(super) fn new(root: &Path, buffers: &Buffers, earlier: Option<&Self>, haste: Haste) -> Self {
        let texts = buffers.iter().map(|buffer| (buffer.path.clone(), Arc::clone(&buffer.text)));
        Self::with_texts(root, texts.collect(), earlier, haste)
    }

    /// Whether every document was checked as it stands among the others now.
    pub(super) fn is_thorough(&self) -> bool {
        self.verdicts.are_current()
    }

    /// The same with one of the buffers' texts replaced.
    pub(super) fn with_draft(&self, root: &Path, buffers: &Buffers, path: &Path, draft: &str) -> Self {
        let mut texts: HashMap<_, _> =
            buffers.iter().map(|buffer| (buffer.path.clone(), Arc::clone(&buffer.text))).collect();
        texts.insert(path.to_owned(), draft.into());
        Self::with_texts(root, texts, Some(self), Haste::OwnFilesOnly)
    }

    fn with_texts(root: &Path, texts: HashMap<PathBuf, Arc<str>>, earlier: Option<&Self>, haste: Haste) -> Self {
        let bare = |text: &Arc<str>| text.strip_prefix('\u{feff}').map_or_else(|| Arc::clone(text), Arc::from);
        let overlay: Overlay = texts.iter().map(|(path, text)| (path.clone(), bare(text))).collect();
        let mut library = match earlier {
            Some(earlier) => earlier.library.open_again(root, overlay),
            None => Library::open_with(root, overlay).0,
        };
        let root = uri::real(&library.root);
        // What lies in a workspace further down belongs to that one.
        let is_here = |path: &Path| {
            let nearest = find_workspace(path.parent().unwrap_or(path));
            path.starts_with(&root) && nearest.is_none_or(|(nearest, _)| uri::real(&nearest) == root)
        };
        let mut below: Vec<_> = texts.iter().filter(|(path, _)| is_here(path)).collect();
        below.sort();
        let known: Vec<PathBuf> =
            library.own_sources().iter().map(|source| uri::real(library.sources.path(*source))).collect();
        let folders: Vec<PathBuf> = library
            .workspace
            .doc
            .paths
            .loops
            .iter()
            .map(|folder| root.join(folder.value.trim_start_matches("./")))
            .collect();
        for (path, text) in &below {
            let is_json = path.extension().is_some_and(|end| end == "json");
            let is_document = !is_json && Format::of_path(path).is_some();
            let is_ours = || folders.iter().any(|folder| path.starts_with(folder)) || says_document_text(text);
            if is_document && !known.contains(path) && is_ours() {
                library.add_text(path, text.as_bytes());
            }
        }
        let mut verdicts = earlier.map(|earlier| earlier.verdicts.clone()).unwrap_or_default();
        let (mut findings, mut places) = check_again(&mut library, &mut verdicts, haste);
        for (path, _) in below.iter().filter(|(path, _)| is_template(path)) {
            let is_seen = places.iter().any(|place| uri::real(library.sources.path(place.whole().source)) == **path);
            if !is_seen && path.is_file() {
                let (found, noted) = check_template_noting(&mut library, path, &[]);
                findings.extend(found);
                places.extend(noted);
            }
        }
        let count = u32::try_from(library.sources.len()).unwrap_or(u32::MAX);
        let paths = (0..count).map(|id| {
            let path = uri::real(library.sources.path(SourceId(id)));
            (path.is_file() || texts.contains_key(&path)).then_some(path)
        });
        let paths = paths.collect();
        let index = Index::new(&library, &places);
        Self { library, findings, places, index, paths, verdicts }
    }

    /// The real path of a source; none for what is part of the program.
    pub(super) fn path(&self, source: SourceId) -> Option<&Path> {
        self.paths.get(source.0 as usize)?.as_deref()
    }

    /// Whether a span covers a byte of a file; the byte behind it counts too, since that is where a cursor stands.
    pub(super) fn covers(&self, span: Span, path: &Path, offset: usize) -> bool {
        span.start as usize <= offset && offset <= span.end as usize && self.path(span.source) == Some(path)
    }

    /// The document in a file.
    pub(super) fn document(&self, path: &Path) -> Option<SourceId> {
        self.library.all_written().map(|doc| doc.source).find(|source| self.path(*source) == Some(path))
    }
}
