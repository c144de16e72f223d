//! Decoding: what is said about values of the wrong kind, where, and that nothing hides anything else.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};

use super::{decode, decode_partial, decode_within};
use crate::diag::{Diagnostics, SourceMap, Span};
use crate::syntax::{Format, Node, Raw, Spanned, parse};

#[derive(Debug, PartialEq, Deserialize, Serialize)]
struct Limits {
    tries: Option<u8>,
    ratio: Option<f64>,
    strict: Option<bool>,
    label: Option<String>,
    tags: Option<Vec<String>>,
    mode: Option<Mode>,
    inner: Option<BTreeMap<String, Inner>>,
    name: Option<Name>,
    pair: Option<(u8, u8)>,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
struct Inner {
    size: i64,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Fast,
    Careful { seconds: u32 },
    Many(Vec<u8>),
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
#[serde(try_from = "String")]
struct Name(String);

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.contains(' ') { Err("a name has no spaces".to_owned()) } else { Ok(Name(text)) }
    }
}

fn read<T: DeserializeOwned>(text: &str, format: Format) -> (Option<T>, Vec<(String, String)>) {
    let mut sources = SourceMap::new();
    let id = sources.add("case", text);
    let mut found = Diagnostics::new();
    let node = parse(id, text, format, &mut found).unwrap();
    assert!(found.is_empty(), "{found:?}");
    let value = decode(&node, &mut found);
    found.sort(&sources);
    let found = found.iter().map(|d| {
        let start = sources.line_col(d.span.unwrap()).start;
        let place = format!("{}:{} {}", start.line, start.column, d.code);
        (place, format!("{}; {}", d.message, d.help.as_deref().unwrap_or_default()))
    });
    (value, found.collect())
}

#[test]
fn each_mistake_is_named_at_its_place() {
    for (text, place, words) in [
        ("tries: \"5\"", "1:8 wrong-type", "expected an integer, found the string \"5\"; write `5` without quotes"),
        ("tries: 012", "1:8 ambiguous-number", "leading zeros; write `12`"),
        ("tries: 1_0", "1:8 wrong-type", "write `10`"),
        ("tries: 1,000", "1:8 wrong-type", "write `1000`"),
        ("tries: 2.5", "1:8 wrong-type", "expected an integer, found the number 2.5"),
        ("tries: 300", "1:8 number-out-of-range", "from 0 to 255, found the integer 300"),
        ("tries: -1", "1:8 number-out-of-range", "from 0 to 255, found the integer -1"),
        ("tries: [1]", "1:8 wrong-type", "found a list"),
        ("tries:", "1:1 wrong-type", "found null; give it a value, or delete the key"),
        ("tries: ~", "1:8 wrong-type", "found null"),
        ("ratio: \"0.5\"", "1:8 wrong-type", "write `0.5` without quotes"),
        ("ratio: half", "1:8 wrong-type", "expected a number, found the string \"half\""),
        ("strict: yes", "1:9 wrong-type", "write `true`"),
        ("strict: \"False\"", "1:9 wrong-type", "write `false`, without quotes"),
        ("strict: 1", "1:9 wrong-type", "expected true or false, found the integer 1"),
        ("label: 12", "1:8 wrong-type", "expected a string, found the integer 12; put the value in quotes"),
        ("label: {a: b}", "1:8 wrong-type", "expected a string, found a map"),
        ("tags: a", "1:7 wrong-type", "expected a list, found the string \"a\"; write `[a]`"),
        ("tags: {a: 1}", "1:7 wrong-type", "one `- ` line for each item"),
        ("inner: [a: {size: 1}]", "1:8 wrong-type", "without `- `"),
        ("tags: [a, 2]", "1:11 wrong-type", "expected a string, found the integer 2"),
        ("mode: fats", "1:7 unknown-variant", "did you mean `fast`?"),
        ("mode: {carful: 1}", "1:8 unknown-variant", "did you mean `careful`?"),
        ("mode: careful", "1:7 wrong-type", "`careful` needs a value"),
        ("mode: {fast: 1}", "1:14 wrong-type", "`fast` takes no value"),
        ("mode: {careful: {second: 1, seconds: 2}}", "1:18 unknown-key", "did you mean `seconds`?"),
        ("mode: {fast: , many: []}", "1:7 wrong-type", "exactly one of the keys"),
        ("mode: {many: [1, x]}", "1:18 wrong-type", "expected an integer"),
        ("inner: {a: {size: 1}, b: {}}", "1:23 missing-key", "missing key `size`"),
        ("inner: {a: [1]}", "1:12 wrong-type", "expected a map, found a list"),
        ("name: a b", "1:7 invalid-value", "a name has no spaces"),
        ("pair: [1]", "1:7 invalid-value", "found 1 items"),
        ("trys: 1", "1:1 unknown-key", "unknown key `trys`; did you mean `tries`?"),
        ("inner: {a: {size:1, size: 2}}", "1:13 unknown-key", "write `size: 1`, with a space"),
        ("“tries”: 1", "1:1 unknown-key", "U+201C"),
        ("zebra: 1", "1:1 unknown-key", "expected one of `tries`, `ratio`"),
        ("inner: {a: {size: 1, tries: 2}}", "1:22 unknown-key", "`tries` belongs outside `a`"),
    ] {
        let (value, found) = read::<Limits>(text, Format::Yaml);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert_eq!(found[0].0, place, "{text}: {found:?}");
        assert!(found[0].1.contains(words), "{text}: {}", found[0].1);
        assert_eq!(value.is_some(), place.ends_with("unknown-key"), "{text}");
    }
}

#[test]
fn all_mistakes_are_reported_in_one_go() {
    let text =
        "tries: x\nratio: y\ntags: [1, a, 2]\ninner:\n  a: {size: z}\n  b: {}\n  c: {size: 1, sise: 2}\nstrict: no\n";
    let (_, found) = read::<Limits>(text, Format::Yaml);
    let places: Vec<_> = found.iter().map(|f| f.0.as_str()).collect();
    assert_eq!(
        places,
        [
            "1:8 wrong-type",
            "2:8 wrong-type",
            "3:8 wrong-type",
            "3:14 wrong-type",
            "5:13 wrong-type",
            "6:3 missing-key",
            "7:16 unknown-key",
            "8:9 wrong-type",
        ]
    );
}

#[test]
fn a_broken_required_part_is_not_reported_as_missing_too() {
    let (_, found) = read::<BTreeMap<String, Inner>>("a: {size: x}\n", Format::Yaml);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn long_strings_are_not_repeated_in_messages() {
    let (_, found) = read::<Limits>("inner: sk-0123456789abcdef0123456789\n", Format::Yaml);
    assert!(found[0].1.contains("found a string"), "{found:?}");
    assert!(!found[0].1.contains("sk-"), "{found:?}");
}

#[test]
fn a_decimal_may_stand_for_an_integer_with_a_warning() {
    let (value, found) = read::<Limits>("tries: 1e2\nratio: 3\n", Format::Yaml);
    assert_eq!(value.unwrap().tries, Some(100));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, "1:8 float-for-integer");
    assert!(found[0].1.contains("write `100`"));
}

#[test]
fn a_toml_key_after_a_table_is_told_to_move_up() {
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only decoding matters here")]
    struct Document {
        model: Option<String>,
        prompt: Prompt,
    }
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only decoding matters here")]
    struct Prompt {
        text: String,
    }
    let (_, found) = read::<Document>("[prompt]\ntext = 'x'\nmodel = 'm'\n", Format::Toml);
    assert_eq!(found[0].0, "3:1 unknown-key");
    assert!(found[0].1.contains("after `[prompt]`"), "{found:?}");
}

#[test]
fn partial_decoding_keeps_what_is_good() {
    let mut sources = SourceMap::new();
    let text = "a: {size: 1}\nb: {size: x}\n";
    let id = sources.add("case", text);
    let mut found = Diagnostics::new();
    let node = parse(id, text, Format::Yaml, &mut found).unwrap();
    let value: BTreeMap<String, Inner> = decode_partial(&node, &mut found).unwrap();
    assert_eq!(value.keys().collect::<Vec<_>>(), ["a"]);
    assert_eq!(found.len(), 1);
    assert!(decode::<BTreeMap<String, Inner>>(&node, &mut Diagnostics::new()).is_none());
}

#[derive(Debug, Deserialize, Serialize, PartialEq)]
struct Holder {
    raw: Raw,
    #[serde(default)]
    spanned: Spanned<u8>,
    list: Vec<Spanned<String>>,
    nested: Option<Spanned<Vec<Spanned<bool>>>>,
}

#[test]
fn raw_and_spanned_keep_their_places() {
    let text = "raw: {x: [1, two]}\nspanned: 7\nlist: [a, b]\nnested: [true]\n";
    let (value, found) = read::<Holder>(text, Format::Yaml);
    assert!(found.is_empty(), "{found:?}");
    let value = value.unwrap();
    let slice = |span: Span| &text[span.start as usize..span.end as usize];
    assert_eq!(slice(value.raw.span), "{x: [1, two]}");
    assert_eq!(slice(value.raw.at_pointer("/x/1").unwrap().span), "two");
    assert_eq!((*value.spanned, slice(value.spanned.span)), (7, "7"));
    assert_eq!(slice(value.list[1].span), "b");
    let nested = value.nested.unwrap();
    assert_eq!((slice(nested.span), slice(nested[0].span)), ("[true]", "true"));
}

#[test]
fn raw_and_spanned_work_with_other_deserializers_and_back() {
    let json = serde_json::json!({"raw": {"x": [1, null]}, "spanned": 7, "list": ["a"], "nested": null});
    let value: Holder = serde_json::from_value(json.clone()).unwrap();
    assert!(value.raw.span.is_none() && value.spanned.span.is_none());
    assert_eq!(serde_json::to_value(&value).unwrap(), json);
    let again: Option<Holder> = decode(&Node::synthetic(&json), &mut Diagnostics::new());
    assert_eq!(again.unwrap(), value);
    assert_eq!(serde_yaml::from_str::<Holder>(&serde_yaml::to_string(&value).unwrap()).unwrap(), value);
}

/// Looks at the node before it decides, as templates do.
#[derive(Debug, PartialEq)]
enum Either<T> {
    Text(String),
    Value(T),
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Either<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        match raw.as_str() {
            Some("") => Err(D::Error::custom("empty")),
            Some(text) => Ok(Either::Text(text.to_owned())),
            None => decode_within(&raw).map(Either::Value),
        }
    }
}

#[test]
fn a_type_that_looks_before_it_decodes_loses_no_place() {
    let (_, found) = read::<BTreeMap<String, Either<Vec<String>>>>("a: x\nb: [y, 2, z, 3]\nc:\nd: ''\n", Format::Yaml);
    let places: Vec<_> = found.iter().map(|f| f.0.as_str()).collect();
    assert_eq!(places, ["2:8 wrong-type", "2:14 wrong-type", "3:1 wrong-type", "4:4 invalid-value"]);
    let (value, _) = read::<Either<Inner>>("size: 1\n", Format::Yaml);
    assert_eq!(value, Some(Either::Value(Inner { size: 1 })));
}
