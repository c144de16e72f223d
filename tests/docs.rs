//! The pages under `docs/` and the README say what is true: their documents pass `check`, their commands exist.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::cli::Folder;
use crate::raw_http::{Response, Server};

/// A fenced block of a page.
struct Block {
    /// The words after the fence.
    info: String,
    /// The line of the fence, from 1.
    line: usize,
    text: String,
}

/// All pages that people wrote; generated ones are compared elsewhere.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> = docs.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.extend(["README.md", "CONTRIBUTING.md"].map(|name| root.join(name)).into_iter().filter(|path| path.exists()));
    pages.sort();
    pages
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    for (index, line) in page.lines().enumerate() {
        match (open, line.strip_prefix("```")) {
            (false, Some(info)) => {
                blocks.push(Block { info: info.trim().to_owned(), line: index + 1, text: String::new() });
                open = true;
            }
            (true, Some(_)) => open = false,
            (true, None) => {
                let block = blocks.last_mut().unwrap();
                block.text.push_str(line);
                block.text.push('\n');
            }
            (false, None) => {}
        }
    }
    blocks
}

/// The file that a block says it is, or a name of its own when it only says its kind.
fn file_name(block: &Block) -> Option<String> {
    if let Some(name) = block.text.lines().next()?.strip_prefix("# file: ") {
        return Some(name.trim().to_owned());
    }
    let kind = block.text.lines().find_map(|line| line.strip_prefix("kind:"))?.trim();
    Some(if kind == "workspace" { "loopwright.yaml".to_owned() } else { format!("loops/line_{}.yaml", block.line) })
}

#[test]
fn the_documents_on_the_pages_pass_check() {
    let mut checked = 0;
    for path in pages() {
        let page = std::fs::read_to_string(&path).unwrap();
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        for block in blocks(&page) {
            // A skill has no line to spare for its name.
            if let Some(name) = block.info.strip_prefix("md ") {
                files.insert(name.to_owned(), block.text);
                continue;
            }
            if !matches!(block.info.as_str(), "yaml" | "toml") {
                continue;
            }
            let place = format!("{}:{}", path.display(), block.line);
            let name = file_name(&block).unwrap_or_else(|| {
                panic!("{place}: begin the block with `# file: PATH`, or mark it as `yaml fragment`")
            });
            assert!(!files.contains_key(&name), "{place}: the page has two files named {name}");
            files.insert(name, block.text);
        }
        if files.is_empty() {
            continue;
        }
        checked += files.len();
        // The files of a page are one workspace: they may refer to each other.
        let list: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let folder = Folder::new(&list);
        let done = folder.run(&["check", "."]);
        assert_eq!(done.code, Some(0), "{}:\n{}{}", path.display(), done.stdout, done.stderr);
    }
    assert!(checked >= 5, "only {checked} documents were found");
}

#[test]
fn the_documents_of_the_repository_pass_check() {
    let done = Folder::new(&[]).run(&["--workspace", env!("CARGO_MANIFEST_DIR"), "check"]);
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
}

/// `{ description: The file, relative to it }` is two keys, the second without a value: a slip that is valid YAML.
#[test]
fn no_key_of_a_shipped_document_is_without_a_value() {
    fn empty_keys(node: &serde_json::Value, path: &str, found: &mut Vec<String>) {
        match node {
            serde_json::Value::Null => found.push(path.to_owned()),
            serde_json::Value::Object(map) => {
                map.iter().for_each(|(k, v)| empty_keys(v, &format!("{path}/{k}"), found))
            }
            serde_json::Value::Array(list) => {
                list.iter().for_each(|item| empty_keys(item, &format!("{path}/-"), found))
            }
            _ => {}
        }
    }
    fn files(folder: &Path) -> Vec<PathBuf> {
        let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
    }
    let mut found = Vec::new();
    let all = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("loops"));
    assert!(all.len() >= 10, "{all:?}");
    for file in all {
        let document = serde_yaml::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        empty_keys(&document, &file.display().to_string(), &mut found);
    }
    assert!(found.is_empty(), "quote the text before these keys: {found:#?}");
}

/// The documents of a page in a workspace whose model is this server.
fn workspace_of(page: &str, server: &Server) -> Folder {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(page)).unwrap();
    let folder = Folder::new(&[]);
    for block in blocks(&text).into_iter().filter(|block| block.info == "yaml") {
        folder.write(&file_name(&block).unwrap(), block.text);
    }
    let base_url = server.base_url();
    let model = format!("{{ provider: openai, model: m, base_url: \"{base_url}\" }}");
    folder
        .write("loopwright.yaml", format!("kind: workspace\nmodels: {{ local: {model} }}\ntiers: {{ main: local }}\n"));
    folder
}

#[test]
fn the_loop_of_the_page_on_concepts_does_what_the_page_says() {
    let server = Server::scripted(vec![
        Response::says(r#"{"@action": "file_ticket", "queue": "money", "reason": "charged twice"}"#),
        Response::says(r#"{"@action": "file_ticket", "queue": "billing", "reason": "charged twice"}"#),
    ]);
    let folder = workspace_of("concepts.md", &server);
    let done = folder.run(&["run", "triage", "--input", "I was charged twice."]).exits(0);
    assert_eq!(done.stdout.trim(), "Goes to billing: charged twice");
    let second = String::from_utf8(server.seen()[1].body.clone()).unwrap();
    assert!(second.contains("queue is billing, bugs or other"), "the refusal goes back to the model: {second}");
}

#[test]
fn the_loop_of_the_page_on_mechanisms_steers_them() {
    let server = Server::scripted(vec![
        Response::says(r#"{"summary": "Names two files.", "topics": ["a.rs"], "keywords": [], "confidence": 0.9}"#),
        Response::says(r#"{"@action": "apply", "change": "rename it"}"#),
        Response::says(r#"{"assessment": "It needs the tests of a.rs.", "suggestions": "- run them"}"#),
        Response::says(r#"{"@action": "finish"}"#),
    ]);
    let folder = workspace_of("mechanisms.md", &server);
    folder.run(&["run", "careful", "--input", "Rename it."]).exits(0);
    let seen: Vec<String> = server.seen().iter().map(|seen| String::from_utf8(seen.body.clone()).unwrap()).collect();
    assert!(seen[0].contains("Which files does the task name?"), "{}", seen[0]);
    assert!(seen[1].contains("Names two files."), "what was perceived is in the first prompt: {}", seen[1]);
    assert!(seen[2].contains("Say which tests the change `apply` needs."), "{}", seen[2]);
    assert!(seen[3].contains("It needs the tests of a.rs.") && seen[3].contains("- run them"), "{}", seen[3]);
}

#[test]
fn the_loop_of_the_page_on_templates_keeps_types() {
    let note = |word: &str| Response::says(&format!(r#"{{"@action": "note", "word": "{word}"}}"#));
    let server = Server::scripted(vec![note("red"), note("x"), note("green"), note("blue")]);
    let folder = workspace_of("templates.md", &server);
    let done = folder.run(&["run", "two_rules", "--input", "red x green blue"]).exits(0);
    assert_eq!(done.stdout.trim(), "red, green, blue");
    let bodies: Vec<String> = server.seen().into_iter().map(|seen| String::from_utf8(seen.body).unwrap()).collect();
    assert!(bodies[2].contains("`x` is too short") && bodies[3].contains("2 words so far"), "{bodies:?}");
}

/// `loopwright SUBCOMMAND …` in code spans and in blocks of commands.
fn commands(page: &str) -> Vec<String> {
    let spans = page.lines().flat_map(|line| line.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>());
    let lines = blocks(page).into_iter().filter(|block| matches!(block.info.as_str(), "console" | "sh" | "bash"));
    let lines = lines.flat_map(|block| block.text.lines().map(str::to_owned).collect::<Vec<_>>());
    spans
        .chain(lines)
        .filter_map(|text| Some(text.trim_start_matches("$ ").strip_prefix("loopwright ")?.trim().to_owned()))
        .collect()
}

#[test]
fn the_commands_on_the_pages_exist_with_their_options() {
    let folder = Folder::new(&[]);
    let mut help_of: BTreeMap<String, String> = BTreeMap::new();
    let mut seen = 0;
    for path in pages() {
        let page = std::fs::read_to_string(&path).unwrap();
        for command in commands(&page) {
            let words: Vec<&str> = command.split_whitespace().collect();
            let Some(first) = words.first().filter(|word| word.starts_with(char::is_lowercase)) else { continue };
            // `debug extract`, `model ask`: the second word is a command too.
            let group = matches!(*first, "caps" | "debug" | "model" | "tune");
            let names: Vec<&str> = words.iter().take(if group { 2 } else { 1 }).copied().collect();
            let help = help_of.entry(names.join(" ")).or_insert_with(|| {
                let done = folder.run(&[names.as_slice(), &["--help"]].concat());
                assert_eq!(done.code, Some(0), "{}: `loopwright {command}`: no such command", path.display());
                done.stdout
            });
            for option in words.iter().filter(|word| word.starts_with("--")) {
                let option = option.split('=').next().unwrap_or(option);
                assert!(help.contains(option), "{}: `loopwright {command}`: no option {option}", path.display());
            }
            seen += 1;
        }
    }
    assert!(seen >= 3, "only {seen} commands were found");
}

/// The page's files, and each of its commands as a shell runs it, one after the other.
#[cfg(unix)]
#[test]
fn the_commands_of_the_page_on_checking_work() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/checking.md")).unwrap();
    let folder = Folder::new(&[("prompts/a.md.j2", "Sort it.\n")]);
    for block in blocks(&page).into_iter().filter(|block| block.info == "yaml") {
        folder.write(&file_name(&block).unwrap(), block.text);
    }
    let program = Path::new(env!("CARGO_BIN_EXE_loopwright")).parent().unwrap();
    let mut seen = 0;
    for line in blocks(&page).iter().filter(|block| block.info == "sh").flat_map(|block| block.text.lines()) {
        let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
        let mut shell = std::process::Command::new("sh");
        let output = shell.args(["-c", line]).current_dir(folder.path()).env("PATH", path).output().unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
        seen += 1;
    }
    assert!(seen >= 10 && folder.file("findings.sarif").is_file(), "{seen} commands");
}

#[test]
fn the_readme_shows_the_two_commands() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    for command in ["cargo run --release -- run log_analyze --input @examples/auth.log", "cargo test"] {
        assert!(
            readme.lines().any(|line| line.trim_start_matches("$ ") == command),
            "README.md lacks a line `{command}`"
        );
    }
}

#[test]
fn links_between_pages_lead_to_files() {
    for path in pages() {
        let page = std::fs::read_to_string(&path).unwrap();
        for target in page.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap_or_default();
            if file.is_empty() || file.contains("://") {
                continue;
            }
            assert!(path.parent().unwrap().join(file).exists(), "{}: the link to {target} is dead", path.display());
        }
    }
}

#[test]
fn the_page_on_spin_detection_shows_what_the_command_prints() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/spin.md")).unwrap();
    let block = |info: &str| blocks(&text).into_iter().find(|block| block.info == info).unwrap().text;
    let folder = Folder::new(&[("histories.json", &block("json")), ("loops/patient.yaml", &block("yaml"))]);
    let shown = block("console");
    let (command, output) = shown.split_once('\n').unwrap();
    assert_eq!(command, "$ loopwright tune spin histories.json");
    assert_eq!(folder.run(&["tune", "spin", "histories.json"]).exits(0).stdout, output);
    let patient = folder.run(&["tune", "spin", "histories.json", "--settings", "patient"]).exits(0).stdout;
    assert!(patient.ends_with("0 of 2 histories spin\n"), "{patient}");
}

#[test]
fn the_page_on_seeing_a_loop_shows_what_explain_prints() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/seeing-a-loop.md")).unwrap();
    let folder = Folder::new(&[]);
    let all = blocks(&page);
    for block in all.iter().filter(|block| block.info == "yaml") {
        folder.write(&file_name(block).unwrap(), &block.text);
    }
    let printed = folder.run(&["explain", "triage", "--only", "limits"]).exits(0).stdout;
    // The first line of a block says its file, and stands in no other file.
    let shown = &all.iter().find(|block| block.info == "text").unwrap().text;
    assert_eq!(&printed, shown);
}
