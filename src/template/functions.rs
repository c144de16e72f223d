//! The filters, tests and functions that templates may use: the same table registers them and answers "did you mean".

use minijinja::Environment;

use super::filters;
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
    filters::install(env);
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
}
