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

const FORMATS: [&str; 7] = ["full", "concise", "json", "github", "gitlab", "sarif", "junit"];

/// The exit code depends on the findings and on nothing else: not on the format, and not on where they go.
#[test]
fn the_exit_code_for_every_format_and_severity() {
    let folder = Folder::new(&[
        ("loops/fine.yaml", FINE),
        ("loops/info.yaml", "name: info\nprompt: { instruction: x }\nbuiltins: [finish, loading_skills]\n"),
        ("loops/warning.yaml", "name: warning\nprompt: { instruction: &unused Sort it. }\n"),
        ("loops/error.yaml", BROKEN),
        ("loops/syntax.yaml", "name: [\n"),
    ]);
    for format in FORMATS {
        for (file, code, denied) in
            [("fine", 0, 0), ("info", 0, 0), ("warning", 0, 1), ("error", 1, 1), ("syntax", 1, 1)]
        {
            let file = format!("loops/{file}.yaml");
            folder.run(&["check", &file, "--format", format]).exits(code);
            let target = format!("{format}=out.txt");
            let arguments = ["check", &file, "--format", format, "--deny-warnings", "--output", &target];
            let done = folder.run(&arguments).exits(denied);
            assert_eq!(done.stdout, folder.read("out.txt"), "{format} {file}");
        }
        folder.run(&["check", "nowhere.yaml", "--format", format]).exits(2);
    }
}

#[test]
fn one_run_writes_several_formats() {
    let folder = Folder::new(&[("loops/broken.yaml", BROKEN), ("loops/fine.yaml", FINE)]);
    let arguments = ["check", "loops", "--format", "concise", "--output", "sarif=a.sarif", "--output", "junit=b.xml"];
    let done = folder.run(&arguments).exits(1);
    assert!(done.stdout.starts_with("loops/broken.yaml:3:11: error[unknown-key]"), "{done:?}");
    let sarif: serde_json::Value = serde_json::from_str(&folder.read("a.sarif")).unwrap();
    let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "loops/broken.yaml");
    assert_eq!((&place["region"]["startLine"], &place["region"]["startColumn"]), (&3.into(), &11.into()));
    let junit = folder.read("b.xml");
    assert!(junit.contains("tests=\"2\" failures=\"1\"") && junit.contains("name=\"loops/fine.yaml\""), "{junit}");
    for (target, words) in [
        ("sarif", "FORMAT=FILE"),
        ("serif=x", "did you mean `sarif`"),
        ("json=no/such/folder/x", "Cannot write no/such/folder/x"),
    ] {
        let done = folder.run(&["check", "loops", "--output", target]).exits(2);
        assert!(done.stderr.contains(words), "{done:?}");
    }
}

/// Paths of other programs are relative to the project, however the files were named here.
#[test]
fn absolute_paths_become_relative_for_other_programs() {
    let folder = Folder::new(&[("loops/broken.yaml", BROKEN)]);
    let path = std::fs::canonicalize(folder.file("loops/broken.yaml")).unwrap();
    let done = folder.run(&["check", path.to_str().unwrap(), "--format", "gitlab"]).exits(1);
    assert_eq!(done.json()[0]["location"]["path"], "loops/broken.yaml");
}

#[test]
fn codes_are_explained_and_listed() {
    let folder = Folder::new(&[]);
    let done = folder.run(&["check", "--explain", "unknown-key"]).exits(0);
    for words in ["unknown-key (error)", "This is found:", "limits: { max_iteratons: 5 }", "This is not:"] {
        assert!(done.stdout.contains(words), "{done:?}");
    }
    assert!(done.stdout.contains("severity cannot be changed"), "{done:?}");
    assert!(folder.run(&["check", "--explain", "unused-anchor"]).exits(0).stdout.contains("can be changed"));
    assert_eq!(folder.run(&["check", "--explain", "error[unknown-key]"]).exits(0).stdout, done.stdout);
    let page = folder.run(&["check", "--explain", "unknown-key", "--format", "json"]).exits(0).json();
    assert_eq!((&page["code"], &page["severity"]), (&"unknown-key".into(), &"error".into()));
    assert!(page["bad"][0]["text"].as_str().unwrap().contains("max_iteratons"));
    let done = folder.run(&["check", "--explain", "unknwon-key"]).exits(2);
    assert!(done.stderr.contains("did you mean `unknown-key`?"), "{done:?}");
    folder.run(&["check", "--explain", "zebra"]).exits(2);
    folder.run(&["check", "--explain", "unknown-key", "--format", "sarif"]).exits(2);

    let list = folder.run(&["check", "--list-codes"]).exits(0).stdout;
    let rows = folder.run(&["check", "--list-codes", "--format", "json"]).exits(0).json();
    let rows = rows.as_array().unwrap();
    assert!(rows.len() > 60 && list.lines().count() == rows.len());
    for row in rows {
        let code = row["code"].as_str().unwrap();
        assert!(list.lines().any(|line| line.starts_with(&format!("{code} "))), "{code}");
    }
}

#[test]
fn patterns_are_expanded_and_findings_keep_their_order() {
    let folder = Folder::new(&[
        ("loops/b.yaml", BROKEN),
        ("loops/deep/a.yaml", &BROKEN.replace("broken", "a")),
        ("loops/fine.yaml", FINE),
    ]);
    let done = folder.run(&["check", "loops/**/*.yaml", "loops/b.yaml", "--format", "concise"]).exits(1);
    let places: Vec<&str> = done.stdout.lines().filter_map(|line| line.split(": ").next()).collect();
    assert_eq!(places, ["loops/b.yaml:3:11", "loops/deep/a.yaml:3:11"]);
    assert!(done.stderr.contains("3 files checked"), "{done:?}");
    let again = folder.run(&["check", "loops/fine.yaml", "loops/deep", "loops/b.yaml", "--format", "concise"]).exits(1);
    assert_eq!(again.stdout, done.stdout, "the order of the arguments does not matter");
    let done = folder.run(&["check", "loops/*.toml"]).exits(2);
    assert!(done.stderr.contains("No file matches the pattern loops/*.toml"), "{done:?}");
}

const REPAIRABLE: &str = "\u{feff}name: x # a remark\r\ndescripton: Sorts tickets.\r\nprompt: { instruction: Sort it. }\r\n\
                          limits: { max_iterations: 1e2 }\r\nstate: { country: NO }\r\ntools: [read_fil]\r\n";
const REPAIRED: &str = "\u{feff}name: x # a remark\r\ndescription: Sorts tickets.\r\nprompt: { instruction: Sort it. }\r\n\
                        limits: { max_iterations: 100 }\r\nstate: { country: \"NO\" }\r\ntools: [read_fil]\r\n";

#[test]
fn what_is_certain_is_repaired_and_the_rest_stays_byte_for_byte() {
    let folder = Folder::new(&[("loops/x.yaml", REPAIRABLE), ("loops/fine.yaml", FINE)]);
    let arguments = ["check", "--format", "concise", "--fix"];
    let done = folder.run(&[&arguments[..], &["--diff"]].concat()).exits(1);
    assert_eq!(folder.read("loops/x.yaml"), REPAIRABLE, "a preview writes nothing");
    for line in
        ["--- a/loops/x.yaml", "-descripton: Sorts tickets.", "+description: Sorts tickets.", " tools: [read_fil]"]
    {
        assert!(done.stdout.contains(line), "{done:?}");
    }
    let done = folder.run(&arguments).exits(1);
    assert_eq!(folder.read("loops/x.yaml"), REPAIRED);
    assert_eq!(folder.read("loops/fine.yaml"), FINE);
    assert!(
        done.stderr.contains("Fixed loops/x.yaml: 1 ambiguous-boolean, 1 float-for-integer, 1 unknown-key"),
        "{done:?}"
    );
    assert!(done.stdout.starts_with("loops/x.yaml:6:9: error[unknown-tool]"), "what is left is said: {done:?}");
    let done = folder.run(&[&arguments[..], &["--diff", "--quiet"]].concat()).exits(1);
    assert_eq!(done.stdout, "", "nothing is left to repair");
    folder.run(&["check", "loops/fine.yaml", "--fix", "--diff"]).exits(0);
    folder.run(&["check", "--diff"]).exits(2);
}

#[test]
fn a_repair_that_brings_new_errors_to_light_is_left_to_a_person() {
    let text = "name: x\nprompt: { instruction: Sort it. }\nactons: { close: { descripton: Close it. } }\nlimits: { timeot: 5 }\n";
    let folder = Folder::new(&[("loops/x.yaml", text)]);
    folder.run(&["check", "--fix"]).exits(1);
    let fixed = text.replace("actons", "actions").replace("descripton", "description");
    let read = folder.read("loops/x.yaml");
    assert!(read.contains("timeot: 5"), "`timeout: 5` would be another error: {read}");
    assert!(read == text || read == fixed, "{read}");
}

#[test]
fn standard_input_is_repaired_to_standard_output() {
    let folder = Folder::new(&[]);
    let arguments = ["check", "-", "--stdin-path", "loops/x.yaml", "--fix"];
    let done = folder
        .run_with(&arguments, REPAIRABLE.trim_start_matches('\u{feff}').replace("tools: [read_fil]", "tools: []"))
        .exits(0);
    assert!(done.stdout.contains("description: Sorts tickets.\r\n") && done.stdout.contains("\"NO\""), "{done:?}");
    let done = folder.run_with(&arguments, FINE).exits(0);
    assert_eq!(done.stdout, FINE);
}

#[test]
fn comments_and_the_workspace_decide_what_is_said() {
    let warning =
        "name: x\ndescription: &unused Sorts. # loopwright: ignore[unused-anchor]\nprompt: { instruction: x }\n";
    let folder = Folder::new(&[("loops/x.yaml", warning)]);
    folder.run(&["check", "--deny-warnings"]).exits(0);
    folder.write("loops/x.yaml", warning.replace("unused-anchor", "unused-ancor"));
    let done = folder.run(&["check", "--format", "concise", "--deny-warnings"]).exits(1);
    assert!(
        done.stdout.contains("warning[unused-ignore]: there is no code `unused-ancor` (did you mean `unused-anchor`?)"),
        "{done:?}"
    );
    folder.write("loops/x.yaml", warning.replace(" # loopwright: ignore[unused-anchor]", ""));
    folder.run(&["check"]).exits(0);
    folder.write("loopwright.yaml", "kind: workspace\nchecks: { unused-anchor: error }\n");
    folder.run(&["check"]).exits(1);
    folder.write("loopwright.yaml", "kind: workspace\nchecks: { unused-anchor: off }\n");
    folder.run(&["check", "--deny-warnings"]).exits(0);
}

#[test]
fn what_the_workspace_excludes_is_passed_over_unless_it_is_named() {
    let workspace = "kind: workspace\npaths: { exclude: [tests/fixtures/, \"*.draft.yaml\"] }\n";
    let template = "{% if %}";
    let folder = Folder::new(&[
        ("loopwright.yaml", workspace),
        ("loops/fine.yaml", FINE),
        ("tests/fixtures/deep/broken.yaml", BROKEN),
        ("tests/fixtures/broken.md.j2", template),
        ("other/a.draft.yaml", BROKEN),
    ]);
    folder.run(&["check", "."]).exits(0);
    folder.run(&["check", "tests"]).exits(0);
    folder.run(&["check", "tests/fixtures/deep/broken.yaml"]).exits(1);
    folder.run(&["check", "tests/fixtures/broken.md.j2"]).exits(1);
    folder.run(&["fmt", "--check", "."]).exits(0);
}

#[test]
fn a_repair_shows_no_secret_and_says_what_it_leaves() {
    let key = format!("ghp_{}", "Zk3Vq81xPm42LtRb7cWnYd90HsGf56JuQeab");
    let text = format!(
        "name: a\nprompt: {{ instruction: x }}\ndescription: {key}\nlimits: {{ max_iteratons: 3 }}\nstate: {{ since: 2026-01-31 }}\n"
    );
    let folder = Folder::new(&[("loops/a.yaml", &text)]);
    let done = folder.run(&["check", "--fix", "--diff", "loops/a.yaml"]).exits(1);
    assert!(done.stdout.contains("+limits: { max_iterations: 3 }") && done.stdout.contains("***"), "{done:?}");
    assert!(!done.stdout.contains(&key) && !done.stderr.contains(&key), "{done:?}");
    let left = "Left to you loops/a.yaml:5:17: ambiguous-number: `2026-01-31` → `\"2026-01-31\"`";
    assert!(done.stderr.contains(left), "{done:?}");
}
