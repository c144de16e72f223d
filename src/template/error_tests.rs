//! Tests of what errors say, as data in `tests/cases/template/`.

use std::collections::BTreeMap;

use minijinja::{Value, context};
use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    text: String,
    #[serde(default)]
    expr: bool,
    at: String,
    #[serde(default = "syntax")]
    kind: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    help: String,
    #[serde(default)]
    values: Option<BTreeMap<String, String>>,
}

fn syntax() -> String {
    "Syntax".into()
}

fn verify(case: &Case, e: &TemplateError) {
    let text = &case.text;
    let place = e.place.clone().unwrap_or_else(|| panic!("{text}: no place: {e:?}"));
    assert_eq!(format!("{}:{}", place.line, place.column), case.at, "{text}: {e:?}");
    assert_eq!(format!("{:?}", e.kind), case.kind, "{text}: {e:?}");
    assert!(e.message.contains(&case.message), "{text}: {e:?}");
    assert!(e.help.as_deref().unwrap_or_default().contains(&case.help), "{text}: {e:?}");
    if let Some(values) = &case.values {
        assert_eq!(&e.values.iter().cloned().collect::<BTreeMap<_, _>>(), values, "{text}");
    }
}

#[test]
fn broken_texts_are_explained() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../../tests/cases/template/syntax.json")).expect("cases");
    for case in cases {
        let walked = walk::walk(&case.text).err().unwrap_or_else(|| panic!("{}: must fail", case.text));
        verify(&case, &walked);
        let templates = TemplatesBuilder::new().build();
        for e in [
            templates.render_prompt(&case.text, &context! {}).map(drop),
            templates.render_value(&case.text, &context! {}).map(drop),
        ] {
            verify(&case, &e.expect_err(&case.text));
        }
        let mut builder = TemplatesBuilder::new();
        let e = builder.add_file("prompts/a.md", &case.text).expect_err(&case.text);
        assert_eq!(e.file.as_deref(), Some("prompts/a.md"));
        verify(&case, &e);
    }
}

#[test]
fn failures_are_explained_with_their_values() {
    let cases: Vec<Case> =
        serde_json::from_str(include_str!("../../tests/cases/template/render_errors.json")).expect("cases");
    let ctx = context! {
        name => "Ada", n => 3, list => vec![1, 2], long => "x".repeat(500),
        state => context! { anomalies => Vec::<Value>::new(), token => "s3cret" },
        api_key => "s3cret", env => context! { HOME => "/root" },
    };
    for case in cases {
        let templates = TemplatesBuilder::new().build();
        let result =
            if case.expr { templates.eval(&case.text, &ctx) } else { templates.render_value(&case.text, &ctx) };
        verify(&case, &result.expect_err(&case.text));
    }
}

#[test]
fn the_sentence_says_where_and_with_what() {
    let templates = TemplatesBuilder::new().build();
    let e = templates.render_value("{{ n + name }} x", &context! { n => 3, name => "Ada" }).expect_err("types");
    assert_eq!(
        e.to_string(),
        "Tried to use + operator on unsupported types number and string (at `n + name`); n = 3, name = \"Ada\""
    );
    let mut builder = TemplatesBuilder::new();
    builder.add_file("prompts/a.md", "x\n{{ nope }}").unwrap();
    let e = builder.build().render_prompt_file("prompts/a.md", &context! {}).expect_err("nope");
    assert_eq!(e.to_string(), "`nope` is undefined (prompts/a.md:2:4)");
}
