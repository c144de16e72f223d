//! Checks as data: rows of text with what must be said about them.

mod again;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::*;
use crate::diag::Severity;
use crate::document::Kind;

const WORKSPACE: &str =
    "kind: workspace\nmodels:\n  m-small: { provider: openai, model: m-small, base_url: \"http://127.0.0.1:1/v1\" }\n";
const VARS: [&str; 9] = [
    "name",
    "description",
    "model",
    "iteration",
    "max_iterations",
    "actions",
    "state",
    "output_example",
    "observations",
];

#[derive(serde::Deserialize)]
struct Row {
    id: String,
    format: String,
    text: Option<String>,
    text_b64: Option<String>,
    expect: Expect,
    #[serde(default)]
    files: BTreeMap<String, String>,
}

#[derive(serde::Deserialize)]
struct Expect {
    ok: bool,
    line: Option<u32>,
    col: Option<u32>,
    class: Option<String>,
    severity: Option<String>,
    hint_contains: Option<String>,
}

fn cases(file: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/check").join(file)).unwrap()
}

fn write_file(path: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Findings of a row, and the library that can show their places.
fn run(row: &Row) -> (Diagnostics, Library) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write_file(&root.join("loopwright.yaml"), WORKSPACE.as_bytes());
    for (name, text) in &row.files {
        write_file(&root.join("prompts").join(name), text.as_bytes());
    }
    let bytes = match (&row.text, &row.text_b64) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(text)) => data_encoding::BASE64.decode(text.as_bytes()).unwrap(),
        (None, None) => panic!("{}: no text", row.id),
    };
    let jinja = row.format == "jinja";
    let name = if jinja { "prompts/case.md.j2".to_owned() } else { format!("loops/case.{}", row.format) };
    let path = root.join(name);
    write_file(&path, &bytes);
    let (mut library, _) = Library::open(root);
    let found = if jinja {
        check_template(&mut library, &path, &VARS.map(str::to_owned))
    } else {
        let files = library.add_path(&path);
        check(&mut library, Targets::Files(&files), Options { schemas: true })
    };
    (found, library)
}

fn fault(row: &Row, classes: &BTreeMap<String, Vec<String>>) -> Option<String> {
    let (found, library) = run(row);
    let shown = crate::diag::render::concise(found.as_slice(), &library.sources);
    let fail = |what: &str| Some(format!("{}: {what}\n{shown}", row.id));
    if row.expect.ok == found.has_errors() {
        // Rows that load may use a variable that they do not declare: they are about something else.
        let others =
            found.iter().filter(|f| f.severity == Severity::Error && f.code != codes::UNDEFINED_VARIABLE).count();
        if !row.expect.ok || others > 0 {
            return fail(if row.expect.ok { "must load" } else { "must fail" });
        }
    }
    let Some(class) = &row.expect.class else { return None };
    let wanted = &classes[class];
    let matches = |finding: &&Diagnostic| {
        let place = finding.span.map(|span| library.sources.line_col(span).start);
        let words = format!("{} {}", finding.message, finding.help.as_deref().unwrap_or_default()).to_lowercase();
        wanted.iter().any(|code| code == finding.code.as_str())
            && row.expect.severity.as_ref().is_none_or(|severity| severity == finding.severity.as_str())
            && row.expect.line.is_none_or(|line| place.is_some_and(|place| place.line == line))
            && row.expect.col.is_none_or(|column| place.is_some_and(|place| place.column == column))
            && row.expect.hint_contains.as_ref().is_none_or(|hint| words.contains(&hint.to_lowercase()))
    };
    if found.iter().any(|finding| matches(&finding)) {
        None
    } else {
        fail(&format!(
            "expected {class} at {:?}:{:?} with {:?}",
            row.expect.line, row.expect.col, row.expect.hint_contains
        ))
    }
}

#[test]
fn config_cases_are_found_where_they_are() {
    let rows: Vec<Row> = serde_json::from_str(&cases("config_cases.json")).unwrap();
    let classes: BTreeMap<String, Vec<String>> = serde_json::from_str(&cases("classes.json")).unwrap();
    let faults: Vec<String> = rows.iter().filter_map(|row| fault(row, &classes)).collect();
    assert!(faults.is_empty(), "{} of {} rows:\n\n{}", faults.len(), rows.len(), faults.join("\n"));
}

/// A page of cases: `## title`, fenced files (`yaml loops/a.yaml`), and what is said about them (`text`).
///
/// Without a `text` block nothing is said. `UPDATE_CASES=1 cargo test check::` writes the blocks anew.
#[test]
fn pages_say_what_is_wrong() {
    let update = std::env::var_os("UPDATE_CASES").is_some();
    let mut faults = Vec::new();
    for page in pages() {
        let before = std::fs::read_to_string(&page).unwrap();
        let after = rewritten(&before);
        if update {
            std::fs::write(&page, &after).unwrap();
        } else if before != after {
            let lines = before.lines().zip(after.lines()).find(|(old, new)| old != new);
            faults.push(format!("{}: {lines:#?}", page.display()));
        }
    }
    assert!(faults.is_empty(), "{}\nif the new words are right: UPDATE_CASES=1 cargo test check::", faults.join("\n"));
}

/// Codes of the file system, which `load` tests.
const ELSEWHERE: [&str; 3] = ["file-too-large", "file-unreadable", "folder-cycle"];

#[test]
fn every_code_has_a_case() {
    let text: String = pages().iter().map(|page| std::fs::read_to_string(page).unwrap()).collect();
    let classes: BTreeMap<String, Vec<String>> = serde_json::from_str(&cases("classes.json")).unwrap();
    let in_rows: Vec<&String> = classes.values().flatten().collect();
    let missing: Vec<&str> = codes::all()
        .iter()
        .map(|info| info.code.as_str())
        .filter(|code| !ELSEWHERE.contains(code))
        .filter(|code| !text.contains(&format!("[{code}]")) && !in_rows.iter().any(|row| row == code))
        .collect();
    assert!(missing.is_empty(), "no case in tests/cases/check/*.md for {missing:?}");
}

fn pages() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/check");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.sort();
    pages
}

/// The page with each case's `text` block as the checker has it now.
fn rewritten(page: &str) -> String {
    let mut parts = page.split("\n## ");
    let mut out = parts.next().unwrap_or_default().trim_end().to_owned();
    for case in parts {
        let (body, files) = files_of(case);
        let said = said_about(&files);
        write!(out, "\n\n## {}", body.trim_end()).unwrap();
        if !said.is_empty() {
            write!(out, "\n\n```text\n{said}```").unwrap();
        }
    }
    out.push('\n');
    out
}

/// A case without its `text` block, and its files.
fn files_of(case: &str) -> (String, Vec<(String, String)>) {
    let (mut body, mut files) = (String::new(), Vec::new());
    let mut lines = case.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            body.push_str(line);
            body.push('\n');
            continue;
        };
        let text: String = lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
        if info == "text" {
            continue;
        }
        write!(body, "{line}\n{text}```\n").unwrap();
        let (_, name) = info.split_once(' ').unwrap();
        files.push((name.to_owned(), text));
    }
    (body, files)
}

fn written(files: &[(String, String)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    if !files.iter().any(|(name, _)| name.starts_with("loopwright.")) {
        write_file(&folder.path().join("loopwright.yaml"), WORKSPACE.as_bytes());
    }
    for (name, text) in files {
        write_file(&folder.path().join(name), text.as_bytes());
    }
    folder
}

fn said_about(files: &[(String, String)]) -> String {
    let folder = written(files);
    let root = std::fs::canonicalize(folder.path()).unwrap();
    let (mut library, _) = Library::open(&root);
    let found = check(&mut library, Targets::All, Options { schemas: true });
    crate::diag::render::concise(found.as_slice(), &library.sources).replace(&format!("{}/", root.display()), "")
}

/// What decoding refuses, the schema refuses: an editor and another validator see the same mistakes.
///
/// (The other direction is in the pages: an error that only the schema finds would stand there.)
#[test]
fn both_gates_agree() {
    let shape =
        [codes::UNKNOWN_KEY, codes::MISSING_KEY, codes::WRONG_TYPE, codes::UNKNOWN_VARIANT, codes::UNKNOWN_VERB];
    let mut looked = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for case in text.split("\n## ").skip(1) {
            let (_, files) = files_of(case);
            let folder = written(&files);
            let (mut library, _) = Library::open(folder.path());
            let found = check(&mut library, Targets::All, Options { schemas: false });
            for (kind, node, source) in documents(&library) {
                let refused = found.iter().any(|finding| {
                    shape.contains(&finding.code) && finding.span.is_some_and(|span| span.source == source)
                });
                let valid = gate::takes(kind, &node);
                let said = crate::diag::render::concise(found.as_slice(), &library.sources);
                assert!(!(refused && valid), "a {} is refused, and its schema takes it:\n{said}", kind.name());
                looked += usize::from(refused);
            }
        }
    }
    assert!(looked > 10, "only {looked} documents were refused");
}

fn documents(library: &Library) -> Vec<(Kind, crate::syntax::Node, SourceId)> {
    let own = |source| library.own_sources().contains(&source);
    let loops = library.loops.values().map(|doc| (Kind::Loop, doc.node.clone(), doc.source));
    let tools = library.tools.values().map(|doc| (Kind::Tool, doc.node.clone(), doc.source));
    let forges = library.forges.values().map(|doc| (Kind::Forge, doc.node.clone(), doc.source));
    let presets = library.presets.values().map(|doc| (Kind::Preset, doc.node.clone(), doc.source));
    let broken = library.unusable.iter().filter_map(|doc| Some((doc.kind, doc.node.clone()?, doc.source)));
    loops.chain(tools).chain(forges).chain(presets).chain(broken).filter(|(_, _, source)| own(*source)).collect()
}

/// No text makes the checker panic or hang: shipped documents with pieces cut out, doubled and exchanged.
#[test]
fn broken_documents_are_findings_and_nothing_worse() {
    use proptest::test_runner::{Config, TestRunner};
    let texts: Vec<&str> =
        crate::load::SHIPPED.iter().filter(|(path, _)| path.ends_with(".yaml")).map(|(_, text)| *text).collect();
    let scraps = [
        "{{",
        "}}",
        "{%",
        "%}",
        "- ",
        ": ",
        "*",
        "&a ",
        "\t",
        "\"",
        "'",
        "|",
        "[",
        "]",
        "{",
        "\u{feff}",
        "é",
        "null",
        "then: exit",
        "{{ state.x.y[0] | map('upper') }}",
    ];
    let edits = proptest::collection::vec((0..texts.len(), 0usize..4000, 0usize..40, 0..scraps.len()), 1..6);
    let mut runner = TestRunner::new(Config { cases: 48, failure_persistence: None, ..Config::default() });
    let result = runner.run(&edits, |edits| {
        let mut text = texts[edits[0].0].to_owned();
        for (_, at, cut, scrap) in edits {
            let start = text.floor_char_boundary(at.min(text.len()));
            let end = text.ceil_char_boundary((start + cut).min(text.len()));
            text.replace_range(start..end, scraps[scrap]);
        }
        let _ = said_about(&[("loops/case.yaml".to_owned(), text)]);
        Ok(())
    });
    result.unwrap();
}
