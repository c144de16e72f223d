//! Verbs that call something by name, and `result`.

use serde_json::json;

use super::support::{World, decode_errors, step};
use crate::verb::{Reference, VERBS};

#[test]
fn the_table_is_alphabetical_and_each_verb_has_a_described_schema() {
    let names: Vec<&str> = VERBS.iter().map(|verb| verb.name()).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(names, sorted);
    let mut generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    let schemas: Vec<_> = VERBS.iter().map(|verb| (verb.name(), verb.schema(&mut generator))).collect();
    let definitions = generator.take_definitions(true);
    for (name, schema) in schemas {
        let schema = match schema.get("$ref").and_then(|r| r.as_str()) {
            Some(reference) => definitions[reference.rsplit('/').next().unwrap()].clone(),
            None => serde_json::to_value(&schema).unwrap(),
        };
        assert!(schema["description"].as_str().is_some_and(|text| text.len() > 10), "{name}: {schema}");
    }
}

#[tokio::test]
async fn calls_reach_the_host_with_rendered_arguments() {
    let world = World::new().with("params", json!({ "domain": "example.com", "n": 2 }));
    world.run("forge", json!("summarize")).await.unwrap();
    let args = json!({ "use": "summarize", "input": { "n": "{{ params.n }}" }, "tier": "quality", "stream": { "text": "answer" } });
    world.run("forge", args).await.unwrap();
    world.run("tool", json!({ "use": "whois", "params": { "domain": "{{ params.domain }}" } })).await.unwrap();
    world.run("tool", json!("ping")).await.unwrap();
    world
        .run("loop", json!({ "use": "smart_qa", "input": "{{ params.n }}", "set": { "depth": "{{ params.n }}" } }))
        .await
        .unwrap();
    let asked = world.host.asked.lock().unwrap().clone();
    let expected = [
        r#"ForgeCall { forge: "summarize", input: 'the input', tier: None, stream: [] }"#,
        r#"ForgeCall { forge: "summarize", input: {'n': 2}, tier: Some("quality"), stream: [("text", StreamTo { node: "answer", content_type: "text/markdown" })] }"#,
        r#"ToolCallRequest { tool: "whois", params: {'domain': 'example.com'}, identifier: None }"#,
        r#"ToolCallRequest { tool: "ping", params: {}, identifier: None }"#,
        r#"LoopCall { name: "smart_qa", input: 2, set: [("depth", 2)] }"#,
    ];
    assert_eq!(asked, expected);
}

#[test]
fn names_that_must_exist_are_told() {
    for (verb, args, expected) in [
        ("forge", json!("a"), vec![Reference::Forge("a".into())]),
        ("tool", json!({ "use": "b" }), vec![Reference::Tool("b".into())]),
        ("loop", json!("c"), vec![Reference::Loop("c".into())]),
        ("loop", json!("{{ params.name }}"), vec![]),
    ] {
        assert_eq!(step(verb, &args).unwrap_or_else(|e| panic!("{e:?}")).references(), expected);
    }
}

#[tokio::test]
async fn a_result_is_any_json_and_a_copy() {
    let world = World::new().vars(json!({ "n": 1 }));
    let result = world.run("result", json!({ "n": "{{ state.n }}", "all": ["{{ state }}", true] })).await.unwrap();
    assert_eq!(result, json!({ "n": 1, "all": [{ "n": 1 }, true] }));
}

#[test]
fn mistakes_are_told_at_their_place() {
    for (verb, yaml, place, words) in [
        ("run", "cargo test", "cargo test", "`run: [cargo, test]`"),
        ("run", "argv: ls | wc", "ls | wc", "no shell"),
        ("run", "[ls, {a: 1}]", "{a: 1}", "expected a string"),
        ("run", "[]", "[]", "no program"),
        ("run", "argv: [ls]\ntiemout: 3s", "tiemout", "unknown key"),
        ("run", "argv: [ls]\ntimeout: 3", "3", "write 3s"),
        ("run", "argv: [ls]\ntimeout: 3y", "3y", "unit of time"),
        ("run", "argv: ['echo {{ x }}']\nshell: true", "", "takes no templates"),
        ("write", "path: a", "", "exactly one"),
        ("write", "path: a\ncontent: b\nreplace: {old: a, new: b}", "", "exactly one"),
        ("write", "path: a\nreplace: {old: a}", "replace", "missing key `new`"),
        ("forge", "use: a\nstream: {x: {nod: answer}}", "nod", "unknown key"),
        ("http", "url: http://x\nmethod: FETCH IT", "FETCH IT", "no HTTP method"),
        ("http", "url: http://x\nbody: a\njson: {}", "", "one body"),
        ("artifact", "path: a", "path", "missing key `content`"),
    ] {
        let found = decode_errors(verb, yaml);
        assert!(
            found.iter().any(|(at, message, _)| message.contains(words) && (place.is_empty() || at == place)),
            "{verb}: {yaml}: {found:?}"
        );
    }
}
