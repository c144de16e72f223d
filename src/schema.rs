//! Every JSON Schema, made from the document types and the tables, and the reference pages made from the same.

use std::io;
use std::path::Path;

use serde_json::Value as Json;

/// What has a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaKind {
    /// A document.
    Document(crate::document::Kind),
    /// An event of the event stream.
    Event,
}

/// The JSON Schema of a kind of document, or of an event.
#[must_use]
pub fn generate(kind: SchemaKind) -> Json {
    let _ = kind;
    Json::Null
}

/// Writes every schema into a folder.
///
/// # Errors
/// When a file cannot be written.
pub fn write(folder: &Path) -> io::Result<()> {
    let _ = folder;
    Ok(())
}

/// What differs between a folder's schemas and those that would be written; empty when nothing does.
#[must_use]
pub fn check_drift(folder: &Path) -> Vec<String> {
    let _ = folder;
    Vec::new()
}
