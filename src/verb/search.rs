//! Looking through files inside the workspace's roots: `list`, `grep`.

use std::borrow::Cow;
use std::sync::atomic::Ordering;

use minijinja::Value;
use regex::RegexBuilder;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};
use serde_json::json;

use super::shape::{Strings, blocking, decode_string_or, string_or};
use super::{Group, StepContext, StepFailure, Verb};
use crate::document::{Effect, Templated};
use crate::policy::{Access, AccessError, Inside};

/// The most paths that `list` gives unless it is told otherwise.
const LIST_MAX: usize = 1000;
/// The most lines that `grep` gives unless it is told otherwise.
const GREP_MAX: usize = 200;
/// Of larger files the start is searched.
const FILE_MAX: usize = 64 << 20;
/// The most characters of a line that are shown.
const LINE_MAX: usize = 400;

/// Lists files.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct List(ListArgs);

/// A folder, and which files below it.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListArgs {
    /// The folder, relative to the workspace. Default: the workspace's.
    #[serde(default = "here")]
    path: String,
    /// Patterns such as `src/**/*.rs`, relative to the folder; one that begins with `!` leaves out.
    #[serde(default)]
    glob: Strings,
    /// The most paths. Default: 1000.
    #[serde(default)]
    max: Option<Templated<Option<usize>>>,
    /// Leave out what the workspace's policy does not let the model read. Default: false, the step runs as written.
    #[serde(default)]
    obey_policy: bool,
}

/// Finds lines.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Grep(GrepArgs);

/// A pattern, and where to look for it.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GrepArgs {
    /// A regular expression.
    pattern: String,
    /// The folder or file, relative to the workspace. Default: the workspace's folder.
    #[serde(default = "here")]
    path: String,
    /// Patterns for files such as `*.rs`; one that begins with `!` leaves out.
    #[serde(default)]
    glob: Strings,
    /// Take upper and lower case as the same. Default: false.
    #[serde(default)]
    ignore_case: Option<Templated<Option<bool>>>,
    /// The most lines. Default: 200.
    #[serde(default)]
    max: Option<Templated<Option<usize>>>,
    /// Leave out what the workspace's policy does not let the model read. Default: false, the step runs as written.
    #[serde(default)]
    obey_policy: bool,
}

fn here() -> String {
    ".".to_owned()
}

impl<'de> Deserialize<'de> for List {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        decode_string_or(deserializer, |path| ListArgs {
            path,
            glob: Strings::default(),
            max: None,
            obey_policy: false,
        })
        .map(Self)
    }
}

impl JsonSchema for List {
    fn schema_name() -> Cow<'static, str> {
        "List".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let description = "Lists the files below a folder, without hidden ones and what `.gitignore` leaves out: a path, or { path, glob, max }. The result has `paths` and `truncated`.";
        string_or::<ListArgs>(generator, description, json!(["src", { "glob": "**/*.md", "max": 50 }]))
    }
}

impl<'de> Deserialize<'de> for Grep {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        decode_string_or(deserializer, |pattern| GrepArgs {
            pattern,
            path: here(),
            glob: Strings::default(),
            ignore_case: None,
            max: None,
            obey_policy: false,
        })
        .map(Self)
    }
}

impl JsonSchema for Grep {
    fn schema_name() -> Cow<'static, str> {
        "Grep".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let description = "Finds lines that match a regular expression: the expression, or { pattern, path, glob, ignore_case, max }. The result has `matches` (a list of { path, line, text }) and `truncated`.";
        string_or::<GrepArgs>(generator, description, json!(["TODO", { "pattern": "fn main", "glob": "*.rs" }]))
    }
}

impl Verb for List {
    const NAME: &'static str = "list";
    const GROUP: Group = Group::Compute;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let args = &self.0;
        let max = maximum(cx, args.max.as_ref(), LIST_MAX)?;
        let files = Files::new(cx, &args.path, &args.glob, args.obey_policy)?;
        blocking(move |stop| {
            let mut paths = Vec::new();
            for file in files.walk()?.take_while(|_| !stop.load(Ordering::Relaxed)) {
                if paths.len() == max {
                    return Ok(json!({ "paths": paths, "truncated": true }));
                }
                paths.push(file.shown().to_owned());
            }
            Ok(json!({ "paths": paths, "truncated": false }))
        })
        .await
    }
}

impl Verb for Grep {
    const NAME: &'static str = "grep";
    const GROUP: Group = Group::Compute;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let args = &self.0;
        let ignore_case = args.ignore_case.as_ref().map_or(Ok(None), |flag| cx.get(flag))?.unwrap_or(false);
        let pattern = RegexBuilder::new(&cx.text(&args.pattern)?)
            .case_insensitive(ignore_case)
            .build()
            .map_err(|e| StepFailure::new(format!("the pattern is no regular expression: {e}")))?;
        let max = maximum(cx, args.max.as_ref(), GREP_MAX)?;
        let files = Files::new(cx, &args.path, &args.glob, args.obey_policy)?;
        blocking(move |stop| {
            let mut matches = Vec::new();
            let mut truncated = false;
            for file in files.walk()? {
                // A file that cannot be read is one without matches.
                let Ok(contents) = files.access.read(&file, FILE_MAX) else { continue };
                if memchr::memchr(0, &contents.bytes).is_some() {
                    continue;
                }
                truncated |= contents.more;
                let text = String::from_utf8_lossy(&contents.bytes);
                for (number, line) in (1..).zip(text.lines()) {
                    if stop.load(Ordering::Relaxed) {
                        return Ok(json!(null));
                    }
                    if !pattern.is_match(line) {
                        continue;
                    }
                    if matches.len() == max {
                        return Ok(json!({ "matches": matches, "truncated": true }));
                    }
                    matches.push(json!({ "path": file.shown(), "line": number, "text": cut(line) }));
                }
            }
            Ok(json!({ "matches": matches, "truncated": truncated }))
        })
        .await
    }
}

fn maximum(
    cx: &StepContext<'_>,
    argument: Option<&Templated<Option<usize>>>,
    default: usize,
) -> Result<usize, StepFailure> {
    Ok(argument.map_or(Ok(None), |argument| cx.get(argument))?.unwrap_or(default))
}

fn cut(line: &str) -> Cow<'_, str> {
    match line.char_indices().nth(LINE_MAX) {
        Some((end, _)) => Cow::Owned(format!("{}…", &line[..end])),
        None => Cow::Borrowed(line),
    }
}

/// The files that a search goes through.
struct Files {
    access: Access,
    start: Inside,
    globs: Vec<String>,
    obey_policy: bool,
}

impl Files {
    fn new(cx: &StepContext<'_>, path: &str, globs: &Strings, obey_policy: bool) -> Result<Self, StepFailure> {
        let start = cx.access.resolve(&cx.text(path)?)?;
        let mut globs = globs.render(cx)?;
        globs.retain(|glob| !glob.is_empty());
        Ok(Self { access: cx.access.clone(), start, globs, obey_policy })
    }

    fn walk(&self) -> Result<impl Iterator<Item = Inside> + use<'_>, AccessError> {
        let may_read = |file: &Inside| {
            let params = json!({ "path": file.shown() });
            self.access.decide("read_file", &params, Effect::Pure).0 == crate::document::Decision::Allow
        };
        Ok(self.access.walk(&self.start, &self.globs)?.filter(move |file| !self.obey_policy || may_read(file)))
    }
}
