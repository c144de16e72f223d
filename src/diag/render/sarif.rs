//! Findings as SARIF 2.1.0, which GitHub code scanning and most dashboards read.
//!
//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>

use serde_json::{Value, json};

use super::fingerprint::fingerprints;
use super::paths::uri;
use super::{Diagnostic, Report};
use crate::diag::codes::{Code, CodeInfo};
use crate::diag::{Severity, Span};

/// Where a rule's page can be read: known when the package says where it lives.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// A log with one run.
pub fn sarif(report: &Report<'_>) -> String {
    let mut codes: Vec<Code> = report.findings.iter().map(|finding| finding.code).collect();
    codes.sort();
    codes.dedup();
    let rules: Vec<Value> = codes.iter().filter_map(|code| code.info()).map(|info| rule(info, REPOSITORY)).collect();
    let results: Vec<Value> = report
        .findings
        .iter()
        .zip(fingerprints(report))
        .map(|(finding, fingerprint)| result(finding, &fingerprint, &codes, report))
        .collect();
    let mut driver = json!({ "name": "loopwright", "version": env!("CARGO_PKG_VERSION"), "rules": rules });
    if !REPOSITORY.is_empty() {
        driver["informationUri"] = json!(REPOSITORY);
    }
    let log = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{ "tool": { "driver": driver }, "columnKind": "unicodeCodePoints", "results": results }],
    });
    format!("{log:#}\n")
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn rule(info: &CodeInfo, repository: &str) -> Value {
    let page = info.page();
    let help = page.markdown();
    let mut rule = json!({
        "id": info.code,
        "shortDescription": { "text": page.summary },
        "fullDescription": { "text": page.explanation },
        "help": { "text": help, "markdown": help },
        "defaultConfiguration": { "level": level(info.severity) },
    });
    if !repository.is_empty() {
        rule["helpUri"] = json!(format!("{repository}/blob/main/docs/reference/findings.md#{}", info.code));
    }
    rule
}

fn result(finding: &Diagnostic, fingerprint: &str, codes: &[Code], report: &Report<'_>) -> Value {
    let mut words = finding.message.clone();
    if let Some(help) = &finding.help {
        words.push_str(&format!(" ({help})"));
    }
    let mut result = json!({
        "ruleId": finding.code,
        "level": level(finding.severity),
        "message": { "text": words },
        "partialFingerprints": { "loopwright/v1": fingerprint },
    });
    if let Ok(index) = codes.binary_search(&finding.code) {
        result["ruleIndex"] = json!(index);
    }
    if let Some(span) = finding.span {
        result["locations"] = json!([{ "physicalLocation": physical(span, report) }]);
    }
    if !finding.labels.is_empty() {
        let related = finding.labels.iter().enumerate().map(|(index, (span, words))| {
            json!({ "id": index + 1, "physicalLocation": physical(*span, report), "message": { "text": words } })
        });
        result["relatedLocations"] = related.collect();
    }
    if let Some(fix) = &finding.fix {
        let replacement =
            json!({ "deletedRegion": region(fix.span, report), "insertedContent": { "text": fix.replacement } });
        result["fixes"] = json!([{
            "description": { "text": finding.help.as_deref().unwrap_or("Write this instead") },
            "artifactChanges": [{ "artifactLocation": artifact(fix.span, report), "replacements": [replacement] }],
        }]);
    }
    result
}

fn physical(span: Span, report: &Report<'_>) -> Value {
    json!({ "artifactLocation": artifact(span, report), "region": region(span, report) })
}

fn artifact(span: Span, report: &Report<'_>) -> Value {
    json!({ "uri": uri(report.sources.path(span.source), report.base) })
}

/// Lines and columns count from 1, and the end is exclusive, as in findings.
fn region(span: Span, report: &Report<'_>) -> Value {
    let region = report.sources.line_col(span);
    json!({
        "startLine": region.start.line,
        "startColumn": region.start.column,
        "endLine": region.end.line,
        "endColumn": region.end.column,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_links_to_its_page_when_the_repository_is_known() {
        let info = crate::diag::codes::UNKNOWN_KEY.info().unwrap();
        let linked = rule(info, "https://example.com/loops");
        assert_eq!(linked["helpUri"], "https://example.com/loops/blob/main/docs/reference/findings.md#unknown-key");
        assert!(rule(info, "").get("helpUri").is_none());
    }
}
