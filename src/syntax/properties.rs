//! What holds for any input at all: no panic, places that exist, and values that survive.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value as Json;

use super::{Entry, Format, Node, Value, add_source, decode, parse};
use crate::diag::render::{self, Color};
use crate::diag::{Diagnostics, SourceMap, Span};

/// Pieces that make trouble when they meet.
fn fragment() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "a",
        "b: ",
        "- ",
        "\n",
        "\n  ",
        "\n    ",
        "\t",
        "'",
        "\"",
        "\\",
        "\\n",
        "\\u00e9",
        "{",
        "}",
        "[",
        "]",
        ", ",
        ": ",
        ":",
        "#",
        " #",
        "|",
        ">",
        "|2-",
        "&x ",
        "*x",
        "*y",
        "!t ",
        "!!str ",
        "<<: ",
        "? ",
        "---\n",
        "...\n",
        "%YAML 1.2\n",
        "{{ x }}",
        "{% if %}",
        "@",
        "`",
        "~",
        "yes",
        "012",
        "1.10",
        "0x1F",
        ".inf",
        "1e999",
        "é",
        "日本",
        "\u{feff}",
        "\u{0}",
        "\r\n",
        "\r",
        " = ",
        "[t]\n",
        "[[t]]\n",
        "\"\"\"",
        "'''",
        "a.b.c",
        "2026-01-31",
        "99999999999999999999",
        "\u{85}",
        "\u{2028}",
    ];
    prop_oneof![8 => proptest::sample::select(PIECES).prop_map(str::to_owned), 1 => any::<String>()]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![4 => vec(fragment(), 0..40).prop_map(|parts| parts.concat()), 1 => any::<String>()]
}

fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(Json::from),
        "[ -~é日\n\t]{0,12}".prop_map(Json::from),
        proptest::sample::select(&["yes", "012", "~", "", "1_0", "{{ x }}", "- a", "#", "null"][..])
            .prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Json::from),
            vec(("[ -~]{0,8}", inner), 0..6).prop_map(|pairs| Json::Object(pairs.into_iter().collect())),
        ]
    })
}

fn lies_in(span: Span, text: &str) -> bool {
    text.get(span.start as usize..span.end as usize).is_some()
}

fn check_node(node: &Node, text: &str) {
    assert!(lies_in(node.span, text), "{:?}", node.span);
    if let Some(origin) = node.origin {
        assert!(lies_in(origin, text), "{origin:?}");
    }
    match &node.value {
        Value::String(decoded) => {
            for at in 0..=decoded.len() {
                let place = node.offset_to_source(at) as usize;
                let home = node.origin.unwrap_or(node.span);
                assert!(place >= home.start as usize && place <= home.end as usize, "{at} → {place}");
            }
            assert!(lies_in(node.range_to_source(0..decoded.len()), text) || decoded.is_empty());
        }
        Value::Seq(items) => items.iter().for_each(|item| check_node(item, text)),
        Value::Map(entries) => {
            let mut keys: Vec<&str> = entries.iter().map(|Entry { key, .. }| &**key).collect();
            keys.sort_unstable();
            assert!(keys.windows(2).all(|pair| pair[0] != pair[1]), "keys are unique");
            for entry in entries.iter() {
                assert!(lies_in(entry.key_span, text));
                check_node(&entry.value, text);
            }
        }
        _ => {}
    }
}

fn check(bytes: &[u8], format: Format) {
    let mut sources = SourceMap::new();
    let mut found = Diagnostics::new();
    let (id, good) = add_source(&mut sources, "any", bytes, &mut found);
    let text = sources.text(id).to_owned();
    let node = if good { parse(id, &text, format, &mut found) } else { None };
    assert!(node.is_some() || found.has_errors(), "nothing read and nothing said");
    if let Some(node) = node {
        check_node(&node, &text);
        let _: Option<Json> = decode(&node, &mut found);
        node.warn_ambiguous(&mut found);
    }
    for diagnostic in &found {
        let labels = diagnostic.labels.iter().map(|(span, _)| *span);
        let fix = diagnostic.fix.iter().map(|fix| fix.span);
        for span in diagnostic.span.into_iter().chain(labels).chain(fix) {
            assert!(lies_in(span, &text), "{diagnostic:?}");
        }
    }
    let shown = render::full(found.as_slice(), &sources, Color::Plain);
    assert_eq!(shown.is_empty(), found.is_empty());
    serde_json::from_str::<Vec<Json>>(&render::json(found.as_slice(), &sources)).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused_with_places_that_exist(text in text()) {
        check(text.as_bytes(), Format::Yaml);
        check(text.as_bytes(), Format::Toml);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..60)) {
        check(&bytes, Format::Yaml);
        check(&bytes, Format::Toml);
    }

    #[test]
    fn values_survive_the_tree(value in json()) {
        let node = Node::synthetic(&value);
        prop_assert_eq!(node.to_json(), value.clone());
        let mut found = Diagnostics::new();
        prop_assert_eq!(decode::<Json>(&node, &mut found), Some(value));
        prop_assert!(found.is_empty());
    }

    #[test]
    fn json_reads_the_same_as_yaml(value in json()) {
        let value = serde_json::json!({ "value": value });
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let mut sources = SourceMap::new();
            let id = sources.add("x.json", text.as_str());
            let mut found = Diagnostics::new();
            let node = parse(id, &text, Format::Yaml, &mut found);
            prop_assert!(found.is_empty(), "{text}\n{found:?}");
            prop_assert_eq!(node.unwrap().to_json(), value.clone(), "{}", text);
        }
    }

    #[test]
    fn what_the_yaml_writer_writes_reads_back(value in json()) {
        // The writer leaves a key `<<` without quotes.
        prop_assume!(!value.to_string().contains("<<"));
        let value = serde_json::json!({ "value": value });
        let text = serde_yaml::to_string(&value).unwrap();
        let mut found = Diagnostics::new();
        let node = parse(crate::diag::SourceId(0), &text, Format::Yaml, &mut found);
        prop_assert!(!found.has_errors(), "{text}\n{found:?}");
        prop_assert_eq!(node.unwrap().to_json(), value, "{}", text);
    }
}
