//! Findings as GitHub workflow commands, which show up as annotations on the changed lines.

use super::{Diagnostic, SourceMap};
use crate::diag::Severity;

/// One `::error file=...::message` line a finding.
pub fn github(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics {
        let command = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        let mut properties = vec![format!("title={}", property(diagnostic.code.as_str()))];
        if let Some(span) = diagnostic.span {
            let region = sources.line_col(span);
            let path = sources.path(span.source).display().to_string();
            properties.push(format!("file={}", property(&path)));
            properties.push(format!("line={}", region.start.line));
            properties.push(format!("col={}", region.start.column));
            properties.push(format!("endLine={}", region.end.line));
            // Columns are refused by the service when the region spans lines.
            if region.end.line == region.start.line {
                properties.push(format!("endColumn={}", region.end.column));
            }
        }
        let mut message = diagnostic.message.clone();
        if let Some(help) = &diagnostic.help {
            message.push('\n');
            message.push_str(help);
        }
        out.push_str(&format!("::{command} {}::{}\n", properties.join(","), data(&message)));
    }
    out
}

/// A message, with the characters escaped that would end the command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property value: as a message, and the separators of properties too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
