//! One file becomes a node with a kind.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::diag::{Diagnostic, Diagnostics, SourceId, Span, codes, did_you_mean, list_words};
use crate::document::Kind;
use crate::syntax::{Format, MAX_BYTES, Node, Value, parse, read_text};

/// A document as it was read: not yet extended, not yet decoded.
#[derive(Debug, Clone)]
pub(super) struct ReadDoc {
    /// The file's path, as people see it.
    pub(super) path: PathBuf,
    /// The folder that names beside the document are looked up in, from the workspace's folder with `/`.
    pub(super) folder: String,
    pub(super) source: SourceId,
    pub(super) kind: Kind,
    /// None when nothing usable was read; why is in the findings.
    pub(super) node: Option<Node>,
    pub(super) shipped: bool,
}

impl ReadDoc {
    /// The document's name and its place, if it has one that is a string.
    pub(super) fn name(&self) -> Option<(&str, Span)> {
        let name = self.node.as_ref()?.get("name")?;
        Some((name.as_str()?, name.span))
    }
}

/// A file to be read.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// Where it is.
    pub(super) file: PathBuf,
    /// Its path, as people see it.
    pub(super) shown: PathBuf,
    /// See [`ReadDoc::folder`].
    pub(super) folder: String,
    /// What it must be.
    pub(super) expected: Option<Kind>,
}

/// What a file gives by itself, before it stands among others.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) doc: ReadDoc,
    pub(super) text: Arc<str>,
    pub(super) findings: Diagnostics,
    /// Whether the file could be read and holds text.
    is_text: bool,
}

impl Reading {
    /// Whether these bytes at this place and under this id would give the same.
    pub(super) fn is_of(&self, place: &Place, source: SourceId, bytes: &[u8]) -> bool {
        let doc = &self.doc;
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let is_here = doc.source == source && doc.path == place.shown && doc.folder == place.folder;
        // What a document must be is said for the workspace's file only, which is not remembered.
        self.is_text && is_here && place.expected.is_none() && self.text.as_bytes() == bytes
    }

    /// Reads a file as the source of this id, unless its bytes are `known`.
    pub(super) fn of_file(
        place: &Place,
        source: SourceId,
        known: impl FnOnce(&[u8]) -> Option<Arc<Self>>,
    ) -> Arc<Self> {
        match read_bytes(&place.file) {
            Ok(bytes) => known(&bytes).unwrap_or_else(|| Arc::new(Self::of_bytes(place, source, &bytes))),
            Err(problem) => {
                let mut findings = Diagnostics::new();
                let code = if problem.missing { codes::FILE_MISSING } else { codes::FILE_UNREADABLE };
                findings.error(code, Span::new(source, 0, 0), problem.message);
                let doc = place.doc(source, place.expected.unwrap_or(Kind::Loop), None);
                Arc::new(Self { doc, text: "".into(), findings, is_text: false })
            }
        }
    }

    /// The same when its bytes are at hand.
    pub(super) fn of_bytes(place: &Place, source: SourceId, bytes: &[u8]) -> Self {
        let mut findings = Diagnostics::new();
        let (text, is_text) = match read_text(source, bytes) {
            Ok(text) => (Arc::from(text), true),
            Err((text, finding)) => {
                findings.push(finding);
                (Arc::from(text), false)
            }
        };
        let format = Format::of_path(&place.shown).unwrap_or(Format::Yaml);
        let node = is_text.then(|| parse(source, &text, format, &mut findings)).flatten();
        let kind = node.as_ref().and_then(|node| kind_of(node, place.expected, &mut findings));
        let doc = match (node, kind) {
            (Some(node), Some(kind)) => place.doc(source, kind, is_map(&node, &mut findings).then_some(node)),
            _ => place.doc(source, place.expected.unwrap_or(Kind::Loop), None),
        };
        Self { doc, text, findings, is_text }
    }
}

impl Place {
    fn doc(&self, source: SourceId, kind: Kind, node: Option<Node>) -> ReadDoc {
        let (path, folder) = (self.shown.clone(), self.folder.clone());
        ReadDoc { path, folder, source, kind, node, shipped: false }
    }
}

/// The place of a document that is part of the program.
pub(super) fn shipped_place(path: &str) -> Place {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let shown = Path::new("<shipped>").join(path);
    Place { file: shown.clone(), shown, folder, expected: None }
}

struct Problem {
    missing: bool,
    message: String,
}

fn read_bytes(file: &Path) -> Result<Vec<u8>, Problem> {
    let problem = |error: &std::io::Error| Problem {
        missing: error.kind() == std::io::ErrorKind::NotFound,
        message: match error.kind() {
            std::io::ErrorKind::NotFound => "the file does not exist".to_owned(),
            _ => format!("the file cannot be read: {error}"),
        },
    };
    let meta = std::fs::metadata(file).map_err(|error| problem(&error))?;
    if meta.is_dir() {
        return Err(Problem { missing: false, message: "this is a folder, not a document".to_owned() });
    }
    if !meta.is_file() {
        return Err(Problem { missing: false, message: "this is not a regular file".to_owned() });
    }
    // Read one byte more than the limit at most: `parse` then says that the file is too large.
    let mut bytes = Vec::new();
    let limit = MAX_BYTES as u64 + 4;
    let opened = std::fs::File::open(file).map_err(|error| problem(&error))?;
    std::io::Read::read_to_end(&mut std::io::Read::take(opened, limit), &mut bytes).map_err(|error| problem(&error))?;
    Ok(bytes)
}

fn is_map(node: &Node, findings: &mut Diagnostics) -> bool {
    if matches!(node.value, Value::Map(_)) {
        return true;
    }
    findings.push(
        Diagnostic::error(
            codes::WRONG_TYPE,
            node.span.at_start(),
            format!("a document is a map, found {}", node.value.kind()),
        )
        .help("begin with keys such as `name:` and `prompt:`"),
    );
    false
}

/// The document's kind; `None` for a kind that is known and not loaded.
fn kind_of(node: &Node, expected: Option<Kind>, findings: &mut Diagnostics) -> Option<Kind> {
    let fallback = expected.unwrap_or(Kind::Loop);
    let Some(word) = node.get("kind") else { return Some(fallback) };
    // A kind that is no string is reported when the document is decoded.
    let Some(name) = word.as_str() else { return Some(fallback) };
    // Replies for the `replay` provider lie beside documents and are none.
    if matches!(name, "script" | "recording") {
        return None;
    }
    if name == "test" {
        findings.push(Diagnostic::info(codes::NOT_IN_FORCE, word.span, "`kind: test` documents are not yet in force"));
        return None;
    }
    let Some(kind) = Kind::of(name) else {
        let known = Kind::ALL.map(Kind::name);
        let help = match did_you_mean(name, &known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("expected one of {}", list_words(known)),
        };
        findings
            .push(Diagnostic::error(codes::UNKNOWN_VARIANT, word.span, format!("unknown kind `{name}`")).help(help));
        return None;
    };
    match expected {
        Some(expected) if expected != kind => {
            findings.push(
                Diagnostic::error(
                    codes::INVALID_VALUE,
                    word.span,
                    format!("this file must be a {}, and `kind` says {name}", expected.name()),
                )
                .help(format!("write `kind: {}`, or give the file another name", expected.name())),
            );
            Some(expected)
        }
        _ => Some(kind),
    }
}
