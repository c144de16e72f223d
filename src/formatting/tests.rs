//! Formatting changes the layout and nothing else, and does it once.

use super::*;
use proptest::prelude::*;

fn unchanged_twice(text: &str) -> Result<(), String> {
    match yaml(text) {
        Ok(once) => match yaml(&once) {
            Ok(twice) if twice == once => Ok(()),
            other => Err(format!("not the same the second time:\n{text}\n---\n{once}\n---\n{other:?}")),
        },
        // Saying no is never wrong.
        Err(_) => Ok(()),
    }
}

#[test]
fn spaces_and_quotes_become_the_usual_ones() {
    let text = "a:   {x: 1,y: [ 1,2 ]}\nb:   'text'\n\n\n\nc:\n    -   d: 1   # why\n        e: 2\n";
    let expected = "a: { x: 1, y: [1, 2] }\nb: \"text\"\n\nc:\n  - d: 1 # why\n    e: 2\n";
    assert_eq!(yaml(text).as_deref(), Ok(expected));
}

#[test]
fn what_a_template_says_stays_to_the_byte() {
    let text = "a: |\n  {%- for x in state.notes -%}\n    {{  x  }}\n\n      deep\n  {%- endfor %}\nb: >-\n  one\n  two   three\n\n  four\nc: '{{ \"x\" }} it''s'\nd: \"{{ 'x' }}\\n\"\n";
    let formatted = yaml(text).unwrap();
    let (before, after) = (read(text).unwrap(), read(&formatted).unwrap());
    assert_eq!(before.to_json(), after.to_json());
    assert!(
        formatted.contains("  {%- for x in state.notes -%}\n    {{  x  }}\n\n      deep\n  {%- endfor %}\n"),
        "{formatted}"
    );
    assert!(formatted.contains("  one\n  two   three\n\n  four\n"), "{formatted}");
}

#[test]
fn line_ends_and_a_byte_order_mark_stay() {
    let formatted = yaml("\u{feff}a:  1\r\nb: |\r\n  x\r\n  y\r\n").unwrap();
    assert_eq!(formatted, "\u{feff}a: 1\r\nb: |\r\n  x\r\n  y\r\n");
    assert_eq!(yaml("a:  1\nb: 2").as_deref(), Ok("a: 1\nb: 2\n"));
}

#[test]
fn what_cannot_be_read_is_refused() {
    for (text, words) in [
        ("a: [1\n", "never closed"),
        ("a: 1\na: 2\n", "twice"),
        ("a: &x { b: 1 }\nc: { <<: *x }\n", "<<"),
        ("a: !mine x\n", "!mine"),
    ] {
        let Err(Refusal::Unreadable(why)) = yaml(text) else { panic!("{text}") };
        assert!(why.contains(words), "{text}: {why}");
    }
}

#[test]
fn block_scalars_that_cannot_be_written_anew_keep_their_lines() {
    let text = concat!(
        "a:   1\n",
        "b:\n",
        "    c: |  \n",
        "      one  \n",
        "        two\t\n",
        "\n",
        "      three\n",
        "    d: |+   # keep\n",
        "      one\n",
        "\n",
        "\n",
        "    e: |2\n",
        "        deep\n",
        "      flat\n",
        "    f:   [x,y]\n",
        "g:\n",
        "-   >-\n",
        "    one  \n",
        "    two\n",
        "-   h: >1+\n",
        "      deep  \n",
        "\n",
    );
    let formatted = yaml(text).unwrap();
    assert_eq!(read(text).unwrap().to_json(), read(&formatted).unwrap().to_json());
    assert_eq!(yaml(&formatted).as_deref(), Ok(&*formatted), "the second time changes nothing");
    let expected = "a: 1\nb:\n  c: |\n    one  \n      two\t\n\n    three\n  d: |+ # keep\n    one\n\n\n  e: |2\n      deep\n    flat\n  f: [x, y]\n";
    assert!(formatted.starts_with(expected), "{formatted}");
}

fn files_below(folder: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.extension().and_then(|end| end.to_str()) {
            _ if path.is_dir() => files_below(&path, found),
            Some("yaml" | "yml") => found.push(path),
            _ => {}
        }
    }
}

#[test]
fn every_document_of_the_repository_is_formatted_once_or_refused() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = vec![root.join("loopwright.yaml")];
    for folder in ["loops", "examples", "tests", "src/cli"] {
        files_below(&root.join(folder), &mut paths);
    }
    for path in paths {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        unchanged_twice(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    }
}

#[test]
fn shipped_documents_are_formatted() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = vec![root.join("loopwright.yaml")];
    for folder in ["loops", "src/cli/command/init"] {
        files_below(&root.join(folder), &mut paths);
    }
    // Scripts of replies are written by the program, and nobody reads them for their layout.
    for path in paths.into_iter().filter(|path| !path.to_string_lossy().contains(".script.")) {
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(yaml(&text).as_ref(), Ok(&text), "{}: run `cargo run -- fmt`", path.display());
    }
}

/// A document of any shape, written by another hand.
fn document() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        "[a-z]{1,6}",
        "[0-9]{1,3}",
        Just("\"{{ state.x | join(', ') }}\"".to_owned()),
        Just("'it''s # no comment'".to_owned()),
        Just("{ a: 1,b:  [x,  y] }".to_owned()),
        Just("[ ]".to_owned()),
        Just("|\n{}  one\n{}\n{}    two\n".to_owned()),
        Just(">-\n{}  one\n{}  two\n".to_owned()),
        Just("|+\n{}  one\n\n\n".to_owned()),
        Just("|2\n{}    deep\n{}  flat \n".to_owned()),
        Just(">  \n{}  one  \n{}  two\n".to_owned()),
        Just("".to_owned()),
    ];
    proptest::collection::vec(
        (0usize..3, "[a-z]{1,5}", scalar, prop_oneof![Just(""), Just("  # why"), Just("\n# line")]),
        1..12,
    )
    .prop_map(|rows| {
        let mut text = String::new();
        for (index, (depth, key, value, comment)) in rows.into_iter().enumerate() {
            let indent = "  ".repeat(depth);
            let value = value.replace("{}", &indent);
            let comment = if value.contains('\n') { "" } else { comment };
            text.push_str(&format!("{indent}{key}{index}:   {value}{comment}\n"));
        }
        text
    })
}

proptest! {
    #[test]
    fn the_second_time_changes_nothing(text in document()) {
        prop_assert_eq!(unchanged_twice(&text), Ok(()));
    }

    #[test]
    fn no_text_makes_it_panic(text in "[-a:{}\\[\\],#'\"|>&*! \n\té]{0,40}") {
        let _ = yaml(&text);
    }
}
