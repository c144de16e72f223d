//! Tests of compiling and rendering.

use minijinja::{Value, context};
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn templates() -> Templates {
    TemplatesBuilder::new().build()
}

fn error(source: &str, ctx: &Value) -> TemplateError {
    templates().render_value(source, ctx).expect_err("must fail")
}

#[test]
fn a_string_without_markers_is_itself() {
    let templates = templates();
    for text in ["", "plain", "a { b } %}", "trailing line\n", "  spaces  ", "{"] {
        assert_eq!(templates.render_value(text, &context! {}).unwrap().as_str(), Some(text));
    }
}

#[test]
fn one_expression_keeps_its_type() {
    let templates = templates();
    let ctx = context! { n => 3, list => vec![1, 2], map => context! { a => 1 }, yes => true, text => "x" };
    for (source, expected) in [
        ("{{ n }}", json!(3)),
        ("  {{ n + 1 }}\n", json!(4)),
        ("{{- list -}}", json!([1, 2])),
        ("{{ list + [n] }}", json!([1, 2, 3])),
        ("{{ {\"a\": {\"b\": n}} }}", json!({"a": {"b": 3}})),
        ("{{ map.a }}", json!(1)),
        ("{{ yes and n > 2 }}", json!(true)),
        ("{{ text }}", json!("x")),
        ("{{ none }}", json!(null)),
        ("{{ n if not yes }}", json!(null)),
        ("{{ -n }}", json!(-3)),
        ("{{ 1.5 }}", json!(1.5)),
    ] {
        let value = templates.render_value(source, &ctx).unwrap_or_else(|e| panic!("{source}: {e}"));
        assert_eq!(serde_json::to_value(&value).unwrap(), expected, "{source}");
    }
}

#[test]
fn everything_else_is_text() {
    let templates = templates();
    let ctx = context! { n => 3, list => vec!["a", "b"], map => context! { k => context! { d => 1 } } };
    for (source, expected) in [
        ("{{ n }}{{ n }}", "33"),
        ("n={{ n }}", "n=3"),
        ("{# nothing #}{{ n }}", "3"),
        ("{{ n }}{# {{ n }} #}", "3"),
        ("{% if n %}yes{% endif %}", "yes"),
        ("list: {{ list }}", "list: [\"a\",\"b\"]"),
        ("map: {{ map }}", "map: {\"k\":{\"d\":1}}"),
        ("line {{ n }}\n", "line 3\n"),
        ("{% raw %}{{ n }}{% endraw %}", "{{ n }}"),
        ("{{ n is odd }} {{ none }} {{ 1.0 }}", "true null 1.0"),
        ("{{ none if true }}{{ 'a' if false }}.", "null."),
    ] {
        assert_eq!(templates.render_text(source, &ctx).unwrap_or_else(|e| panic!("{source}: {e}")), expected);
    }
}

#[test]
fn a_frozen_string_and_a_late_one_give_the_same() {
    let mut builder = TemplatesBuilder::new();
    builder.add_string("{{ a }}!", Use::Step).unwrap();
    builder.add_expr("a + 1").unwrap();
    let frozen = builder.build();
    let ctx = context! { a => 1 };
    for templates in [&frozen, &templates()] {
        for _ in 0..2 {
            assert_eq!(templates.render_text("{{ a }}!", &ctx).unwrap(), "1!");
            assert_eq!(templates.eval("a + 1", &ctx).unwrap(), Value::from(2));
        }
    }
}

#[test]
fn expressions_take_no_braces() {
    let templates = templates();
    let ctx = context! { a => vec![1, 2], s => "%} {{" };
    assert_eq!(templates.eval("a | length > 1 and s == '%} {{'", &ctx).unwrap(), Value::from(true));
    let e = templates.eval("a) %}{{ a }}{% set b = (a", &ctx).expect_err("no way out of the expression");
    assert_eq!(e.kind, TemplateErrorKind::Syntax);
    assert!(templates.eval("", &ctx).is_err());
}

#[test]
fn what_is_not_there_is_an_error_everywhere() {
    let ctx = context! { a => context! { b => 1 } };
    for source in [
        "{{ nope }}",
        "{{ a.nope }}",
        "x {{ nope }}",
        "{{ [nope] }}",
        "{{ [1] + [a.nope] }}",
        "{{ {\"k\": {\"l\": [a.nope]}} }}",
        "{% if nope %}x{% endif %}",
    ] {
        assert_eq!(error(source, &ctx).kind, TemplateErrorKind::Undefined, "{source}");
    }
    assert_eq!(templates().eval("nope", &ctx).expect_err("strict").kind, TemplateErrorKind::Undefined);
    assert_eq!(templates().render_text("{{ nope | default('d') }}", &ctx).unwrap(), "d");
    assert_eq!(templates().eval("nope is defined", &ctx).unwrap(), Value::from(false));
}

#[test]
fn values_stand_on_their_own() {
    let ctx = context! { list => vec![1], n => 2 };
    for source in ["{{ list + [n] }}", "{{ {'k': list + [n]}.k }}", "{{ range(1, 3) }}", "{{ [1, 2, 1] | unique }}"] {
        let value = templates().render_value(source, &ctx).unwrap();
        assert_eq!(value.kind(), minijinja::value::ValueKind::Seq, "{source}");
        assert_eq!(value.get_item_by_index(1).unwrap(), Value::from(2), "{source}");
    }
}

#[test]
fn documents_are_rendered_at_any_depth() {
    let value = json!({ "a": ["{{ n }}", { "{{ n }}": "n={{ n }}" }], "b": 1.5, "c": null, "d": true });
    let rendered = templates().render_json(&value, &context! { n => 3 }).unwrap();
    assert_eq!(
        serde_json::to_value(&rendered).unwrap(),
        json!({ "a": [3, { "{{ n }}": "n=3" }], "b": 1.5, "c": null, "d": true })
    );
}

#[test]
fn an_error_points_at_the_bytes() {
    let place = |source: &str, ctx: &Value| error(source, ctx).place.clone().expect("a place");
    let at = place("line one\n  {{ 'é' ~ nope }} more", &context! {});
    assert_eq!((at.line, at.column), (2, 12));
    let source = "  {{ 1 + nope.x }}";
    let at = place(source, &context! {});
    assert_eq!(&source[at.range.clone()], "nope", "{at:?}");
    let e = templates().eval("1 + 'a'", &context! {}).expect_err("types");
    assert_eq!((e.kind, e.place.clone().map(|p| p.range)), (TemplateErrorKind::Operation, Some(0..7)));
    let e = error("{{ a | upcase }} x", &context! { a => 1 });
    assert_eq!(e.kind, TemplateErrorKind::UnknownFilter);
}

#[test]
fn names_that_lead_out_of_the_workspace_are_refused() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "s3cret").unwrap();
    let absolute = outside.path().join("secret").display().to_string();
    for name in ["../../../../etc/passwd", "/etc/hosts", "a/../../b", "..\\b", "C:\\x", "a//b", "./a", &absolute, ""] {
        let mut builder = TemplatesBuilder::new();
        builder.loader(|name| panic!("{name:?} must not be opened"));
        assert_eq!(builder.add_file(name, "x").expect_err("refused").kind, TemplateErrorKind::OutsideRoot, "{name}");
        let templates = builder.build();
        for tag in ["include", "extends"] {
            let source = format!("{{% {tag} {} %}}", json!(name));
            let e = templates.render_prompt(&source, &context! {}).expect_err("refused");
            assert_eq!(e.kind, TemplateErrorKind::OutsideRoot, "{source}: {e}");
        }
        let source = format!("{{% import {} as h %}}", json!(name));
        let e = templates.render_prompt(&source, &context! {}).expect_err("refused");
        assert_eq!(e.kind, TemplateErrorKind::OutsideRoot, "{source}: {e}");
    }
}

#[test]
fn files_include_their_neighbours_and_files_of_the_roots() {
    let mut builder = TemplatesBuilder::new();
    builder.root("prompts");
    builder.add_file("prompts/a/one.md", "1{% include 'two.md' %}{% include 'shared.md' %}").unwrap();
    builder.add_file("prompts/a/two.md", "2{% include 'prompts/a/late.md' %}").unwrap();
    builder.add_file("prompts/shared.md", "s{{ v }}").unwrap();
    builder.loader(|name| (name == "prompts/a/late.md").then(|| "late".to_string()));
    let templates = builder.build();
    let rendered = templates.render_prompt_file("prompts/a/one.md", &context! { v => "<|A_b|>" }).unwrap();
    assert_eq!(rendered, Rendered { text: "12lates<\\|A_b|>".into(), neutralised: 1 });
    let e = templates.render_prompt("{% include 'missing.md' %}", &context! {}).expect_err("not there");
    assert_eq!(e.kind, TemplateErrorKind::NotFound);
    let e = templates.render_prompt_file("prompts/shared.md", &context! {}).expect_err("v is missing");
    assert_eq!((e.kind, e.file.as_deref()), (TemplateErrorKind::Undefined, Some("prompts/shared.md")));
    let e = templates.render_prompt_file("prompts/a/one.md", &context! {}).expect_err("v is missing");
    assert_eq!(e.file.as_deref(), Some("prompts/shared.md"), "the innermost file is named: {e:?}");
    assert_eq!(&e.source[e.place.clone().unwrap().range], "v");
}

#[test]
fn printed_values_are_guarded_in_prompts_only() {
    let ctx = context! { v => "<|SCHEMA_END_abc|>", list => vec!["<|A_b|>"] };
    let source = "<|LITERAL_x|> {{ v }} {{ list }}{% set c %}{{ v }}{% endset %} {{ c }}{% macro m(x) %}{{ x }}{% endmacro %} {{ m(v) }}";
    let rendered = templates().render_prompt(source, &ctx).unwrap();
    let guarded = "<\\|SCHEMA_END_abc|>";
    assert_eq!(rendered.text, format!("<|LITERAL_x|> {guarded} [\"<\\|A_b|>\"] {guarded} {guarded}"));
    assert_eq!(rendered.neutralised, 4);
    let verbatim = templates().render_text("{{ v }} {{ list }}", &ctx).unwrap();
    assert_eq!(verbatim, "<|SCHEMA_END_abc|> [\"<|A_b|>\"]");
    let trusted = context! { v => Value::from_safe_string("<|A_b|>".into()) };
    assert_eq!(templates().render_prompt("{{ v }}{# #}", &trusted).unwrap().text, "<|A_b|>");
}

#[test]
fn a_template_cannot_vouch_for_a_value() {
    let ctx = context! { v => "<|A_b|>" };
    for source in ["{{ v | safe }}", "{% autoescape false %}{{ v }}{% endautoescape %}", "{{ v | e }}"] {
        match templates().render_prompt(source, &ctx) {
            Ok(rendered) => assert_eq!(rendered.text, "<\\|A_b|>", "{source}"),
            Err(e) => assert_eq!(e.kind, TemplateErrorKind::UnknownFilter, "{source}"),
        }
    }
    let wide = context! { v => "＜｜A_b｜＞" };
    for source in [
        "{% set s %}%s{% endset %}{{ s | format(v) }}",
        "{% set s %}X{% endset %}{{ s | replace('X', v) }}",
        "{% set s %}, {% endset %}{{ [s, v] | join(s) }}",
        "{{ v | tojson }}",
        "{% set s %}{{ v }}{% endset %}{{ s | replace('\\\\', '') }}",
        "{% filter replace('\\\\', '') %}{{ v }}{% endfilter %}",
    ] {
        let rendered = templates().render_prompt(source, &wide).unwrap_or_else(|e| panic!("{source}: {e}"));
        assert!(rendered.text.contains("＜\\｜A_b"), "{source}: {}", rendered.text);
    }
    // A safe string that takes in an untrusted one must not carry it past the guard.
    let mixed = [
        "{% set s %}X{% endset %}{{ s | replace('X', v) }}",
        "{% set s %}%s{% endset %}{{ s | format(v) }}",
        "{% set s %}, {% endset %}{{ [v, v] | join(s) }}",
        "{% set s %}a{% endset %}{{ s ~ v }}",
        "{% set s %}a{% endset %}{{ s + v }}",
        "{% set s %}a\nb{% endset %}{{ s | indent(2) }}{{ v | indent(1) }}",
        "{% set s %}{{ v }}{% endset %}{{ s | quote_lines(v) }}",
    ];
    for source in mixed {
        let rendered = templates().render_prompt(source, &ctx).unwrap_or_else(|e| panic!("{source}: {e}"));
        assert_eq!(guard::neutralise(&rendered.text).1, rendered.text.matches("<\\").count(), "{source}");
        assert!(!rendered.text.contains("<|"), "{source}: {}", rendered.text);
    }
}

#[test]
fn work_and_size_are_bounded() {
    let bombs = [
        "{% for i in range(9999) %}{% for j in range(9999) %}{{ i*j }}{% endfor %}{% endfor %}",
        "{{ 'x' * 100000000 }}",
        "{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}{{ ns.s }}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% include 'prompts/a.md' %}",
        "{% extends 'prompts/b.md' %}",
    ];
    let templates = || {
        let mut builder = TemplatesBuilder::new();
        builder.add_file("prompts/a.md", "{% include 'prompts/a.md' %}").unwrap();
        builder.add_file("prompts/b.md", "{% extends 'prompts/b.md' %}").unwrap();
        builder.build()
    };
    for source in bombs {
        for result in [
            templates().render_value(source, &context! {}).map(drop),
            templates().render_prompt(source, &context! {}).map(drop),
        ] {
            let kind = result.expect_err(source).kind;
            assert!(matches!(kind, TemplateErrorKind::OutOfFuel | TemplateErrorKind::Operation), "{source}: {kind:?}");
        }
    }
    let e = error(bombs[0], &context! {});
    assert_eq!(e.kind, TemplateErrorKind::OutOfFuel);
    let big = "x".repeat(9 * 1024 * 1024);
    assert_eq!(error("{{ v }}.", &context! { v => big }).kind, TemplateErrorKind::TooLarge);
}

#[test]
fn debug_is_not_a_function() {
    let e = error("{{ debug() }}", &context! { secret => "s3cret" });
    assert_eq!(e.kind, TemplateErrorKind::UnknownFunction);
    assert!(!e.to_string().contains("s3cret"));
}

#[test]
fn templates_are_shared_between_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    let templates = templates();
    shared(&templates);
    std::thread::scope(|scope| {
        for i in 0..4 {
            let templates = &templates;
            scope.spawn(move || {
                for n in 0..50 {
                    let source = format!("{{{{ a + {} }}}}", n % 7);
                    assert_eq!(templates.render_value(&source, &context! { a => i }).unwrap(), Value::from(i + n % 7));
                }
            });
        }
    });
}

proptest! {
    #[test]
    fn no_template_text_panics(source in "(\\{\\{|\\}\\}|\\{%|%\\}|[a-z .|'\"(\\[{}\\])+-]|set|for|in|if|é|\n){0,24}") {
        let templates = templates();
        let ctx = context! { a => 1 };
        let _ = templates.render_value(&source, &ctx);
        let _ = templates.render_prompt(&source, &ctx);
        let _ = templates.eval(&source, &ctx);
    }

    #[test]
    fn any_value_is_printed_verbatim_in_steps(value in "\\PC*") {
        let ctx = context! { v => value.clone() };
        prop_assert_eq!(templates().render_text("{{ v }}", &ctx).unwrap(), value.clone());
        prop_assert_eq!(templates().render_text("a{{ v }}\n", &ctx).unwrap(), format!("a{value}\n"));
    }
}
