//! Hostile replies cost time in proportion to their length.

use std::time::{Duration, Instant};

use super::*;

/// An eighth of a megabyte of each.
const LENGTH: usize = 1 << 17;
/// Loose, for an unoptimised build on a busy machine. A quadratic reader needs minutes.
const LIMIT: Duration = Duration::from_secs(30);

fn hostile() -> Vec<(&'static str, String)> {
    let repeat = |unit: &str| unit.repeat(LENGTH / unit.len());
    vec![
        ("braces", repeat("{")),
        ("nested objects", repeat("{\"a\":")),
        ("nested arrays", format!("{{\"a\":{}", repeat("["))),
        ("array of open objects", repeat("{\"a\":[{},")),
        ("unclosed strings", repeat("{\"a\":\"b ")),
        ("unclosed strings with an action", repeat("{\"@action\":\"search\",\"query\":\"b ")),
        ("quotes", format!("{{\"@action\":\"search\",\"query\":\"{}", repeat("\""))),
        ("quotes in an array", format!("{{\"@action\":\"search\",\"list\":[\"{}", repeat("\" x"))),
        ("quote, comma, quote", format!("{{\"@action\":\"search\",\"query\":\"{}", repeat("\",\"x"))),
        ("backticks", format!("{{\"a\":`x{}", repeat("`"))),
        ("long strings", repeat("{\"a\":\"\"\"")),
        ("single quotes", repeat("{'a':'")),
        ("backslashes", format!("{{\"@action\":\"search\",\"query\":\"{}", repeat("\\"))),
        ("comments", repeat("{/*")),
        ("line comments", repeat("{//")),
        ("quote and blanks", format!("{{\"a\":\"{}", repeat(&format!("\"{}", " ".repeat(900))))),
        ("blanks", format!("{{\"a\":\"b\"{}", repeat(" "))),
        ("bare words", repeat("{a: b ")),
        ("bare key", format!("{{{}", repeat("a"))),
        ("bare value", format!("{{\"a\":{}", repeat("a "))),
        ("commas", format!("{{\"a\":1{}", repeat(","))),
        ("thinks", repeat("<think>")),
        ("think pairs", repeat("<think></think>")),
        ("lone closing thinks", repeat("</think>")),
        ("half thinks", repeat("</")),
        ("channels", repeat("<|channel|>analysis")),
        ("foreign tags", (0..LENGTH / 14).map(|i| format!("<|A_{i:07}|>")).collect()),
        ("foreign end tags", (0..LENGTH / 18).map(|i| format!("<|A_END_{i:07}|>")).collect()),
        ("own tags", repeat("<|NOTE_n1|>")),
        ("half tags", repeat("<|NOTE_n1")),
        ("small objects", repeat("{\"a\":1}")),
        ("full-width braces", repeat("\u{ff5b}")),
        ("long keys", format!("{{\"{}", repeat("a"))),
    ]
}

fn grammar() -> Grammar {
    let tags: IndexMap<_, _> = [("NOTE".to_owned(), TagRule::default())].into();
    let params = json!({"type": "object", "properties": {"query": {"type": "string"}}});
    Grammar::new("n1", [("search".to_owned(), Arc::new(ActionGrammar::new(params, tags)))])
}

#[test]
fn time_is_linear() {
    let grammar = grammar();
    for (name, raw) in hostile() {
        let before = Instant::now();
        let _ = extract(&raw, Finish::Stop, &grammar);
        let _ = extract_object(&raw, Finish::Stop);
        let whole = before.elapsed();
        assert!(whole < LIMIT, "{name}: {whole:?}");
        for size in [raw.len(), 4] {
            let before = Instant::now();
            let mut live = Live::new(&grammar);
            let mut rest = raw.as_str();
            while !rest.is_empty() {
                let end = rest.char_indices().map(|(at, _)| at).find(|&at| at >= size).unwrap_or(rest.len());
                let (part, after) = rest.split_at(end);
                live.feed(part, &mut |_| {});
                rest = after;
            }
            live.finish(&mut |_| {});
            let spent = before.elapsed();
            assert!(spent < LIMIT, "{name}, fed by {size}: {spent:?}");
        }
    }
}
