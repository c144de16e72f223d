//! Tables of kinds: every repair, and every rule about what counts as the action.

use super::live::{chars, show, text_of};
use super::*;

fn table(name: &str) -> Vec<Value> {
    let path = format!("{}/tests/cases/reply/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn grammar() -> Grammar {
    let note = |required| IndexMap::from([("NOTE".to_owned(), TagRule { required })]);
    let action = |params, tags| Arc::new(ActionGrammar::new(params, tags));
    let write = json!({"type": "object", "properties": {
        "text": {"type": "string"}, "count": {"type": "integer"}, "size": {"type": "number"}, "flag": {"type": "boolean"},
        "list": {"type": "array", "items": {"type": "string"}}, "map": {"type": "object"},
        "level": {"enum": ["high", "low"]}}});
    let need = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let call = json!({"type": "object", "required": ["tool"], "properties": {
        "tool": {"type": "string"}, "params": {"type": "object"},
        "maybe": {"anyOf": [{"$ref": "#/$defs/number"}, {"type": "null"}]}}, "$defs": {"number": {"type": "integer"}}});
    Grammar::new(
        "n1",
        [
            ("write".to_owned(), action(write, note(false))),
            ("need".to_owned(), action(need, note(false))),
            ("call".to_owned(), action(call, note(false))),
            ("report".to_owned(), action(json!({"type": "object", "properties": {}}), note(true))),
            ("stop".to_owned(), action(json!({"type": "object", "properties": {}}), note(false))),
        ],
    )
}

fn finish(row: &Value) -> Finish {
    match row.get("finish").and_then(Value::as_str) {
        None => Finish::Stop,
        Some("length") => Finish::Length,
        Some(_) => Finish::Unknown,
    }
}

/// The row's action, parameters and tags are what came out, and what was shown.
fn assert_taken(row: &Value, grammar: &Grammar) -> Extracted {
    let raw = row["raw"].as_str().unwrap();
    let extracted = extract(raw, finish(row), grammar).unwrap_or_else(|rejection| panic!("{raw}: {rejection:?}"));
    let action = row.get("action").and_then(Value::as_str).unwrap_or("write");
    let tags = row.get("tags").cloned().unwrap_or_else(|| json!({}));
    assert_eq!(
        outcome(&Ok(extracted.clone())),
        json!({"action": action, "params": row["params"], "tags": tags}),
        "{raw}\n{extracted:?}"
    );
    let shown = show(chars(raw), grammar);
    assert_eq!(shown, show([raw], grammar), "{raw}");
    assert_eq!(shown.tags, extracted.tags, "{raw}");
    extracted
}

#[test]
fn every_repair_is_made_and_named() {
    let grammar = grammar();
    for row in table("repairs.json") {
        let extracted = assert_taken(&row, &grammar);
        let kind = row["kind"].as_str().unwrap();
        assert!(extracted.repairs.iter().any(|repair| repair.kind == kind), "{row}\n{:?}", extracted.repairs);
    }
}

#[test]
fn repaired_strings_are_shown_as_they_are_taken() {
    let grammar = grammar();
    for row in table("repairs.json") {
        let shown = show(chars(row["raw"].as_str().unwrap()), &grammar);
        for (key, value) in row["params"].as_object().unwrap() {
            // What coercion changes is shown as it was written, and what never closes is not shown.
            let open = row["kind"] == "missing_closer" && !value.is_string();
            if row["kind"] != "coerced" && !open {
                assert_eq!(shown.fields.get(&format!("write.{key}")), Some(&text_of(value)), "{row}");
            }
        }
    }
}

#[test]
fn every_kind() {
    let grammar = grammar();
    for row in table("kinds.json") {
        let Some(class) = row.get("error") else {
            assert_taken(&row, &grammar);
            continue;
        };
        let raw = row["raw"].as_str().unwrap();
        let rejection = extract(raw, finish(&row), &grammar).expect_err(raw);
        assert_eq!(rejection.class.as_str(), class.as_str().unwrap(), "{raw}: {rejection:?}");
        if let Some(says) = row.get("says") {
            assert!(rejection.message.contains(says.as_str().unwrap()), "{raw}: {}", rejection.message);
        }
    }
}

#[test]
fn a_tool_call_goes_the_same_way() {
    let grammar = grammar();
    let call = |name: &str, arguments: &str| extract_tool_call(name, arguments, "", Finish::ToolCalls, &grammar);
    assert_eq!(call("write", "{\"count\":\"7\",}").unwrap().params, *json!({"count": 7}).as_object().unwrap());
    assert_eq!(call("stop", "").unwrap().action, "stop");
    assert_eq!(call("Stop", "null").unwrap().action, "stop");
    assert_eq!(call("need", "\"{\\\"name\\\":\\\"x\\\"}\"").unwrap().params["name"], "x");
    assert_eq!(call("report", "{\"NOTE\":\"body\"}").unwrap().tags["NOTE"], "body");
    assert_eq!(call("need", "{\"name\":\"x\"").unwrap_err().class, RejectClass::Truncated);
    assert_eq!(call("need", "[1]").unwrap_err().class, RejectClass::Malformed);
    assert_eq!(call("nead", "{}").unwrap_err().class, RejectClass::UnknownAction);
    assert_eq!(call("report", "{}").unwrap_err().class, RejectClass::MissingParam);
}

#[test]
fn the_text_of_a_tool_call_gives_tags_and_nothing_else() {
    let grammar = grammar();
    let call = |arguments: &str, text: &str| extract_tool_call("report", arguments, text, Finish::ToolCalls, &grammar);
    let text = "{\"@action\":\"stop\"} <|NOTE_n1|>\nbody\n<|NOTE_END_n1|>";
    let extracted = call("", text).unwrap();
    assert_eq!((extracted.action.as_str(), extracted.tags["NOTE"].as_str()), ("report", "body"));
    assert_eq!(call("{}", "<|NOTE_n1|>bo").unwrap_err().class, RejectClass::Truncated);
    // Arguments that close their own object early cannot reach into the text.
    assert_eq!(call("{}},{\"@action\":\"stop\"}", text).unwrap().action, "report");
}

#[test]
fn an_object_is_found_without_an_action() {
    let object = |raw: &str, finish| extract_object(raw, finish).map(|(value, _)| value);
    let long = "For {x}, as in {\"a\":1}: <think>{\"b\":[1,2,3,4,5,6,7,8]}</think>\n```json\n{\"a\":2,\"c\":[3]}\n```";
    assert_eq!(object(long, Finish::Stop).unwrap(), json!({"a": 2, "c": [3]}));
    assert_eq!(object("{'a': 'it's', }", Finish::Stop).unwrap(), json!({"a": "it's"}));
    assert_eq!(object("{\"a\":{\"b\":1},\"c\":\"d", Finish::Stop).unwrap_err().class, RejectClass::Truncated);
    assert_eq!(object("{\"a\":{\"b\":1}", Finish::Length).unwrap_err().class, RejectClass::Truncated);
    assert_eq!(object("{\"a\":{\"b\":1}", Finish::Stop).unwrap(), json!({"a": {"b": 1}}));
    assert_eq!(object("Sorry.", Finish::Stop).unwrap_err().class, RejectClass::NoAction);
}
