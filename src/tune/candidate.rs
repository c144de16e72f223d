//! Settings to try: those of a loop or a preset, with single values changed, and every combination of a sweep.

use serde_json::{Map, Value};

use crate::diag::did_you_mean;
use crate::document::{Mechanisms, Switches};
use crate::mechanism::Settings;
use crate::mechanism::spin::Rules;

/// The most combinations that one call tries.
pub const MOST_CANDIDATES: usize = 512;

/// Settings to begin with.
#[derive(Debug, Clone, PartialEq)]
pub struct Base {
    /// What tables call them.
    pub name: String,
    /// The map `mechanisms` of a document.
    pub mechanisms: Value,
}

impl Base {
    /// Every mechanism that asks a model, with its defaults.
    #[must_use]
    pub fn defaults() -> Self {
        let mechanisms = serde_json::json!({ "perception": {}, "reflection": {}, "spin": {}, "verification": {} });
        Self { name: "defaults".to_owned(), mechanisms }
    }
}

/// One value in place of another: `mechanisms.perception.every=4`; the first word may be left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Override {
    /// The key below `mechanisms`, such as `perception.every`.
    pub key: String,
    /// The value as it was written.
    pub value: String,
}

/// Values of one key to be tried: `perception.every=1,2,4`.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep {
    /// The key.
    pub key: String,
    /// The values as they were written.
    pub values: Vec<String>,
}

/// Settings that are tried.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// What tables call it: its base, where there are several, and the values of the sweeps.
    pub name: String,
    /// The values that differ from the base.
    pub overrides: Vec<Override>,
    pub(super) settings: Settings,
    pub(super) rules: Rules,
}

/// Why settings cannot be tried.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CandidateError {
    /// What is wrong, and where.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

fn wrong(message: impl Into<String>) -> CandidateError {
    CandidateError { message: message.into(), help: None }
}

impl Override {
    /// Reads `KEY=VALUE`.
    ///
    /// # Errors
    /// There is no `=`, or nothing before it.
    pub fn parse(text: &str) -> Result<Self, CandidateError> {
        let (key, value) = split(text)?;
        Ok(Self { key, value: value.to_owned() })
    }
}

impl Sweep {
    /// Reads `KEY=VALUE,VALUE,…`.
    ///
    /// # Errors
    /// There is no `=`, nothing before it, or an empty value.
    pub fn parse(text: &str) -> Result<Self, CandidateError> {
        let (key, values) = split(text)?;
        let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
        if values.iter().any(String::is_empty) {
            return Err(wrong(format!("`{text}` has an empty value: write `{key}=1,2,4`")));
        }
        Ok(Self { key, values })
    }
}

fn split(text: &str) -> Result<(String, &str), CandidateError> {
    let pair = text.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
    match pair {
        Some((key, value)) if !key.is_empty() => Ok((key.strip_prefix("mechanisms.").unwrap_or(key).to_owned(), value)),
        _ => Err(wrong(format!("`{text}` sets nothing: write KEY=VALUE, such as `perception.every=4`"))),
    }
}

/// Every base with the values of `set`, in every combination of the sweeps. `schema` is that of a preset, which says what
/// can be set.
///
/// # Errors
/// A key that does not exist, a value that it cannot have, or too many combinations.
pub fn candidates(
    bases: &[Base],
    set: &[Override],
    sweeps: &[Sweep],
    schema: &Value,
) -> Result<Vec<Candidate>, CandidateError> {
    let count = sweeps.iter().try_fold(bases.len(), |count, sweep| count.checked_mul(sweep.values.len()));
    if count.is_none_or(|count| count > MOST_CANDIDATES) {
        return Err(wrong(format!("the sweeps have more than {MOST_CANDIDATES} combinations")));
    }
    let mut combinations: Vec<Vec<Override>> = vec![Vec::new()];
    for sweep in sweeps {
        let with = |before: &Vec<Override>, value: &String| {
            let new = Override { key: sweep.key.clone(), value: value.clone() };
            before.iter().cloned().chain([new]).collect::<Vec<_>>()
        };
        combinations =
            combinations.iter().flat_map(|before| sweep.values.iter().map(|value| with(before, value))).collect();
    }
    let checker = Checker::new(schema)?;
    let alone = bases.len() == 1;
    let all = bases.iter().flat_map(|base| combinations.iter().map(move |swept| (base, swept)));
    let named = |base: &Base, swept: &[Override]| {
        let words = swept.iter().map(|one| format!("{}={}", one.key, one.value));
        let base = Some(base.name.clone()).filter(|_| !alone || swept.is_empty());
        base.into_iter().chain(words).collect::<Vec<_>>().join(" ")
    };
    all.map(|(base, swept)| candidate(named(base, swept), base, set, swept, &checker)).collect()
}

fn candidate(
    name: String,
    base: &Base,
    set: &[Override],
    swept: &[Override],
    checker: &Checker<'_>,
) -> Result<Candidate, CandidateError> {
    let mut mechanisms = base.mechanisms.clone();
    let overrides: Vec<Override> = set.iter().chain(swept).cloned().collect();
    for one in &overrides {
        checker.known(&one.key)?;
        put(&mut mechanisms, &one.key, value_of(&one.value));
    }
    checker.takes(&mechanisms)?;
    let document: Mechanisms = serde_json::from_value(mechanisms).map_err(|error| wrong(error.to_string()))?;
    let rules = document.spin.as_ref().map_or_else(Rules::default, |spin| Rules::new(spin.into()));
    Ok(Candidate { name, overrides, settings: Settings::new(&document, &Switches::default()), rules })
}

/// A value as YAML and TOML would have it: a number, true or false, a list, else a text.
fn value_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

fn put(map: &mut Value, key: &str, value: Value) {
    let mut place = map;
    for word in key.split('.') {
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        place = &mut place[word];
    }
    *place = value;
}

/// Compares settings with the schema of a preset's `mechanisms`.
struct Checker<'a> {
    schema: &'a Value,
    validator: jsonschema::Validator,
}

impl<'a> Checker<'a> {
    fn new(schema: &'a Value) -> Result<Self, CandidateError> {
        let own = serde_json::json!({ "$ref": "#/$defs/Mechanisms", "$defs": schema["$defs"] });
        let validator = jsonschema::draft202012::new(&own).map_err(|error| wrong(error.to_string()))?;
        Ok(Self { schema, validator })
    }

    /// Whether there is such a key.
    fn known(&self, key: &str) -> Result<(), CandidateError> {
        let mut schema = &self.schema["$defs"]["Mechanisms"];
        for word in key.split('.') {
            let Some(keys) = self.resolved(schema)["properties"].as_object() else {
                return Err(wrong(format!("mechanisms.{key}: `{word}` lies below a single value")));
            };
            match keys.get(word) {
                Some(below) => schema = below,
                None => {
                    let mut error = wrong(format!("mechanisms.{key}: there is no key `{word}`"));
                    error.help = Some(match did_you_mean(word, keys.keys()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("the keys are {}", crate::diag::list_words(keys.keys())),
                    });
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    fn resolved<'s>(&'s self, schema: &'s Value) -> &'s Value {
        let target = schema["$ref"].as_str().and_then(|target| target.strip_prefix('#'));
        target.and_then(|pointer| self.schema.pointer(pointer)).unwrap_or(schema)
    }

    fn takes(&self, mechanisms: &Value) -> Result<(), CandidateError> {
        match self.validator.iter_errors(mechanisms).next() {
            None => Ok(()),
            Some(error) => {
                let path = error.instance_path().to_string().replace('/', ".");
                Err(wrong(format!("mechanisms{path}: {error}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(set: &[&str], sweeps: &[&str]) -> Result<Vec<Candidate>, String> {
        let words = |error: CandidateError| format!("{error} {}", error.help.clone().unwrap_or_default());
        let set: Result<Vec<_>, _> = set.iter().map(|text| Override::parse(text)).collect();
        let sweeps: Result<Vec<_>, _> = sweeps.iter().map(|text| Sweep::parse(text)).collect();
        let schema = serde_json::from_str(include_str!("../../schemas/preset.schema.json")).unwrap();
        candidates(&[Base::defaults()], &set.map_err(words)?, &sweeps.map_err(words)?, &schema).map_err(words)
    }

    #[test]
    fn sweeps_are_tried_in_every_combination() {
        let all =
            tried(&["mechanisms.spin.max_warnings=1"], &["perception.every=1,2", "perception.min_interval=30s,3m"]);
        let all = all.unwrap();
        let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names.len(), 4);
        assert_eq!(names[1], "perception.every=1 perception.min_interval=3m");
        assert_eq!((all[2].settings.perception.every, all[2].settings.spin.max_warnings), (2, 1));
        assert_eq!(all[3].settings.perception.min_interval.as_secs(), 180);
    }

    #[test]
    fn what_cannot_be_set_is_refused_with_what_can() {
        let fault = |set: &str| tried(&[set], &[]).unwrap_err();
        assert!(fault("perception.evry=2").contains("did you mean `every`?"));
        assert!(fault("perceptoin.every=2").contains("did you mean `perception`?"));
        assert!(fault("perception.every.more=2").contains("below a single value"));
        assert!(fault("perception.every=0").contains("mechanisms.perception.every: 0"));
        assert!(fault("perception.min_interval=soon").contains("mechanisms.perception.min_interval"));
        assert!(fault("perception.every").contains("KEY=VALUE"));
        assert!(tried(&[], &["perception.every=1,,2"]).unwrap_err().contains("empty value"));
        let many = (1..=600).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
        assert!(tried(&[], &[&format!("perception.every={many}")]).unwrap_err().contains("more than 512"));
    }
}
