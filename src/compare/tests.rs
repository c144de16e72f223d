//! What counts as a change, and how it is judged.

use super::*;

fn side(files: &[(&str, &str)]) -> (tempfile::TempDir, Side) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let library = Library::open(folder.path()).0;
    (folder, Side { library, copy: None })
}

/// The changes between two documents of a loop named `a`: severity, kind, path.
fn changes(old: &str, new: &str) -> Vec<(Severity, &'static str, String)> {
    let document = |text: &str| format!("name: a\nprompt: {{ instruction: x }}\n{text}");
    let (_one, old) = side(&[("loops/a.yaml", &document(old))]);
    let (_two, new) = side(&[("loops/a.yaml", &document(new))]);
    let names = [("a".to_owned(), "a".to_owned())];
    compare(&old, &new, &names).into_iter().map(|change| (change.severity, change.kind, change.path)).collect()
}

#[test]
fn form_is_no_change() {
    let old = "limits: { max_iterations: 5 }\nactions:\n  go: { description: d, params: { x: string!, n: integer }, then: continue }\n";
    let new = "# Why.\nactions:\n  go:\n    params: { type: object, required: [x], properties: { x: { type: string }, n: { type: integer } } }\n    description: \"d\"\nlimits:\n    max_iterations: 5\n    max_depth: 4\n";
    // `then: continue` is what holds without it, but it has no default in the schema.
    let found = changes(old, new);
    assert!(found.iter().all(|(_, kind, _)| *kind == "exit") && found.len() <= 1, "{found:?}");
}

#[test]
fn each_kind_of_change_is_judged() {
    use Severity::{Narrows, Review, Widens};
    let action = |rest: &str| format!("actions:\n  go:\n    description: d\n{rest}");
    let cases = [
        ("limits: { max_iterations: 5 }\n".to_owned(), "limits: { max_iterations: 9 }\n".to_owned(), Widens, "limit"),
        ("limits: { timeout: 90s }\n".to_owned(), "limits: { timeout: 1m }\n".to_owned(), Narrows, "limit"),
        ("limits: { max_cost_usd: 1 }\n".to_owned(), String::new(), Widens, "limit"),
        ("allow: { tool: false }\n".to_owned(), String::new(), Widens, "allow"),
        ("tools: [grep]\n".to_owned(), "tools: [grep, write_file]\n".to_owned(), Widens, "tools"),
        (String::new(), "builtins: [finish]\n".to_owned(), Narrows, "actions"),
        (
            "state: { n: { type: integer } }\n".to_owned(),
            "state: { n: { type: string } }\n".to_owned(),
            Review,
            "state",
        ),
        (action("    verify: [ { that: input } ]\n"), action(""), Widens, "verify"),
        (action("    params: { a: string! }\n"), action("    params: { a: string }\n"), Widens, "params"),
        (
            action("    params: { properties: { a: { enum: [x, y] } } }\n"),
            action("    params: { properties: { a: { enum: [x] } } }\n"),
            Narrows,
            "params",
        ),
        (
            action("    params: { properties: { a: { maxLength: 5 } } }\n"),
            action("    params: { properties: { a: { maxLength: 9 } } }\n"),
            Widens,
            "params",
        ),
        (
            action("    do: [ { feedback: hi } ]\n"),
            action("    do: [ { feedback: hi }, { run: [ls] } ]\n"),
            Widens,
            "steps",
        ),
        (action("    do: [ { feedback: hi } ]\n"), action("    do: [ { feedback: ho } ]\n"), Review, "steps"),
        (action("    then: exit\n"), action(""), Review, "exit"),
        (action("    when: input\n"), action(""), Widens, "action"),
        (String::new(), "mechanisms: { spin: { enabled: false } }\n".to_owned(), Widens, "mechanism"),
        (
            "mechanisms: { verification: { every: 2 } }\n".to_owned(),
            "mechanisms: { verification: { every: 9 } }\n".to_owned(),
            Widens,
            "mechanism",
        ),
        (
            "mechanisms: { verification: { protect: [tests/] } }\n".to_owned(),
            "mechanisms: { verification: { every: 2 } }\n".to_owned(),
            Widens,
            "gate",
        ),
        (String::new(), "extends: preset/cost\n".to_owned(), Narrows, "limit"),
        (String::new(), "hooks: { finish: [ { answer: done } ] }\n".to_owned(), Review, "steps"),
    ];
    for (old, new, severity, kind) in cases {
        let found = changes(&old, &new);
        assert!(found.iter().any(|(s, k, _)| (*s, *k) == (severity, kind)), "{old}\n→\n{new}\n{found:?}");
    }
}

#[test]
fn templates_and_policies_count() {
    let workspace = "kind: workspace\npolicy: [ { tool: run_command, argv: [cargo], decision: allow } ]\n";
    let document = "name: a\nprompt: { instruction: { file: prompts/a.j2 } }\n";
    let (_one, old) = side(&[
        ("loops/a.yaml", document),
        ("prompts/a.j2", "one\n{% include \"b.j2\" %}\n"),
        ("prompts/b.j2", "two\nthree\n"),
    ]);
    let (_two, new) = side(&[
        ("loopwright.yaml", workspace),
        ("loops/a.yaml", document),
        ("prompts/a.j2", "one\n{% include \"b.j2\" %}\n"),
        ("prompts/b.j2", "two\nfour\n"),
    ]);
    let found = compare(&old, &new, &[("a".to_owned(), "a".to_owned())]);
    let prompt = found.iter().find(|change| change.kind == "prompt").unwrap();
    assert_eq!(prompt.lines, ["- three", "+ four"]);
    let policy = found.iter().find(|change| change.kind == "policy").unwrap();
    assert_eq!((policy.severity, policy.of.clone()), (Severity::Widens, None));
}
