//! One JSON object out of a text, starting at its brace: strict if it can be, else with repairs.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::chars::{Quote, char_at, is_bare_key, is_blank, narrow};
use super::closing::Decision;
use super::lenient::{Event, Fault, Reader, Status};
use super::repair::{Kind, Log};

/// A whole object.
#[derive(Debug)]
pub(super) struct Object {
    /// Its members under trimmed keys.
    pub(super) members: Map<String, Value>,
    /// The byte after it.
    pub(super) end: usize,
    /// What was repaired.
    pub(super) log: Log,
    /// Two values of `@action` that differ.
    pub(super) conflict: bool,
}

/// What stands at a brace.
#[derive(Debug)]
pub(super) enum Read {
    /// An object.
    Object(Object),
    /// Something that cannot be read.
    Broken {
        /// What is wrong, and where.
        fault: Fault,
        /// A key `@action` was read before that.
        action_shown: bool,
        /// What the reading has cost, in bytes.
        cost: usize,
    },
    /// A brace that begins no object.
    Brace,
}

/// Reads the object whose brace stands at `start`. `close` allows to add missing brackets at the end of the text.
pub(super) fn read(text: &str, start: usize, close: bool) -> Read {
    if !may_begin(text, start) {
        return Read::Brace;
    }
    match read_strict(text, start) {
        Strict::Object(object) => Read::Object(object),
        // All of it is valid so far: the only repair is to close brackets, and no quote is in doubt.
        Strict::Cut => read_lenient(text, start, close, Decision::Close),
        Strict::Invalid => read_lenient(text, start, close, Decision::Inner),
    }
}

/// A quick look: after a brace comes a key, its end, or something that a repair can skip.
fn may_begin(text: &str, start: usize) -> bool {
    let width = char_at(text, start).map_or(1, char::len_utf8);
    let Some(c) = text[start + width..].chars().find(|&c| !is_blank(c)) else { return false };
    follows_brace(c)
}

/// Whether an object can go on so after its brace.
pub(super) fn follows_brace(c: char) -> bool {
    is_blank(c) || Quote::of(c).is_some() || is_bare_key(c) || matches!(narrow(c), '}' | ',' | '/' | '#')
}

enum Strict {
    Object(Object),
    /// The text ends before the object does, and is valid up to there.
    Cut,
    Invalid,
}

fn read_strict(text: &str, start: usize) -> Strict {
    let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Members>();
    match stream.next() {
        Some(Ok(members)) => Strict::Object(gather(members.0, start + stream.byte_offset(), Log::default())),
        Some(Err(error)) if error.is_eof() => Strict::Cut,
        Some(Err(_)) | None => Strict::Invalid,
    }
}

/// Trims the keys; of two equal ones the last wins.
fn gather(members: Vec<(String, Value)>, end: usize, log: Log) -> Object {
    let mut object = Object { members: Map::new(), end, log, conflict: false };
    for (mut key, value) in members {
        let trimmed = key.trim_matches(is_blank);
        if trimmed.len() < key.len() {
            key = trimmed.to_owned();
        }
        if key == "@action" && object.members.get(&key).is_some_and(|earlier| *earlier != value) {
            object.conflict = true;
        }
        object.members.insert(key, value);
    }
    object
}

fn read_lenient(text: &str, start: usize, close: bool, in_doubt: Decision) -> Read {
    let mut reader = Reader::new(start, in_doubt);
    let mut builder = Builder::default();
    let status = reader.run(text, true, &mut |event| builder.take(event));
    let mut log = std::mem::take(&mut reader.log);
    match status {
        Status::Done => {}
        Status::Failed(fault) if fault.closable && close => {
            log.note(Kind::MissingCloser, fault.at);
            builder.close_all();
        }
        Status::Failed(fault) => {
            return Read::Broken { fault, action_shown: reader.action_shown(), cost: reader.cost() };
        }
        Status::More => return Read::Brace,
    }
    Read::Object(gather(builder.members, reader.position(), log))
}

/// Reads a whole text as one value, for parameters that hold JSON in a string.
pub(super) fn read_value(text: &str) -> Option<Value> {
    let trimmed = text.trim_matches(is_blank);
    if let Ok(value) = serde_json::from_str(trimmed) {
        return Some(value);
    }
    if !trimmed.starts_with(['{', '[']) {
        return None;
    }
    let mut reader = Reader::new(0, Decision::Inner);
    let mut builder = Builder::default();
    match reader.run(trimmed, true, &mut |event| builder.take(event)) {
        Status::Done if reader.position() == trimmed.len() && !reader.log.has(Kind::NonFinite) => builder.whole(),
        _ => None,
    }
}

/// The members of a strict object, with repeated keys kept.
struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

/// Builds values from a reader's events.
#[derive(Debug, Default)]
pub(super) struct Builder {
    /// Members of the outermost object, in order.
    members: Vec<(String, Value)>,
    open: Vec<Part>,
    text: String,
    done: Option<Value>,
}

#[derive(Debug)]
enum Part {
    Object(Map<String, Value>, String),
    Array(Vec<Value>),
    /// The outermost object; holds the key that waits for its value.
    Outer(String),
}

impl Builder {
    /// Takes the next event.
    pub(super) fn take(&mut self, event: Event<'_>) {
        match event {
            Event::OpenObject if self.open.is_empty() => self.open.push(Part::Outer(String::new())),
            Event::OpenObject => self.open.push(Part::Object(Map::new(), String::new())),
            Event::OpenArray => self.open.push(Part::Array(Vec::new())),
            Event::Close => self.close(),
            Event::Key(key) => {
                if let Some(Part::Object(_, slot) | Part::Outer(slot)) = self.open.last_mut() {
                    slot.clear();
                    slot.push_str(key);
                }
            }
            Event::Text(part) => self.text.push_str(part),
            Event::TextEnd => {
                let text = std::mem::take(&mut self.text);
                self.put(Value::String(text));
            }
            Event::Scalar(value) => self.put(value),
        }
    }

    fn close(&mut self) {
        match self.open.pop() {
            Some(Part::Object(map, _)) => self.put(Value::Object(map)),
            Some(Part::Array(items)) => self.put(Value::Array(items)),
            Some(Part::Outer(_)) | None => {}
        }
    }

    fn put(&mut self, value: Value) {
        match self.open.last_mut() {
            Some(Part::Object(map, key)) => {
                map.insert(std::mem::take(key), value);
            }
            Some(Part::Array(items)) => items.push(value),
            Some(Part::Outer(key)) => self.members.push((std::mem::take(key), value)),
            None => self.done = Some(value),
        }
    }

    fn close_all(&mut self) {
        while !self.open.is_empty() {
            self.close();
        }
    }

    /// The value, when everything is closed.
    pub(super) fn whole(self) -> Option<Value> {
        self.done.or_else(|| Some(Value::Object(self.members.into_iter().collect())))
    }
}
