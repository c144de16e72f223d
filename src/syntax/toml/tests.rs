//! What TOML says, in words an author understands: (text, places with codes, words in the first message or help).

use crate::diag::{Diagnostics, SourceMap};
use crate::syntax::{Format, Node, Style, parse};

fn read(text: &str) -> (Option<Node>, Vec<String>, String) {
    let mut sources = SourceMap::new();
    let id = sources.add("case.toml", text);
    let mut found = Diagnostics::new();
    let node = parse(id, text, Format::Toml, &mut found);
    let words = found.iter().next().map_or(String::new(), |d| {
        let labels: String = d.labels.iter().map(|(_, label)| label.as_str()).collect();
        format!("{}; {}; {labels}", d.message, d.help.as_deref().unwrap_or_default())
    });
    let places = found.iter().map(|d| {
        let start = sources.line_col(d.span.unwrap()).start;
        format!("{}:{} {}", start.line, start.column, d.code)
    });
    (node, places.collect(), words)
}

#[test]
fn each_mistake_is_reported_once_in_an_authors_words() {
    for (text, places, words) in [
        ("a = triage\nb = yes\n", &["1:5 toml-syntax", "2:5 toml-syntax"][..], "in quotes: `\"triage\"`"),
        ("a = True\n", &["1:5 toml-syntax"], "write `true`"),
        ("a = null\n", &["1:5 toml-syntax"], "no null"),
        ("a =\n", &["1:4 toml-syntax"], "no value"),
        ("a = 012\n", &["1:5 toml-syntax"], "write `12`"),
        ("a = .5\n", &["1:5 toml-syntax"], "write `0.5`"),
        ("a = 5.\n", &["1:7 toml-syntax"], ""),
        ("a = \"\\d\"\n", &["1:7 toml-syntax"], "single quotes"),
        ("a = 'x\nb = 1\n", &["1:5 toml-syntax"], "never closed"),
        ("a = \"\"\"x\nb = 1\n", &["1:5 toml-syntax"], "\"\"\""),
        ("a = \"x \"y\" z\"\n", &["1:9 toml-syntax"], "`\\\"`"),
        ("a = 'it's'\n", &["1:9 toml-syntax"], "double quotes"),
        ("[a\nb = 1\n", &["1:1 toml-syntax"], "add `]`"),
        ("a = [1, 2\nb = 3\n", &["1:5 toml-syntax"], "add `]`"),
        ("a = {x = 1\n", &["1:5 toml-syntax"], "add `}`"),
        ("a = ['x' 'y']\n", &["1:10 toml-syntax"], "`, `"),
        ("a: 1\n", &["1:2 toml-syntax"], "write `a = 1`"),
        ("a b = 1\n", &["1:3 toml-syntax"], "key = value"),
        ("a = {{ x }}\n", &["1:5 template-unquoted"], "\"{{ x }}\""),
        ("a = 1\nb = 2\na = 3\n", &["3:1 duplicate-key"], "first written here"),
        ("[a]\nx = 1\n[b]\n[a]\n", &["4:2 duplicate-key"], "under one `[a]`"),
        ("[a]\nx = 1\n[b]\nx = 1\nx = 2\n", &["5:1 duplicate-key"], "remove one"),
        (
            "a = nan\nb = -inf\nc = 1e999\n",
            &["1:5 non-finite-number", "2:5 non-finite-number", "3:5 non-finite-number"],
            "",
        ),
        ("a = 99999999999999999999\n", &["1:5 number-out-of-range"], "quotes"),
        ("a = 2026-01-31\n", &["1:5 toml-datetime"], "write `\"2026-01-31\"`"),
        ("# only this\n", &["1:1 empty-file"], "[prompt]"),
    ] {
        let (_, found, said) = read(text);
        assert_eq!(found, places, "{text:?}: {said}");
        assert!(said.contains(words), "{text:?}: {said}");
    }
}

#[test]
fn deep_documents_are_refused_in_every_notation() {
    for text in [
        format!("x = {}1{}", "[".repeat(100), "]".repeat(100)),
        format!("x = {}", "[".repeat(100_000)),
        format!("x = {}", "{a=".repeat(100_000)),
        format!("{}x = 1\n", "a.".repeat(100_000)),
        format!("[{}x]\n", "a.".repeat(100_000)),
        format!("x = {{{}b=1}}", "a.".repeat(100_000)),
        (1..70).map(|depth| format!("[{}]\n", vec!["a"; depth].join("."))).collect(),
    ] {
        let (node, found, _) = read(&text);
        assert!(node.is_none());
        assert!(found.len() == 1 && found[0].ends_with("too-deep"), "{found:?}");
    }
}

#[test]
fn values_keep_their_order_kinds_and_places() {
    let text =
        "b = 0x1F\na = 1_000\n[t]\nz = 1.5\ny = { q = [true, 'x'] }\n[[l]]\nk = 1\n[t.u]\nv = \"\"\"\ntext\"\"\"\n";
    let node = read(text).0.unwrap();
    let json = r#"{"b":31,"a":1000,"t":{"z":1.5,"y":{"q":[true,"x"]},"u":{"v":"text"}},"l":[{"k":1}]}"#;
    assert_eq!(node.to_json().to_string(), json);
    let slice = |pointer: &str| {
        let span = node.at_pointer(pointer).unwrap().span;
        &text[span.start as usize..span.end as usize]
    };
    assert_eq!(slice("/t/y/q/1"), "'x'");
    assert_eq!(node.get("t").unwrap().style, Style::Table);
    assert_eq!(node.at_pointer("/t/y").unwrap().style, Style::Flow);
    let key = node.key_span_at("/t/u/v").unwrap();
    assert_eq!(&text[key.start as usize..key.end as usize], "v");
}
