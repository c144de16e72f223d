//! Findings as a JUnit report, which most CI servers show: one test case a file.
//!
//! <https://github.com/testmoapp/junitxml>

use std::fmt::Write as _;
use std::slice::from_ref;

use indexmap::IndexMap;

use super::paths::relative;
use super::{Diagnostic, Report, concise};

/// The file of findings that have no place.
const NO_FILE: &str = "workspace";

/// A document with one suite. What fails the check is a failure; other findings are its output.
pub fn junit(report: &Report<'_>) -> String {
    let mut cases: IndexMap<String, Vec<&Diagnostic>> =
        report.files.iter().map(|file| (relative(file, report.base), Vec::new())).collect();
    for finding in report.findings {
        let file = finding.span.map(|span| relative(report.sources.path(span.source), report.base));
        cases.entry(file.unwrap_or_else(|| NO_FILE.to_owned())).or_default().push(finding);
    }
    let fails = |findings: &[&Diagnostic]| findings.iter().any(|finding| report.is_failure(finding.severity));
    let failures = cases.values().filter(|findings| fails(findings)).count();
    let counts = format!("tests=\"{}\" failures=\"{failures}\" errors=\"0\"", cases.len());
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"loopwright check\" {counts}>\n  \
         <testsuite name=\"loopwright check\" {counts} skipped=\"0\">\n"
    );
    for (file, findings) in &cases {
        let name = attribute(file);
        write!(out, "    <testcase name=\"{name}\" classname=\"loopwright.check\" file=\"{name}\"").ok();
        if findings.is_empty() {
            out.push_str("/>\n");
            continue;
        }
        out.push_str(">\n");
        let (failing, others): (Vec<&Diagnostic>, Vec<&Diagnostic>) =
            findings.iter().partition(|finding| report.is_failure(finding.severity));
        if let Some(first) = failing.first() {
            let more = if failing.len() > 1 { format!(" (and {} more)", failing.len() - 1) } else { String::new() };
            let message = attribute(&format!("{}{more}", first.message));
            let lines = lines(&failing, report);
            writeln!(out, "      <failure message=\"{message}\" type=\"{}\">{lines}</failure>", first.code).ok();
        }
        if !others.is_empty() {
            writeln!(out, "      <system-out>{}</system-out>", lines(&others, report)).ok();
        }
        out.push_str("    </testcase>\n");
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

fn lines(findings: &[&Diagnostic], report: &Report<'_>) -> String {
    let lines: String = findings.iter().map(|finding| concise(from_ref(*finding), report.sources)).collect();
    content(lines.trim_end())
}

/// Text between tags. XML 1.0 has no way to write most control characters, so the replacement character stands for them.
fn content(text: &str) -> String {
    escaped(text, |c| matches!(c, '\n' | '\t'))
}

/// Text between double quotes, where a reader takes a line break for a space unless it is written as a number.
fn attribute(text: &str) -> String {
    escaped(text, |_| false)
}

fn escaped(text: &str, plain_space: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if plain_space(c) => out.push(c),
            '\n' | '\t' | '\r' => out.push_str(&format!("&#{};", u32::from(c))),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
