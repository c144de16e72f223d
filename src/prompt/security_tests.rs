//! Attacks on the prompt, from `tests/cases/prompt/security.json`, each run against the real thing.

use std::collections::HashSet;

use minijinja::context;
use serde_json::Value;

use super::*;
use crate::template::{TemplateErrorKind, TemplatesBuilder};

fn case(id: &str) -> Value {
    let cases: Vec<Value> =
        serde_json::from_str(include_str!("../../tests/cases/prompt/security.json")).expect("cases");
    cases.into_iter().find(|case| case["id"] == id).unwrap_or_else(|| panic!("no case {id}"))
}

/// SEC-PI-004: bypasses of neutralisers that match text only as it is typed.
#[test]
fn look_alike_delimiters_are_contained() {
    let values = case("SEC-PI-004")["input"]["values"].clone();
    let written: Vec<&str> = values.as_array().expect("values").iter().filter_map(Value::as_str).collect();
    assert!(written.len() >= 6);
    for value in written {
        let mut assembler = Assembler::new(&RunSecret::from_bytes([4; 32]));
        let live = first_nonce(&mut assembler, value);
        // As handed, and in the form of this engine's own delimiters with the live nonce.
        let forms = [
            value.to_string(),
            value.replace("/tool_output", &format!("|MEMORY_END_{live}|")),
            value.replace("/tool_output", &format!("|MEMORY_END_{}|", live.to_uppercase())),
        ];
        for form in forms {
            assembler.begin_turn();
            let prompt = assembler.assemble(&[memory(&form)], &|_| 0).expect("no turn nonce");
            let parsed = parse_sections(&prompt.last);
            assert_eq!(parsed.len(), 1, "{form:?}");
            assert_eq!(guard::restore(parsed[0].body), form);
            assert!(!guard::canonical(parsed[0].body).contains(parsed[0].nonce), "{form:?}");
        }
    }
}

fn memory(body: &str) -> Section<'_> {
    Section { name: "MEMORY", tier: Tier::Dynamic, trust: Trust::Untrusted, body: body.into() }
}

fn first_nonce(assembler: &mut Assembler, value: &str) -> String {
    assembler.begin_turn();
    let prompt = assembler.assemble(&[memory(value)], &|_| 0).expect("no turn nonce");
    parse_sections(&prompt.last)[0].nonce.to_string()
}

/// SEC-PI-007: nonces of whole prompts, newly drawn ones counted.
#[test]
fn newly_drawn_nonces_of_prompts_never_repeat() {
    let mut assembler = Assembler::new(&RunSecret::from_bytes([7; 32]));
    let mut seen = HashSet::new();
    for i in 0..5_000 {
        let turn = assembler.begin_turn();
        assert!(seen.insert(turn.to_string()));
        let prompt = assembler.assemble(&[memory(&format!("turn {i}"))], &|_| 0).expect("no turn nonce");
        let nonce = &prompt.volatile[1].1;
        // 26 characters of 5 bits are more than the 22 of 6 bits that the case asks for: both hold 128.
        assert!(nonce.len() * 5 >= 128);
        assert!(seen.insert(nonce.clone()), "drawn twice");
    }
}

/// SEC-TPL-004: the template of the case, with a loader that would give anything away.
#[test]
fn templates_read_no_file_outside() {
    let source = case("SEC-TPL-004")["input"]["template"].as_str().expect("a template").to_string();
    let mut builder = TemplatesBuilder::new();
    builder.loader(|name| panic!("{name} must not be read"));
    let e = builder.build().render_prompt(&source, &context! {}).expect_err("refused");
    assert_eq!(e.kind, TemplateErrorKind::OutsideRoot, "{e}");
}

/// SEC-TPL-007 and `j-fuel`.
#[test]
fn templates_dump_nothing_and_end() {
    let templates = TemplatesBuilder::new().build();
    let source = case("SEC-TPL-007")["input"]["template"].as_str().expect("a template").to_string();
    let e = templates.render_prompt(&source, &context! { secret => "s3cret" }).expect_err("no such function");
    assert_eq!(e.kind, TemplateErrorKind::UnknownFunction);
    assert!(!format!("{e} {e:?}").contains("s3cret"));
    let source = case("j-fuel")["text"].as_str().expect("a template").to_string();
    let e = templates.render_prompt(&source, &context! {}).expect_err("too much work");
    assert_eq!(e.kind, TemplateErrorKind::OutOfFuel);
}
