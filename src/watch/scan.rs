//! One look at a loop: everything read again and checked, with the hash of what it is made of.

use std::path::PathBuf;
use std::sync::Arc;

use super::contents::Contents;
use crate::check::{Options, Targets, check, mask};
use crate::diag::{Diagnostic, Diagnostics, Severity, SourceId, Span, codes};
use crate::document::Kind;
use crate::load::{ENGINE_PROMPTS, Library, shipped_in};

/// Which loop is followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The loop of this name, wherever it lies.
    Name(String),
    /// The loop in this file, whatever its name.
    File(PathBuf),
}

/// What a look found.
pub(super) struct Scan {
    pub(super) library: Arc<Library>,
    /// The loop's name; none while its file cannot be read.
    pub(super) name: Option<String>,
    pub(super) contents: Contents,
    /// Errors and warnings.
    pub(super) findings: Diagnostics,
}

impl Scan {
    /// Reads everything again after `newest`. `before` and `earlier` are the documents and files of the version that could
    /// last be used.
    pub(super) fn fresh(newest: &Library, before: &Library, target: &Target, earlier: &Contents) -> Self {
        let mut scan = Self::of(newest.reopen(), target, earlier, before.has_workspace_file());
        scan.keep_own_document(before);
        scan
    }

    /// Refuses to let the program's own loop take the place of the workspace's one of the same name: its file is being
    /// replaced, or was deleted by mistake.
    fn keep_own_document(&mut self, before: &Library) {
        let Some(name) = &self.name else { return };
        let (Some(old), Some(new)) = (before.loops.get(name), self.library.loops.get(name)) else { return };
        if old.shipped || !new.shipped {
            return;
        }
        let message = format!("{} is gone, and it held the loop `{name}`", old.path.display());
        let finding = Diagnostic::error(codes::FILE_MISSING, None, message)
            .help("put it back; to use the loop of that name that comes with the program, start again");
        self.findings.push(finding);
    }

    /// Looks at a library whose template files were not read yet.
    pub(super) fn of(mut library: Library, target: &Target, earlier: &Contents, has_workspace: bool) -> Self {
        let name = name_of(&mut library, target);
        let mut findings = match &name {
            Some(name) => check(&mut library, Targets::Loop(name), Options { schemas: false }),
            None => Diagnostics::new(),
        };
        findings.retain(|finding| finding.severity != Severity::Info);
        // What the engine adds to a prompt comes from the workspace where it has a file of that name.
        for file in ENGINE_PROMPTS.into_iter().flat_map(shipped_in) {
            let _ = library.files.read(file);
        }
        let mut contents = name.as_deref().map(|name| Contents::of(&library, name)).unwrap_or_default();
        findings.extend(broken_files(&library, target, earlier, &findings));
        if has_workspace && !library.has_workspace_file() {
            let message = "the file that declares the workspace is gone";
            findings.error(codes::FILE_MISSING, place(&mut library, "loopwright.yaml"), message);
        }
        let usable = name.as_ref().is_some_and(|name| library.loops.contains_key(name));
        if !usable && !findings.has_errors() {
            findings.push(gone(&mut library, target));
        }
        if findings.has_errors() {
            contents = contents.with_files_of(earlier);
        }
        mask(&mut findings, &library.sources);
        findings.sort(&library.sources);
        Self { library: Arc::new(library), name: name.filter(|_| usable), contents, findings }
    }

    pub(super) fn is_sound(&self) -> bool {
        self.name.is_some() && !self.findings.has_errors()
    }
}

/// The loop's name; a file of its own is added if it is not among the library's documents.
fn name_of(library: &mut Library, target: &Target) -> Option<String> {
    match target {
        Target::Name(name) => Some(name.clone()),
        Target::File(path) => {
            let source = *library.add_path(path).first()?;
            library.doc_ref(source).filter(|found| found.kind == Kind::Loop).map(|found| found.name)
        }
    }
}

/// What is wrong with files that the loop used: one that cannot be read any more has no name, and nothing refers to it.
fn broken_files(library: &Library, target: &Target, earlier: &Contents, known: &Diagnostics) -> Vec<Diagnostic> {
    let used = |source: SourceId| {
        let path = library.sources.path(source);
        earlier.paths().any(|used| used == path) || matches!(target, Target::File(file) if file == path)
    };
    let is_new = |finding: &&Diagnostic| !known.iter().any(|other| other == *finding);
    let matters = |finding: &&Diagnostic| {
        finding.severity == Severity::Error && finding.span.is_some_and(|span| used(span.source)) && is_new(finding)
    };
    library.findings().iter().filter(matters).cloned().collect()
}

fn gone(library: &mut Library, target: &Target) -> Diagnostic {
    let (path, message) = match target {
        Target::Name(name) => ("loops".to_owned(), format!("there is no loop named `{name}` any more")),
        Target::File(path) => (path.display().to_string(), "this file holds no loop any more".to_owned()),
    };
    let span = place(library, &path);
    Diagnostic::error(codes::UNKNOWN_LOOP, span, message)
        .help("a running loop keeps its name: give the document its name back, or start the new one")
}

/// A place for what is wrong with a file as a whole.
fn place(library: &mut Library, path: &str) -> Span {
    Span::new(library.sources.add(path, ""), 0, 0)
}
