//! Calls on a clock that stands still: nothing here waits.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value as Json, json};
use tokio::time::Instant;

use super::*;
use crate::syntax::decode;

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Crate {
    /// How many apples lie in it.
    apples: u32,
}

/// What the skill `work` does when it is called for the nth time, from 1.
type Script = Arc<dyn Fn(u32) -> Act + Send + Sync>;

enum Act {
    Give(Json),
    Fail(&'static str),
    Panic(&'static str),
    Sleep(Duration, &'static str),
}

struct Work {
    calls: Arc<AtomicU32>,
    script: Script,
}

impl Skill for Work {
    fn definition(&self) -> Definition {
        Manifest::new("work", "Works.").definition
    }

    fn invoke(&self, _: Json) -> std::pin::Pin<Box<dyn Future<Output = Result<SkillOutput, BoxError>> + Send + '_>> {
        let act = (self.script)(self.calls.fetch_add(1, Ordering::Relaxed) + 1);
        if let Act::Panic("at once") = act {
            panic!("at once");
        }
        Box::pin(async move {
            match act {
                Act::Give(data) => Ok(SkillOutput::of(data)),
                Act::Fail(words) => Err(words.into()),
                Act::Panic(words) => panic!("{words}"),
                Act::Sleep(time, words) => {
                    tokio::time::sleep(time).await;
                    Ok(SkillOutput::of(json!(words)))
                }
            }
        })
    }
}

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// An invoker of `work` inside layers that are written as in a document, and the number of times that it worked.
fn invoker(layers: Json, script: impl Fn(u32) -> Act + Send + Sync + 'static) -> (Invoker, Arc<AtomicU32>) {
    let calls = Arc::new(AtomicU32::new(0));
    let mut registry = Registry::new();
    registry.register(Work { calls: Arc::clone(&calls), script: Arc::new(script) }).unwrap();
    (Invoker::new(registry).middleware(layers_of(layers)), calls)
}

fn layers_of(layers: Json) -> Vec<Middleware> {
    let mut found = crate::diag::Diagnostics::new();
    let layers = decode(&crate::syntax::Node::synthetic(&layers), &mut found);
    layers.unwrap_or_else(|| panic!("{found:?}"))
}

async fn work(invoker: &Invoker) -> SkillResult {
    invoker.invoke(Call::new("work", Json::Null)).await
}

fn count(calls: &AtomicU32) -> u32 {
    calls.load(Ordering::Relaxed)
}

#[tokio::test]
async fn err_not_found_is_a_result_with_the_nearest_name() {
    let (invoker, _) = invoker(json!([]), |_| Act::Give(json!("x")));
    let result = invoker.invoke(Call::new("wrok", Json::Null)).await;
    assert!(result.is_error && result.content.contains("did you mean `work`?"), "{result:?}");
    assert_eq!(result.error, Some(Failure::NotFound { name: "wrok".into(), near: Some("work".into()) }));
}

#[tokio::test]
async fn err_invalid_arguments_says_where_they_do_not_fit() {
    let skill = FnSkill::new(Manifest::new("count", "Counts."), |_: Crate| async move { Ok(1) });
    let invoker = Invoker::new(Registry::with([Arc::new(skill) as Arc<dyn Skill>]).unwrap());
    for (arguments, words) in [
        ("{\"apples\": \"many\"}", "/apples: "),
        ("{}", "\"apples\" is a required property"),
        ("", "\"apples\" is a required property"),
        ("{\"apples\": 1, \"pears\": 2}", "pears"),
        ("{\"apples\": ", "they are no JSON"),
        ("[1]", "is not of type \"object\""),
    ] {
        let result = invoker.invoke(Call::parse("count", arguments)).await;
        assert!(result.is_error && result.content.contains(words), "{arguments}: {}", result.content);
        assert!(matches!(result.error, Some(Failure::InvalidArguments(_))), "{arguments}");
    }
}

#[tokio::test]
async fn new_func_takes_its_schema_from_the_type_and_gives_its_value_as_text_and_data() {
    let skill = FnSkill::new(Manifest::new("count", "Counts.").instructions("Count."), |input: Crate| async move {
        if input.apples == 13 { Err("unlucky".into()) } else { Ok(json!({ "sum": input.apples * 2 })) }
    });
    let schema = skill.definition().input_schema.unwrap();
    assert_eq!(schema["properties"]["apples"]["description"], "How many apples lie in it.");
    assert_eq!((skill.instructions(), &schema["required"]), ("Count.", &json!(["apples"])));
    let own = FnSkill::new(Manifest::new("x", "X.").input_schema(json!(true)), |_: Json| async { Ok(()) });
    assert_eq!(own.definition().input_schema, Some(json!(true)));
    let mut registry = Registry::new();
    registry.register(skill).unwrap();
    let invoker = Invoker::new(registry);
    let result = invoker.invoke(Call::new("count", json!({ "apples": 3 }))).await;
    assert_eq!((result.content.as_str(), result.data, result.is_error), ("{\"sum\":6}", json!({ "sum": 6 }), false));
    let result = invoker.invoke(Call::new("count", json!({ "apples": 13 }))).await;
    assert_eq!((result.content.as_str(), result.is_error), ("unlucky", true));
}

#[tokio::test]
async fn a_static_skill_gives_its_instructions() {
    let skill = StaticSkill::new(Manifest::new("style", "House style.").instructions("Write short."));
    assert_eq!(skill.definition().input_schema, None);
    let invoker = Invoker::new(Registry::with([Arc::new(skill) as Arc<dyn Skill>]).unwrap());
    let result = invoker.invoke(Call::parse("style", "")).await;
    assert_eq!((result.content.as_str(), result.is_error), ("Write short.", false));
}

#[test]
fn a_registry_has_each_name_once_and_lists_in_order() {
    let skill = |name: &str, text: &str| {
        Arc::new(StaticSkill::new(Manifest::new(name, "D.").instructions(text))) as Arc<dyn Skill>
    };
    let mut registry = Registry::with([skill("b", "Second."), skill("a", "First."), skill("c", "")]).unwrap();
    assert_eq!(registry.register_shared(skill("a", "Other.")), Err(DuplicateSkill("a".into())));
    assert_eq!(registry.get("a").unwrap().instructions(), "First.");
    let names: Vec<String> = registry.definitions().into_iter().map(|skill| skill.name).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(registry.instructions(), "## a\n\nFirst.\n\n## b\n\nSecond.\n");
    assert!(Registry::with([skill("a", ""), skill("a", "")]).is_err());
}

#[test]
fn a_manifest_is_its_definition_with_the_rest_beside_it() {
    let manifest = Manifest::new("a", "A.").instructions("Do.");
    let json = json!({ "name": "a", "description": "A.", "instructions": "Do." });
    assert_eq!(serde_json::to_value(&manifest).unwrap(), json);
    assert_eq!(serde_json::from_value::<Manifest>(json).unwrap(), manifest);
}

#[test]
fn schema_helpers_make_a_schema_that_validates() {
    let schema = object_schema(
        "A crate.",
        [
            ("name", string_property("Its name.")),
            ("apples", integer_property("How many.")),
            ("weight", number_property("In kilograms.")),
            ("open", boolean_property("Whether it is open.")),
        ],
        &["name"],
    );
    let validator = ArgumentsValidator::new(schema);
    assert_eq!(validator.check(&json!({ "name": "x", "apples": 3, "weight": 1.5, "open": true })), Ok(()));
    for wrong in
        [json!({}), json!({ "name": 1 }), json!({ "name": "x", "apples": 1.5 }), json!({ "name": "x", "z": 1 })]
    {
        assert!(validator.check(&wrong).is_err(), "{wrong}");
    }
    for wrong in [json!({ "name": "x", "open": "yes" }), json!({ "name": "x", "weight": "1" })] {
        assert!(validator.check(&wrong).is_err(), "{wrong}");
    }
}

#[tokio::test]
async fn a_result_never_shows_its_error_to_the_model_twice() {
    let (invoker, _) = invoker(json!([]), |_| Act::Fail("no crate"));
    let result = work(&invoker).await;
    assert_eq!(serde_json::to_value(&result).unwrap(), json!({ "content": "no crate", "is_error": true }));
    assert_eq!(result.error, Some(Failure::Failed("no crate".into())));
}

#[tokio::test]
async fn recover_makes_a_panic_a_failure_wherever_it_happens() {
    for words in ["at once", "later"] {
        let (invoker, _) = invoker(json!([{ "retry": 3 }]), move |_| Act::Panic(words));
        let result = work(&invoker).await;
        assert_eq!(result.error, Some(Failure::Panicked(words.into())));
        assert!(result.is_error && result.content.contains(words));
    }
}

/// A layer that panics itself: only what lies around all layers can catch that.
#[derive(Clone)]
struct Breaks<S>(S);

struct BreaksLayer;

impl<S> tower::Layer<S> for BreaksLayer {
    type Service = Breaks<S>;

    fn layer(&self, inner: S) -> Breaks<S> {
        Breaks(inner)
    }
}

impl<'a, S: tower::Service<Invocation<'a, SkillOutput>>> tower::Service<Invocation<'a, SkillOutput>> for Breaks<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), S::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, _: Invocation<'a, SkillOutput>) -> S::Future {
        panic!("a layer broke")
    }
}

#[tokio::test]
async fn recover_stands_once_more_around_everything() {
    let (invoker, calls) = invoker(json!([]), |_| Act::Give(json!("x")));
    let result = work(&invoker.layer(&BreaksLayer)).await;
    assert_eq!(result.error, Some(Failure::Panicked("a layer broke".into())));
    assert_eq!(count(&calls), 0);
}

/// Counts what is dropped before it ended.
struct Dropped(Arc<AtomicU32>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test(start_paused = true)]
async fn timeout_says_its_time_and_stops_the_work() {
    let dropped = Arc::new(AtomicU32::new(0));
    let guard = Arc::clone(&dropped);
    let skill = FnSkill::new(Manifest::new("slow", "Sleeps."), move |_: Json| {
        let guard = Dropped(Arc::clone(&guard));
        async move {
            tokio::time::sleep(secs(3600)).await;
            drop(guard);
            Ok(())
        }
    });
    let invoker = Invoker::new(Registry::with([Arc::new(skill) as Arc<dyn Skill>]).unwrap())
        .middleware(layers_of(json!([{ "timeout": "90s" }])));
    let started = Instant::now();
    let result = invoker.invoke(Call::new("slow", json!({}))).await;
    assert_eq!((result.content.as_str(), started.elapsed()), ("timed out after 1m30s", secs(90)));
    assert_eq!((result.error, dropped.load(Ordering::Relaxed)), (Some(Failure::TimedOut(secs(90))), 1));
}

#[tokio::test]
async fn validate_refuses_a_result_that_does_not_fit_and_retry_outside_asks_again() {
    let layers = json!([{ "validate": { "result": { "content": "string!", "data": "object!" } } }, { "retry": { "times": 1, "backoff": "1ms" } }]);
    let (invoker, calls) =
        invoker(layers.clone(), |n| Act::Give(if n == 1 { json!("text") } else { json!({ "a": 1 }) }));
    assert_eq!((work(&invoker).await.data, count(&calls)), (json!({ "a": 1 }), 2));
    let (invoker, _) = self::invoker(layers, |_| Act::Give(json!("text")));
    let result = work(&invoker).await;
    assert!(result.content.starts_with("the result does not fit: /data: "), "{}", result.content);
}

#[tokio::test(start_paused = true)]
async fn retry_tries_again_with_doubling_waits() {
    let (invoker, calls) = invoker(json!([{ "retry": { "times": 3, "backoff": "1s" } }]), |n| match n {
        1..=3 => Act::Fail("busy"),
        _ => Act::Give(json!("done")),
    });
    let started = Instant::now();
    assert_eq!(work(&invoker).await.content, "done");
    assert_eq!((count(&calls), started.elapsed()), (4, secs(1 + 2 + 4)));
    let (invoker, calls) = self::invoker(json!([{ "retry": 1 }]), |_| Act::Fail("busy"));
    assert_eq!((work(&invoker).await.content.as_str(), count(&calls)), ("busy", 2));
}

#[tokio::test]
async fn retry_does_not_repeat_a_panic() {
    let (invoker, calls) = invoker(json!([{ "retry": 3 }]), |_| Act::Panic("half done"));
    assert!(work(&invoker).await.is_error);
    assert_eq!(count(&calls), 1);
}

#[tokio::test(start_paused = true)]
async fn the_first_layer_is_innermost() {
    let slow = |_| Act::Sleep(secs(4), "late");
    // Each of three attempts has three seconds.
    let (invoker, calls) = invoker(json!([{ "timeout": "3s" }, { "retry": { "times": 2, "backoff": "1s" } }]), slow);
    let started = Instant::now();
    assert_eq!(work(&invoker).await.content, "timed out after 3s");
    assert_eq!((count(&calls), started.elapsed()), (3, secs(3 + 1 + 3 + 2 + 3)));
    // Three seconds for all attempts.
    let (invoker, calls) =
        self::invoker(json!([{ "retry": { "times": 2, "backoff": "1s" } }, { "timeout": "3s" }]), slow);
    let started = Instant::now();
    assert_eq!(work(&invoker).await.content, "timed out after 3s");
    assert_eq!((count(&calls), started.elapsed()), (1, secs(3)));
}

#[tokio::test(start_paused = true)]
async fn concurrency_lets_so_many_work_at_once() {
    let (invoker, _) = invoker(json!([{ "concurrency": 2 }]), |_| Act::Sleep(secs(1), "done"));
    let started = Instant::now();
    let results = futures_util::future::join_all((0..5).map(|_| work(&invoker))).await;
    assert!(results.iter().all(|result| result.content == "done"));
    assert_eq!(started.elapsed(), secs(3));
}

#[tokio::test(start_paused = true)]
async fn rate_limit_spreads_calls_over_time() {
    let layers = json!([{ "rate_limit": { "calls": 2, "per": "10s", "max_wait": "15s" } }]);
    let (invoker, _) = invoker(layers, |_| Act::Give(json!("done")));
    let mut ends = Vec::new();
    let started = Instant::now();
    for _ in 0..5 {
        assert!(!work(&invoker).await.is_error);
        ends.push(started.elapsed().as_secs());
    }
    assert_eq!(ends, [0, 0, 10, 10, 20]);
}

#[tokio::test(start_paused = true)]
async fn rate_limit_refuses_a_turn_that_is_too_far_off() {
    let layers = json!([{ "rate_limit": { "calls": 1, "per": "1m", "max_wait": "30s" } }]);
    let (invoker, calls) = invoker(layers, |_| Act::Give(json!("done")));
    assert!(!work(&invoker).await.is_error);
    tokio::time::advance(secs(20)).await;
    let result = work(&invoker).await;
    assert_eq!(result.content, "called too often: 1 calls in 1m are allowed, and the next is free in 40s");
    tokio::time::advance(secs(20)).await;
    assert_eq!((work(&invoker).await.content.as_str(), count(&calls)), ("done", 2));
}

#[tokio::test(start_paused = true)]
async fn cache_keeps_results_for_a_while_and_failures_never() {
    let script = |n| if n == 2 { Act::Fail("busy") } else { Act::Give(json!(n)) };
    let (invoker, calls) = invoker(json!([{ "cache": { "ttl": "10s", "size": 2 } }]), script);
    let call = |arguments: Json| invoker.invoke(Call::new("work", arguments));
    assert_eq!(call(json!({ "a": 1, "b": [2] })).await.data, json!(1));
    assert_eq!(call(json!({ "b": [2], "a": 1 })).await.data, json!(1), "the order of keys does not matter");
    assert!(call(json!({ "a": 2 })).await.is_error);
    assert_eq!(call(json!({ "a": 2 })).await.data, json!(3), "a failure is not kept");
    tokio::time::advance(secs(11)).await;
    assert_eq!(call(json!({ "a": 2 })).await.data, json!(4), "a result holds for ten seconds");
    for n in 5..8 {
        call(json!({ "n": n })).await;
    }
    assert_eq!(call(json!({ "a": 2 })).await.data, json!(8), "the oldest of three goes");
    assert_eq!(count(&calls), 8);
}

/// A subscriber that keeps what is logged.
struct Log(Arc<Mutex<Vec<String>>>);

impl tracing::Subscriber for Log {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target() == "loopwright::invoke"
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        struct Fields(String);
        impl tracing::field::Visit for Fields {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                self.0.push_str(&format!(" {field}={value:?}"));
            }
        }
        let mut fields = Fields(event.metadata().level().to_string());
        event.record(&mut fields);
        self.0.lock().unwrap().push(fields.0);
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

#[tokio::test(start_paused = true)]
async fn logging_says_what_was_called_and_how_it_ended() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let _guard = tracing::subscriber::set_default(Log(Arc::clone(&lines)));
    for (act, ended) in [("ok", "done"), ("fail", "failed"), ("panic", "panic"), ("slow", "timeout")] {
        let (invoker, _) = invoker(json!([{ "timeout": "1s" }, { "logging": "info" }]), move |_| match act {
            "ok" => Act::Give(json!("secret")),
            "fail" => Act::Fail("secret"),
            "panic" => Act::Panic("secret"),
            _ => Act::Sleep(secs(2), "secret"),
        });
        work(&invoker).await;
        let ms = if act == "slow" { 1000 } else { 0 };
        let seen = std::mem::take(&mut *lines.lock().unwrap());
        let wanted = [
            "INFO message=call name=\"work\"".to_owned(),
            format!("INFO message=called name=\"work\" ms={ms} ended=\"{ended}\""),
        ];
        assert_eq!(seen, wanted, "{act}");
    }
}

#[tokio::test(start_paused = true)]
async fn waits_end_when_the_caller_gives_up() {
    let stop = tokio_util::sync::CancellationToken::new();
    let layers = json!([{ "rate_limit": { "calls": 1, "per": "1h", "max_wait": "2h" } }, { "retry": { "times": 9, "backoff": "1h" } }]);
    let (invoker, _) = invoker(layers.clone(), |_| Act::Give(json!("done")));
    assert!(!work(&invoker).await.is_error);
    let started = Instant::now();
    let give_up = async {
        tokio::time::sleep(secs(5)).await;
        stop.cancel();
    };
    let (result, ()) = tokio::join!(invoker.invoke_until(Call::new("work", Json::Null), &stop), give_up);
    assert_eq!((result.content.as_str(), started.elapsed()), ("stopped while waiting", secs(5)), "for its turn");
    let (invoker, _) = self::invoker(layers, |_| Act::Fail("busy"));
    let result = invoker.invoke_until(Call::new("work", Json::Null), &stop).await;
    assert_eq!((result.content.as_str(), started.elapsed()), ("stopped while waiting", secs(5)), "for another attempt");
}

#[test]
fn recover_cannot_be_switched_off() {
    assert_eq!(layers_of(json!([{ "recover": true }]))[0].name(), "recover");
    let mut found = crate::diag::Diagnostics::new();
    let layers = crate::syntax::Node::synthetic(&json!([{ "recover": false }]));
    assert_eq!(decode::<Vec<Middleware>>(&layers, &mut found), None);
    assert!(found.iter().any(|finding| finding.message.contains("always on")), "{found:?}");
}
