//! Findings as a JSON array, for other programs.

use serde::Serialize;

use super::{Diagnostic, SourceMap};

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
    related: Vec<Related<'a>>,
}

#[derive(Serialize)]
struct Related<'a> {
    file: String,
    line: u32,
    column: u32,
    message: &'a str,
}

/// An array of objects with `file`, `line`, `column`, `end_line`, `end_column`, `code`, `severity`,
/// `message`, `help` and `related`; places are null for a finding that has none.
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
