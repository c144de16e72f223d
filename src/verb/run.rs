//! `run`: a program with its arguments, and no shell.

use std::borrow::Cow;

use indexmap::IndexMap;
use minijinja::Value;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::json;

use super::shape::{is_list, items, plain, text};
use super::{Group, StepContext, StepFailure, Verb};
use crate::document::{Decision, Duration, Effect, Templated, is_template};
use crate::policy::{Captured, Finished, Program};
use crate::syntax::{Raw, Value as Data, decode_within};

/// How long a program may run that says nothing else. Test suites take minutes.
const TIMEOUT: Duration = Duration::secs(600);
/// Bytes kept of each output.
const MAX_OUTPUT: usize = 64 * 1024;
/// Characters of each output that a failure tells.
const TOLD: usize = 4000;
/// The name under which the policy may allow a shell.
const SHELL: &str = "shell";

/// Runs a program.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Run(RunArgs);

/// A program with its arguments, and how it runs.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunArgs {
    /// The program and its arguments, one item each. A template gives exactly one argument.
    argv: Argv,
    /// The folder that it runs in, relative to the workspace. Default: the workspace's.
    #[serde(default)]
    cwd: Option<String>,
    /// Variables beside the few that every program gets (PATH, HOME, LANG, …).
    #[serde(default)]
    env: IndexMap<String, String>,
    /// What it reads from standard input. Default: nothing.
    #[serde(default)]
    stdin: Option<String>,
    /// After this time it is ended, with everything that it started. Default: 10m.
    #[serde(default)]
    timeout: Option<Templated<Option<Duration>>>,
    /// Whether an exit code other than 0 makes the step fail. Default: true.
    #[serde(default = "yes")]
    check: bool,
    /// Let arguments that come from templates begin with `-`. Default: false, unless an item `--` stands before them.
    #[serde(default)]
    allow_dash: bool,
    /// Run the first item as a shell script; the others are `$1`, `$2`, … in it. Needs a rule of the workspace's policy
    /// that allows `shell`. Default: false.
    #[serde(default)]
    shell: bool,
    /// Bytes that are kept of each output: its beginning and its end. Default: 65536.
    #[serde(default)]
    max_output: Option<Templated<Option<usize>>>,
}

fn yes() -> bool {
    true
}

impl From<Argv> for RunArgs {
    fn from(argv: Argv) -> Self {
        Self {
            argv,
            cwd: None,
            env: IndexMap::new(),
            stdin: None,
            timeout: None,
            check: true,
            allow_dash: false,
            shell: false,
            max_output: None,
        }
    }
}

/// The arguments: a list, or one template that gives the list.
#[derive(Debug, Clone, PartialEq)]
enum Argv {
    Items(Vec<String>),
    Template(String),
}

impl<'de> Deserialize<'de> for Argv {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        match &raw.node().value {
            Data::Seq(items) if items.is_empty() => {
                Err(D::Error::custom("there is no program to run in an empty list"))
            }
            Data::Seq(_) => {
                let items = decode_within::<Vec<Argument>, D::Error>(raw.node())?;
                Ok(Self::Items(items.into_iter().map(|Argument(text)| text).collect()))
            }
            Data::String(text) if text.trim().starts_with("{{") && text.trim().ends_with("}}") => {
                Ok(Self::Template(text.to_string()))
            }
            Data::String(text) => Err(D::Error::custom(no_shell(text))),
            _ => decode_within::<Vec<String>, D::Error>(raw.node()).map(Self::Items),
        }
    }
}

impl JsonSchema for Argv {
    fn schema_name() -> Cow<'static, str> {
        "Argv".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The program and its arguments, one item each; or one template that gives the list.",
            "anyOf": [
                { "type": "array", "minItems": 1, "items": { "type": ["string", "integer"] } },
                { "type": "string", "pattern": "^\\s*\\{\\{[\\s\\S]*\\}\\}\\s*$" }
            ]
        })
    }
}

/// One argument: a string, or a whole number, whose text is not in doubt.
struct Argument(String);

impl<'de> Deserialize<'de> for Argument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        match &raw.node().value {
            Data::Int(number) => Ok(Self(number.to_string())),
            Data::UInt(number) => Ok(Self(number.to_string())),
            _ => decode_within::<String, D::Error>(raw.node()).map(Self),
        }
    }
}

/// What to write instead of a command line.
fn no_shell(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let needs_shell = line.contains(['|', '>', '<', '&', ';', '$', '`', '*', '"', '\'', '\n', '{']);
    let list = if needs_shell || words.is_empty() { "program, argument".to_owned() } else { words.join(", ") };
    format!("`run` uses no shell and takes a list, one item an argument: write `run: [{list}]`")
}

impl<'de> Deserialize<'de> for Run {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let args = match &raw.node().value {
            Data::Map(_) => decode_within::<RunArgs, D::Error>(raw.node())?,
            _ => decode_within::<Argv, D::Error>(raw.node())?.into(),
        };
        // A script made from a value would let the value write the script.
        let script = match &args.argv {
            Argv::Items(items) => items.first(),
            Argv::Template(template) => Some(template),
        };
        if args.shell && script.is_some_and(|script| is_template(script)) {
            return Err(D::Error::custom(
                "a shell script takes no templates: pass the values as further items of `argv` and read them as \"$1\", \"$2\"",
            ));
        }
        Ok(Self(args))
    }
}

impl JsonSchema for Run {
    fn schema_name() -> Cow<'static, str> {
        "Run".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (argv, map) = (generator.subschema_for::<Argv>(), generator.subschema_for::<RunArgs>());
        json_schema!({
            "description": "Runs a program, without a shell: a list of arguments, or a map with `argv` and more. The result has `stdout`, `stderr`, `exit_code`, `timed_out` and `truncated`.",
            "anyOf": [argv, map],
            "examples": [
                ["cargo", "test"],
                { "argv": ["git", "log", "--oneline", "--", "{{ params.path }}"], "timeout": "30s", "check": false }
            ]
        })
    }
}

impl Verb for Run {
    const NAME: &'static str = "run";
    const GROUP: Group = Group::Compute;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let args = &self.0;
        let mut argv = args.argv.render(cx, args.allow_dash)?;
        if args.shell {
            argv = as_script(cx, argv)?;
        }
        let variables = args.env.iter().map(|(name, value)| Ok((name.clone(), cx.text(value)?)));
        let timeout = args.timeout.as_ref().map_or(Ok(None), |timeout| cx.get(timeout))?.unwrap_or(TIMEOUT);
        let program = Program {
            argv,
            cwd: args.cwd.as_ref().map(|cwd| cx.text(cwd)).transpose()?,
            env: variables.collect::<Result<_, StepFailure>>()?,
            stdin: args.stdin.as_ref().map(|stdin| cx.text(stdin)).transpose()?,
            timeout: timeout.0,
            max_output: args.max_output.as_ref().map_or(Ok(None), |max| cx.get(max))?.unwrap_or(MAX_OUTPUT),
        };
        let finished = cx.access.run(&program).await?;
        if args.check && finished.exit_code != Some(0) {
            return Err(StepFailure::new(failure(&program.argv, timeout, &finished)));
        }
        Ok(plain(&json!({
            "stdout": finished.stdout.text,
            "stderr": finished.stderr.text,
            "exit_code": finished.exit_code,
            "signal": finished.signal,
            "timed_out": finished.timed_out,
            "truncated": finished.stdout.truncated || finished.stderr.truncated,
        })))
    }
}

impl Argv {
    fn render(&self, cx: &StepContext<'_>, allow_dash: bool) -> Result<Vec<String>, StepFailure> {
        let items = match self {
            Self::Items(sources) => {
                let mut guarded = false;
                let mut rendered = Vec::new();
                for source in sources {
                    let argument = cx.text(source)?;
                    // A dash that the author wrote is an option; one that came with a value would be taken for one.
                    if is_template(source) && !source.starts_with('-') && !guarded && !allow_dash {
                        refuse_dash(&argument)?;
                    }
                    guarded |= source == "--";
                    rendered.push(argument);
                }
                rendered
            }
            Self::Template(source) => {
                let value = cx.value(source)?;
                if !is_list(&value) {
                    let found = value.kind();
                    return Err(StepFailure::new(format!("`argv` must be a list of arguments, and this is a {found}")));
                }
                let list: Vec<String> = items(&value)?.iter().map(text).collect();
                if !allow_dash {
                    list.iter().take_while(|item| *item != "--").try_for_each(|item| refuse_dash(item))?;
                }
                list
            }
        };
        match items.first() {
            Some(program) if !program.is_empty() => Ok(items),
            _ => Err(StepFailure::new("`argv` names no program")),
        }
    }
}

fn refuse_dash(argument: &str) -> Result<(), StepFailure> {
    if !argument.starts_with('-') {
        return Ok(());
    }
    let shown: String = argument.chars().take(60).collect();
    Err(StepFailure::new(format!(
        "`{shown}` comes from a template and begins with `-`, so the program would take it for an option; put an item `--` before it, or set `allow_dash: true`"
    )))
}

/// The arguments that run the first item as a script, when the policy allows it.
fn as_script(cx: &StepContext<'_>, argv: Vec<String>) -> Result<Vec<String>, StepFailure> {
    let (decision, words) = cx.access.decide(SHELL, &json!({ "argv": argv }), Effect::AtMostOnce);
    if decision != Decision::Allow {
        return Err(StepFailure::new(words));
    }
    let mut whole = vec!["/bin/sh".to_owned(), "-c".to_owned()];
    let mut argv = argv.into_iter();
    whole.extend(argv.next());
    // `$0`, for the shell's own messages.
    whole.push("script".to_owned());
    whole.extend(argv);
    Ok(whole)
}

fn failure(argv: &[String], timeout: Duration, finished: &Finished) -> String {
    let command: String = argv.join(" ").chars().take(200).collect();
    let mut words = match (finished.timed_out, finished.exit_code, finished.signal) {
        (true, ..) => format!("`{command}` was ended after {timeout}"),
        (false, Some(code), _) => format!("`{command}` ended with exit code {code}"),
        (false, None, signal) => format!("`{command}` was ended by signal {}", signal.unwrap_or_default()),
    };
    for (name, captured) in [("stdout", &finished.stdout), ("stderr", &finished.stderr)] {
        if let Some(end) = end_of(captured) {
            words.push_str(&format!("\n{name}:\n{end}"));
        }
    }
    words
}

/// The end of an output, where programs say what went wrong.
fn end_of(captured: &Captured) -> Option<Cow<'_, str>> {
    let text = captured.text.trim_end();
    if text.is_empty() {
        return None;
    }
    match text.char_indices().rev().nth(TOLD) {
        Some((start, _)) => Some(Cow::Owned(format!("[…]{}", &text[start..]))),
        None => Some(Cow::Borrowed(text)),
    }
}
