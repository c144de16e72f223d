//! One file becomes a node with a kind.

use std::path::{Path, PathBuf};

use crate::diag::{Diagnostic, Diagnostics, SourceId, SourceMap, Span, codes, did_you_mean, list_words};
use crate::document::Kind;
use crate::syntax::{Format, MAX_BYTES, Node, Value, add_source, parse};

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

/// Reads a file.
pub(super) fn read_file(
    file: &Path,
    shown: &Path,
    folder: String,
    expected: Option<Kind>,
    sources: &mut SourceMap,
    findings: &mut Diagnostics,
) -> ReadDoc {
    match read_bytes(file) {
        Ok(bytes) => read_given(&bytes, shown, folder, expected, sources, findings),
        Err(problem) => {
            let source = sources.add(shown, "");
            let code = if problem.missing { codes::FILE_MISSING } else { codes::FILE_UNREADABLE };
            findings.error(code, Span::new(source, 0, 0), problem.message);
            broken(shown, folder, source, expected)
        }
    }
}

/// Reads a document whose bytes are at hand.
pub(super) fn read_given(
    bytes: &[u8],
    shown: &Path,
    folder: String,
    expected: Option<Kind>,
    sources: &mut SourceMap,
    findings: &mut Diagnostics,
) -> ReadDoc {
    let format = Format::of_path(shown).unwrap_or(Format::Yaml);
    let (source, is_text) = add_source(sources, shown, bytes, findings);
    if !is_text {
        return broken(shown, folder, source, expected);
    }
    // The text is shared with the map, so that it can be read while the map grows.
    let text = sources.shared_text(source).unwrap_or_default();
    let Some(node) = parse(source, &text, format, findings) else {
        return broken(shown, folder, source, expected);
    };
    let Some(kind) = kind_of(&node, expected, findings) else {
        return broken(shown, folder, source, expected);
    };
    let node = is_map(&node, findings).then_some(node);
    ReadDoc { path: shown.to_owned(), folder, source, kind, node, shipped: false }
}

fn broken(shown: &Path, folder: String, source: SourceId, expected: Option<Kind>) -> ReadDoc {
    let kind = expected.unwrap_or(Kind::Loop);
    ReadDoc { path: shown.to_owned(), folder, source, kind, node: None, shipped: false }
}

/// Reads a document that is part of the program.
pub(super) fn read_shipped(
    path: &str,
    text: &'static str,
    sources: &mut SourceMap,
    findings: &mut Diagnostics,
) -> Option<ReadDoc> {
    let source = sources.add(Path::new("<shipped>").join(path), text);
    let node = parse(source, text, Format::of_path(Path::new(path))?, findings)?;
    let kind = kind_of(&node, None, findings)?;
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    Some(ReadDoc { path: PathBuf::from("<shipped>").join(path), folder, source, kind, node: Some(node), shipped: true })
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
