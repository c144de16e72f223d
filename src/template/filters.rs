//! Filters of our own, and those of the template language that are done differently here. All are pure.
//!
//! Text that a template captured (`{% set x %}…`, a macro's result) is marked as safe, since it has been through the
//! guard of the prompt. The language's own `join`, `replace`, `format` and `tojson` would pass the mark on to text that
//! they mix in or make; these give plain text, which is guarded when it is printed.

use minijinja::value::{Kwargs, Rest, Value, ValueKind, ValueOrKwargs, from_args};
use minijinja::{Environment, Error, ErrorKind, State, context};
use serde::Serialize;

pub(super) fn install(env: &mut Environment<'static>) {
    env.add_filter("find_lines", find_lines);
    env.add_filter("format", format);
    env.add_filter("head", head);
    env.add_filter("join", join);
    env.add_filter("quote_lines", quote_lines);
    env.add_filter("replace", replace);
    env.add_filter("tail", tail);
    env.add_filter("tojson", tojson);
}

/// `'%s: %d' | format(name, n)`
fn format(state: &mut State<'_, '_>, pattern: &str, args: Rest<ValueOrKwargs>) -> Result<Value, Error> {
    minijinja::filters::format(state, &Value::from(pattern), args)
}

/// The items of a list as text, with a text between; of the attribute of each that `attribute` names.
fn join(state: &mut State<'_, '_>, list: &Value, between: Option<&str>, kwargs: Kwargs) -> Result<String, Error> {
    let attribute: Option<&str> = kwargs.get("attribute")?;
    let between = match between {
        Some(between) => between,
        None => kwargs.get::<Option<&str>>("d")?.unwrap_or_default(),
    };
    kwargs.assert_all_used()?;
    let chars: Value;
    let list = match list.as_str() {
        Some(text) => {
            chars = text.chars().map(Value::from).collect();
            &chars
        }
        None => list,
    };
    let mut text = String::new();
    for (i, item) in list.try_iter()?.enumerate() {
        let mut item = item;
        for name in attribute.into_iter().flat_map(|path| path.split('.')) {
            item = item.get_attr(name)?;
        }
        let item = if item.is_undefined() { state.format(item)? } else { print(&item) };
        pay(state, between.len() + item.len())?;
        if i > 0 {
            text.push_str(between);
        }
        text.push_str(&item);
    }
    Ok(text)
}

/// A text with every occurrence of another replaced, or the first `count`.
fn replace(
    state: &mut State<'_, '_>,
    text: &str,
    from: &str,
    to: &str,
    rest: Rest<ValueOrKwargs>,
) -> Result<String, Error> {
    let rest = rest.into_values();
    let (count, kwargs): (Option<usize>, Kwargs) = from_args(&rest)?;
    let count = count.or(kwargs.get("count")?).unwrap_or(usize::MAX);
    kwargs.assert_all_used()?;
    let found = text.matches(from).count().min(count);
    pay(state, text.len().saturating_add(found.saturating_mul(to.len())))?;
    Ok(text.replacen(from, to, count))
}

/// Takes fuel for bytes that are about to be made, at the rate of the language: 64 bytes for one.
fn pay(state: &State<'_, '_>, bytes: usize) -> Result<(), Error> {
    state.consume_fuel(bytes as u64 / 64)
}

/// A value as JSON, on one line or indented. Nothing is escaped for HTML.
fn tojson(value: &Value, indent: Option<&Value>, kwargs: Kwargs) -> Result<String, Error> {
    let named: Option<Value> = kwargs.get("indent")?;
    kwargs.assert_all_used()?;
    if value.is_undefined() {
        return Err(ErrorKind::UndefinedError.into());
    }
    let unfit = |e: serde_json::Error| Error::new(ErrorKind::BadSerialization, e.to_string());
    let width = match indent.or(named.as_ref()) {
        None => None,
        Some(indent) if indent.kind() == ValueKind::Bool => indent.is_true().then_some(2),
        Some(indent) => usize::try_from(indent.clone()).ok(),
    };
    let Some(width) = width else { return serde_json::to_string(value).map_err(unfit) };
    let spaces = vec![b' '; width.min(16)];
    let mut bytes = Vec::new();
    let format = serde_json::ser::PrettyFormatter::with_indent(&spaces);
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, format)).map_err(unfit)?;
    String::from_utf8(bytes).map_err(|e| Error::new(ErrorKind::BadSerialization, e.to_string()))
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
    use crate::template::TemplatesBuilder;

    #[test]
    fn filters_do_what_they_say() {
        let templates = TemplatesBuilder::new().build();
        let ctx =
            context! { list => vec!["a", "b"], n => 3, m => vec![context! { k => context! { l => 1 } }], h => "<b>&'" };
        for (expr, expected) in [
            ("list | join", "ab"),
            ("list | join(', ')", "a, b"),
            ("[1, none, [true]] | join('-')", "1-null-[true]"),
            ("m | join('', attribute='k.l')", "1"),
            ("'abc' | join('.')", "a.b.c"),
            ("'aaa' | replace('a', 'b')", "bbb"),
            ("'aaa' | replace('a', 'b', 2)", "bba"),
            ("'aaa' | replace('a', 'b', count=1)", "baa"),
            ("'%s is %d' | format('x', n)", "x is 3"),
            ("h | tojson", "\"<b>&'\""),
            ("{'a': [n]} | tojson", "{\"a\":[3]}"),
            ("{'a': [n]} | tojson(indent=1)", "{\n \"a\": [\n  3\n ]\n}"),
            ("[n] | tojson(true)", "[\n  3\n]"),
            ("'a\\nb\\nc' | head(2)", "a\nb\n"),
            ("'a\\nb\\nc' | tail(1)", "c"),
            ("'a\\nb' | quote_lines", "> a\n> b"),
        ] {
            let value = templates.eval(expr, &ctx).unwrap_or_else(|e| panic!("{expr}: {e}"));
            assert_eq!(value.as_str(), Some(expected), "{expr}");
        }
    }

    #[test]
    fn filters_refuse_what_is_not_there_and_what_is_too_much() {
        let templates = TemplatesBuilder::new().build();
        let ctx = context! { m => vec![context! { k => 1 }], big => "a".repeat(1 << 20) };
        for expr in ["m | join('', attribute='x')", "m[0].x | tojson", "m | tojson(wrong=1)", "m | join(sep=1)"] {
            assert!(templates.eval(expr, &ctx).is_err(), "{expr}");
        }
        for expr in ["big | replace('a', big)", "big | list | join(big)"] {
            let e = templates.eval(expr, &ctx).expect_err(expr);
            assert_eq!(e.kind, crate::template::TemplateErrorKind::OutOfFuel, "{expr}: {e}");
        }
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
