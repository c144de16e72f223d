//! One line a finding: `path:line:column: severity[code]: message (help)`.

use super::{Diagnostic, SourceMap, place};

/// One line a finding.
pub fn concise(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics {
        let place = place(diagnostic, sources);
        if !place.is_empty() {
            out.push_str(&place);
            out.push_str(": ");
        }
        out.push_str(&format!(
            "{}[{}]: {}",
            diagnostic.severity.as_str(),
            diagnostic.code,
            one_line(&diagnostic.message)
        ));
        if let Some(help) = &diagnostic.help {
            out.push_str(&format!(" ({})", one_line(help)));
        }
        out.push('\n');
    }
    out
}

fn one_line(text: &str) -> String {
    text.split('\n').map(str::trim).collect::<Vec<_>>().join(" ")
}
