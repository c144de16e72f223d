//! The page on steps: the common keys, then each verb by group.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use super::keys::{Page, inline_yaml};
use crate::document::{Kind, STEP_KEYS};
use crate::schema::{SchemaKind, generate};
use crate::verb::{Group, VERBS};

const GROUPS: [(Group, &str); 6] = [
    (Group::State, "State and prompt"),
    (Group::User, "To the user"),
    (Group::Compute, "Compute"),
    (Group::Capability, "Capabilities"),
    (Group::Mechanism, "Mechanisms"),
    (Group::Control, "Control"),
];

pub(super) fn page() -> String {
    let schema = generate(SchemaKind::Document(Kind::Loop));
    let page = Page::of(&schema);
    let step = &schema["$defs"]["Step"];
    let mut text = "# Steps\n\n\
        `do`, `hooks` and `on_error` hold lists of steps. A step is one verb with its arguments, and any of the keys that every \
        step may have. Strings in arguments are templates.\n\n## Keys of every step\n\n"
        .to_owned();
    let common: serde_json::Map<String, Json> =
        STEP_KEYS.iter().map(|key| ((*key).to_owned(), step["properties"][*key].clone())).collect();
    text.push_str(&page.table(&json!({ "properties": common })));
    let mut parts: Vec<&str> = STEP_KEYS.iter().flat_map(|key| page.parts(&step["properties"][*key])).collect();
    for (group, title) in GROUPS {
        write!(text, "\n## {title}\n").ok();
        for verb in VERBS.iter().filter(|verb| verb.group() == group) {
            one_verb(&page, &schema, verb.name(), &mut text, &mut parts);
        }
    }
    text.push_str(&page.sections(parts));
    text
}

fn one_verb<'s>(page: &Page<'s>, schema: &'s Json, name: &str, text: &mut String, parts: &mut Vec<&'s str>) {
    let property = &schema["$defs"]["Step"]["properties"][name];
    let arguments = resolved(schema, property);
    write!(text, "\n### `{name}`\n\n{}\n", page.about(property)).ok();
    for example in arguments["examples"].as_array().into_iter().flatten() {
        write!(text, "\n```yaml\n- {name}: {}\n```\n", inline_yaml(example)).ok();
    }
    let forms = arguments["anyOf"].as_array().map_or_else(|| vec![arguments], |forms| forms.iter().collect());
    for form in forms.into_iter().map(|form| resolved(schema, form)).filter(|form| form["properties"].is_object()) {
        write!(text, "\n{}", page.table(form)).ok();
        parts.extend(page.parts(form));
    }
}

fn resolved<'s>(root: &'s Json, schema: &'s Json) -> &'s Json {
    let name = schema["$ref"].as_str().and_then(|target| target.strip_prefix('#'));
    name.and_then(|pointer| root.pointer(pointer)).unwrap_or(schema)
}
