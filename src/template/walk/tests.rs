//! Tests of the walker, as data in `tests/cases/template/walk.json`.
//!
//! A use is written as its byte offset, then its path (`[]` for an element), then `=n` when n parts are known to exist,
//! `?` when the last part may be missing, `~` when the template sets it in one branch only.

use proptest::prelude::*;
use serde::Deserialize;

use super::*;

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Found {
    variables: Vec<String>,
    filters: Vec<String>,
    tests: Vec<String>,
    functions: Vec<String>,
    methods: Vec<String>,
    includes: Vec<String>,
    constants: Vec<String>,
}

#[derive(Deserialize)]
struct Case {
    text: String,
    #[serde(default)]
    expr: bool,
    found: Found,
}

fn found(source: &str, walk: &Walk) -> Found {
    let names = |uses: &[NameUse]| {
        uses.iter()
            .map(|name| {
                assert!(source[name.range.clone()].contains(&name.name), "{source}: {name:?}");
                format!("{} {}", name.range.start, name.name)
            })
            .collect()
    };
    Found {
        variables: walk.variables.iter().map(variable).collect(),
        filters: names(&walk.filters),
        tests: names(&walk.tests),
        functions: names(&walk.functions),
        methods: names(&walk.methods),
        includes: walk
            .includes
            .iter()
            .map(|i| {
                let optional = if i.optional { "?" } else { "" };
                let locals = if i.locals.is_empty() { String::new() } else { format!(" with {}", i.locals.join(",")) };
                format!("{} {:?}{optional} {}{locals}", i.range.start, i.kind, i.names.join(","))
            })
            .collect(),
        constants: walk.constants.iter().map(|range| source[range.clone()].to_string()).collect(),
    }
}

fn variable(used: &VariableUse) -> String {
    let mut text = format!("{} ", used.range.start);
    for (i, part) in used.path.iter().enumerate() {
        match &part.name {
            None => text.push_str("[]"),
            Some(name) if i == 0 => text.push_str(name),
            Some(name) => {
                text.push('.');
                text.push_str(name);
            }
        }
    }
    if used.known > 0 {
        text.push_str(&format!("={}", used.known));
    }
    if used.optional {
        text.push('?');
    }
    if used.sometimes_set {
        text.push('~');
    }
    text
}

#[test]
fn uses_are_found_with_their_places() {
    let cases: Vec<Case> =
        serde_json::from_str(include_str!("../../../tests/cases/template/walk.json")).expect("cases");
    for case in cases {
        let walk = if case.expr { walk_expr(&case.text) } else { walk(&case.text) };
        let walk = walk.unwrap_or_else(|e| panic!("{}: {e}", case.text));
        assert_eq!(found(&case.text, &walk), case.found, "{}", case.text);
    }
}

#[test]
fn ranges_cover_what_is_written() {
    let source = "é {{ state['a b'].c[0] | default(1) }}";
    let walk = walk(source).unwrap();
    assert_eq!(&source[walk.variables[0].range.clone()], "state['a b'].c[0");
    assert_eq!(walk.variables[0].path.len(), 4);
    assert_eq!(&source[walk.variables[0].path[2].range.clone()], "c");
}

#[test]
fn a_broken_template_is_an_error_with_a_place() {
    let e = walk("a\n{{ b c }}").expect_err("broken");
    let place = e.place.clone().expect("a place");
    assert_eq!((place.line, place.column), (2, 6));
    assert!(walk_expr("a b").is_err());
}

proptest! {
    #[test]
    fn no_text_panics(source in "(\\{\\{|\\}\\}|\\{%|%\\}|[a-z .|'\"(\\[{}\\])+-]|set |for |in |if |is |é|\n|endif|endfor){0,24}") {
        for walk in [walk(&source), walk_expr(&source)].into_iter().flatten() {
            for used in &walk.variables {
                prop_assert!(source.get(used.range.clone()).is_some(), "{used:?}");
            }
            for name in walk.filters.iter().chain(&walk.tests).chain(&walk.functions).chain(&walk.methods) {
                prop_assert!(source.get(name.range.clone()).is_some(), "{name:?}");
            }
        }
    }
}
