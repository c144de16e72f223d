//! Findings as a JSON array, for other programs.

use serde::Serialize;

use super::{Diagnostic, SourceMap};
use crate::diag::Fix;

#[derive(Serialize)]
struct Row<'a> {
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
    end_line: Option<u32>,
    end_column: Option<u32>,
    code: &'a str,
    severity: &'a str,
    message: &'a str,
    help: Option<&'a str>,
    fix: Option<Vec<Edit<'a>>>,
    related: Vec<Related<'a>>,
}

#[derive(Serialize)]
struct Edit<'a> {
    file: String,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    text: &'a str,
    safe: bool,
}

#[derive(Serialize)]
struct Related<'a> {
    file: String,
    line: u32,
    column: u32,
    message: &'a str,
}

/// An array of objects with `file`, `line`, `column`, `end_line`, `end_column`, `code`, `severity`,
/// `message`, `help`, `fix` and `related`; places are null for a finding that has none.
///
/// `fix` is null or a list of edits: a place, the `text` to write there, and whether `check --fix` would do it (`safe`).
pub fn json(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    let rows: Vec<Row<'_>> = diagnostics.iter().map(|d| row(d, sources)).collect();
    // Strings, numbers and nulls always serialize.
    let mut text = serde_json::to_string_pretty(&rows).unwrap_or_else(|_| "[]".to_owned());
    text.push('\n');
    text
}

fn row<'a>(diagnostic: &'a Diagnostic, sources: &SourceMap) -> Row<'a> {
    let region = diagnostic.span.map(|span| sources.line_col(span));
    Row {
        file: diagnostic.span.map(|span| sources.path(span.source).display().to_string()),
        line: region.map(|r| r.start.line),
        column: region.map(|r| r.start.column),
        end_line: region.map(|r| r.end.line),
        end_column: region.map(|r| r.end.column),
        code: diagnostic.code.as_str(),
        severity: diagnostic.severity.as_str(),
        message: &diagnostic.message,
        help: diagnostic.help.as_deref(),
        fix: diagnostic.fix.as_ref().map(|fix| vec![edit(fix, sources)]),
        related: diagnostic
            .labels
            .iter()
            .map(|(span, message)| {
                let start = sources.line_col(*span).start;
                Related {
                    file: sources.path(span.source).display().to_string(),
                    line: start.line,
                    column: start.column,
                    message,
                }
            })
            .collect(),
    }
}

fn edit<'a>(fix: &'a Fix, sources: &SourceMap) -> Edit<'a> {
    let region = sources.line_col(fix.span);
    Edit {
        file: sources.path(fix.span.source).display().to_string(),
        line: region.start.line,
        column: region.start.column,
        end_line: region.end.line,
        end_column: region.end.column,
        text: &fix.replacement,
        safe: fix.safe,
    }
}
