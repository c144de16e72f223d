//! `check`: exit codes and formats, standard input, templates.

use super::Folder;

const FINE: &str = "name: fine\nprompt: { instruction: Sort it. }\n";
const BROKEN: &str = "name: broken\nprompt: { instruction: x }\nlimits: { max_iteratoins: 3 }\n";

#[test]
fn every_format_names_the_place_and_the_exit_code_is_the_same() {
    let folder = Folder::new(&[("loops/broken.yaml", BROKEN)]);
    for (format, place) in [
        ("full", "loops/broken.yaml:3:11"),
        ("concise", "loops/broken.yaml:3:11: error[unknown-key]"),
        ("json", "\"line\": 3"),
        ("github", "::error title=unknown-key,file=loops/broken.yaml,line=3,col=11"),
    ] {
        let done = folder.run(&["check", "--format", format, "loops/broken.yaml"]).exits(1);
        assert!(done.stdout.contains(place), "{format}: {done:?}");
        assert!(done.stdout.contains("max_iterations"), "{format} says what to write: {done:?}");
        assert!(done.stderr.contains("1 file checked: 1 error"), "{done:?}");
    }
}

#[test]
fn json_is_an_array_even_when_nothing_is_wrong() {
    let folder = Folder::new(&[("loops/fine.yaml", FINE)]);
    let done = folder.run(&["check", "--format", "json", "loops/fine.yaml"]).exits(0);
    assert_eq!(done.json(), serde_json::json!([]));
}

#[test]
fn the_whole_workspace_is_checked_when_no_path_is_given() {
    let folder = Folder::new(&[("loops/fine.yaml", FINE), ("loops/deep/broken.yaml", BROKEN)]);
    let done = folder.run(&["check", "--format", "concise"]).exits(1);
    assert!(done.stdout.contains("loops/deep/broken.yaml:3"), "{done:?}");
    let done = folder.run(&["check", "--format", "concise", "loops/fine.yaml"]).exits(0);
    assert_eq!(done.stdout, "", "only what was named");
}

#[test]
fn a_draft_comes_on_standard_input() {
    let folder = Folder::new(&[("loops/fine.yaml", FINE)]);
    let arguments = ["check", "-", "--stdin-path", "loops/fine.yaml", "--format", "concise"];
    let done = folder.run_with(&arguments, BROKEN.replace("broken", "fine")).exits(1);
    assert!(done.stdout.starts_with("loops/fine.yaml:3:11: error[unknown-key]"), "{done:?}");
    folder.run_with(&arguments, FINE).exits(0);
    let toml = "name = \"fine\"\n[prompt]\ninstruction = \"x\"\n[limits]\nmax_iteratoins = 3\n";
    let done = folder.run_with(&["check", "-", "--stdin-path", "x.toml", "--format", "concise"], toml).exits(1);
    assert!(done.stdout.starts_with("x.toml:5:1: error[unknown-key]"), "{done:?}");
}

#[test]
fn hostile_files_end_in_a_message() {
    let folder = Folder::new(&[]);
    let deep = format!("name: x\nprompt: {}", "[".repeat(100_000));
    for (bytes, code) in [
        (&b""[..], "empty-file"),
        (&b"\xff\xfen\0a\0m\0e\0"[..], "encoding"),
        (&b"name: \x80"[..], "encoding"),
        (deep.as_bytes(), "too-deep"),
        (b"a: &a [*a]", "yaml-syntax"),
        (b"- just\n- a list\n", "wrong-type"),
        (b"42", "wrong-type"),
    ] {
        folder.write("x.yaml", bytes);
        let done = folder.run(&["check", "--format", "concise", "x.yaml"]).exits(1);
        assert!(done.stdout.contains("x.yaml:"), "{code}: {}", &done.stdout[..done.stdout.len().min(300)]);
        assert!(done.stdout.contains(code), "{code}: {}", &done.stdout[..done.stdout.len().min(300)]);
    }
}

#[test]
fn templates_are_checked_for_the_names_that_they_are_given() {
    let folder = Folder::new(&[("prompts/a.md.j2", "{{ nmae }}\n"), ("prompts/b.md.j2", "{% if %}\n")]);
    let check = |more: &[&str]| folder.run(&[&["check", "--format", "concise"], more].concat());
    let done = check(&["prompts/a.md.j2", "--template-vars", "name,state"]).exits(1);
    assert!(done.stdout.starts_with("prompts/a.md.j2:1:4: error[undefined-variable]"), "{done:?}");
    assert!(done.stdout.contains("`name`"), "{done:?}");
    check(&["prompts/a.md.j2", "--template-vars", "nmae"]).exits(0);
    // In a folder, what a template may use is said by the loop that uses it; its syntax is checked all the same.
    let done = check(&["prompts"]).exits(1);
    assert!(done.stdout.contains("prompts/b.md.j2:1:") && !done.stdout.contains("a.md.j2"), "{done:?}");
}

#[test]
fn warnings_fail_only_where_they_are_denied() {
    let folder = Folder::new(&[("loops/x.yaml", "name: x\nprompt: { instruction: &unused Sort it. }\n")]);
    let done = folder.run(&["check", "loops/x.yaml", "--format", "concise"]).exits(0);
    assert!(done.stdout.contains("warning["), "{done:?}");
    folder.run(&["check", "loops/x.yaml", "--deny-warnings"]).exits(1);
}

#[test]
fn a_script_beside_documents_is_no_document() {
    let folder = Folder::new(&[("loops/fine.yaml", FINE), ("loops/fine.script.yaml", "kind: script\nexchanges: []\n")]);
    let done = folder.run(&["check", "loops"]).exits(0);
    assert_eq!(done.stdout, "");
}

/// What `run` would refuse is found by a check of the folder, whichever way the folder is named.
#[test]
fn the_workspaces_file_is_among_the_files_of_its_folder() {
    let folder = Folder::new(&[
        ("loopwright.yaml", "kind: workspace\ntiers: { main: nobody }\n"),
        ("loops/a.yaml", "name: a\ndescription: A loop.\nprompt: { instruction: Go. }\n"),
    ]);
    for arguments in [&["check"][..], &["check", "."], &["check", folder.path().to_str().unwrap()]] {
        let done = folder.run(arguments).exits(1);
        assert!(done.stdout.contains("unknown model `nobody`"), "{done:?}");
        assert!(done.stderr.contains("2 files checked"), "{done:?}");
    }
}
