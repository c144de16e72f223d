//! From the members of an object to the parameters of its action: which are kept, how they are brought into type,
//! and whether they are valid.

use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value};

use super::chars::is_blank;
use super::coerce::{Coercer, resolve};
use super::message;
use super::object::read_value;
use super::repair::Kind;
use super::scalar::has_non_finite;
use super::{ActionGrammar, Extracted, Grammar, RejectClass, Rejection, Repair};

/// Keys of the object that are about the call, not parameters, unless the action declares them.
const ABOUT_CALL: [&str; 3] = ["@action", "identifier", "human_readable_thought"];
pub(super) const PARAMS: &str = "params";

/// The parameter names that a schema declares.
#[derive(Debug)]
pub(super) struct Declared {
    names: IndexSet<String>,
    /// Other names are allowed too.
    open: bool,
}

impl Declared {
    pub(super) fn of(schema: &Value) -> Self {
        let mut declared = Self { names: IndexSet::new(), open: false };
        declared.collect(schema, schema, 0);
        declared.open |= declared.names.is_empty() && schema.get("properties").is_none();
        declared
    }

    fn collect(&mut self, root: &Value, schema: &Value, depth: usize) {
        const DEEPEST: usize = 16;
        let Value::Object(rules) = resolve(root, schema) else { return };
        if depth > DEEPEST {
            return;
        }
        if let Some(Value::Object(properties)) = rules.get("properties") {
            self.names.extend(properties.keys().cloned());
        }
        self.open |=
            rules.get("additionalProperties").is_some_and(|more| *more == Value::Bool(true) || more.is_object());
        self.open |= rules.contains_key("patternProperties");
        for branches in ["allOf", "anyOf", "oneOf"] {
            for branch in rules.get(branches).and_then(Value::as_array).into_iter().flatten() {
                self.collect(root, branch, depth + 1);
            }
        }
        for branch in ["if", "then", "else"] {
            if let Some(branch) = rules.get(branch) {
                self.collect(root, branch, depth + 1);
            }
        }
    }

    /// The name is declared.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// A parameter of this name is kept.
    pub(super) fn keeps(&self, name: &str) -> bool {
        self.has(name) || (self.open && !ABOUT_CALL.contains(&name))
    }
}

/// The members of a call, and what came with them.
pub(super) struct Call {
    pub(super) members: Map<String, Value>,
    pub(super) tags: IndexMap<String, String>,
    pub(super) repairs: Vec<Repair>,
    pub(super) warnings: Vec<String>,
    /// The reply was cut off, so that what is missing may have been to come.
    pub(super) cut: bool,
}

/// Makes a call into an action, or says why it is none.
pub(super) fn complete(name: &str, call: Call, grammar: &Grammar) -> Result<Extracted, Rejection> {
    let Some(action) = grammar.actions.get(name).map(AsRef::as_ref) else {
        return Err(message::unknown_action(name, grammar));
    };
    let declared = Declared::of(&action.params);
    let Call { mut members, tags, mut repairs, mut warnings, cut } = call;
    let identifier = about(&members, "identifier");
    let thought = about(&members, "human_readable_thought");
    let tags = own_tags(name, action, &declared, tags, &mut members, &mut repairs, &mut warnings);
    let given = gather(members, &declared, &mut repairs, &mut warnings);
    let params = fit(name, action, given, &mut repairs, &mut warnings)?;
    let missing: Vec<&str> = action
        .tags
        .iter()
        .filter(|(tag, rule)| rule.required && !tags.contains_key(*tag))
        .map(|(tag, _)| tag.as_str())
        .collect();
    if !missing.is_empty() {
        return Err(if cut {
            message::cut_before_tags(name, &missing)
        } else {
            message::missing_tags(name, &missing, &grammar.nonce)
        });
    }
    Ok(Extracted { action: name.to_owned(), identifier, thought, params, tags, repairs, warnings })
}

fn about(members: &Map<String, Value>, key: &str) -> Option<String> {
    match members.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Tags that the action declares. One that is missing may stand in the object, where decoding is constrained to JSON.
fn own_tags(
    name: &str,
    action: &ActionGrammar,
    declared: &Declared,
    mut tags: IndexMap<String, String>,
    members: &mut Map<String, Value>,
    repairs: &mut Vec<Repair>,
    warnings: &mut Vec<String>,
) -> IndexMap<String, String> {
    tags.retain(|tag, _| {
        let own = action.tags.contains_key(tag);
        if !own {
            warnings.push(format!("The tag `{tag}` does not belong to `{name}` and is left out."));
        }
        own
    });
    for tag in action.tags.keys() {
        if tags.contains_key(tag) || declared.has(tag) {
            continue;
        }
        let inside = members.get(PARAMS).is_some_and(|params| params.get(tag).is_some_and(Value::is_string));
        let holder = if inside { members.get_mut(PARAMS).and_then(Value::as_object_mut) } else { Some(&mut *members) };
        if let Some(holder) = holder
            && holder.get(tag).is_some_and(Value::is_string)
            && let Some(Value::String(body)) = holder.shift_remove(tag)
        {
            repairs.push(Repair { kind: Kind::TagInObject.name(), detail: tag.clone() });
            tags.insert(tag.clone(), body);
        }
    }
    tags
}

/// Parameters from `params` and from the top level.
fn gather(
    mut members: Map<String, Value>,
    declared: &Declared,
    repairs: &mut Vec<Repair>,
    warnings: &mut Vec<String>,
) -> Map<String, Value> {
    if let Some(Value::String(text)) = members.get(PARAMS)
        && !declared.has(PARAMS)
        && let Some(Value::Object(inner)) = read_value(text)
    {
        repairs.push(Repair { kind: Kind::ParamsText.name(), detail: "`params` is JSON in a string".to_owned() });
        members.insert(PARAMS.to_owned(), Value::Object(inner));
    }
    if !holds_params(&members, declared) {
        members.retain(|key, _| declared.keeps(key));
        return members;
    }
    let mut given = Map::new();
    if let Some(Value::Object(inner)) = members.shift_remove(PARAMS) {
        for (key, value) in inner {
            let trimmed = key.trim_matches(is_blank);
            if declared.keeps(trimmed) {
                given.insert(trimmed.to_owned(), value);
            }
        }
    }
    members.retain(|key, _| declared.keeps(key));
    for (key, value) in members {
        match given.get(&key) {
            None => {
                given.insert(key, value);
            }
            Some(inner) if *inner == value => {}
            // A parameter of this name may be `identifier`, which also names the call.
            Some(_) => warnings.push(format!("`{key}` stands in `params` and beside it; the one in `params` counts.")),
        }
    }
    given
}

/// Whether the member `params` holds the parameters, rather than being one of them.
fn holds_params(members: &Map<String, Value>, declared: &Declared) -> bool {
    let Some(Value::Object(inner)) = members.get(PARAMS) else { return false };
    if !declared.has(PARAMS) {
        return true;
    }
    let beside = members.keys().any(|key| key != PARAMS && declared.has(key));
    !beside && inner.keys().any(|key| declared.has(key.trim_matches(is_blank)))
}

/// Coerces and validates.
fn fit(
    name: &str,
    action: &ActionGrammar,
    given: Map<String, Value>,
    repairs: &mut Vec<Repair>,
    warnings: &mut Vec<String>,
) -> Result<Map<String, Value>, Rejection> {
    let unwritable: Vec<&str> =
        given.iter().filter(|(_, value)| has_non_finite(value)).map(|(key, _)| key.as_str()).collect();
    if !unwritable.is_empty() {
        return Err(message::not_finite(name, &unwritable));
    }
    let mut coercer = Coercer::new(&action.params);
    let fitted = match coercer.fit(Value::Object(given), &action.params, "") {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    repairs.append(&mut coercer.repairs);
    if !coercer.inexact.is_empty() {
        return Err(message::inexact(name, &coercer.inexact));
    }
    let whole = Value::Object(fitted);
    match action.validator() {
        Ok(validator) => {
            let faults: Vec<_> = validator.iter_errors(&whole).collect();
            if !faults.is_empty() {
                return Err(message::invalid(name, &faults));
            }
        }
        Err(why) => {
            warnings.push(format!("The schema of `{name}` cannot be used: {why}"));
            let required = action.params.get("required").and_then(Value::as_array);
            let missing: Vec<&str> = required
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .filter(|key| whole.get(key).is_none())
                .collect();
            if !missing.is_empty() {
                return Err(Rejection {
                    class: RejectClass::MissingParam,
                    message: message::missing_params(name, &missing),
                    action: Some(name.to_owned()),
                });
            }
        }
    }
    Ok(match whole {
        Value::Object(map) => map,
        _ => Map::new(),
    })
}
