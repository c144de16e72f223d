//! Keeps the shape of `src/`: which module may use which, how long a file gets, who may print, what each file opens with.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// What a module may use.
enum Uses {
    Only(&'static [&'static str]),
    AllBut(&'static [&'static str]),
}
use Uses::{AllBut, Only};

/// The direction of dependencies, lowest first. A new edge is a decision: add it here, and say why in the commit.
const ALLOWED: &[(&str, Uses)] = &[
    ("diag", Only(&[])),
    ("event", Only(&[])),
    ("parallel", Only(&[])),
    ("syntax", Only(&["diag"])),
    ("template", Only(&["diag", "syntax"])),
    ("document", Only(&["diag", "syntax", "template"])),
    // `document` only for the settings of a provider.
    ("model", Only(&["diag", "syntax", "event", "document"])),
    ("report", Only(&["event"])),
    // Files to skills. What they do when they are invoked is up to those who hold verbs and models.
    ("skill", Only(&["diag", "syntax", "document"])),
    ("load", Only(&["diag", "parallel", "syntax", "document", "skill"])),
    ("state", Only(&["document", "event", "model"])),
    // `diag` only for the nearest known name.
    ("reply", Only(&["diag"])),
    ("policy", Only(&["document", "event"])),
    ("prompt", Only(&["document", "template", "state", "model", "event"])),
    ("tool", Only(&["diag", "syntax", "document", "template", "event", "policy"])),
    // What wraps calls; who makes them and what they do is above.
    // `syntax` only for tests that write layers as documents do.
    ("invoke", Only(&["diag", "syntax", "document"])),
    // Servers that others wrote, as tools.
    ("mcp", Only(&["diag", "document", "event", "policy", "tool"])),
    ("verb", Only(&["diag", "syntax", "document", "template", "event", "state", "model", "policy", "tool"])),
    ("capability", Only(&["document", "event", "skill"])),
    // Decisions without model, clock or template: what carries them out is in `engine`.
    ("mechanism", Only(&["diag", "syntax", "document", "template", "event", "state", "model", "prompt"])),
    // Recorded runs against the same machines; what a preset may hold is passed in as a schema.
    ("tune", Only(&["diag", "document", "event", "mechanism"])),
    // `tune` for the form of a recorded run.
    (
        "schema",
        AllBut(&["skill", "explain", "lsp", "check", "watch", "engine", "report", "graph", "guide", "compare", "cli"]),
    ),
    // `schema` for the engine's defaults.
    ("explain", Only(&["diag", "syntax", "document", "load", "schema"])),
    // The second gate compares documents with their schemas.
    ("check", AllBut(&["lsp", "watch", "engine", "report", "graph", "guide", "compare", "cli"])),
    ("watch", Only(&["diag", "event", "document", "load", "check"])),
    ("engine", AllBut(&["explain", "lsp", "report", "schema", "graph", "guide", "compare", "cli"])),
    // `engine` for what it offers beside a loop's own actions.
    ("graph", Only(&["diag", "document", "load", "verb", "engine"])),
    ("guide", Only(&["document", "load", "explain", "engine", "graph"])),
    // `model` for counting tokens, `guide` for its Markdown.
    ("compare", AllBut(&["check", "lsp", "report", "cli"])),
    ("formatting", Only(&["diag", "syntax"])),
    ("lsp", AllBut(&["engine", "report", "graph", "guide", "compare", "cli"])),
    // Only with the feature of that name.
    ("fuzzing", Only(&["diag", "syntax", "document", "model", "reply"])),
    ("cli", AllBut(&[])),
];

/// The most lines of code in a file. Blank lines, comments and the tests at the end of a file do not count.
const LONGEST_FILE: usize = 400;

/// Files that are longer, each with the reason why it does not fall into parts, and the length that it may have.
const LONG_FILES: &[(&str, usize)] = &[];

/// Where text may go to the terminal.
const MAY_PRINT: &[&str] = &["src/cli/output.rs", "src/report/"];

const PRINTING: &[&str] = &["println!", "eprintln!", "print!", "eprint!", "dbg!"];

/// Whether code in module `from` may name module `to`.
fn may_use(from: &str, to: &str) -> bool {
    from == to
        || match ALLOWED.iter().find(|(name, _)| *name == from) {
            Some((_, Only(names))) => names.contains(&to),
            Some((_, AllBut(names))) => is_module(to) && !names.contains(&to),
            None => false,
        }
}

fn is_module(name: &str) -> bool {
    ALLOWED.iter().any(|(module, _)| *module == name)
}

/// The modules that `from` may use, for a message.
fn allowed_for(from: &str) -> String {
    let names = ALLOWED.iter().map(|(name, _)| *name).filter(|to| *to != from && may_use(from, to));
    match names.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => "no other module".to_owned(),
        some => some,
    }
}

/// A source file: its path from the root of the repository, with `/`, and its text.
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// The module path of the file: `src/diag/render/mod.rs` is `diag`, `render`; the roots `lib.rs` and `main.rs` have none.
    fn module(&self) -> Vec<&str> {
        let path = self.path.trim_start_matches("src/").trim_end_matches(".rs");
        path.split('/').filter(|part| !matches!(*part, "mod" | "lib" | "main")).collect()
    }

    /// The text without comments, which may name anything: their lines are blank.
    fn code(&self) -> String {
        let is_comment = |line: &str| line.trim_start().starts_with("//");
        let lines = self.text.lines().map(|line| if is_comment(line) { "" } else { line });
        lines.collect::<Vec<_>>().join("\n")
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every `.rs` file under `src/`, in order of path.
fn sources() -> Vec<Source> {
    let mut folders = vec![root().join("src")];
    let mut paths: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(extension) if extension == "rs" => paths.push(path),
                _ => {}
            }
        }
    }
    paths.sort();
    let read = |path: PathBuf| Source {
        path: path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/"),
        text: fs::read_to_string(&path).unwrap(),
    };
    paths.into_iter().map(read).collect()
}

/// The names right below the crate's root that `code` mentions, with the line of each: `x` in `crate::x` and in
/// `crate::{x, y::Z}`, and after as many `super::` as lead to the root from a module `depth` levels down, whose first level
/// has `children`.
fn root_names(code: &str, depth: usize, children: &[&str]) -> Vec<(usize, String)> {
    let supers = "super::".repeat(depth.max(1));
    let mut found = Vec::new();
    for prefix in ["crate::", &supers] {
        for (at, _) in code.match_indices(prefix) {
            if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            for start in first_names(code, at + prefix.len()) {
                let name: String = code[start..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                // In an inline module, as `tests` is, the same `super::` lead one level less far: to a child.
                if prefix == "crate::" || (is_module(&name) && !children.contains(&name.as_str())) {
                    found.push((1 + code[..start].matches('\n').count(), name));
                }
            }
        }
    }
    found
}

/// Where the names start that follow a path's prefix: at `at`, or after the brace and the commas of the group there.
fn first_names(code: &str, at: usize) -> Vec<usize> {
    if !code[at..].starts_with('{') {
        return vec![at];
    }
    let (mut starts, mut level, mut expect_name) = (Vec::new(), 0, false);
    for (offset, c) in code[at..].char_indices() {
        match c {
            '{' => level += 1,
            '}' if level == 1 => break,
            '}' => level -= 1,
            _ if expect_name && !c.is_whitespace() => starts.push(at + offset),
            _ => {}
        }
        if !c.is_whitespace() {
            expect_name = level == 1 && matches!(c, '{' | ',');
        }
    }
    starts
}

/// The number of lines of code, without blank lines, comments and the test module at the end.
fn code_lines(source: &Source) -> usize {
    let code = source.code();
    let code = code.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim().is_empty()).count()
}

/// Fail with every fault, not just the first.
#[track_caller]
fn assert_none(faults: &[String], advice: &str) {
    assert!(faults.is_empty(), "\n{}\n{advice}\n", faults.join("\n"));
}

#[test]
fn modules_use_only_what_lies_below_them() {
    let sources = sources();
    let mut faults = Vec::new();
    for source in &sources {
        let module = source.module();
        let Some(&from) = module.first() else { continue };
        let inside =
            sources.iter().map(Source::module).filter(|other| other[..] != [from] && other.first() == Some(&from));
        let children: Vec<&str> = inside.map(|path| path[1]).collect();
        for (line, to) in root_names(&source.code(), module.len(), &children) {
            if !may_use(from, &to) {
                let allowed = allowed_for(from);
                faults.push(format!("{}:{line}: `{from}` uses `{to}`; it may use {allowed}", source.path));
            }
        }
    }
    assert_none(
        &faults,
        "Move the code to where it may know this, or change ALLOWED in tests/architecture.rs and say why.",
    );
}

#[test]
fn every_module_has_its_place() {
    let mut modules: BTreeMap<String, bool> = ALLOWED.iter().map(|(name, _)| ((*name).to_owned(), false)).collect();
    for source in sources() {
        if let Some(name) = source.module().first() {
            modules.insert((*name).to_owned(), true);
        }
    }
    let mut faults = Vec::new();
    for (name, exists) in modules {
        match (exists, is_module(&name)) {
            (false, _) => faults.push(format!("ALLOWED lists `{name}`, which is not in src/")),
            (true, false) => faults.push(format!("src/ has `{name}`, which ALLOWED does not list")),
            (true, true) => {}
        }
    }
    assert_none(&faults, "ALLOWED in tests/architecture.rs lists each module of src/ once.");
}

#[test]
fn the_allowed_directions_have_no_cycle() {
    let mut left: Vec<&str> = ALLOWED.iter().map(|(name, _)| *name).collect();
    loop {
        let stuck: Vec<&str> =
            left.iter().copied().filter(|from| left.iter().any(|to| to != from && may_use(from, to))).collect();
        if stuck.is_empty() {
            return;
        }
        assert_ne!(stuck.len(), left.len(), "ALLOWED lets these use each other in a circle: {}", stuck.join(", "));
        left = stuck;
    }
}

#[test]
fn files_stay_short() {
    let mut faults = Vec::new();
    for source in sources() {
        let limit = LONG_FILES.iter().find(|(path, _)| *path == source.path).map_or(LONGEST_FILE, |(_, limit)| *limit);
        let lines = code_lines(&source);
        if lines > limit {
            faults.push(format!("{}: {lines} lines of code, at most {limit}", source.path));
        }
    }
    for (path, _) in LONG_FILES {
        if !root().join(path).exists() {
            faults.push(format!("LONG_FILES lists {path}, which does not exist"));
        }
    }
    assert_none(&faults, "Split the file by a name that comes easily.");
}

#[test]
fn only_the_output_prints() {
    let mut faults = Vec::new();
    for source in sources() {
        if MAY_PRINT.iter().any(|path| source.path.starts_with(path)) {
            continue;
        }
        for (index, line) in source.code().lines().enumerate() {
            for name in printing(line) {
                faults.push(format!("{}:{}: {name}", source.path, index + 1));
            }
        }
    }
    assert_none(&faults, "Return the text or emit an event; src/cli/output.rs prints.");
}

/// The printing macros that a line of code calls.
fn printing(line: &str) -> impl Iterator<Item = &'static str> {
    let calls = move |name: &&&str| {
        let mut hits = line.match_indices(**name);
        hits.any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    PRINTING.iter().filter(calls).copied().collect::<Vec<_>>().into_iter()
}

#[test]
fn every_file_says_what_lives_in_it() {
    let silent = sources().into_iter().filter(|source| !source.text.starts_with("//! "));
    let faults: Vec<String> = silent.map(|source| source.path).collect();
    assert_none(&faults, "The first line of each file is a `//!` comment that says what lives there.");
}

#[test]
fn the_guide_for_contributors_lists_the_modules_in_order() {
    let guide = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let rows = guide.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    let listed: Vec<&str> = rows.map(|(name, _)| name).collect();
    let allowed: Vec<&str> = ALLOWED.iter().map(|(name, _)| *name).collect();
    assert_eq!(listed, allowed, "CONTRIBUTING.md (left) and ALLOWED (right) list the same modules, lowest first");
}

#[test]
fn every_dependency_has_its_reason() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let manifest = read("Cargo.toml");
    let sections = manifest.split("\n[").filter(|section| section.contains("dependencies]\n"));
    let lines = sections.flat_map(|section| section.lines().skip(1));
    let named: Vec<&str> = lines.filter_map(|line| line.split_once(" = ")).map(|(name, _)| name).collect();
    let reasons = read("docs/dependencies.md");
    let rows = reasons.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    let explained: Vec<&str> = rows.map(|(name, _)| name).collect();
    assert_eq!(explained, named, "docs/dependencies.md (left) and Cargo.toml (right) list the same crates");
}

#[test]
fn no_test_module_is_forgotten() {
    let main = fs::read_to_string(root().join("tests/main.rs")).unwrap();
    let mut faults = Vec::new();
    for entry in fs::read_dir(root().join("tests")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let is_module = path.extension().is_some_and(|e| e == "rs") || path.join("mod.rs").exists();
        if is_module && name != "main" && !main.lines().any(|line| line == format!("mod {name};")) {
            faults.push(format!("tests/{name} is not declared"));
        }
    }
    assert_none(&faults, "A test module runs only when tests/main.rs has `mod name;`.");
}

#[test]
fn uses_are_found_however_they_are_written() {
    let code =
        "use crate::diag::Span;\nuse crate::{\n    event::{Event, Usage},\n    model,\n};\nfn f(x: crate::state::X) {}";
    let names = |code, depth| {
        root_names(code, depth, &["policy"]).iter().fold(String::new(), |mut all, (line, name)| {
            let _ = write!(all, "{line} {name}; ");
            all
        })
    };
    assert_eq!(names(code, 1), "1 diag; 3 event; 4 model; 6 state; ");
    assert_eq!(names("use super::engine::Run;", 1), "1 engine; ");
    assert_eq!(names("use super::engine::Run;", 2), "");
    assert_eq!(names("use super::super::engine;", 2), "1 engine; ");
    assert_eq!(names("mod tests { use super::policy; }\nuse crate::policy;", 1), "2 policy; ");
    assert_eq!(names("use super::*;\nuse subcrate::event;", 1), "");
}

#[test]
fn printing_is_told_from_writing() {
    assert_eq!(printing("writeln!(out); footprint!()").count(), 0);
    assert_eq!(printing("anstream::println!(\"x\")").collect::<Vec<_>>(), ["println!"]);
    assert_eq!(printing("eprint!(\"x\")").collect::<Vec<_>>(), ["eprint!"]);
}
