//! Sessions as data: a file in `tests/cases/lsp/` has the files of a workspace and what a client does and sees.
//!
//! In `at`, `¦` is the cursor in a piece of the file's text. A step may have several keys; they are done in this order.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::client::{Client, position};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    files: BTreeMap<String, String>,
    steps: Vec<Step>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Step {
    /// The file that the other keys are about.
    file: String,
    /// Open it, with the text that it has.
    open: bool,
    /// Open it with this text.
    draft: Option<String>,
    /// Replace the first with the second.
    edit: Option<(String, String)>,
    close: bool,
    /// File → `line:column code` of each finding.
    findings: Option<BTreeMap<String, Vec<String>>>,
    at: Option<String>,
    /// Labels that are offered, and some that are not.
    offers: Vec<String>,
    lacks: Vec<String>,
    /// The whole line after a completion was taken: label → line.
    taken: BTreeMap<String, String>,
    /// Pieces of the hover text; an empty list means that there is none.
    hover: Option<Vec<String>>,
    /// `file:line:column` of each.
    definition: Option<Vec<String>>,
    references: Option<Vec<String>>,
    /// The new name, and lines of files that come out of it: `file:line: text`; or a piece of the refusal.
    rename: Option<String>,
    gives: Vec<String>,
    refused: Option<String>,
    /// Titles of quick fixes; `gives` has the lines after the first.
    fixes: Option<Vec<String>>,
    /// The text of the file after it was formatted.
    formatted: Option<String>,
    /// The outline, one line a symbol.
    symbols: Option<String>,
}

#[test]
fn sessions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/lsp");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let case: Case = serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        run(&case, &path.file_name().unwrap().to_string_lossy());
    }
}

fn run(case: &Case, name: &str) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in &case.files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let mut client = Client::start(folder.path(), &["utf-16"]);
    for (index, step) in case.steps.iter().enumerate() {
        let mut session = Session { client: &mut client, step, place: format!("{name}, step {}", index + 1) };
        session.write();
        session.ask();
    }
    assert_eq!(client.stop(), Some(0), "{name}");
}

struct Session<'a> {
    client: &'a mut Client,
    step: &'a Step,
    place: String,
}

impl Session<'_> {
    fn write(&mut self) {
        let step = self.step;
        if step.open || step.draft.is_some() {
            self.client.open(&step.file, step.draft.as_deref());
        }
        if let Some((old, new)) = &step.edit {
            self.client.edit(&step.file, old, new);
        }
        if step.close {
            let params = json!({ "textDocument": { "uri": self.client.uri(&step.file) } });
            self.client.notify("textDocument/didClose", params);
        }
        if let Some(expected) = &step.findings {
            // Any answer comes after what was found until then.
            let any = json!({ "textDocument": { "uri": "file:///none" } });
            self.client.request("textDocument/documentSymbol", any);
            let shown = self.client.published.iter().map(|(path, published)| {
                let items = published["diagnostics"].as_array().unwrap().iter();
                let lines = items.map(|item| format!("{} {}", start(&item["range"]), item["code"].as_str().unwrap()));
                (path.clone(), lines.collect::<Vec<_>>())
            });
            let shown: BTreeMap<_, _> = shown.filter(|(_, lines)| !lines.is_empty()).collect();
            assert_eq!(shown, *expected, "{}: {:#?}", self.place, self.client.published);
        }
    }

    fn ask(&mut self) {
        let step = self.step;
        if let Some(mark) = &step.at {
            let at = self.client.at(&step.file, mark);
            self.completion(&at);
            self.hover(&at);
            self.places(&at);
            self.rename(&at);
            self.fixes(&at);
        }
        if let Some(expected) = &step.formatted {
            let params = json!({ "textDocument": { "uri": self.client.uri(&step.file) }, "options": {} });
            let found = self.client.request("textDocument/formatting", params);
            let edits: Vec<&Json> = found["result"].as_array().unwrap().iter().collect();
            assert_eq!(applied(&self.client.open[&step.file].0, &edits), *expected, "{}", self.place);
        }
        if let Some(expected) = &step.symbols {
            let params = json!({ "textDocument": { "uri": self.client.uri(&step.file) } });
            let found = self.client.request("textDocument/documentSymbol", params);
            let mut lines = String::new();
            outline(&found["result"], 0, &mut lines);
            assert_eq!(lines, *expected, "{}", self.place);
        }
    }

    fn completion(&mut self, at: &Json) {
        let step = self.step;
        if step.offers.is_empty() && step.lacks.is_empty() && step.taken.is_empty() {
            return;
        }
        let found = self.client.request("textDocument/completion", at.clone());
        let items = found["result"]["items"].as_array().unwrap_or_else(|| panic!("{}: {found}", self.place));
        let labels: Vec<&str> = items.iter().map(|item| item["label"].as_str().unwrap()).collect();
        for label in &step.offers {
            assert!(labels.contains(&label.as_str()), "{}: no {label} in {labels:?}", self.place);
        }
        for label in &step.lacks {
            assert!(!labels.contains(&label.as_str()), "{}: {label} in {labels:?}", self.place);
        }
        for (label, line) in &step.taken {
            let item =
                items.iter().find(|item| item["label"] == **label).unwrap_or_else(|| panic!("{label}: {labels:?}"));
            let text = &self.client.open[&step.file].0;
            let after = applied(text, &[&item["textEdit"]]);
            let at = at["position"]["line"].as_u64().unwrap();
            assert_eq!(after.lines().nth(usize::try_from(at).unwrap()).unwrap(), line, "{}", self.place);
        }
    }

    fn hover(&mut self, at: &Json) {
        let Some(expected) = &self.step.hover else { return };
        let found = self.client.request("textDocument/hover", at.clone());
        let text = found["result"]["contents"]["value"].as_str().unwrap_or_default();
        assert_eq!(expected.is_empty(), text.is_empty(), "{}: {found}", self.place);
        for piece in expected {
            assert!(text.contains(piece), "{}: no {piece:?} in:\n{text}", self.place);
        }
    }

    fn places(&mut self, at: &Json) {
        let mut asked = vec![("textDocument/definition", &self.step.definition, at.clone())];
        let mut with_context = at.clone();
        with_context["context"] = json!({ "includeDeclaration": true });
        asked.push(("textDocument/references", &self.step.references, with_context));
        for (method, expected, params) in asked {
            let Some(expected) = expected else { continue };
            let found = self.client.request(method, params);
            let found = found["result"].as_array().unwrap_or_else(|| panic!("{}: {found}", self.place));
            let shown = found.iter().map(|location| {
                format!("{}:{}", self.client.path(location["uri"].as_str().unwrap()), start(&location["range"]))
            });
            let mut shown: Vec<String> = shown.collect();
            shown.sort();
            assert_eq!(shown, *expected, "{}: {method}", self.place);
        }
    }

    fn rename(&mut self, at: &Json) {
        let Some(name) = &self.step.rename else { return };
        let mut params = at.clone();
        params["newName"] = json!(name);
        let found = self.client.request("textDocument/rename", params);
        if let Some(piece) = &self.step.refused {
            let message = found["error"]["message"].as_str().unwrap_or_else(|| panic!("{}: {found}", self.place));
            assert!(message.contains(piece), "{}: {message}", self.place);
            return;
        }
        assert!(self.client.request("textDocument/prepareRename", at.clone())["result"].is_object(), "{}", self.place);
        self.gives(&found["result"]["changes"]);
    }

    fn fixes(&mut self, at: &Json) {
        let Some(expected) = &self.step.fixes else { return };
        let range = json!({ "start": at["position"], "end": at["position"] });
        let params = json!({ "textDocument": at["textDocument"], "range": range, "context": { "diagnostics": [] } });
        let found = self.client.request("textDocument/codeAction", params);
        let titles: Vec<&str> =
            found["result"].as_array().unwrap().iter().map(|action| action["title"].as_str().unwrap()).collect();
        assert_eq!(titles, *expected, "{}", self.place);
        if !titles.is_empty() {
            self.gives(&found["result"][0]["edit"]["changes"]);
        }
    }

    /// Compares the lines that edits change.
    fn gives(&self, changes: &Json) {
        let mut lines = Vec::new();
        for (uri, edits) in changes.as_object().unwrap_or_else(|| panic!("{}: {changes}", self.place)) {
            let path = self.client.path(uri);
            let on_disk = || std::fs::read_to_string(uri.strip_prefix("file://").unwrap()).unwrap();
            let before = self.client.open.get(&path).map_or_else(on_disk, |(text, _)| text.clone());
            let edits: Vec<&Json> = edits.as_array().unwrap().iter().collect();
            let after = applied(&before, &edits);
            for (index, (new, old)) in after.lines().zip(before.lines()).enumerate() {
                if new != old {
                    lines.push(format!("{path}:{}: {}", index + 1, new.trim()));
                }
            }
        }
        assert_eq!(lines, self.step.gives, "{}", self.place);
    }
}

fn start(range: &Json) -> String {
    let at = |key: &str| range["start"][key].as_u64().unwrap() + 1;
    format!("{}:{}", at("line"), at("character"))
}

/// A text after edits, none of which overlap.
fn applied(text: &str, edits: &[&Json]) -> String {
    let offset = |at: &Json| {
        let all = text.char_indices().map(|(offset, _)| offset).chain([text.len()]);
        all.into_iter().find(|offset| position(text, *offset) == *at).unwrap_or_else(|| panic!("no place {at}"))
    };
    let mut places: Vec<(usize, usize, &str)> = edits
        .iter()
        .map(|edit| (offset(&edit["range"]["start"]), offset(&edit["range"]["end"]), edit["newText"].as_str().unwrap()))
        .collect();
    places.sort_unstable();
    let mut after = text.to_owned();
    for (start, end, new) in places.into_iter().rev() {
        after.replace_range(start..end, new);
    }
    after
}

fn outline(symbols: &Json, depth: usize, lines: &mut String) {
    for symbol in symbols.as_array().into_iter().flatten() {
        let detail = symbol["detail"].as_str().map(|detail| format!(": {detail}")).unwrap_or_default();
        writeln!(lines, "{}{}{detail}", "  ".repeat(depth), symbol["name"].as_str().unwrap()).unwrap();
        let (whole, name) = (&symbol["range"], &symbol["selectionRange"]);
        let key = |at: &Json| (at["line"].as_u64().unwrap(), at["character"].as_u64().unwrap());
        assert!(key(&whole["start"]) <= key(&name["start"]) && key(&name["end"]) <= key(&whole["end"]), "{symbol}");
        outline(&symbol["children"], depth + 1, lines);
    }
}
