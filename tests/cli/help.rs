//! Help, version and wrong usage.

use super::Folder;

const COMMANDS: &[&[&str]] = &[
    &[],
    &["caps"],
    &["caps", "eval"],
    &["caps", "list"],
    &["caps", "search"],
    &["caps", "show"],
    &["check"],
    &["debug"],
    &["debug", "extract"],
    &["diff"],
    &["docs"],
    &["explain"],
    &["graph"],
    &["init"],
    &["model"],
    &["model", "ask"],
    &["tune"],
    &["tune", "spin"],
    &["new"],
    &["new", "loop"],
    &["render"],
    &["run"],
    &["schema"],
    &["watch"],
];

#[test]
fn every_command_has_help_and_every_leaf_an_example() {
    let folder = Folder::new(&[]);
    for command in COMMANDS {
        let mut arguments = command.to_vec();
        arguments.push("--help");
        let done = folder.run(&arguments).exits(0);
        assert!(done.stderr.is_empty(), "{done:?}");
        let is_leaf = !done.stdout.contains("\nCommands:\n");
        if is_leaf {
            assert!(done.stdout.contains("Example"), "{command:?} shows no example:\n{}", done.stdout);
        }
        let name = if command.is_empty() { "loopwright".to_owned() } else { command.join("_") };
        insta::assert_snapshot!(format!("help_{name}"), done.stdout);
    }
}

#[test]
fn the_version_goes_to_standard_output() {
    let done = Folder::new(&[]).run(&["--version"]).exits(0);
    assert_eq!(done.stdout, format!("loopwright {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn wrong_usage_exits_with_2_and_says_what_is_wrong() {
    let folder = Folder::new(&[]);
    for (arguments, words) in [
        (&["chekc"][..], "check"),
        (&["check", "--format", "xml"], "concise"),
        (&["--quiet", "--verbose", "check"], "cannot be used with"),
        (&[], "Usage"),
        (&["check", "no/such/file.yaml"], "no/such/file.yaml: there is no such file"),
        (&["--workspace", "nowhere", "check"], "nowhere is not a folder"),
        (&["new", "loop", "a b"], "cannot be a loop's name"),
        (&["debug", "extract"], "--nonce"),
    ] {
        let done = folder.run(arguments).exits(2);
        assert!(done.stderr.contains(words), "{arguments:?}: {done:?}");
        assert!(done.stdout.is_empty(), "{arguments:?}: {done:?}");
    }
}
