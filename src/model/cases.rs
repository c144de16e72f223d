//! The providers against real-world trouble: every row of `tests/cases/stream`, over a socket and byte by byte.

use std::time::{Duration, SystemTime};

use data_encoding::BASE64;
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::failure::retry_after;
use super::gather::Gather;
use super::provider::dialect_for_tests;
use super::raw_http::{Ending, Response, Server};
use super::stream::{End, Flow, Reader};
use super::{BuildContext, ErrorClass, ModelError, NoSink, Reply, Sink, ask, provider};

#[derive(Debug, Deserialize)]
struct Row {
    id: String,
    provider: String,
    status: u16,
    headers: serde_json::Map<String, Value>,
    body_chunks: Vec<Value>,
    #[serde(default)]
    transport_end: Option<String>,
    #[serde(default)]
    now: Option<String>,
    expected: Value,
}

impl Row {
    fn chunks(&self) -> Vec<Vec<u8>> {
        let chunk = |value: &Value| match value {
            Value::String(text) => text.clone().into_bytes(),
            other => BASE64.decode(other["b64"].as_str().unwrap().as_bytes()).unwrap(),
        };
        self.body_chunks.iter().map(chunk).collect()
    }

    fn is_plain_stream(&self) -> bool {
        self.status == 200 && !self.headers.contains_key("content-encoding")
    }

    fn end(&self) -> End {
        match self.transport_end.as_deref() {
            Some("reset") => End::Broken("reset".to_owned()),
            Some("stall") => End::Silent(Duration::from_secs(3)),
            _ => End::Closed,
        }
    }
}

fn rows() -> Vec<Row> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/stream");
    let mut rows = Vec::new();
    for entry in std::fs::read_dir(path).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        rows.extend(serde_json::from_str::<Vec<Row>>(&text).unwrap());
    }
    assert!(rows.len() > 60);
    rows
}

/// What a row's `expected` says, of a result.
fn outcome(result: &Result<Reply, ModelError>) -> Value {
    let (text, reasoning, finish, usage, error) = match result {
        Ok(reply) => (&reply.text, &reply.reasoning, reply.finish.map(super::Finish::name), reply.usage, None),
        Err(error) => (&error.partial_text, &error.partial_reasoning, None, error.usage, Some(error)),
    };
    json!({
        "text": text,
        "reasoning": reasoning,
        "finish": finish,
        "arguments": result.as_ref().ok().map(|reply| {
            reply.calls.iter().map(|call| call.arguments.as_str()).collect::<String>()
        }),
        "usage": usage,
        "error_class": error.map(|error| error.class.name()),
        "retry_after_ms": error.and_then(|error| error.retry_after).map(|wait| wait.as_millis()),
    })
}

/// The members of `expected` where they differ; of usage, only the counters that it names.
fn difference(expected: &Value, got: &Value) -> Option<String> {
    for (key, value) in expected.as_object()? {
        let same = match (key.as_str(), value) {
            ("usage", Value::Object(counters)) => counters.iter().all(|(name, count)| got["usage"][name] == *count),
            _ => got[key] == *value,
        };
        if !same {
            return Some(format!("{key}: expected {value}, got {}", got[key]));
        }
    }
    None
}

fn read(row: &Row, chunks: &[&[u8]], sink: &mut dyn Sink) -> Result<Reply, ModelError> {
    let mut reader = Reader::new(dialect_for_tests(&row.provider).unwrap(), Gather::new(sink, 0));
    for chunk in chunks {
        match reader.push(chunk) {
            Ok(Flow::More) => {}
            Ok(Flow::Done) => return reader.end(&End::Closed),
            Err(error) => return Err(reader.fail(error)),
        }
    }
    reader.end(&row.end())
}

#[test]
fn every_row_over_a_socket() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let mut failures = Vec::new();
    for row in rows() {
        let mut response = Response::status(row.status).body(row.chunks());
        // Pieces that arrive apart.
        if response.chunks.len() > 1 {
            response = response.paced(Duration::from_millis(2));
        }
        for (name, value) in &row.headers {
            response = response.header(name, value.as_str().unwrap());
        }
        response = response.ending(match row.transport_end.as_deref() {
            Some("reset") => Ending::Reset,
            Some("stall") => Ending::Stall,
            _ => Ending::Eof,
        });
        let server = Server::scripted(vec![response]);
        // Only a stall is meant to run into the limit, also on a crowded machine.
        let idle = if row.transport_end.as_deref() == Some("stall") { "300ms" } else { "20s" };
        let settings = json!({ "model": "m", "base_url": server.base_url(), "idle_timeout": idle });
        let model = provider(&row.provider).unwrap().build(&settings, &BuildContext::new("/")).unwrap();
        let mut got = outcome(&runtime.block_on(ask(&*model, "hi")));
        if let Some(now) = &row.now {
            // The clock of a row: the same header, read at that time.
            let now = date(now);
            let headers = row
                .headers
                .iter()
                .map(|(name, value)| (name.parse().unwrap(), value.as_str().unwrap().parse().unwrap()));
            got["retry_after_ms"] = json!(retry_after(&headers.collect(), now).map(|wait| wait.as_millis()));
        }
        failures.extend(difference(&row.expected, &got).map(|words| format!("{}: {words}", row.id)));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_row_byte_by_byte() {
    let mut failures = Vec::new();
    for row in rows().into_iter().filter(Row::is_plain_stream) {
        let body = row.chunks().concat();
        let bytes: Vec<&[u8]> = body.chunks(1).collect();
        let got = outcome(&read(&row, &bytes, &mut NoSink));
        failures.extend(difference(&row.expected, &got).map(|words| format!("{}: {words}", row.id)));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn cuts_change_no_row(cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 1..6)) {
        #[derive(Default)]
        struct Pieces(String, String);
        impl Sink for Pieces {
            fn text(&mut self, piece: &str) {
                self.0.push_str(piece);
            }
            fn reasoning(&mut self, piece: &str) {
                self.1.push_str(piece);
            }
        }
        for row in rows().into_iter().filter(Row::is_plain_stream) {
            let body = row.chunks().concat();
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
            places.sort_unstable();
            let mut chunks = Vec::new();
            let mut from = 0;
            for place in places {
                chunks.push(&body[from..place]);
                from = place;
            }
            chunks.push(&body[from..]);
            let mut pieces = Pieces::default();
            let got = outcome(&read(&row, &chunks, &mut pieces));
            prop_assert_eq!(difference(&row.expected, &got), None, "{}", row.id);
            prop_assert_eq!(&Value::from(pieces.0), &row.expected["text"], "{}", row.id);
            prop_assert_eq!(&Value::from(pieces.1), &row.expected["reasoning"], "{}", row.id);
        }
    }

    #[test]
    fn no_bytes_panic(chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..8)) {
        for entry in super::PROVIDERS {
            let Some(dialect) = dialect_for_tests(entry.name()) else { continue };
            let mut sink = NoSink;
            let mut reader = Reader::new(dialect, Gather::new(&mut sink, 0));
            let _ = chunks.iter().try_for_each(|chunk| reader.push(chunk).map(|_| ()));
            let _ = reader.end(&End::Closed);
        }
    }
}

fn date(text: &str) -> SystemTime {
    // `2026-01-01T00:00:10Z`.
    let (day, time) = text.trim_end_matches('Z').split_once('T').unwrap();
    let parts: Vec<u64> = day.split('-').chain(time.split(':')).map(|part| part.parse().unwrap()).collect();
    let (year, month, day) = (parts[0], parts[1], parts[2]);
    // Days since the epoch, by counting.
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let lengths = [31, if leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let days = (1970..year).map(|year| if leap(year) { 366 } else { 365 }).sum::<u64>()
        + lengths[..month as usize - 1].iter().sum::<u64>()
        + day
        - 1;
    SystemTime::UNIX_EPOCH + Duration::from_secs(days * 86400 + parts[3] * 3600 + parts[4] * 60 + parts[5])
}

#[test]
fn silence_before_the_answer_is_a_timeout() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let server = Server::scripted(vec![Response { delay: Duration::from_secs(2), ..Response::says("late") }]);
    let settings = json!({ "model": "m", "base_url": server.base_url(), "idle_timeout": "100ms" });
    let model = provider("openai").unwrap().build(&settings, &BuildContext::new("/")).unwrap();
    let error = runtime.block_on(ask(&*model, "hi")).unwrap_err();
    assert_eq!(error.class, ErrorClass::Timeout);
}
