//! Findings as a Code Quality report, which GitLab shows in merge requests.
//!
//! <https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format>

use serde_json::{Value, json};

use super::Report;
use super::fingerprint::fingerprints;
use super::paths::relative;
use crate::diag::Severity;

/// A JSON array with one object a finding.
pub fn gitlab(report: &Report<'_>) -> String {
    let rows: Vec<Value> = report
        .findings
        .iter()
        .zip(fingerprints(report))
        .map(|(finding, fingerprint)| {
            // The format knows no finding without a place.
            let (path, begin, end) = finding.span.map_or((".".to_owned(), 1, 1), |span| {
                let region = report.sources.line_col(span);
                (relative(report.sources.path(span.source), report.base), region.start.line, region.end.line)
            });
            let help = finding.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
            json!({
                "description": format!("{}{help}", finding.message),
                "check_name": finding.code,
                "fingerprint": fingerprint,
                "severity": match finding.severity {
                    Severity::Error => "major",
                    Severity::Warning => "minor",
                    Severity::Info => "info",
                },
                "location": { "path": path, "lines": { "begin": begin, "end": end } },
            })
        })
        .collect();
    format!("{:#}\n", Value::Array(rows))
}
