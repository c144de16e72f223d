//! Colours, quiet, a reader that goes away, a disk that is full.

use std::process::{Command, Stdio};

use super::{Done, Folder};

const BROKEN: &str = "name: broken\nprompt: { instruction: x }\nlimits: { max_iteratoins: 3 }\n";

#[test]
fn nothing_but_text_is_written_where_there_is_no_terminal() {
    let folder = Folder::new(&[("loops/broken.yaml", BROKEN)]);
    let plain = folder.run(&["check"]).exits(1);
    assert!(!format!("{}{}", plain.stdout, plain.stderr).contains('\u{1b}'), "{plain:?}");
    assert_eq!(plain.stdout, folder.run(&["check", "--no-color"]).stdout);
}

#[test]
fn quiet_leaves_notes_out_and_errors_in() {
    let folder = Folder::new(&[("loops/fine.yaml", "name: fine\nprompt: { instruction: x }\n")]);
    let done = folder.run(&["check"]).exits(0);
    assert!(done.stderr.contains("nothing wrong"), "{done:?}");
    let done = folder.run(&["check", "--quiet"]).exits(0);
    assert_eq!((done.stdout.as_str(), done.stderr.as_str()), ("", ""));
    let done = folder.run(&["check", "--quiet", "no-such.yaml"]).exits(2);
    assert!(done.stderr.contains("no-such.yaml"), "{done:?}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::new(&[]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_loopwright"))
        .args(["schema", "loop"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let done = Done::of(&child.wait_with_output().unwrap()).exits(0);
    assert_eq!(done.stderr, "");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_loopwright")).args(["schema", "loop"]).stdout(full).output().unwrap();
    let done = Done::of(&output).exits(1);
    assert!(done.stderr.contains("Cannot write to standard output"), "{done:?}");
}
