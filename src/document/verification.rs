//! The verification gate: who judges whether the goal is reached, when, and how often.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::value::{Duration, TextSource};
use crate::syntax::{Entry, Node, Raw, Spanned, Style, Value, decode_within};

/// Who judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    /// A model.
    Model,
    /// The declared checks.
    Checks,
    /// Checks first; a model when they pass.
    Both,
}

/// Settings of the verification gate.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Verification {
    /// Off switch. Default: true.
    pub enabled: Option<bool>,
    /// Iterations between verifications. Default: 2.
    #[schemars(range(min = 1))]
    pub every: Option<u32>,
    /// The longest age of a verdict. Default: 30s.
    pub max_age: Option<Duration>,
    /// A change of the prompt by more tokens than this asks for one. Default: 500.
    pub min_prompt_delta: Option<u32>,
    /// Time without activity after which one is forced. Default: 2m.
    pub watchdog: Option<Duration>,
    /// The first iteration after which one is made that nobody asked for. Default: 1.
    pub min_iteration: Option<u32>,
    /// The shortest time between verifications that the prompt's change asks for. Left out, there is none.
    pub cooldown: Option<Duration>,
    /// A change of the prompt by this many tokens asks for one whatever `cooldown` says. Left out, none does.
    #[schemars(range(min = 1))]
    pub hard_tokens: Option<u32>,
    /// The confidence from which a model's word counts that the goal is reached, 0 to 1. Left out, its word is enough.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub threshold: Option<f64>,
    /// The model tier. Default: `main`.
    pub tier: Option<Spanned<String>>,
    /// Who judges: `model`, `checks` or `both`. Default: `checks` where there are some, else `model`.
    pub judge: Option<Judge>,
    /// Commands or expressions that decide. All of them must pass.
    pub checks: Option<Vec<Check>>,
    /// Failed verifications after which the loop ends with `unverified`. Left out, there is no such bound.
    #[schemars(range(min = 1))]
    pub max_failures: Option<u32>,
    /// The most verifications in one run of the loop; those that nobody asked for may use half of them. Default: 10.
    #[schemars(range(min = 1))]
    pub max_verifications: Option<u32>,
    /// Times that the loop's own end may be refused before it ends with `unverified`. Default: 5.
    #[schemars(range(min = 1))]
    pub max_refusals: Option<u32>,
    /// Files that the loop may not edit, since they judge it: patterns as in `.gitignore`, relative to the workspace.
    pub protect: Option<Vec<Spanned<String>>>,
    /// What the model is told, in place of the file `prompts/mechanisms/verification.md.j2`.
    pub prompt: Option<TextSource>,
}

/// Something that decides without a model whether the goal is reached.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// What people and the model call it.
    pub name: Option<String>,
    /// What decides.
    pub kind: CheckKind,
    /// How often it must pass.
    pub passes: u32,
    /// How often it is tried at most.
    pub of: u32,
    /// What the model sees of its output when it fails.
    pub feedback: Feedback,
}

/// What decides in a check.
#[derive(Debug, Clone, PartialEq)]
pub enum CheckKind {
    /// A program, as the step `run` has one: its exit code decides.
    Run {
        /// The arguments of the step `run`.
        run: Raw,
        /// When the program is ended.
        timeout: Option<Duration>,
    },
    /// An expression: its truth decides.
    That {
        /// The expression.
        that: Spanned<String>,
        /// What the model is told when it does not hold; a template.
        message: Option<Spanned<String>>,
    },
}

impl Check {
    /// The arguments with which the step `run` tries the check; none for an expression.
    ///
    /// A program that fails is a result here, so the step must not fail with it.
    #[must_use]
    pub fn run_arguments(&self) -> Option<Node> {
        let CheckKind::Run { run, timeout } = &self.kind else { return None };
        let node = run.node();
        let entry = |key: &str, value: Node| Entry { key: key.into(), key_span: node.span, value };
        let plain = |value: Value| Node::new(value, node.span, Style::Synthetic);
        let mut entries = match &node.value {
            Value::Map(entries) => entries.to_vec(),
            _ => vec![entry("argv", node.clone())],
        };
        entries.retain(|entry| &*entry.key != "check" && (&*entry.key != "timeout" || timeout.is_none()));
        entries.push(entry("check", plain(Value::Bool(false))));
        entries.extend(timeout.map(|timeout| entry("timeout", plain(Value::String(timeout.to_string().into())))));
        Some(node.with_entries(entries))
    }

    /// What people and the model call it: its name, the command, or the expression.
    #[must_use]
    pub fn title(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        match &self.kind {
            CheckKind::That { that, .. } => that.to_string(),
            CheckKind::Run { run, .. } => {
                let argv = run.get("argv").unwrap_or(run.node());
                let words: Vec<String> = argv
                    .items()
                    .iter()
                    .map(|item| match item.to_json() {
                        serde_json::Value::String(text) => text,
                        other => other.to_string(),
                    })
                    .collect();
                words.join(" ")
            }
        }
    }
}

/// A check as it is written.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Check")]
struct CheckMap {
    /// What people and the model call it. Default: the command, or the expression.
    name: Option<String>,
    /// A program, as the step `run` has one: a list of arguments, or a map. It passes when its exit code is 0.
    #[schemars(with = "RunArguments")]
    run: Option<Raw>,
    /// An expression (no braces). It passes when it is true.
    that: Option<Spanned<String>>,
    /// With `that`: what the model is told when it does not hold; a template.
    message: Option<Spanned<String>>,
    /// With `run`: after this time the program is ended, which is no pass. Default: 10m.
    timeout: Option<Duration>,
    /// How often it must pass, for one that is flaky. Default: as often as `of` says.
    #[schemars(range(min = 1, max = 20))]
    passes: Option<u32>,
    /// How often it is tried at most. It stops as soon as it is decided. Default: as often as `passes` says.
    #[schemars(range(min = 1, max = 20))]
    of: Option<u32>,
    /// With `run`: what the model sees of a failed program's output: `tail`, `head`, `none`, or
    /// `{ from, lines, filter }`. Default: `tail`.
    feedback: Option<Feedback>,
}

/// The schema module puts the schema of the step's arguments in its place.
struct RunArguments;

impl JsonSchema for RunArguments {
    fn schema_name() -> Cow<'static, str> {
        "RunArguments".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["array", "object"] })
    }
}

impl<'de> Deserialize<'de> for Check {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let map = decode_within::<CheckMap, D::Error>(raw.node())?;
        let kind = match (map.run, map.that) {
            (Some(_), None) if map.message.is_some() => {
                return Err(D::Error::custom("`message` goes with `that`; of a program the model sees the output"));
            }
            (Some(run), None) => CheckKind::Run { run, timeout: map.timeout },
            (None, Some(_)) if map.timeout.is_some() || map.feedback.is_some() => {
                return Err(D::Error::custom(
                    "`timeout` and `feedback` go with `run`; an expression takes a `message`",
                ));
            }
            (None, Some(that)) => CheckKind::That { that, message: map.message },
            (None, None) => {
                return Err(D::Error::custom("a check needs `run: [program, argument]` or `that: EXPRESSION`"));
            }
            (Some(_), Some(_)) => return Err(D::Error::custom("a check has either `run` or `that`; write two checks")),
        };
        let (passes, of) = match (map.passes, map.of) {
            (None, None) => (1, 1),
            (Some(times), None) | (None, Some(times)) => (times, times),
            (Some(passes), Some(of)) => (passes, of),
        };
        let most = 20;
        if passes == 0 || passes > of || of > most {
            let words = format!("`passes: {passes}, of: {of}` cannot be: write 1 to `of`, and at most {most} for `of`");
            return Err(D::Error::custom(words));
        }
        Ok(Self { name: map.name, kind, passes, of, feedback: map.feedback.unwrap_or_default() })
    }
}

impl JsonSchema for Check {
    fn schema_name() -> Cow<'static, str> {
        "Check".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = CheckMap::json_schema(generator);
        schema.remove("required");
        schema.insert("oneOf".to_owned(), serde_json::json!([{ "required": ["run"] }, { "required": ["that"] }]));
        schema.insert(
            "description".to_owned(),
            "Something that decides without a model whether the goal is reached: a program, or an expression.".into(),
        );
        let examples = serde_json::json!([
            { "run": ["cargo", "test"], "feedback": "tail" },
            { "name": "report", "that": "state.report_delivered", "message": "Write the report first." }
        ]);
        schema.insert("examples".to_owned(), examples);
        schema
    }
}

/// What the model sees of the output of a program that failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Feedback {
    /// Which end of it.
    pub from: FeedbackEnd,
    /// How many lines of each stream; 0 for nothing.
    pub lines: usize,
    /// Only lines that this matches.
    pub filter: Option<Filter>,
}

/// A regular expression over lines. Two are the same when they are written alike.
#[derive(Debug, Clone)]
pub struct Filter(pub regex::Regex);

impl PartialEq for Filter {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

/// An end of an output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FeedbackEnd {
    /// Its beginning.
    Head,
    /// Its end, where most programs say what went wrong.
    #[default]
    Tail,
}

/// Lines that the model sees of each stream unless the check says otherwise.
const FEEDBACK_LINES: usize = 60;

impl Default for Feedback {
    fn default() -> Self {
        Self { from: FeedbackEnd::Tail, lines: FEEDBACK_LINES, filter: None }
    }
}

/// Which lines.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "FeedbackLines")]
struct FeedbackMap {
    /// Which end: `tail` or `head`. Default: `tail`.
    #[serde(default)]
    from: FeedbackEnd,
    /// How many lines of each stream. Default: 60.
    #[schemars(range(min = 1, max = 1000))]
    lines: Option<usize>,
    /// Only lines that this regular expression matches, such as `error|FAILED`.
    filter: Option<String>,
}

impl<'de> Deserialize<'de> for Feedback {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let Value::Map(_) = &raw.node().value else {
            return match raw.node().as_str() {
                Some("tail") => Ok(Self::default()),
                Some("head") => Ok(Self { from: FeedbackEnd::Head, ..Self::default() }),
                Some("none") => Ok(Self { lines: 0, ..Self::default() }),
                _ => Err(D::Error::custom("write `tail`, `head`, `none`, or `{ from, lines, filter }`")),
            };
        };
        let map = decode_within::<FeedbackMap, D::Error>(raw.node())?;
        let filter = map.filter.map(|pattern| regex::Regex::new(&pattern).map(Filter)).transpose();
        let filter = filter.map_err(|error| D::Error::custom(format!("`filter` is no regular expression: {error}")))?;
        Ok(Self { from: map.from, lines: map.lines.unwrap_or(FEEDBACK_LINES), filter })
    }
}

impl JsonSchema for Feedback {
    fn schema_name() -> Cow<'static, str> {
        "CheckFeedback".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let map = generator.subschema_for::<FeedbackMap>();
        json_schema!({
            "description": "What the model sees of the output of a program that failed: its end, its beginning, nothing, or some lines of it.",
            "anyOf": [{ "enum": ["tail", "head", "none"] }, map],
            "examples": ["tail", { "lines": 20, "filter": "error|FAILED" }]
        })
    }
}
