//! Files inside the workspace's roots: `read`, `write`, `artifact`.

use std::borrow::Cow;
use std::io::{BufRead, BufReader};
use std::sync::atomic::{AtomicBool, Ordering};

use minijinja::Value;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::json;

use super::shape::{blocking, decode_string_or, string_or};
use super::{Group, StepContext, StepFailure, Verb};
use crate::document::Templated;
use crate::event::Event;
use crate::policy::{Access, Inside};
use crate::syntax::{Raw, decode_within};

/// The most bytes of a file that `read` gives unless it is told otherwise.
const READ_MAX: usize = 1 << 20;
/// The largest file that `write` changes a part of.
const REPLACE_MAX: usize = 16 << 20;
/// Where binary files give themselves away.
const SNIFFED: usize = 8 * 1024;

/// Reads a text file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Read(ReadArgs);

/// A file, and which lines of it.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadArgs {
    /// The file, relative to the workspace.
    path: String,
    /// The first line, counted from 1. Default: 1.
    #[serde(default)]
    offset: Option<Templated<Option<u64>>>,
    /// How many lines. Default: all.
    #[serde(default)]
    limit: Option<Templated<Option<u64>>>,
    /// The most bytes of text. Default: 1048576.
    #[serde(default)]
    max_bytes: Option<Templated<Option<usize>>>,
}

impl<'de> Deserialize<'de> for Read {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        decode_string_or(deserializer, |path| ReadArgs { path, offset: None, limit: None, max_bytes: None }).map(Self)
    }
}

impl JsonSchema for Read {
    fn schema_name() -> Cow<'static, str> {
        "Read".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let description = "Reads a text file: a path, or { path, offset, limit, max_bytes }. The result has `text`, `path`, `first_line`, `lines` (in `text`) and `truncated` (whether the file goes on).";
        string_or::<ReadArgs>(
            generator,
            description,
            json!(["notes.md", { "path": "{{ params.path }}", "limit": 200 }]),
        )
    }
}

impl Verb for Read {
    const NAME: &'static str = "read";
    const GROUP: Group = Group::Compute;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let path = cx.access.resolve(&cx.text(&self.0.path)?)?;
        let offset = optional(cx, self.0.offset.as_ref())?.unwrap_or(1).max(1);
        let limit = optional(cx, self.0.limit.as_ref())?.unwrap_or(u64::MAX);
        let max = optional(cx, self.0.max_bytes.as_ref())?.unwrap_or(READ_MAX);
        let access = cx.access.clone();
        blocking(move |stop| {
            let file = BufReader::new(access.open(&path)?);
            let part = lines(file, offset, limit, max, stop).map_err(|error| match error {
                Unreadable::Binary => StepFailure::new(format!("`{}` is a binary file, not a text", path.shown())),
                Unreadable::Io(error) => StepFailure::new(format!("Cannot read `{}`: {error}", path.shown())),
            })?;
            Ok(json!({
                "path": path.shown(),
                "text": String::from_utf8_lossy(&part.bytes),
                "first_line": offset,
                "lines": part.lines,
                "truncated": part.more,
            }))
        })
        .await
    }
}

/// Some lines of a file.
struct Part {
    bytes: Vec<u8>,
    lines: u64,
    more: bool,
}

enum Unreadable {
    Binary,
    Io(std::io::Error),
}

/// `limit` lines from `offset` on, at most `max` bytes of them. A line may be of any length.
fn lines(mut file: impl BufRead, offset: u64, limit: u64, max: usize, stop: &AtomicBool) -> Result<Part, Unreadable> {
    let mut part = Part { bytes: Vec::new(), lines: 0, more: false };
    let (mut number, mut in_line, mut first) = (1, false, true);
    while !stop.load(Ordering::Relaxed) {
        let buffer = file.fill_buf().map_err(Unreadable::Io)?;
        if std::mem::take(&mut first) && memchr::memchr(0, &buffer[..buffer.len().min(SNIFFED)]).is_some() {
            return Err(Unreadable::Binary);
        }
        if buffer.is_empty() {
            break;
        }
        let (piece, ends) = match memchr::memchr(b'\n', buffer) {
            Some(at) => (&buffer[..=at], true),
            None => (buffer, false),
        };
        let length = piece.len();
        if number >= offset {
            let room = max - part.bytes.len();
            if (!in_line && part.lines == limit) || room == 0 {
                part.more = true;
                break;
            }
            part.lines += u64::from(!in_line);
            part.bytes.extend_from_slice(&piece[..length.min(room)]);
            if length > room {
                part.more = true;
                break;
            }
        }
        in_line = !ends;
        number += u64::from(ends);
        file.consume(length);
    }
    Ok(part)
}

fn optional<T>(cx: &StepContext<'_>, argument: Option<&Templated<Option<T>>>) -> Result<Option<T>, StepFailure>
where
    T: serde::de::DeserializeOwned + Clone,
{
    argument.map_or(Ok(None), |argument| cx.get(argument))
}

/// Writes a file, or replaces a part of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Write {
    path: String,
    change: Change,
}

#[derive(Debug, Clone, PartialEq)]
enum Change {
    Content(String),
    Append(String),
    Replace(Replace),
}

/// A file with its new content, or with the part of it that changes.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WriteArgs {
    /// The file, relative to the workspace. Parent folders are made.
    path: String,
    /// The whole new content.
    #[serde(default)]
    content: Option<String>,
    /// Add `content` at the end instead. Default: false.
    #[serde(default)]
    append: bool,
    /// Replace this part of the file and keep the rest.
    #[serde(default)]
    replace: Option<Replace>,
}

/// A part of a file and what takes its place.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Replace {
    /// The text as it stands in the file, character for character.
    old: String,
    /// The text in its place.
    new: String,
    /// How often `old` must be in the file, no more and no less. Default: 1.
    #[serde(default)]
    count: Option<Templated<Option<usize>>>,
}

impl<'de> Deserialize<'de> for Write {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let args = decode_within::<WriteArgs, D::Error>(raw.node())?;
        let change = match (args.content, args.replace, args.append) {
            (Some(content), None, false) => Change::Content(content),
            (Some(content), None, true) => Change::Append(content),
            (None, Some(replace), false) => Change::Replace(replace),
            (None, Some(_), true) => return Err(D::Error::custom("`append` goes with `content`, not with `replace`")),
            _ => return Err(D::Error::custom("`write` needs `content` or `replace`: exactly one of them")),
        };
        Ok(Self { path: args.path, change })
    }
}

impl JsonSchema for Write {
    fn schema_name() -> Cow<'static, str> {
        "Write".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let args = generator.subschema_for::<WriteArgs>();
        json_schema!({
            "description": "Writes a file: { path, content, append? } or { path, replace: { old, new, count? } }. All of it is written, or nothing. The result has `path` and `bytes`.",
            "allOf": [args],
            "oneOf": [{ "required": ["content"] }, { "required": ["replace"] }],
            "examples": [
                { "path": "notes.md", "content": "{{ params.note }}\n", "append": true },
                { "path": "src/lib.rs", "replace": { "old": "{{ params.old }}", "new": "{{ params.new }}" } }
            ]
        })
    }
}

impl Verb for Write {
    const NAME: &'static str = "write";
    const GROUP: Group = Group::Compute;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let path = cx.access.resolve(&cx.text(&self.path)?)?;
        let access = cx.access.clone();
        let change = match &self.change {
            Change::Content(source) => Edit::Content(cx.text(source)?),
            Change::Append(source) => Edit::Append(cx.text(source)?),
            Change::Replace(replace) => Edit::Replace {
                old: cx.text(&replace.old)?,
                new: cx.text(&replace.new)?,
                wanted: optional(cx, replace.count.as_ref())?.unwrap_or(1),
            },
        };
        blocking(move |_| {
            let bytes = apply(&access, &path, change)?;
            Ok(json!({ "path": path.shown(), "bytes": bytes }))
        })
        .await
    }
}

/// A change with its texts rendered.
enum Edit {
    Content(String),
    Append(String),
    Replace { old: String, new: String, wanted: usize },
}

/// Makes a change; the bytes that were written.
fn apply(access: &Access, path: &Inside, change: Edit) -> Result<usize, StepFailure> {
    match change {
        Edit::Content(content) => {
            access.write(path, content.as_bytes())?;
            Ok(content.len())
        }
        Edit::Append(content) => {
            access.append(path, content.as_bytes())?;
            Ok(content.len())
        }
        Edit::Replace { old, new, wanted } => {
            let contents = access.read(path, REPLACE_MAX)?;
            if contents.more {
                return Err(StepFailure::new(format!("`{}` is too long for `replace` (16 MiB)", path.shown())));
            }
            let text = String::from_utf8(contents.bytes)
                .map_err(|_| StepFailure::new(format!("`{}` is not UTF-8 text", path.shown())))?;
            let text = replaced(path.shown(), &text, &old, &new, wanted).map_err(StepFailure::Failed)?;
            access.write(path, text.as_bytes())?;
            Ok(text.len())
        }
    }
}

/// The text with `old` replaced, when it is there exactly `wanted` times; else words that help to find it.
fn replaced(path: &str, text: &str, old: &str, new: &str, wanted: usize) -> Result<String, String> {
    if old.is_empty() {
        return Err("`old` is empty: give the text that is to be replaced".to_owned());
    }
    // A model writes `\n`; a file with the other line ends keeps them.
    let (old, new) = if text.contains("\r\n") && !old.contains('\r') && !text.contains(old) {
        (Cow::Owned(old.replace('\n', "\r\n")), Cow::Owned(new.replace('\n', "\r\n")))
    } else {
        (Cow::Borrowed(old), Cow::Borrowed(new))
    };
    let places: Vec<usize> = text.match_indices(&*old).map(|(at, _)| at).collect();
    if places.len() == wanted && wanted > 0 {
        return Ok(text.replace(&*old, &new));
    }
    if places.is_empty() {
        let first = old.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
        let near = (1..).zip(text.lines()).find(|(_, line)| !first.is_empty() && line.contains(first));
        let hint = match near {
            Some((number, _)) => format!("; line {number} has its first line, so compare the rest and the indentation"),
            None => String::new(),
        };
        return Err(format!("`old` is not in `{path}`{hint}"));
    }
    let lines: Vec<String> =
        places.iter().take(10).map(|at| (text[..*at].matches('\n').count() + 1).to_string()).collect();
    let count = places.len();
    let (lines, wish) = (lines.join(", "), if wanted == 1 { "once".to_owned() } else { format!("{wanted} times") });
    Err(format!(
        "`old` is in `{path}` {count} times (line {lines}), not {wish}: give more of the text around it, or `count: {count}`"
    ))
}

/// A file that is delivered to the user.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "path": "report.md", "content": "{{ tags.FINAL_ANSWER }}" }))]
pub(super) struct Artifact {
    /// The file, relative to the workspace. Parent folders are made.
    path: String,
    /// Its whole content.
    content: String,
}

impl Verb for Artifact {
    const NAME: &'static str = "artifact";
    const GROUP: Group = Group::User;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let path = cx.access.resolve(&cx.text(&self.path)?)?;
        let content = cx.text(&self.content)?;
        let (access, bytes) = (cx.access.clone(), content.len());
        let target = path.clone();
        let written = blocking(move |_| {
            access.write(&target, content.as_bytes())?;
            Ok(json!({ "path": target.shown(), "bytes": bytes }))
        })
        .await?;
        cx.emit(Event::Artifact { path: path.shown().to_owned(), bytes });
        Ok(written)
    }
}
