//! The part of the protocol's types that is used here, with the protocol's names.
//!
//! <https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/>

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// A place between two characters; both count from 0, `character` in units of the agreed encoding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Position {
    pub(super) line: u32,
    pub(super) character: u32,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Range {
    pub(super) start: Position,
    pub(super) end: Position,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Location {
    pub(super) uri: String,
    pub(super) range: Range,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct InitializeParams {
    pub(super) capabilities: Json,
    pub(super) root_uri: Option<String>,
    pub(super) workspace_folders: Option<Vec<WorkspaceFolder>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct WorkspaceFolder {
    pub(super) uri: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct TextDocument {
    pub(super) uri: String,
    #[serde(default)]
    pub(super) version: Option<i32>,
}

#[derive(Debug, Deserialize)]
pub(super) struct TextDocumentItem {
    pub(super) uri: String,
    #[serde(default)]
    pub(super) version: i32,
    pub(super) text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DidOpenParams {
    pub(super) text_document: TextDocumentItem,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DidChangeParams {
    pub(super) text_document: TextDocument,
    pub(super) content_changes: Vec<ContentChange>,
}

/// A part that is replaced, or the whole text when there is no range.
#[derive(Debug, Deserialize)]
pub(super) struct ContentChange {
    #[serde(default)]
    pub(super) range: Option<Range>,
    pub(super) text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DocumentParams {
    pub(super) text_document: TextDocument,
}

#[derive(Debug, Deserialize)]
pub(super) struct FoldersChange {
    pub(super) event: FoldersEvent,
}

#[derive(Debug, Deserialize)]
pub(super) struct FoldersEvent {
    #[serde(default)]
    pub(super) added: Vec<WorkspaceFolder>,
    #[serde(default)]
    pub(super) removed: Vec<WorkspaceFolder>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PositionParams {
    pub(super) text_document: TextDocument,
    pub(super) position: Position,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReferenceParams {
    pub(super) text_document: TextDocument,
    pub(super) position: Position,
    pub(super) context: ReferenceContext,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReferenceContext {
    pub(super) include_declaration: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RenameParams {
    pub(super) text_document: TextDocument,
    pub(super) position: Position,
    pub(super) new_name: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodeActionParams {
    pub(super) text_document: TextDocument,
    pub(super) range: Range,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Diagnostic {
    pub(super) range: Range,
    pub(super) severity: u8,
    pub(super) code: &'static str,
    pub(super) source: &'static str,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) related_information: Vec<RelatedInformation>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct RelatedInformation {
    pub(super) location: Location,
    pub(super) message: String,
}

#[derive(Debug, Serialize)]
pub(super) struct PublishDiagnostics {
    pub(super) uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<i32>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextEdit {
    pub(super) range: Range,
    pub(super) new_text: String,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct WorkspaceEdit {
    pub(super) changes: BTreeMap<String, Vec<TextEdit>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodeAction {
    pub(super) title: String,
    pub(super) kind: &'static str,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) is_preferred: bool,
    pub(super) edit: WorkspaceEdit,
}

/// What a completion stands for; the numbers are the protocol's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemKind {
    Function = 3,
    Field = 5,
    Variable = 6,
    Property = 10,
    Value = 12,
    Keyword = 14,
    File = 17,
    Reference = 18,
    EnumMember = 20,
}

impl Serialize for ItemKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(*self as u8)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CompletionItem {
    pub(super) label: String,
    pub(super) kind: ItemKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) documentation: Option<Markup>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sort_text: Option<String>,
    pub(super) text_edit: TextEdit,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CompletionList {
    pub(super) is_incomplete: bool,
    pub(super) items: Vec<CompletionItem>,
}

/// Markdown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Markup {
    kind: &'static str,
    value: String,
}

impl Markup {
    pub(super) fn new(value: impl Into<String>) -> Self {
        Self { kind: "markdown", value: value.into() }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Hover {
    pub(super) contents: Markup,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) range: Option<Range>,
}

/// What a symbol is; the numbers are the protocol's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SymbolKind {
    Module = 2,
    Property = 7,
    Function = 12,
    Variable = 13,
    Object = 19,
    Event = 24,
}

impl Serialize for SymbolKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(*self as u8)
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DocumentSymbol {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) detail: Option<String>,
    pub(super) kind: SymbolKind,
    pub(super) range: Range,
    pub(super) selection_range: Range,
    pub(super) children: Vec<DocumentSymbol>,
}
