//! The loading cases in `tests/cases/syntax/`, read and decoded into a small document type.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Format, Raw, add_source, decode, parse};
use crate::diag::{Diagnostics, SourceMap};

/// Enough of a loop to give the cases their types.
#[derive(Deserialize)]
#[expect(dead_code, reason = "only decoding matters here")]
struct Document {
    #[serde(rename = "$schema")]
    schema: Option<String>,
    name: String,
    model: Option<String>,
    prompt: Prompt,
    limits: Option<Limits>,
    state: Option<Raw>,
    actions: Option<BTreeMap<String, Action>>,
    mechanisms: Option<Mechanisms>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only decoding matters here")]
struct Prompt {
    instruction: String,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only decoding matters here")]
struct Limits {
    max_iterations: Option<u32>,
    max_tokens: Option<u64>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only decoding matters here")]
struct Action {
    description: String,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only decoding matters here")]
struct Mechanisms {
    reflection: Option<Reflection>,
    verification: Option<Verification>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only decoding matters here")]
struct Reflection {
    enabled: bool,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only decoding matters here")]
struct Verification {
    threshold: f64,
}

#[derive(Deserialize)]
struct Case {
    id: String,
    format: String,
    text: Option<String>,
    text_b64: Option<String>,
    expect: Expect,
}

#[derive(Deserialize)]
struct Expect {
    ok: bool,
    class: Option<String>,
    line: Option<u32>,
    col: Option<u32>,
    severity: Option<String>,
    hint_contains: Option<String>,
}

/// Reads, parses and decodes as a loader does.
fn load(bytes: &[u8], format: Format) -> (SourceMap, Diagnostics) {
    let mut sources = SourceMap::new();
    let mut found = Diagnostics::new();
    let (id, good) = add_source(&mut sources, "case", bytes, &mut found);
    if good && let Some(node) = parse(id, sources.text(id), format, &mut found) {
        let document: Option<Document> = decode(&node, &mut found);
        if let Some(state) = document.as_ref().and_then(|d| d.state.as_ref()) {
            state.warn_ambiguous(&mut found);
        }
        assert!(document.is_some() || found.has_errors());
    }
    found.sort(&sources);
    (sources, found)
}

fn failures(case: &Case) -> Vec<String> {
    let bytes = match (&case.text, &case.text_b64) {
        (Some(text), _) => text.clone().into_bytes(),
        (None, Some(encoded)) => data_encoding::BASE64.decode(encoded.as_bytes()).unwrap(),
        (None, None) => Vec::new(),
    };
    let format = if case.format == "toml" { Format::Toml } else { Format::Yaml };
    let (sources, found) = load(&bytes, format);
    let mut failures = Vec::new();
    if found.has_errors() == case.expect.ok {
        failures.push(format!("ok should be {}", case.expect.ok));
    }
    if let Some(class) = &case.expect.class {
        let expect = &case.expect;
        let severity = expect.severity.as_deref().unwrap_or("error");
        let fits = |d: &&crate::diag::Diagnostic| {
            let start = d.span.map(|span| sources.line_col(span).start);
            let hint = format!("{} {}", d.message, d.help.as_deref().unwrap_or_default());
            d.code.as_str() == class
                && d.severity.as_str() == severity
                && expect.line.is_none_or(|line| start.is_some_and(|s| s.line == line))
                && expect.col.is_none_or(|col| start.is_some_and(|s| s.column == col))
                && expect.hint_contains.as_ref().is_none_or(|words| hint.to_lowercase().contains(&words.to_lowercase()))
        };
        if !found.iter().any(|d| fits(&d)) {
            failures.push(format!("no {class} as expected"));
        }
    }
    if !failures.is_empty() {
        failures.push(crate::diag::render::concise(found.as_slice(), &sources));
    }
    failures
}

#[test]
fn loading_cases() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../../tests/cases/syntax/loading.json")).unwrap();
    let mut failed = Vec::new();
    for case in &cases {
        for failure in failures(case) {
            failed.push(format!("{}: {failure}", case.id));
        }
    }
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));
}

#[test]
fn duplicates_and_unknown_keys_are_reported_together() {
    let text = "name: a\nlimits:\n  max_iterations: 3\n  max_iterations: 4\n  max_iteration: 5\nprompt: {instruction: x, instructoin: y}\nlimits: {}\n";
    let (sources, found) = load(text.as_bytes(), Format::Yaml);
    let lines: Vec<_> = found.iter().map(|d| (d.code.as_str(), sources.line_col(d.span.unwrap()).start.line)).collect();
    assert_eq!(lines, [("duplicate-key", 4), ("unknown-key", 5), ("unknown-key", 6), ("duplicate-key", 7)]);
}
