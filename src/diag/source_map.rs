//! Which files were read, their text, and how a byte range becomes lines and columns.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file in a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub u32);

impl SourceId {
    /// The source of values that were not read from a file.
    pub const NONE: SourceId = SourceId(u32::MAX);
}

/// A byte range in a file's text, counted after a byte order mark was taken off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span of a value that was built in Rust.
    pub const NONE: Span = Span { source: SourceId::NONE, start: 0, end: 0 };

    /// A byte range in a file.
    pub fn new(source: SourceId, start: u32, end: u32) -> Self {
        Span { source, start, end: end.max(start) }
    }

    /// Whether this points to no file.
    pub fn is_none(self) -> bool {
        self.source == SourceId::NONE
    }

    /// An empty span at the first byte.
    #[must_use]
    pub fn at_start(self) -> Self {
        Span::new(self.source, self.start, self.start)
    }
}

impl Default for Span {
    fn default() -> Self {
        Span::NONE
    }
}

/// A place as a person counts: both from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// A span as a person counts; the end is exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// First character.
    pub start: Position,
    /// One past the last character.
    pub end: Position,
}

#[derive(Debug)]
struct Source {
    path: PathBuf,
    text: Arc<str>,
    /// The text with its secrets masked, where it has any.
    shown: Option<Arc<str>>,
    /// Byte offset of each line's first byte; the first is always 0.
    lines: Vec<u32>,
}

/// The text of every file that was read, so that findings can be shown. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    sources: Vec<Arc<Source>>,
}

impl SourceMap {
    /// No files.
    pub fn new() -> Self {
        SourceMap::default()
    }

    /// Adds a file's text (decoded, without byte order mark) and returns its id.
    pub fn add(&mut self, path: impl Into<PathBuf>, text: impl Into<Arc<str>>) -> SourceId {
        let text = text.into();
        let mut lines = vec![0];
        lines.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| offset(at + 1)));
        self.sources.push(Arc::new(Source { path: path.into(), text, shown: None, lines }));
        SourceId(offset(self.sources.len() - 1))
    }

    /// The id that the next file gets.
    pub fn next(&self) -> SourceId {
        SourceId(offset(self.sources.len()))
    }

    /// Adds a file of another map.
    pub fn adopt(&mut self, other: &Self, id: SourceId) -> SourceId {
        self.sources.extend(other.sources.get(id.0 as usize).map(Arc::clone));
        SourceId(offset(self.sources.len().saturating_sub(1)))
    }

    /// The ids of all files.
    pub fn ids(&self) -> impl Iterator<Item = SourceId> + use<> {
        (0..offset(self.sources.len())).map(SourceId)
    }

    /// The path that a file was added with; empty for an unknown id.
    pub fn path(&self, id: SourceId) -> &Path {
        self.get(id).map_or(Path::new(""), |source| &source.path)
    }

    /// The text of a file; empty for an unknown id.
    pub fn text(&self, id: SourceId) -> &str {
        self.get(id).map_or("", |source| &source.text)
    }

    /// The text of a file as people may see it: what [`Self::hide`] named is masked, byte by byte.
    pub fn shown(&self, id: SourceId) -> &str {
        self.get(id).map_or("", |source| source.shown.as_deref().unwrap_or(&source.text))
    }

    /// Masks a part of a file in everything that is shown of it.
    pub fn hide(&mut self, span: Span) {
        let Some(source) = self.sources.get_mut(span.source.0 as usize) else { return };
        let mut bytes = source.shown.as_deref().unwrap_or(&source.text).as_bytes().to_vec();
        let range = span.start as usize..(span.end as usize).min(bytes.len());
        for byte in bytes.get_mut(range).into_iter().flatten().filter(|byte| **byte != b'\n') {
            *byte = b'*';
        }
        let shown: Arc<str> = String::from_utf8_lossy(&bytes).into();
        let (path, text, lines) = (source.path.clone(), Arc::clone(&source.text), source.lines.clone());
        *source = Arc::new(Source { path, text, shown: Some(shown), lines });
    }

    /// A text with everything that [`Self::hide`] named masked.
    pub fn masked(&self, mut text: String) -> String {
        for secret in self.hidden().into_iter().filter(|secret| !secret.is_empty()) {
            if text.contains(secret) {
                text = text.replace(secret, "***");
            }
        }
        text
    }

    /// The texts that [`Self::hide`] masked.
    pub fn hidden(&self) -> Vec<&str> {
        let masked = self.sources.iter().filter_map(|source| Some((&*source.text, source.shown.as_deref()?)));
        let runs = masked.flat_map(|(text, shown)| {
            let differs: Vec<bool> = text.bytes().zip(shown.bytes()).map(|(one, other)| one != other).collect();
            let mut runs = Vec::new();
            let mut at = 0;
            for run in differs.chunk_by(|one, other| one == other) {
                if run[0] {
                    runs.extend(text.get(at..at + run.len()));
                }
                at += run.len();
            }
            runs
        });
        runs.filter(|run| run.len() >= 4).collect()
    }

    /// The shared text of a file.
    pub fn shared_text(&self, id: SourceId) -> Option<Arc<str>> {
        self.get(id).map(|source| Arc::clone(&source.text))
    }

    /// The text under a span; empty where the span does not fit the file.
    pub fn slice(&self, span: Span) -> &str {
        self.text(span.source).get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Lines and columns of a span. Offsets beyond the text are taken as its end.
    pub fn line_col(&self, span: Span) -> Region {
        Region {
            start: self.position(span.source, span.start),
            end: self.position(span.source, span.end.max(span.start)),
        }
    }

    /// Line and column of a byte offset.
    pub fn position(&self, id: SourceId, at: u32) -> Position {
        let Some(source) = self.get(id) else {
            return Position { line: 1, column: 1 };
        };
        let at = source.text.floor_char_boundary(at as usize);
        let line = source.lines.partition_point(|&start| start as usize <= at);
        let start = source.lines[line - 1] as usize;
        Position { line: offset(line), column: offset(source.text[start..at].chars().count() + 1) }
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// Whether no file was added.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    fn get(&self, id: SourceId) -> Option<&Source> {
        self.sources.get(id.0 as usize).map(Arc::as_ref)
    }
}

/// Offsets are 32-bit: files are refused long before they reach 4 GiB.
fn offset(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_from_one() {
        let mut sources = SourceMap::new();
        let id = sources.add("a.yaml", "日本: é\nx: y");
        let at = |byte| {
            let place = sources.position(id, byte);
            (place.line, place.column)
        };
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(3), (1, 2));
        assert_eq!(at(4), (1, 2), "inside a character is that character");
        assert_eq!(at(8), (1, 5));
        assert_eq!(at(11), (2, 1));
        assert_eq!(at(999), (2, 5), "beyond the text is its end");
    }

    #[test]
    fn unknown_sources_are_empty_and_never_panic() {
        let sources = SourceMap::new();
        assert_eq!(sources.text(SourceId(7)), "");
        assert_eq!(sources.slice(Span::NONE), "");
        assert_eq!(sources.line_col(Span::NONE).start, Position { line: 1, column: 1 });
    }
}
