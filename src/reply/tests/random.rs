//! Properties over generated replies: no panic, no guess about cut text, whole and split reading agree.

use proptest::prelude::*;

use super::live::{chars, show, split, text_of};
use super::*;

/// Scraps of replies, so that random sequences of them come near to real ones.
const SCRAPS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "'",
    "`",
    "```",
    "```json\n",
    "\"\"\"",
    "\\",
    "\\\"",
    "\\u",
    "\\ud83d",
    "\\ude00",
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "\u{a0}",
    "\u{200b}",
    "\u{201c}",
    "\u{201d}",
    "\u{ff5b}",
    "\u{ff5d}",
    "\u{ff1a}",
    "\u{ff0c}",
    "\"@action\"",
    "\"@action\":",
    "\"search\"",
    "\"unknown\"",
    "{\"@action\":\"search\",\"query\":\"a\"}",
    "{\"@action\":\"search\",\"query\":\"",
    "\"query\":",
    "\"params\":",
    "{\"params\":{",
    "\"limit\":",
    "5",
    "-1.5e3",
    "1_000",
    "NaN",
    "true",
    "tru",
    "None",
    "null",
    "query",
    "//",
    "/*",
    "*/",
    "#",
    "+",
    "<",
    "</",
    "<think>",
    "</think>",
    "<thinking>",
    "</thinking>",
    "<|",
    "|>",
    "<|channel|>",
    "analysis",
    "<|message|>",
    "<|end|>",
    "<|NOTE_n1|>",
    "<|NOTE_END_n1|>",
    "<|NOTE_END_n",
    "<|NOTE_zz|>",
    "<|NOTE_END_zz|>",
    "<|OTHER_n1|>",
    "\u{1f642}",
    "é",
    "word",
    "human_readable_thought",
    "\"human_readable_thought\":\"hm\",",
    "\"identifier\":\"x\"",
];

fn grammar() -> Grammar {
    let tags: IndexMap<_, _> = [("NOTE".to_owned(), TagRule::default())].into();
    let params = json!({"type": "object", "properties": {
        "query": {"type": "string"}, "limit": {"type": "integer"}, "list": {"type": "array", "items": {"type": "string"}}}});
    Grammar::new(
        "n1",
        [
            ("search".to_owned(), Arc::new(ActionGrammar::new(params, tags.clone()))),
            ("free".to_owned(), Arc::new(ActionGrammar::new(json!({}), tags))),
        ],
    )
}

fn scraps() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(SCRAPS), 0..40).prop_map(|parts| parts.concat())
}

fn json_value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![any::<String>(), scraps()];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9f64).prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// An object with an action and arbitrary parameters, as valid JSON.
fn valid_action() -> impl Strategy<Value = (Map<String, Value>, String)> {
    let key = prop_oneof!["[a-z]{1,8}", "[a-z \"\\\\:,{}\u{201c}é]{0,90}x"];
    let params = prop::collection::vec((key, json_value()), 0..6);
    (params, 0..7_usize, any::<bool>(), any::<bool>()).prop_map(|(members, place, wrapped, pretty)| {
        let params: Map<String, Value> = members
            .into_iter()
            .map(|(key, value)| (key.trim().to_owned(), value))
            .filter(|(key, _)| !matches!(key.as_str(), "params" | "identifier"))
            .collect();
        let mut object = Map::new();
        if wrapped {
            object.insert("params".to_owned(), Value::Object(params.clone()));
        } else {
            object.extend(params.clone());
        }
        object.shift_insert(place.min(object.len()), "@action".to_owned(), json!("free"));
        let object = Value::Object(object);
        let text = if pretty { serde_json::to_string_pretty(&object).unwrap() } else { object.to_string() };
        (params, text)
    })
}

proptest! {
    #[test]
    fn scraps_never_panic_and_read_alike_in_parts(raw in scraps(), seed: u64) {
        let grammar = grammar();
        for finish in [Finish::Stop, Finish::Length] {
            let _ = extract(&raw, finish, &grammar);
            let _ = extract_object(&raw, finish);
            let _ = extract_tool_call("search", &raw, &raw, finish, &grammar);
        }
        let whole = show([raw.as_str()], &grammar);
        prop_assert_eq!(show(chars(&raw), &grammar), show(split(&raw, seed), &grammar));
        prop_assert_eq!(show(chars(&raw), &grammar), whole);
    }

    #[test]
    fn arbitrary_text_never_panics(raw: String) {
        let _ = extract(&raw, Finish::Stop, &grammar());
        show(chars(&raw), &grammar());
    }

    #[test]
    fn valid_json_is_taken_and_shown_unchanged((params, text) in valid_action(), seed: u64) {
        let grammar = grammar();
        let extracted = extract(&text, Finish::Unknown, &grammar).unwrap();
        prop_assert_eq!(&extracted.params, &params);
        prop_assert!(extracted.repairs.is_empty(), "{:?}", extracted.repairs);
        let shown = show(split(&text, seed), &grammar);
        let fields: IndexMap<String, String> = params
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (format!("free.{key}"), text_of(value)))
            .collect();
        prop_assert_eq!(shown.fields, fields);
    }

    #[test]
    fn closing_brackets_never_changes_a_text((params, text) in valid_action(), cut: prop::sample::Index) {
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let cut = &text[..ends[cut.index(ends.len())]];
        if let Ok(extracted) = extract(cut, Finish::Stop, &grammar()) {
            for (key, value) in extracted.params.iter().filter(|(_, value)| !value.is_array() && !value.is_object()) {
                prop_assert_eq!(Some(value), params.get(key));
            }
        }
    }

    #[test]
    fn a_cut_object_is_never_an_action((_, text) in valid_action(), cut: prop::sample::Index) {
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let cut = &text[..ends[cut.index(ends.len())]];
        let result = extract(cut, Finish::Length, &grammar());
        prop_assert!(
            matches!(&result, Err(Rejection { class: RejectClass::NoAction | RejectClass::Truncated, .. })),
            "{:?}", result
        );
    }
}
