//! Brings values to the types that a JSON Schema declares, where that loses nothing and guesses nothing.

use serde_json::{Map, Number, Value, json};

use super::Repair;
use super::chars::is_blank;
use super::object::read_value;
use super::repair::Kind;
use super::scalar::number;

/// A chain of references is followed so far.
const REFERENCE_LIMIT: usize = 32;

/// What a schema asks of one value, against the document that its references point into.
pub(super) struct Coercer<'s> {
    root: &'s Value,
    pub(super) repairs: Vec<Repair>,
    /// Where integers stand that were too large to be read exactly.
    pub(super) inexact: Vec<String>,
}

impl<'s> Coercer<'s> {
    pub(super) fn new(root: &'s Value) -> Self {
        Self { root, repairs: Vec::new(), inexact: Vec::new() }
    }

    /// The value as the schema wants it, or as it was. `path` says where it stands, for the log.
    pub(super) fn fit(&mut self, value: Value, schema: &'s Value, path: &str) -> Value {
        let schema = resolve(self.root, schema);
        let Value::Object(rules) = schema else { return value };
        let mut value = value;
        for branches in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = rules.get(branches) {
                value = self.fit_branch(value, branches, path);
            }
        }
        if let Some(Value::Array(all)) = rules.get("allOf") {
            for part in all {
                value = self.fit(value, part, path);
            }
        }
        if let Some(options) = options(rules) {
            value = self.fit_options(value, &options, path);
        }
        value = self.fit_types(value, rules, path);
        match value {
            Value::Object(map) => Value::Object(self.fit_members(map, rules, path)),
            Value::Array(items) => Value::Array(self.fit_items(items, rules, path)),
            scalar => scalar,
        }
    }

    /// The first branch that the value has the shape of, else the first whose coercion gives it that shape.
    fn fit_branch(&mut self, value: Value, branches: &'s [Value], path: &str) -> Value {
        if let Some(branch) = branches.iter().find(|branch| self.has_shape(&value, branch)) {
            return self.fit(value, branch, path);
        }
        for branch in branches {
            let mut attempt = Coercer::new(self.root);
            let fitted = attempt.fit(value.clone(), branch, path);
            if self.has_shape(&fitted, branch) {
                self.repairs.append(&mut attempt.repairs);
                return fitted;
            }
        }
        value
    }

    /// A cheap test of the keywords that tell branches apart; the validator has the last word.
    fn has_shape(&self, value: &Value, schema: &'s Value) -> bool {
        let rules = match resolve(self.root, schema) {
            Value::Object(rules) => rules,
            Value::Bool(allowed) => return *allowed,
            _ => return true,
        };
        let types = types(rules);
        if !types.is_empty() && !types.iter().any(|name| is_type(value, name)) {
            return false;
        }
        if options(rules).is_some_and(|options| !options.contains(&value)) {
            return false;
        }
        for branches in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = rules.get(branches)
                && !branches.iter().any(|branch| self.has_shape(value, branch))
            {
                return false;
            }
        }
        let Value::Object(map) = value else { return true };
        let required = rules.get("required").and_then(Value::as_array);
        let complete = required.is_none_or(|names| names.iter().filter_map(Value::as_str).all(|n| map.contains_key(n)));
        let properties = rules.get("properties").and_then(Value::as_object);
        complete
            && properties.is_none_or(|properties| {
                properties.iter().all(|(name, schema)| {
                    let Some(Value::Object(rules)) = map.get(name).map(|_| resolve(self.root, schema)) else {
                        return true;
                    };
                    options(rules).is_none_or(|options| map.get(name).is_some_and(|v| options.contains(&v)))
                })
            })
    }

    /// An enumerated value: the same text in another case or as a string.
    fn fit_options(&mut self, value: Value, options: &[&Value], path: &str) -> Value {
        if options.contains(&&value) {
            return value;
        }
        let Some(text) = scalar_text(&value) else { return value };
        let text = text.trim_matches(is_blank).to_lowercase();
        let mut matching =
            options.iter().filter(|option| scalar_text(option).is_some_and(|option| option.to_lowercase() == text));
        match (matching.next(), matching.next()) {
            (Some(option), None) => {
                self.note(path, &value, option);
                (*option).clone()
            }
            _ => value,
        }
    }

    fn fit_types(&mut self, value: Value, rules: &Map<String, Value>, path: &str) -> Value {
        let types = types(rules);
        if types.is_empty() {
            return value;
        }
        if types.iter().any(|name| is_type(&value, name)) {
            // A whole number written with a fraction is an integer, and should look like one.
            let whole = types.contains(&"integer") && !types.contains(&"number");
            return if whole { whole_number(&value).map_or(value, Value::Number) } else { value };
        }
        if types.contains(&"integer") && value.as_f64().is_some_and(|float| value.is_f64() && float.fract() == 0.0) {
            self.inexact.push(path.to_owned());
            return value;
        }
        // From the narrow to the wide: every value can be made a string.
        for name in ["null", "integer", "number", "boolean", "object", "array", "string"] {
            if types.contains(&name)
                && let Some(converted) = convert(&value, name)
            {
                self.note(path, &value, &converted);
                return converted;
            }
        }
        value
    }

    fn fit_members(
        &mut self,
        map: Map<String, Value>,
        rules: &'s Map<String, Value>,
        path: &str,
    ) -> Map<String, Value> {
        let properties = rules.get("properties").and_then(Value::as_object);
        let others = rules.get("additionalProperties").filter(|schema| schema.is_object());
        let mut fitted = Map::new();
        for (key, value) in map {
            let declared = properties.and_then(|properties| properties.get(&key));
            let Some(schema) = declared.or(others) else {
                fitted.insert(key, value);
                continue;
            };
            if declared.is_some() && value.is_null() && !self.allows_null(schema) {
                continue;
            }
            let inner = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let value = self.fit(value, schema, &inner);
            fitted.insert(key, value);
        }
        fitted
    }

    fn fit_items(&mut self, items: Vec<Value>, rules: &'s Map<String, Value>, path: &str) -> Vec<Value> {
        let first = rules.get("prefixItems").and_then(Value::as_array);
        let rest = rules.get("items").filter(|schema| schema.is_object());
        if first.is_none() && rest.is_none() {
            return items;
        }
        items
            .into_iter()
            .enumerate()
            .map(|(index, item)| match first.and_then(|first| first.get(index)).or(rest) {
                Some(schema) => self.fit(item, schema, &format!("{path}[{index}]")),
                None => item,
            })
            .collect()
    }

    /// Whether null is a value here, rather than another way to say nothing.
    pub(super) fn allows_null(&self, schema: &'s Value) -> bool {
        let Value::Object(rules) = resolve(self.root, schema) else { return false };
        let branches = |name: &str| {
            rules
                .get(name)
                .and_then(Value::as_array)
                .is_some_and(|branches| branches.iter().any(|branch| self.allows_null(branch)))
        };
        types(rules).contains(&"null")
            || options(rules).is_some_and(|options| options.iter().any(|option| option.is_null()))
            || rules.get("nullable") == Some(&Value::Bool(true))
            || branches("anyOf")
            || branches("oneOf")
    }

    fn note(&mut self, path: &str, from: &Value, to: &Value) {
        // A long array of wrong elements needs no line for each.
        const MOST: usize = 32;
        if self.repairs.len() < MOST {
            let place = if path.is_empty() { "the value" } else { path };
            let detail = format!("{place}: {} to {}", type_name(from), type_name(to));
            self.repairs.push(Repair { kind: Kind::Coerced.name(), detail });
        }
    }
}

/// The schema itself, or the one that its `$ref` points to inside `root`.
pub(super) fn resolve<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let mut schema = schema;
    for _ in 0..REFERENCE_LIMIT {
        let Some(target) = schema
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|reference| reference.strip_prefix('#'))
            .and_then(|pointer| root.pointer(pointer))
        else {
            return schema;
        };
        schema = target;
    }
    &Value::Null
}

fn types(rules: &Map<String, Value>) -> Vec<&str> {
    match rules.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn options(rules: &Map<String, Value>) -> Option<Vec<&Value>> {
    match (rules.get("const"), rules.get("enum")) {
        (Some(only), _) => Some(vec![only]),
        (None, Some(Value::Array(options))) => Some(options.iter().collect()),
        _ => None,
    }
}

fn is_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => whole_number(value).is_some(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

/// A name for people: `integer` and the like.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The value as an integer, if it is one. A floating-point number counts only where it is exact.
pub(super) fn whole_number(value: &Value) -> Option<Number> {
    // 2^53: beyond it neighbouring integers share a floating-point number.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let number = value.as_number()?;
    if !number.is_f64() {
        return Some(number.clone());
    }
    let float = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() <= EXACT)?;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and below 2^53")]
    let whole = float as i64;
    Some(Number::from(whole))
}

fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn convert(value: &Value, name: &str) -> Option<Value> {
    let text = value.as_str().map(|text| text.trim_matches(is_blank));
    match name {
        "null" => (text? == "null").then_some(Value::Null),
        "integer" => whole_number(&Value::Number(number(text?)?)).map(Value::Number),
        "number" => number(text?).map(Value::Number),
        "boolean" => match text?.to_ascii_lowercase().as_str() {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        },
        "object" => read_value(text?).filter(Value::is_object),
        "array" if value.is_null() => None,
        "array" => text.and_then(read_value).filter(Value::is_array).or_else(|| Some(json!([value]))),
        "string" => scalar_text(value).or_else(|| (!value.is_null()).then(|| value.to_string())).map(Value::String),
        _ => None,
    }
}
