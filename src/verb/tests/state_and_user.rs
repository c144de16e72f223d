//! Verbs that change the state or speak to the user.

use serde_json::json;

use super::support::{World, step};
use crate::event::Event;
use crate::verb::Reference;

fn world() -> World {
    World::new()
        .vars(json!({ "count": { "type": "integer" }, "found": { "type": "array" } }))
        .with("params", json!({ "kind": "login", "n": 2 }))
}

#[tokio::test]
async fn set_keeps_types_and_sets_all_or_none() {
    let world = world();
    world.run("set", json!({ "count": "{{ params.n }}", "found": "{{ state.found + [params] }}" })).await.unwrap();
    let read = |name: &str| serde_json::to_value(world.state.lock().unwrap().vars.get(name).unwrap()).unwrap();
    assert_eq!(read("count"), json!(2));
    assert_eq!(read("found"), json!([{ "kind": "login", "n": 2 }]));
    assert_eq!(
        world.events(),
        [Event::StateSet { values: json!({ "count": 2, "found": [{ "kind": "login", "n": 2 }] }) }]
    );

    let error = world.run("set", json!({ "count": 7, "found": "text" })).await.unwrap_err();
    assert!(error.contains("found"), "{error}");
    assert_eq!(read("count"), json!(2), "a failed `set` sets nothing");
    let error = world.run("set", json!({ "cuont": 7 })).await.unwrap_err();
    assert!(error.contains("cuont") && error.contains("count"), "{error}");
    let refs = step("set", &json!({ "count": 1 })).unwrap_or_else(|e| panic!("{e:?}")).references();
    assert_eq!(refs, [Reference::State("count".into())]);
}

#[tokio::test]
async fn a_view_of_the_state_can_be_stored_in_the_state() {
    let world = world();
    world.run("set", json!({ "found": ["{{ state }}", "{{ run.iteration }}"] })).await.unwrap();
    world.run("timeline", json!({ "state": "{{ state }}" })).await.unwrap();
    world.run("timeline", json!({ "all": "{{ timeline }}" })).await.unwrap();
    assert_eq!(world.state.lock().unwrap().timeline_all.len(), 2);
}

#[tokio::test]
async fn feedback_takes_a_text_a_list_or_a_template_that_gives_a_list() {
    let world = world().with("lines", json!(["a", "", "b"]));
    world.run("feedback", json!("kind {{ params.kind }}")).await.unwrap();
    world.run("feedback", json!(["one", "{{ params.n }}"])).await.unwrap();
    world.run("feedback", json!("{{ lines }}")).await.unwrap();
    assert_eq!(world.state.lock().unwrap().feedback, ["kind login", "one", "2", "a", "b"]);
    assert_eq!(world.events().len(), 5);
}

#[tokio::test]
async fn timeline_takes_kinds_or_a_note() {
    let world = world();
    world.run("timeline", json!({ "anomaly": "{{ params }}", "seen": "{{ params.n }}" })).await.unwrap();
    world.run("timeline", json!("read it")).await.unwrap();
    let entries = world.events();
    assert_eq!(
        entries,
        [
            Event::Timeline { entry: json!({ "kind": "anomaly", "content": { "kind": "login", "n": 2 } }) },
            Event::Timeline { entry: json!({ "kind": "seen", "content": 2 }) },
            Event::Timeline { entry: json!({ "kind": "note", "content": "read it" }) },
        ]
    );
    assert_eq!(world.state.lock().unwrap().timeline.len(), 3);
}

#[tokio::test]
async fn evidence_is_added_updated_and_removed_by_id() {
    let world = world();
    world.run("evidence", json!({ "add": { "{{ params.kind }}": "{{ params.n }}", "b": ["x"] } })).await.unwrap();
    let all = world.run("evidence", json!({ "update": { "login": 3 }, "remove": ["b"] })).await.unwrap();
    assert_eq!(all, json!({ "login": 3 }));
    for (args, word) in [
        (json!({ "add": { "login": 1 } }), "exists already"),
        (json!({ "update": { "nope": 1 } }), "login"),
        (json!({ "remove": "nope" }), "no evidence `nope`"),
    ] {
        let error = world.run("evidence", args).await.unwrap_err();
        assert!(error.contains(word), "{error}");
    }
    assert_eq!(world.events().last(), Some(&Event::Evidence { evidence: json!({ "login": 3 }) }));
}

#[tokio::test]
async fn todos_are_set_added_worked_on_and_done() {
    let world = world();
    let list = world.run("todo", json!(["read", { "id": "w", "text": "write" }])).await.unwrap();
    assert_eq!(
        list,
        json!([
            { "id": "1", "text": "read", "status": "open" },
            { "id": "w", "text": "write", "status": "open" }
        ])
    );
    let list = world.run("todo", json!({ "done": "1", "current": "w", "add": "{{ params.kind }}" })).await.unwrap();
    assert_eq!(
        list,
        json!([
            { "id": "1", "text": "read", "status": "done" },
            { "id": "w", "text": "write", "status": "current" },
            { "id": "3", "text": "login", "status": "open" }
        ])
    );
    let error = world.run("todo", json!({ "done": "9" })).await.unwrap_err();
    assert!(error.contains("no todo `9`") && error.contains("1, w, 3"), "{error}");
    let list = world.run("todo", json!({ "remove": ["1", "w"] })).await.unwrap();
    assert_eq!(list, json!([{ "id": "3", "text": "login", "status": "open" }]));
    assert_eq!(world.events().last(), Some(&Event::Todo { todo: list }));
}

#[tokio::test]
async fn what_people_read_reaches_them() {
    let world = world();
    world.run("thought", json!("{{ params.kind }}?")).await.unwrap();
    world.run("status", json!("{{ params.n }} of 3")).await.unwrap();
    world.run("answer", json!({ "text": "done: {{ params.kind }}", "content_type": "text/plain" })).await.unwrap();
    world.run("emit", json!({ "name": "sorted", "data": { "n": "{{ params.n }}" } })).await.unwrap();
    let text = |s: &str| s.to_owned();
    assert_eq!(
        world.events(),
        [
            Event::Delta { node: text("thought"), content_type: text("text/markdown"), text: text("login?") },
            Event::Status { text: text("2 of 3") },
            Event::Answer { text: text("done: login"), content_type: text("text/plain"), streamed: false },
            Event::Emit { name: text("sorted"), data: json!({ "n": 2 }) },
        ]
    );
    assert_eq!(world.state.lock().unwrap().answer.as_deref(), Some("done: login"));
}

#[tokio::test]
async fn an_answer_that_was_streamed_says_so() {
    let world = world();
    world.state.lock().unwrap().streamed.insert("answer".into(), "all fine\n".into());
    world.run("answer", json!("all fine")).await.unwrap();
    world.run("answer", json!("something else")).await.unwrap();
    let streamed: Vec<bool> = world
        .events()
        .iter()
        .filter_map(|e| if let Event::Answer { streamed, .. } = e { Some(*streamed) } else { None })
        .collect();
    assert_eq!(streamed, [true, false]);
}

#[tokio::test]
async fn a_question_gives_the_answer_or_none() {
    let mut world = world();
    assert_eq!(world.run("ask", json!("Which {{ params.kind }}?")).await.unwrap(), json!(null));
    world.host.answer = Some("no".into());
    let answer = world.run("ask", json!({ "question": "Go on?", "options": ["yes", "no"] })).await.unwrap();
    assert_eq!(answer, json!("no"));
    let asked = world.host.asked.lock().unwrap().clone();
    assert_eq!(asked, [r#"("Which login?", [])"#, r#"("Go on?", ["yes", "no"])"#]);
}

#[tokio::test]
async fn the_next_turn_is_bound() {
    let world = world();
    world.run("next_actions", json!(["a", "{{ params.kind }}"])).await.unwrap();
    world.run("forbid_actions", json!("b")).await.unwrap();
    for verb in ["forbid_exit_next", "request_async", "silence"] {
        world.run(verb, json!(true)).await.unwrap();
    }
    let binding = {
        let mut state = world.state.lock().unwrap();
        assert!(state.request_async && state.silence);
        state.take_binding()
    };
    assert_eq!(binding.only, Some(vec!["a".to_owned(), "login".to_owned()]));
    assert_eq!((binding.forbidden, binding.no_exit), (vec!["b".to_owned()], true));
    assert!(world.run("next_actions", json!([])).await.is_err());
    let refs = step("next_actions", &json!(["a", "{{ x }}"])).unwrap_or_else(|e| panic!("{e:?}")).references();
    assert_eq!(refs, [Reference::Action("a".into())]);
}

#[tokio::test]
async fn a_template_that_fails_is_the_steps_failure() {
    let error = world().run("feedback", json!("{{ params.missing }}")).await.unwrap_err();
    assert!(error.contains("missing"), "{error}");
}

#[test]
fn wrong_arguments_are_refused() {
    for (verb, args) in [
        ("feedback", json!({ "text": "x" })),
        ("answer", json!({ "txt": "x" })),
        ("emit", json!({ "data": 1 })),
        ("evidence", json!({ "added": {} })),
        ("todo", json!(3)),
        ("silence", json!("yes please")),
        ("set", json!(["a"])),
    ] {
        assert!(step(verb, &args).is_err(), "{verb}: {args}");
    }
}
