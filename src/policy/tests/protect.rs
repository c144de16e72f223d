//! Files that judge a loop.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::super::Access;

/// A workspace with tests in it, and what protects them.
fn workspace(patterns: &[&str]) -> (tempfile::TempDir, Access) {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in [("tests/a.rs", "a"), ("tests/deep/b.rs", "b"), ("src/lib.rs", "code"), ("checks/run.sh", "sh")]
    {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
    let access = Access::new(dir.path(), &[".".into()], Vec::new()).protecting(&patterns).unwrap();
    (dir, access)
}

fn write(access: &Access, path: &str) -> Result<(), String> {
    let inside = access.resolve(path).map_err(|error| error.to_string())?;
    access.write(&inside, b"changed").map_err(|error| error.to_string())
}

fn text(dir: &Path, path: &str) -> String {
    fs::read_to_string(dir.join(path)).unwrap()
}

#[test]
fn no_way_of_naming_a_protected_file_lets_it_be_written() {
    let (dir, access) = workspace(&["tests/", "*.sh"]);
    symlink("tests/a.rs", dir.path().join("link.rs")).unwrap();
    symlink("tests", dir.path().join("folder")).unwrap();
    write(&access, "tests/a.rs").unwrap();
    fs::write(dir.path().join("tests/a.rs"), "a").unwrap();
    access.enforce();
    let absolute = dir.path().join("tests/a.rs");
    for path in
        ["tests/a.rs", "./tests//a.rs", "tests/new.rs", "tests/deep/b.rs", "link.rs", "folder/a.rs", "checks/run.sh"]
    {
        let refused = write(&access, path).unwrap_err();
        assert!(refused.contains("judges this loop"), "{path}: {refused}");
    }
    assert!(write(&access, absolute.to_str().unwrap()).is_err());
    assert!(write(&access, "src/../tests/a.rs").is_err());
    let inside = access.resolve("tests/a.rs").unwrap();
    assert!(access.append(&inside, b"more").is_err());
    write(&access, "src/lib.rs").unwrap();
    write(&access, "src/tests.rs").unwrap();
    assert_eq!(text(dir.path(), "tests/a.rs"), "a");
}

#[test]
fn a_mode_that_was_taken_away_is_given_back() {
    let (dir, access) = workspace(&["*.sh"]);
    let path = dir.path().join("checks/run.sh");
    let mode = |bits: u32| fs::set_permissions(&path, fs::Permissions::from_mode(bits)).unwrap();
    mode(0o755);
    assert!(access.enforce().is_empty());
    mode(0o644);
    assert_eq!(access.changed(), ["checks/run.sh"]);
    assert_eq!(access.put_back("run").unwrap(), ["checks/run.sh"]);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o755);
    assert!(!dir.path().join(".loopwright").exists(), "nothing was in the way");
}

#[test]
fn patterns_that_protect_nothing_are_told() {
    let (_dir, access) = workspace(&["test/"]);
    assert_eq!(access.enforce(), ["test/"]);
    for pattern in ["", "/", "../up", "a/../../b", "[a"] {
        assert!(Access::pattern_problem(pattern).is_some(), "{pattern}");
    }
    for pattern in ["tests/", "*.sh", "!src/", "/a/**/b?.[ch]"] {
        assert_eq!(Access::pattern_problem(pattern), None, "{pattern}");
    }
}

#[test]
fn a_folder_that_is_a_link_is_protected_where_it_leads() {
    let (dir, _) = workspace(&[]);
    symlink("checks", dir.path().join("judge")).unwrap();
    let access = Access::new(dir.path(), &[".".into()], Vec::new()).protecting(&["judge/".to_owned()]).unwrap();
    access.enforce();
    assert!(write(&access, "checks/run.sh").is_err());
    fs::write(dir.path().join("checks/run.sh"), "exit 0").unwrap();
    access.put_back("t").unwrap();
    assert_eq!(text(dir.path(), "checks/run.sh"), "sh");
}

#[test]
fn what_a_program_did_is_put_back_and_nothing_is_lost() {
    let (dir, access) = workspace(&["tests/"]);
    access.enforce();
    let at = |path: &str| dir.path().join(path);
    fs::write(at("tests/a.rs"), "cheat").unwrap();
    fs::remove_file(at("tests/deep/b.rs")).unwrap();
    fs::write(at("tests/conftest.py"), "cheat").unwrap();
    fs::write(at("src/lib.rs"), "better code").unwrap();
    assert_eq!(access.changed(), ["tests/a.rs", "tests/deep/b.rs"]);
    let mut found = access.put_back("run").unwrap();
    found.sort();
    assert_eq!(found, ["tests/a.rs", "tests/conftest.py", "tests/deep/b.rs"]);
    assert_eq!([text(dir.path(), "tests/a.rs"), text(dir.path(), "tests/deep/b.rs")], ["a", "b"]);
    assert_eq!(text(dir.path(), "src/lib.rs"), "better code");
    assert!(!at("tests/conftest.py").exists());
    for path in ["tests/a.rs", "tests/conftest.py"] {
        assert_eq!(text(dir.path(), &format!(".loopwright/set_aside/run/{path}")), "cheat");
    }
    assert_eq!(access.put_back("run").unwrap(), Vec::<String>::new());
    fs::write(at("tests/a.rs"), "again").unwrap();
    access.put_back("run").unwrap();
    assert_eq!(text(dir.path(), ".loopwright/set_aside/run/tests/a.rs.1"), "again");
}

#[test]
fn a_folder_that_became_a_link_leads_nobody_out() {
    let (dir, access) = workspace(&["tests/"]);
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("a.rs"), "theirs").unwrap();
    access.enforce();
    fs::remove_dir_all(dir.path().join("tests")).unwrap();
    symlink(outside.path(), dir.path().join("tests")).unwrap();
    access.put_back("run").unwrap();
    assert_eq!(text(dir.path(), "tests/a.rs"), "a");
    assert_eq!(text(dir.path(), "tests/deep/b.rs"), "b");
    assert_eq!(text(outside.path(), "a.rs"), "theirs");
    assert!(access.changed().is_empty());
}

#[test]
fn what_matches_nothing_or_is_ignored_by_git_but_named_is_no_problem() {
    let (dir, access) = workspace(&["no/such/folder/", "golden/**"]);
    fs::create_dir(dir.path().join("golden")).unwrap();
    fs::write(dir.path().join("golden/out.txt"), "expected").unwrap();
    fs::write(dir.path().join(".gitignore"), "golden/\n").unwrap();
    access.enforce();
    fs::write(dir.path().join("golden/out.txt"), "mine").unwrap();
    assert_eq!(access.put_back("run").unwrap(), ["golden/out.txt"]);
    assert!(Access::new(dir.path(), &[".".into()], Vec::new()).protecting(&["a[".to_owned()]).is_err());
}
