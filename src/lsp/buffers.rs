//! What the editor holds: the text of every open document, kept up to date by its changes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::position::{Encoding, Lines};
use super::protocol::ContentChange;
use super::uri;

/// An open document.
#[derive(Debug, Clone)]
pub(super) struct Buffer {
    /// The address as the client writes it.
    pub(super) uri: String,
    /// The real path of its file, which need not be there yet.
    pub(super) path: PathBuf,
    pub(super) version: Option<i32>,
    pub(super) text: Arc<str>,
}

/// All open documents, by the client's address.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    open: BTreeMap<String, Buffer>,
}

impl Buffers {
    /// Takes a document over. One that is no file, such as an untitled one, is left alone.
    pub(super) fn open(&mut self, uri: String, version: i32, text: String) {
        let Some(path) = uri::to_path(&uri) else { return };
        let path = uri::real(&path);
        self.open.insert(uri.clone(), Buffer { uri, path, version: Some(version), text: text.into() });
    }

    /// Applies changes, each to what the one before it left.
    pub(super) fn change(&mut self, uri: &str, version: Option<i32>, changes: Vec<ContentChange>, encoding: Encoding) {
        let Some(buffer) = self.open.get_mut(uri) else { return };
        let mut text = buffer.text.to_string();
        for change in changes {
            match change.range {
                None => text = change.text,
                Some(range) => {
                    let lines = Lines::new(&text, encoding);
                    let mark = text.len() - lines.text().len();
                    let (start, end) = (lines.offset(range.start) + mark, lines.offset(range.end) + mark);
                    text.replace_range(start..end.max(start), &change.text);
                }
            }
        }
        buffer.text = text.into();
        buffer.version = version.or(buffer.version);
    }

    pub(super) fn close(&mut self, uri: &str) {
        self.open.remove(uri);
    }

    pub(super) fn get(&self, uri: &str) -> Option<&Buffer> {
        self.open.get(uri)
    }

    pub(super) fn at_path(&self, path: &std::path::Path) -> Option<&Buffer> {
        self.open.values().find(|buffer| buffer.path == path)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Buffer> {
        self.open.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lsp::protocol::{Position, Range};

    #[test]
    fn changes_are_applied_in_order_and_in_the_agreed_units() {
        let mut buffers = Buffers::default();
        buffers.open("file:///x.yaml".to_owned(), 1, "a: \u{1F600}b\r\nc: d\n".to_owned());
        let at = |line, character| Position { line, character };
        let change =
            |from, to, text: &str| ContentChange { range: Some(Range { start: from, end: to }), text: text.to_owned() };
        let changes = vec![
            change(at(0, 5), at(0, 6), "X"),
            change(at(1, 3), at(1, 4), "e\nf: g"),
            change(at(9, 0), at(9, 0), "end"),
            change(at(1, 0), at(0, 9), "|"),
        ];
        buffers.change("file:///x.yaml", Some(2), changes, Encoding::Utf16);
        let buffer = buffers.get("file:///x.yaml").unwrap();
        assert_eq!(&*buffer.text, "a: \u{1F600}X\r\n|c: e\nf: g\nend", "a range that runs backwards is empty");
        assert_eq!(buffer.version, Some(2));
        buffers.open("untitled:1".to_owned(), 1, String::new());
        assert!(buffers.get("untitled:1").is_none());
    }
}
