//! What YAML says, in words an author understands: (text, place, code, words in message or help).

use crate::diag::{Diagnostics, SourceMap};
use crate::syntax::{Format, Node, parse};

fn read(text: &str) -> (Option<Node>, Vec<(String, String, String)>) {
    let mut sources = SourceMap::new();
    let id = sources.add("case.yaml", text);
    let mut found = Diagnostics::new();
    let node = parse(id, text, Format::Yaml, &mut found);
    let found = found.iter().map(|d| {
        let start = sources.line_col(d.span.unwrap()).start;
        let words = format!("{}; {}", d.message, d.help.as_deref().unwrap_or_default());
        (format!("{}:{}", start.line, start.column), d.code.to_string(), words)
    });
    (node, found.collect())
}

#[test]
fn syntax_errors_are_put_where_the_author_must_change_something() {
    for (text, place, code, words) in [
        ("a:\n  b: 1\n\tc: 2\n", "3:1", "yaml-tab", "spaces"),
        ("a: |\n\tx\n", "2:1", "yaml-tab", "spaces"),
        ("a:\n  \tb: 1\n", "2:3", "yaml-tab", "spaces"),
        ("a:\n  - b\n\t- c\n", "3:1", "yaml-tab", "spaces"),
        ("a: {{ x.y | f(1) }}{{ b }}\nc: d\n", "1:4", "template-unquoted", "\"{{ x.y | f(1) }}{{ b }}\""),
        ("a: {{ \"x\" ~ y }}\n", "1:4", "template-unquoted", "'{{ \"x\" ~ y }}'"),
        ("a: {% if x %}y{% endif %}\n", "1:4", "template-unquoted", "{% endif %}\""),
        ("a: [{{ x }}, 1]\n", "1:5", "template-unquoted", "\"{{ x }}\""),
        ("a: {{ x['y'] }} z\n", "1:4", "template-unquoted", "quotes"),
        ("a: Goal: {{ b }}\n", "1:8", "yaml-syntax", "quotes"),
        ("a: 'it's'\n", "1:8", "yaml-syntax", "''"),
        ("a: \"x\" y\n", "1:8", "yaml-syntax", "single quotes"),
        ("a: \"abc\nb: 1\n", "1:4", "yaml-syntax", "never closed"),
        ("name:triage\nb: 1\n", "1:1", "yaml-syntax", "space after its colon"),
        ("a: 1\nname:triage\n", "2:1", "yaml-syntax", "`name: …`"),
        ("a: [1, 2\nb: 3\n", "1:4", "yaml-syntax", "add `]`"),
        ("a: [1, 2\n", "1:4", "yaml-syntax", "add `]`"),
        ("a: {x: 1 y: 2}\n", "1:11", "yaml-syntax", "expected `,` or `}`"),
        ("a: [1}\n", "1:4", "yaml-syntax", "close it with `]`"),
        ("a: 1\n b: 2\n", "2:3", "yaml-syntax", "indentation"),
        ("a:\n  b: 1\n c: 2\n", "3:2", "yaml-syntax", "same column"),
        ("k:\n  a: |\n    x\n   y\n", "4:4", "yaml-syntax", "indent all lines"),
        ("k:\n  a: |\n  x\n  y\n", "3:3", "yaml-syntax", "indent all lines"),
        ("a: {b: 1}}\n", "1:10", "yaml-syntax", "`}` closes nothing"),
        ("a: \"\\\"\\u00e9\\q\"\n", "1:4", "yaml-syntax", "`\\q`"),
        ("- a\nb: 1\n", "2:1", "yaml-syntax", "list"),
        ("a: > be brief\n", "1:4", "yaml-syntax", "next line"),
        ("a: - b\n", "1:4", "yaml-syntax", "next line"),
        ("a: % x\n", "1:4", "yaml-syntax", "quotes"),
        ("a: , b\n", "1:4", "yaml-syntax", "quotes"),
        ("a: *\n", "1:4", "yaml-syntax", "quotes"),
        ("a: \u{1}x\n", "1:4", "yaml-syntax", "U+0001"),
        ("a: \"C:\\new\\path\"\n", "1:4", "yaml-syntax", "`\\p`"),
        ("a: !important x\n", "1:4", "unknown-tag", "`!important`"),
        ("a: &x [*x]\n", "1:8", "yaml-syntax", "inside its own value"),
        ("a: &base 1\nb: *bsae\n", "2:4", "yaml-syntax", "did you mean `*base`?"),
        ("<<: {a: 1}\n", "1:1", "merge-key", "alias"),
        ("? [a]\n: 1\n", "1:3", "non-string-key", "a list"),
        ("1: x\n", "1:1", "non-string-key", "quotes"),
        ("a: 18446744073709551616\n", "1:4", "number-out-of-range", "quotes"),
    ] {
        let (_, found) = read(text);
        let (at, kind, said) = &found[0];
        assert_eq!((at.as_str(), kind.as_str()), (place, code), "{text:?}: {found:?}");
        assert!(said.contains(words), "{text:?}: {said}");
        let errors = found.iter().filter(|f| f.1 != "unused-anchor").count();
        assert_eq!(errors, 1, "one mistake is reported once: {text:?}: {found:?}");
    }
}

#[test]
fn what_is_probably_not_meant_is_a_warning() {
    for (text, place, code) in [
        ("a: text\n  - b\n", "2:3", "joined-lines"),
        ("a:\n- 1\n - 2\n", "3:2", "joined-lines"),
        ("a: >\n  - one\n  - two\n", "1:4", "joined-lines"),
        ("a: Close issue #12 today\n", "1:16", "cut-text"),
        ("a: #general\nb: 1\n", "1:4", "cut-text"),
        ("a: &co handles it\n", "1:4", "unused-anchor"),
    ] {
        let (node, found) = read(text);
        assert!(node.is_some(), "{text:?}");
        assert_eq!(found.len(), 1, "{text:?}: {found:?}");
        assert_eq!((found[0].0.as_str(), found[0].1.as_str()), (place, code), "{text:?}");
    }
    for text in [
        "a: 3 #three\n",
        "a: some words # a remark\n",
        "a: # a remark\n  b: 1\n",
        "a: |\n  - one\n  - two\n",
        "a: >\n  one - two\n  three\n",
        "a: two\n  lines\n",
        "a: 'Close #12'\n",
    ] {
        assert!(read(text).1.is_empty(), "{text:?}: {:?}", read(text).1);
    }
}

#[test]
fn what_looks_odd_and_is_legal_loads() {
    for (text, json) in [
        ("a: {\tb: 1}\n", r#"{"a":{"b":1}}"#),
        ("a:\tb\n", r#"{"a":"b"}"#),
        ("a: [\n1,\n]\nb: {\n}\n", r#"{"a":[1],"b":{}}"#),
        ("a: b] c\n", r#"{"a":"b] c"}"#),
        ("a: !!str 12\n", r#"{"a":"12"}"#),
        ("a: ! 12\n", r#"{"a":"12"}"#),
        ("a: &x {b: [1]}\nc: *x\nd: [*x, *x]\n", r#"{"a":{"b":[1]},"c":{"b":[1]},"d":[{"b":[1]},{"b":[1]}]}"#),
        ("on: yes\nno: off\n", r#"{"on":"yes","no":"off"}"#),
        ("a: b\r\nc:\r\n  - d\r\n", r#"{"a":"b","c":["d"]}"#),
        ("b: 1\na: 2\n", r#"{"b":1,"a":2}"#),
    ] {
        let (node, found) = read(text);
        assert!(found.is_empty(), "{text:?}: {found:?}");
        assert_eq!(node.unwrap().to_json().to_string(), json, "{text:?}");
    }
}

#[test]
fn an_alias_knows_its_use_and_its_definition() {
    let text = "a: &x {b: 1}\nc: *x\n";
    let node = read(text).0.unwrap();
    let alias = node.get("c").unwrap();
    let slice = |span: crate::diag::Span| &text[span.start as usize..span.end as usize];
    assert_eq!(slice(alias.span), "*x");
    assert_eq!(slice(alias.origin.unwrap()), "{b: 1}");
    assert_eq!(slice(alias.get("b").unwrap().span), "1");
}

#[test]
fn spans_cover_exactly_what_was_written() {
    let text = "a: |\n  x\n  y\n\nb:\n  - p\n  - q: r # s\n\nc:\nd: 'z'  \ne: {f: g}\n";
    let node = read(text).0.unwrap();
    let slice = |pointer: &str| {
        let span = node.at_pointer(pointer).unwrap().span;
        &text[span.start as usize..span.end as usize]
    };
    assert_eq!(slice("/a"), "|\n  x\n  y");
    assert_eq!(slice("/b"), "- p\n  - q: r");
    assert_eq!(slice("/b/1"), "q: r");
    assert_eq!(slice("/c"), "c", "a key without a value is its own place");
    assert_eq!(slice("/d"), "'z'");
    assert_eq!(slice("/e"), "{f: g}");
    assert_eq!(slice(""), text.trim_end());
    let key = node.key_span_at("/b/1/q").unwrap();
    assert_eq!(&text[key.start as usize..key.end as usize], "q");
}

#[test]
fn a_list_begins_at_its_first_dash() {
    for (text, list) in [
        ("a:\n- p\n- q\n", "- p\n- q"),
        ("a:\n- -5\n", "- -5"),
        ("a:\n-\n  - q\n", "-\n  - q"),
        ("a:\n  - - p\n", "- - p"),
        ("a: [p]\n", "[p]"),
    ] {
        let node = read(text).0.unwrap();
        let span = node.get("a").unwrap().span;
        assert_eq!(&text[span.start as usize..span.end as usize], list);
    }
}

#[test]
fn limits_stop_hostile_documents_at_once() {
    let started = std::time::Instant::now();
    let brackets = format!("a: {}", "[".repeat(200_000));
    let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
    for level in 1..30 {
        let before = level - 1;
        let aliases = vec![format!("*a{before}"); 9].join(",");
        bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    let wide: String = (0..20_000).map(|n| format!("k{n}: 1\n")).collect();
    for (text, code) in [(brackets, "too-deep"), (bomb, "alias-bomb"), ("a: 1\n".repeat(300_000), "file-too-large")] {
        let (node, found) = read(&text);
        assert!(node.is_none());
        assert!(found.iter().any(|f| f.1 == code), "{code}: {found:?}");
    }
    assert!(read(&wide).1.is_empty());
    assert!(started.elapsed() < std::time::Duration::from_secs(30));
}
