//! The same documents checked in other ways: by more threads, after an edit, in haste.

use super::*;

#[test]
fn the_number_of_threads_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let rows: Vec<Row> = serde_json::from_str(&cases("config_cases.json")).unwrap();
    write_file(&root.join("loopwright.yaml"), WORKSPACE.as_bytes());
    // A secret and a mistake that several documents find, which then different threads check.
    write_file(
        &root.join("prompts/shared.md.j2"),
        format!("{{{{ nobody }}}} sk-ant-api03-{}\n", "Zk3Vq81xPm42LtRb7cWn").as_bytes(),
    );
    for n in 0..20 {
        let text =
            format!("name: shared_{n}\ndescription: x\nprompt: {{ instruction: {{ file: prompts/shared.md.j2 }} }}\n");
        write_file(&root.join(format!("loops/shared/{n}.yaml")), text.as_bytes());
    }
    for row in rows.iter().filter(|row| row.format != "jinja") {
        let Some(text) = &row.text else { continue };
        write_file(&root.join(format!("loops/{}.{}", row.id, row.format)), text.as_bytes());
    }
    let check = |threads: usize| {
        crate::parallel::with_threads(threads, || {
            let (mut library, _) = Library::open(root);
            let (found, places) = check_noting_templates(&mut library, Targets::All, Options { schemas: true });
            let places: Vec<_> = places.iter().map(|place| (place.whole(), place.document)).collect();
            (crate::diag::render::full(found.as_slice(), &library.sources, crate::diag::render::Color::Plain), places)
        })
    };
    let alone = check(1);
    assert!(alone.0.matches("`nobody` is not defined").count() == 1 && !alone.0.contains("Zk3Vq81"), "{}", alone.0);
    for threads in [2, 3, 16] {
        let together = check(threads);
        assert_eq!(together.0, alone.0, "{threads} threads");
        assert_eq!(together.1, alone.1, "{threads} threads");
    }
}

#[test]
fn what_is_checked_again_is_what_would_be_found_afresh() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let rows: Vec<Row> = serde_json::from_str(&cases("config_cases.json")).unwrap();
    write_file(&root.join("loopwright.yaml"), WORKSPACE.as_bytes());
    for row in rows.iter().filter(|row| row.format != "jinja") {
        let Some(text) = &row.text else { continue };
        write_file(&root.join(format!("loops/rows/{}.{}", row.id, row.format)), text.as_bytes());
    }
    let tool = "kind: tool\nname: shout\ndescription: x\nparams: { text: string! }\ndo: [{ result: x }]\n";
    let caller = "name: caller\ndescription: x\nprompt: { instruction: { file: prompts/p.md.j2 } }\n\
                  hooks: { init: [{ tool: { use: shout, params: { text: x } } }] }\n";
    let preset = "kind: preset\nname: calm\nprompt: { reactive: \"{{ nobody }}\" }\n";
    let secret = format!("sk-ant-api03-{}", "Zk3Vq81xPm42LtRb7cWn");
    let edits: Vec<(&str, String)> = vec![
        ("loops/shout.yaml", tool.to_owned()),
        ("loops/caller.yaml", caller.to_owned()),
        ("prompts/p.md.j2", "{{ input }}{% include 'prompts/q.md.j2' %}".to_owned()),
        ("prompts/q.md.j2", format!("{{{{ nothing }}}} {secret}")),
        ("loops/other.yaml", caller.replace("caller", "other")),
        ("loops/caller.yaml", caller.replace("description: x", "description: y")),
        ("loops/caller.yaml", caller.replace("prompts/p.md.j2", "prompts/p2.md.j2")),
        ("prompts/p2.md.j2", "{{ input".to_owned()),
        ("loops/shout.yaml", tool.replace("text: string!", "words: string!")),
        ("loops/shout.yaml", tool.replace("name: shout", "name: whisper")),
        ("loops/calm.yaml", preset.to_owned()),
        ("loops/caller.yaml", format!("{caller}extends: calm\n")),
        ("loops/calm.yaml", format!("# moved\n{preset}")),
        ("loopwright.yaml", format!("{WORKSPACE}severity: {{ undefined-variable: warning }}\n")),
        ("prompts/q.md.j2", "{# loopwright: ignore[undefined-variable] #}\n{{ nothing }}".to_owned()),
        ("loops/caller.yaml", "name: caller\nprompt: [".to_owned()),
    ];
    let mut library = Library::open(root).0;
    let mut known = Verdicts::default();
    let shown = |library: &Library, (found, places): (Diagnostics, Vec<TemplatePlace>)| {
        let place = |span: crate::diag::Span| (library.sources.path(span.source).to_owned(), span.start, span.end);
        let mut places: Vec<_> =
            places.iter().map(|one| (place(one.whole()), one.document, one.file_name().to_owned())).collect();
        places.sort();
        (crate::diag::render::full(found.as_slice(), &library.sources, crate::diag::render::Color::Plain), places)
    };
    for (file, text) in edits {
        write_file(&root.join(file), text.as_bytes());
        library = library.open_again(root, crate::load::Overlay::default());
        let again = check_again(&mut library, &mut known, Haste::None);
        assert!(known.are_current(), "{file}");
        let again = shown(&library, again);
        let mut fresh = Library::open(root).0;
        let found = check_noting_templates(&mut fresh, Targets::All, Options { schemas: true });
        let fresh = shown(&fresh, found);
        let differs = again.0.lines().zip(fresh.0.lines()).find(|(again, fresh)| again != fresh);
        assert!(again.0 == fresh.0, "{file}: {text}: {differs:?}");
        assert_eq!(again.1, fresh.1, "{file}: {text}");
    }
}

#[test]
fn in_haste_only_what_was_edited_is_checked_and_the_rest_later() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let tool = "kind: tool\nname: shout\ndescription: x\nparams: { text: string! }\ndo: [{ result: x }]\n";
    let caller = "name: caller\ndescription: x\nprompt: { instruction: { file: prompts/p.md.j2 } }\n\
                  hooks: { init: [{ tool: { use: shout, params: { text: x } } }] }\n";
    for (file, text) in [("loops/shout.yaml", tool), ("loops/caller.yaml", caller), ("prompts/p.md.j2", "x")] {
        write_file(&root.join(file), text.as_bytes());
    }
    let mut library = Library::open(root).0;
    let mut known = Verdicts::default();
    let mut edit = |file: &str, text: &str, haste: Haste| {
        write_file(&root.join(file), text.as_bytes());
        library = library.open_again(root, crate::load::Overlay::default());
        let (found, _) = check_again(&mut library, &mut known, haste);
        let codes: Vec<&str> = found.iter().map(|finding| finding.code.as_str()).collect();
        (codes.join(" "), known.are_current())
    };
    assert_eq!(edit("prompts/p.md.j2", "y", Haste::None), (String::new(), true));
    assert_eq!(
        edit("loops/caller.yaml", &caller.replace("description: x", "description: y"), Haste::OwnFilesOnly),
        (String::new(), true),
        "no other document sees a description"
    );
    let broken = ("undefined-variable".to_owned(), true);
    assert_eq!(edit("prompts/p.md.j2", "{{ nobody }}", Haste::OwnFilesOnly), broken, "its document is checked");
    assert_eq!(edit("prompts/p.md.j2", "y", Haste::OwnFilesOnly), (String::new(), true));
    let renamed = tool.replace("text: string!", "words: string!");
    assert_eq!(
        edit("loops/shout.yaml", &renamed, Haste::OwnFilesOnly),
        (String::new(), false),
        "others are not checked"
    );
    let (found, is_current) = edit("loops/shout.yaml", &renamed, Haste::None);
    assert!(found.contains("unknown-param") && is_current, "{found}");
}
