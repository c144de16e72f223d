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
