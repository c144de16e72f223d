//! What shows a loop: `explain`, `graph`, `docs`, `diff`. A case is a folder `tests/cases/COMMAND/NAME/` with the files of
//! a workspace, a file `command` (the arguments, and on a second line the exit code if it is not 0) and a file
//! `expected` (what is printed). `UPDATE_EXPECTED=1 cargo test --test main seeing` writes `expected` again.

use std::path::{Path, PathBuf};

use super::Folder;

fn cases(command: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(command);
    let mut cases: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.retain(|path| path.is_dir());
    cases.sort();
    cases
}

/// Copies a case's files, its `command` and `expected` left out.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap();
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else if name != "command" && name != "expected" {
            std::fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

/// Runs all cases of a command; what each gives must be what its `expected` says.
fn check(command: &str, least: usize) {
    let cases = cases(command);
    assert!(cases.len() >= least, "{cases:?}");
    let mut wrong = Vec::new();
    for case in cases {
        let folder = Folder::new(&[]);
        copy(&case, folder.path());
        let words = std::fs::read_to_string(case.join("command")).unwrap();
        let mut lines = words.lines();
        let arguments: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
        let code = lines.next().map_or(0, |line| line.trim().parse().unwrap());
        assert_eq!(arguments[0], command, "{}", case.display());
        let done = folder.run(&arguments);
        assert_eq!(done.code, Some(code), "{}: {done:?}", case.display());
        let printed = if code == 2 { done.stderr } else { done.stdout };
        let expected = case.join("expected");
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            std::fs::write(&expected, &printed).unwrap();
        } else if std::fs::read_to_string(&expected).unwrap_or_default() != printed {
            wrong.push(format!("{}:\n{printed}", expected.display()));
        }
    }
    assert!(wrong.is_empty(), "what is printed is not what is expected:\n{}", wrong.join("\n"));
}

#[test]
fn explain_cases() {
    check("explain", 5);
}

#[test]
fn graph_cases() {
    check("graph", 3);
}

#[test]
fn docs_cases() {
    check("docs", 2);
}

#[test]
fn diff_cases() {
    check("diff", 5);
}

/// The pages of the shipped loops are what the program makes of them.
#[test]
fn the_pages_of_the_shipped_loops_are_current() {
    let root = env!("CARGO_MANIFEST_DIR");
    let pages = format!("{root}/docs/loops");
    let folder = Folder::new(&[]);
    folder.run(&["--workspace", root, "docs", "--check", &pages]).exits(0);
    let copy = folder.file("pages");
    let copy = copy.to_str().unwrap();
    folder.run(&["--workspace", root, "docs", "--write", copy]).exits(0);
    folder.write("pages/default.md", "other\n");
    let done = folder.run(&["--workspace", root, "docs", "--check", copy]).exits(1);
    assert!(done.stderr.contains("default.md: differs from line 1 on"), "{done:?}");
}

fn git(folder: &Folder, arguments: &[&str]) {
    let done = std::process::Command::new("git")
        .current_dir(folder.path())
        .args(["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
}

#[test]
fn a_revision_of_git_is_compared_with_the_working_folder() {
    let folder = Folder::new(&[
        ("loops/a.yaml", "name: a\nextends: preset/mine\nprompt: { instruction: { file: prompts/a.j2 } }\n"),
        ("loops/mine.yaml", "kind: preset\nname: mine\nlimits: { max_iterations: 5 }\n"),
        ("prompts/a.j2", "one\n"),
    ]);
    git(&folder, &["init", "-q"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-qm", "x"]);
    let diff = |arguments: &[&str]| folder.run(&[&["diff"], arguments].concat());
    assert_eq!(diff(&["HEAD:loops/a.yaml"]).exits(0).stdout, "No change in behaviour.\n");
    folder.write("loops/mine.yaml", "# raised\nkind: preset\nname: mine\nlimits: { max_iterations: 50 }\n");
    folder.write("prompts/a.j2", "two\n");
    let done = diff(&["HEAD:loops/a.yaml", "loops/a.yaml"]).exits(1);
    assert!(done.stdout.contains("widens   The limit `max_iterations` rises from `5` to `50`."), "{done:?}");
    assert!(done.stdout.contains("HEAD:loops/mine.yaml:3 → loops/mine.yaml:4"), "{done:?}");
    assert!(done.stdout.contains("- one") && done.stdout.contains("+ two"), "{done:?}");
    let all = diff(&["HEAD:", ".", "--format", "json", "--fail-on", "widens"]).exits(1).json();
    assert_eq!(all["changes"][0]["severity"], "widens");
    folder.write("loops/mine.yaml", "kind: preset\nname: mine\nlimits: { max_iterations: 2 }\n");
    diff(&["HEAD:loops/a.yaml", "--fail-on", "widens"]).exits(0);
    for wrong in ["nowhere:loops/a.yaml", "HEAD:loops/none.yaml"] {
        assert!(!diff(&[wrong]).exits(2).stderr.is_empty());
    }
}

#[test]
fn a_path_at_a_revision_counts_from_the_working_folder() {
    let folder = Folder::new(&[("sub/loops/a.yaml", "name: a\nprompt: { instruction: one }\n")]);
    git(&folder, &["init", "-q"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-qm", "x"]);
    folder.write("sub/loops/a.yaml", "name: a\nprompt: { instruction: two }\n");
    let below = |arguments: &[&str]| {
        let output = folder.loopwright(arguments).current_dir(folder.file("sub")).output().unwrap();
        super::Done::of(&output)
    };
    for word in ["HEAD:loops/a.yaml", "HEAD:./loops/a.yaml", "HEAD:../sub/loops/a.yaml"] {
        let done = below(&["diff", word]).exits(1);
        assert!(done.stdout.contains("- one") && done.stdout.contains("+ two"), "{word}: {done:?}");
    }
    let done = below(&["render", "a", "--diff", "HEAD:loops/a.yaml"]).exits(0);
    assert!(done.stdout.contains("- one"), "{done:?}");
    assert!(below(&["diff", "HEAD:sub/loops/a.yaml", "loops/a.yaml"]).exits(2).stderr.contains("working folder"));
}

#[test]
fn a_graph_is_drawn_only_as_the_ending_of_its_file_says() {
    let folder = Folder::new(&[("loops/a.yaml", "name: a\nprompt: { instruction: x }\n")]);
    let done = folder.run(&["graph", "a", "-o", "a.pdf"]).exits(2);
    assert!(done.stderr.contains(".pdf") && done.stderr.contains(".svg"), "{done:?}");
    assert!(!folder.file("a.pdf").exists());
    folder.run(&["graph", "a", "-o", "a.pdf", "--format", "dot"]).exits(0);
    folder.run(&["graph", "a", "-o", "picture"]).exits(0);
    assert!(folder.read("a.pdf").starts_with("digraph") && folder.read("picture").starts_with("flowchart"));
}

#[test]
fn a_prompt_is_compared_with_another_documents() {
    let folder = Folder::new(&[
        ("loops/a.yaml", "name: a\nprompt: { instruction: Be kind. }\n"),
        ("loops/b.yaml", "name: b\nprompt: { instruction: Be brief. }\n"),
    ]);
    let done = folder.run_with(&["render", "loops/b.yaml", "--input", "-", "--diff", "loops/a.yaml"], "hello").exits(0);
    assert!(done.stdout.contains("~ PERSISTENT") && done.stdout.contains("- Be kind."), "{done:?}");
    assert!(done.stdout.contains("  USER_QUERY: same"), "{done:?}");
    git(&folder, &["init", "-q"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-qm", "x"]);
    folder.write("loops/a.yaml", "name: a\nprompt: { instruction: Be exact. }\n");
    let done = folder.run(&["render", "a", "--input", "x", "--diff", "HEAD:loops/a.yaml", "--format", "json"]).exits(0);
    let rows = done.json()["sections"].as_array().unwrap().clone();
    assert!(rows.iter().any(|row| row["name"] == "PERSISTENT" && row["status"] == "changed"), "{rows:?}");
    assert!(folder.run(&["render", "a", "--diff", "HEAD:loops/none.yaml"]).exits(2).stderr.contains("none.yaml"));
}
