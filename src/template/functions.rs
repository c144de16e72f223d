//! The filters, tests and functions that templates may use: the same table registers them and answers "did you mean".

use minijinja::value::{Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, context};

use crate::diag::did_you_mean;

/// Names of all filters, sorted.
pub const FILTERS: &[&str] = &[
    "abs",
    "attr",
    "batch",
    "bool",
    "capitalize",
    "chain",
    "count",
    "d",
    "default",
    "dictsort",
    "find_lines",
    "first",
    "float",
    "format",
    "groupby",
    "head",
    "indent",
    "int",
    "items",
    "join",
    "last",
    "length",
    "lines",
    "list",
    "lower",
    "map",
    "max",
    "min",
    "pprint",
    "quote_lines",
    "reject",
    "rejectattr",
    "replace",
    "reverse",
    "round",
    "select",
    "selectattr",
    "slice",
    "sort",
    "split",
    "string",
    "sum",
    "tail",
    "title",
    "tojson",
    "trim",
    "unique",
    "upper",
    "zip",
];

/// Names of all tests, sorted.
pub const TESTS: &[&str] = &[
    "!=",
    "<",
    "<=",
    "==",
    ">",
    ">=",
    "boolean",
    "defined",
    "divisibleby",
    "endingwith",
    "eq",
    "equalto",
    "even",
    "false",
    "filter",
    "float",
    "ge",
    "greaterthan",
    "gt",
    "in",
    "int",
    "integer",
    "iterable",
    "le",
    "lessthan",
    "lower",
    "lt",
    "mapping",
    "ne",
    "none",
    "number",
    "odd",
    "sameas",
    "sequence",
    "startingwith",
    "string",
    "test",
    "true",
    "undefined",
    "upper",
];

/// Names of all functions, sorted.
pub const FUNCTIONS: &[&str] = &["dict", "namespace", "range"];

/// Filters and tests of the template language that are not offered. `safe` and its kin would let a value past the
/// guard of the prompt; HTML escaping has no use here.
const REMOVED_FILTERS: &[&str] = &["safe", "escape", "e"];
const REMOVED_TESTS: &[&str] = &["safe", "escaped"];

/// `debug` prints everything a template can see.
const REMOVED_FUNCTIONS: &[&str] = &["debug"];

/// Filters, tests and functions that people know from elsewhere, and what is written here.
const FOREIGN_FILTERS: &[(&str, &str)] = &[
    ("append", "lists are joined with `+`: `{{ list + [x] }}`"),
    ("concat", "lists are joined with `+`, texts with `~`"),
    ("contains", "write `x in list`"),
    ("date", "times are texts here"),
    ("downcase", "did you mean `lower`?"),
    ("e", "values are not escaped here: leave it out"),
    ("escape", "values are not escaped here: leave it out"),
    ("from_json", "values are structured already: use their attributes"),
    ("fromjson", "values are structured already: use their attributes"),
    ("json", "did you mean `tojson`?"),
    ("json_encode", "did you mean `tojson`?"),
    ("keys", "write `{{ map | list }}`"),
    ("len", "did you mean `length`?"),
    ("lowercase", "did you mean `lower`?"),
    ("merge", "lists are joined with `+`"),
    ("nl2br", "text is not HTML here: leave it out"),
    ("prepend", "texts are joined with `~`"),
    ("push", "lists are joined with `+`: `{{ list + [x] }}`"),
    ("safe", "values are not escaped here, and none is printed past the guard: leave it out"),
    ("size", "did you mean `length`?"),
    ("strip", "did you mean `trim`?"),
    ("to_json", "did you mean `tojson`?"),
    ("truncate", "write `{{ text[:100] }}` for characters or `{{ text | head(5) }}` for lines"),
    ("upcase", "did you mean `upper`?"),
    ("uppercase", "did you mean `upper`?"),
    ("where", "did you mean `selectattr`?"),
    ("wordcount", "write `{{ text | split | length }}`"),
];
const FOREIGN_TESTS: &[(&str, &str)] = &[
    ("array", "did you mean `sequence`?"),
    ("callable", "values are not functions here"),
    ("dict", "did you mean `mapping`?"),
    ("empty", "write `not x`"),
    ("list", "did you mean `sequence`?"),
    ("null", "did you mean `none`?"),
    ("nil", "did you mean `none`?"),
    ("object", "did you mean `mapping`?"),
    ("str", "did you mean `string`?"),
];
const FOREIGN_FUNCTIONS: &[(&str, &str)] = &[
    ("debug", "print the value that you want to see: `{{ state }}`"),
    ("len", "write `{{ x | length }}`"),
    ("now", "the time is the variable `now`, without parentheses"),
    ("str", "write `{{ x | string }}`"),
    ("int", "write `{{ x | int }}`"),
];

/// What to write instead of a filter that is not there.
#[must_use]
pub fn suggest_filter(name: &str) -> Option<String> {
    suggest(name, FOREIGN_FILTERS, FILTERS)
}

/// What to write instead of a test that is not there.
#[must_use]
pub fn suggest_test(name: &str) -> Option<String> {
    suggest(name, FOREIGN_TESTS, TESTS)
}

/// What to write instead of a function that is not there.
#[must_use]
pub fn suggest_function(name: &str) -> Option<String> {
    if FILTERS.contains(&name) {
        return Some(format!("`{name}` is a filter: write `{{{{ x | {name} }}}}`"));
    }
    suggest(name, FOREIGN_FUNCTIONS, FUNCTIONS)
}

fn suggest(name: &str, foreign: &[(&str, &str)], known: &[&str]) -> Option<String> {
    let folded = name.to_lowercase();
    if let Some((_, help)) = foreign.iter().find(|(other, _)| *other == folded) {
        return Some((*help).to_string());
    }
    did_you_mean(name, known).map(|near| format!("did you mean `{near}`?"))
}

pub(super) fn install(env: &mut Environment<'static>) {
    for name in REMOVED_FILTERS {
        env.remove_filter(name);
    }
    for name in REMOVED_TESTS {
        env.remove_test(name);
    }
    for name in REMOVED_FUNCTIONS {
        env.remove_global(name);
    }
    env.add_filter("find_lines", find_lines);
    env.add_filter("head", head);
    env.add_filter("tail", tail);
    env.add_filter("quote_lines", quote_lines);
}

/// The lines of a text that hold all of the words, in any case: `[{ number, text }]`, counted from 1.
fn find_lines(text: &str, words: &Value) -> Result<Vec<Value>, Error> {
    let words: Vec<String> = match words.as_str() {
        Some(word) => vec![word.to_lowercase()],
        None => words
            .try_iter()?
            .map(|word| word.as_str().map(str::to_lowercase).ok_or(word))
            .collect::<Result<_, _>>()
            .map_err(|word| {
                Error::new(
                    ErrorKind::InvalidOperation,
                    format!("find_lines takes a text or a list of texts, found {}", word.kind()),
                )
            })?,
    };
    let holds_all = |line: &str| {
        let line = line.to_lowercase();
        words.iter().all(|word| line.contains(word.as_str()))
    };
    let lines = text.lines().enumerate().filter(|(_, line)| holds_all(line));
    Ok(lines.map(|(index, line)| context! { number => index + 1, text => line }).collect())
}

/// The first `n` lines of a text.
fn head(text: &str, n: usize) -> String {
    text.split_inclusive('\n').take(n).collect()
}

/// The last `n` lines of a text.
fn tail(text: &str, n: usize) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    lines[lines.len().saturating_sub(n)..].concat()
}

/// Every line of a text with a prefix, `> ` when none is given.
fn quote_lines(text: &str, prefix: Option<&str>) -> String {
    let prefix = prefix.unwrap_or("> ");
    let mut out = String::with_capacity(text.len() + 16);
    for line in text.split_inclusive('\n') {
        out.push_str(prefix);
        out.push_str(line);
    }
    out
}

/// How a value is printed: text as it is, everything else as JSON.
pub(super) fn print(value: &Value) -> String {
    match value.kind() {
        ValueKind::Bool
        | ValueKind::None
        | ValueKind::Number
        | ValueKind::Seq
        | ValueKind::Map
        | ValueKind::Iterable => serde_json::to_string(value).unwrap_or_else(|_| value.to_string()),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names between quotes after `marker` in the debug form of an environment.
    fn names(env: &Environment<'_>, marker: &str) -> Vec<String> {
        let debug = format!("{env:?}");
        let rest = debug.split_once(marker).expect("debug form of the environment").1;
        let list = rest.split_once(']').expect("a list").0;
        let mut names: Vec<String> = list.split('"').skip(1).step_by(2).map(str::to_string).collect();
        names.sort();
        names
    }

    #[test]
    fn the_tables_are_what_is_registered() {
        let mut env = Environment::new();
        install(&mut env);
        assert_eq!(names(&env, "filters: ["), FILTERS);
        assert_eq!(names(&env, "tests: ["), TESTS);
        let mut functions: Vec<String> = env.globals().map(|(name, _)| name.to_string()).collect();
        functions.sort();
        assert_eq!(functions, FUNCTIONS);
    }

    #[test]
    fn head_and_tail_count_lines() {
        assert_eq!(head("a\nb\nc\n", 2), "a\nb\n");
        assert_eq!(tail("a\nb\nc", 2), "b\nc");
        assert_eq!(tail("a\nb\n", 9), "a\nb\n");
        assert_eq!(head("", 3), "");
    }

    #[test]
    fn find_lines_numbers_the_lines_that_hold_every_word() {
        let log = "Accepted alice\nFailed root\r\nfailed ALICE\n";
        let found = |words: Value| find_lines(log, &words).map(|lines| print(&Value::from(lines)));
        assert_eq!(
            found(Value::from("alice")).unwrap(),
            r#"[{"number":1,"text":"Accepted alice"},{"number":3,"text":"failed ALICE"}]"#
        );
        assert_eq!(found(Value::from(vec!["alice", "Failed"])).unwrap(), r#"[{"number":3,"text":"failed ALICE"}]"#);
        assert_eq!(found(Value::from(vec!["Failed root"])).unwrap(), r#"[{"number":2,"text":"Failed root"}]"#);
        assert_eq!(found(Value::from("nobody")).unwrap(), "[]");
        assert!(found(Value::from(vec![1])).unwrap_err().to_string().contains("found number"));
    }

    #[test]
    fn quote_lines_prefixes_each_line() {
        assert_eq!(quote_lines("a\nb\n", None), "> a\n> b\n");
        assert_eq!(quote_lines("a", Some("| ")), "| a");
    }
}
