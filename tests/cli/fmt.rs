//! `fmt`: what it writes, what it leaves alone, and its exit codes.

use super::Folder;

const LOOP: &str = "kind:   loop   # a comment\nname: a\nprompt:\n    instruction: |\n        {{  input  }}\n";
const FORMATTED: &str = "kind: loop # a comment\nname: a\nprompt:\n  instruction: |\n    {{  input  }}\n";

fn folder() -> Folder {
    Folder::new(&[
        ("loopwright.yaml", "kind: workspace\n"),
        ("loops/a.yaml", LOOP),
        ("loops/t.toml", "kind = \"loop\"\nname = \"t\"\nprompt.instruction = \"x\"\n"),
        ("compose.yaml", "services:   {}\n"),
        ("replies.yaml", "kind: script\nexchanges:   []\n"),
        ("prompts/a.md.j2", "{{  input  }}\n"),
    ])
}

#[test]
fn documents_are_written_in_one_layout_and_nothing_else_is_touched() {
    let folder = folder();
    let done = folder.run(&["fmt"]).exits(0);
    assert!(done.stderr.contains("2 documents read, 1 formatted, 1 TOML left alone"), "{}", done.stderr);
    assert_eq!(folder.read("loops/a.yaml"), FORMATTED);
    assert_eq!(folder.read("compose.yaml"), "services:   {}\n");
    assert_eq!(folder.read("replies.yaml"), "kind: script\nexchanges:   []\n");
    assert_eq!(folder.read("prompts/a.md.j2"), "{{  input  }}\n");
    assert!(folder.run(&["fmt"]).exits(0).stderr.contains("0 formatted"));
    let left: Vec<_> = std::fs::read_dir(folder.file("loops")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn check_and_diff_write_nothing() {
    let folder = folder();
    let done = folder.run(&["fmt", "--check", "loops"]).exits(1);
    assert_eq!(done.stdout, "loops/a.yaml\n");
    let done = folder.run(&["fmt", "--diff", "loops/a.yaml"]).exits(0);
    assert!(
        done.stdout.contains("@@ -1,5 +1,5 @@\n-kind:   loop   # a comment\n+kind: loop # a comment\n"),
        "{}",
        done.stdout
    );
    let done = folder.run(&["fmt", "--check", "--format", "json", "loops"]).exits(1);
    let rows: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(rows, serde_json::json!([{ "path": "loops/a.yaml", "changed": true }]));
    assert_eq!(folder.read("loops/a.yaml"), LOOP);
}

#[test]
fn what_cannot_be_formatted_is_left_as_it_is_and_said() {
    let folder = folder();
    folder.write("loops/b.yaml", "kind: loop\nname: [broken\n");
    let done = folder.run(&["fmt", "loops"]).exits(1);
    assert!(done.stderr.contains("loops/b.yaml: left as it is: it cannot be read"), "{}", done.stderr);
    assert_eq!(folder.read("loops/a.yaml"), FORMATTED, "the others are formatted all the same");
    assert!(folder.run(&["fmt", "prompts/a.md.j2"]).exits(1).stderr.contains("only YAML documents"));
    assert!(folder.run(&["fmt", "nowhere"]).exits(2).stderr.contains("nowhere"));
}

#[test]
fn standard_input_comes_out_formatted() {
    let folder = folder();
    let done = folder.loopwright(&["fmt", "-"]).write_stdin(LOOP).assert().success();
    assert_eq!(String::from_utf8_lossy(&done.get_output().stdout), FORMATTED);
    folder.loopwright(&["fmt", "--check", "-"]).write_stdin(LOOP).assert().code(1);
    folder.loopwright(&["fmt", "--check", "-"]).write_stdin(FORMATTED).assert().success();
    folder.loopwright(&["fmt", "-"]).write_stdin("a: [").assert().code(1);
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_keeps_the_files_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    std::fs::set_permissions(folder.file("loops/a.yaml"), std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("loops/a.yaml", folder.file("link.yaml")).unwrap();
    folder.run(&["fmt", "link.yaml"]).exits(0);
    assert!(folder.file("link.yaml").is_symlink());
    assert_eq!(folder.read("loops/a.yaml"), FORMATTED);
    assert_eq!(std::fs::metadata(folder.file("loops/a.yaml")).unwrap().permissions().mode() & 0o777, 0o640);
}
