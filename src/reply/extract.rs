//! The final reading of a whole reply: regions in, one action or one rejection out.

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::lenient::Fault;
use super::object::{Object, Read, read};
use super::params::{Call, complete};
use super::regions::{Region, Regions};
use super::repair::Kind;
use super::{Extracted, Finish, Grammar, Rejection, Repair, message};

/// Takes exactly one action from a whole reply.
///
/// The first complete object in the open that has a known `@action` at its own top level wins. The rules are in
/// `docs/extraction.md`.
pub fn extract(raw: &str, finish: Finish, grammar: &Grammar) -> Result<Extracted, Rejection> {
    let mut found = Found::default();
    for region in Regions::new(raw, grammar, finish == Finish::Stop) {
        found.take(raw, region, finish, grammar)?;
    }
    let Found { chosen, unknown, other_key, tags, repairs, warnings } = found;
    let Some((name, members)) = chosen else {
        return Err(match unknown {
            Some(word) => message::unknown_action(&word, grammar),
            None => message::no_action(finish, raw.contains("@action"), other_key.as_deref(), grammar),
        });
    };
    let cut = finish == Finish::Length;
    complete(&name, Call { members, tags, repairs, warnings, cut }, grammar)
}

/// An object that names its action under another key does so among its first keys.
const FIRST_KEYS: usize = 4;

/// What the regions so far have given.
#[derive(Default)]
struct Found {
    chosen: Option<(String, Map<String, Value>)>,
    unknown: Option<String>,
    /// A key other than `@action` that named an offered action.
    other_key: Option<String>,
    tags: IndexMap<String, String>,
    repairs: Vec<Repair>,
    warnings: Vec<String>,
}

impl Found {
    fn take(&mut self, raw: &str, region: Region<'_>, finish: Finish, grammar: &Grammar) -> Result<(), Rejection> {
        match region {
            Region::Object(_, object) => self.object(raw, object, grammar),
            Region::Broken { start, fault, action_shown } => {
                if action_shown && self.chosen.is_none() {
                    return Err(message::broken(raw, start, &fault, finish));
                }
                Ok(())
            }
            Region::Tag { name, body, closed } => self.tag(name, body, closed, finish),
            Region::Reset => {
                *self = Self::default();
                self.warnings.push("Everything before a lone closing think tag was taken as reasoning.".to_owned());
                Ok(())
            }
            Region::Tangled => Err(message::tangled()),
        }
    }

    fn object(&mut self, raw: &str, object: Object, grammar: &Grammar) -> Result<(), Rejection> {
        let Some(word) = object.members.get("@action") else {
            let names_action =
                |(_, value): &(&String, &Value)| value.as_str().is_some_and(|w| grammar.find(w).is_some());
            if let Some((key, _)) = object.members.iter().take(FIRST_KEYS).find(names_action) {
                self.other_key.get_or_insert_with(|| key.clone());
            }
            return Ok(());
        };
        if let Some((chosen, _)) = &self.chosen {
            let warning = format!("The reply has more than one action; only the first, `{chosen}`, counts.");
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
            return Ok(());
        }
        if object.conflict {
            return Err(message::two_actions());
        }
        let Some(word) = word.as_str() else { return Err(message::action_not_text()) };
        let Some((name, _)) = grammar.find(word) else {
            self.unknown.get_or_insert_with(|| word.to_owned());
            return Ok(());
        };
        self.repairs.extend(object.log.into_repairs(raw));
        if name != word {
            self.repairs.push(renamed(word, name));
        }
        self.chosen = Some((name.to_owned(), object.members));
        Ok(())
    }

    fn tag(&mut self, name: &str, body: &str, closed: bool, finish: Finish) -> Result<(), Rejection> {
        if !closed {
            if finish != Finish::Stop {
                let action = self.chosen.as_ref().map(|(name, _)| name.as_str());
                return Err(message::cut_tag(action, name, finish));
            }
            self.warnings.push(format!("The tag `{name}` has no end tag; its body runs to the end of the reply."));
        }
        if self.tags.insert(name.to_owned(), body.to_owned()).is_some() {
            self.warnings.push(format!("The tag `{name}` comes more than once; the last counts."));
        }
        Ok(())
    }
}

fn renamed(word: &str, name: &str) -> Repair {
    Repair { kind: Kind::Coerced.name(), detail: format!("@action: `{}` to `{name}`", word.trim()) }
}

/// Takes the action of a native tool call: its name, the JSON text of its arguments, and the text that came with it.
///
/// The arguments go through the same reading, coercion and validation as an object in text. Tags are taken from the
/// text, or from arguments of their names; objects in the text do not count.
pub fn extract_tool_call(
    name: &str,
    arguments: &str,
    text: &str,
    finish: Finish,
    grammar: &Grammar,
) -> Result<Extracted, Rejection> {
    let Some((known, action)) = grammar.find(name) else { return Err(message::unknown_action(name, grammar)) };
    let mut found = Found::default();
    if known != name {
        found.repairs.push(renamed(name, known));
    }
    let (members, mut repairs) = arguments_object(known, arguments, finish)?;
    found.repairs.append(&mut repairs);
    let text = if action.tags.is_empty() { "" } else { text };
    for region in Regions::new(text, grammar, false) {
        match region {
            Region::Tag { name, body, closed } => found.tag(name, body, closed, finish)?,
            Region::Reset => found.tags.clear(),
            Region::Object(..) | Region::Broken { .. } => {}
            Region::Tangled => return Err(message::tangled()),
        }
    }
    let Found { tags, repairs, warnings, .. } = found;
    let cut = finish == Finish::Length;
    complete(known, Call { members, tags, repairs, warnings, cut }, grammar)
}

fn arguments_object(name: &str, text: &str, finish: Finish) -> Result<(Map<String, Value>, Vec<Repair>), Rejection> {
    let trimmed = text.trim();
    if matches!(trimmed, "" | "null") {
        return Ok((Map::new(), Vec::new()));
    }
    // Some servers encode the arguments twice.
    if let Ok(Value::String(inner)) = serde_json::from_str::<Value>(trimmed)
        && inner.trim_start().starts_with('{')
    {
        let (members, mut repairs) = arguments_object(name, &inner, finish)?;
        repairs.insert(0, Repair { kind: Kind::ParamsText.name(), detail: "arguments encoded twice".to_owned() });
        return Ok((members, repairs));
    }
    let start = trimmed.find(['{', '\u{ff5b}']).ok_or_else(|| message::not_an_object(name))?;
    let fail = |fault: &Fault| {
        let mut rejection = message::broken(trimmed, start, fault, finish);
        rejection.action = Some(name.to_owned());
        rejection
    };
    match read(trimmed, start, finish == Finish::Stop) {
        Read::Object(object) => Ok((object.members, object.log.into_repairs(trimmed))),
        Read::Broken { fault, .. } => Err(fail(&fault)),
        Read::Brace => Err(message::not_an_object(name)),
    }
}

/// Takes the best JSON object of a reply that has no `@action`, such as a forge's.
///
/// A strict object is better than a repaired one, and a longer one is better than a shorter one.
pub fn extract_object(raw: &str, finish: Finish) -> Result<(Value, Vec<Repair>), Rejection> {
    let grammar = Grammar::default();
    let mut best: Option<(bool, usize, Object)> = None;
    let mut broken: Option<(usize, Fault)> = None;
    // Objects inside what could not be read are parts of something, not the answer.
    let mut inside = 0;
    for region in Regions::new(raw, &grammar, finish == Finish::Stop) {
        match region {
            Region::Object(start, _) if start < inside => {}
            Region::Object(start, object) => {
                let rank = (object.log.is_empty(), object.end - start);
                if best.as_ref().is_none_or(|(strict, length, _)| rank > (*strict, *length)) {
                    best = Some((rank.0, rank.1, object));
                }
            }
            Region::Broken { start, fault, .. } => {
                inside = inside.max(fault.at);
                broken.get_or_insert((start, fault));
            }
            Region::Reset => {
                best = None;
                broken = None;
            }
            Region::Tag { .. } => {}
            Region::Tangled => return Err(message::tangled()),
        }
    }
    match (best, broken) {
        // A cut object may be the one that was meant; a whole one before it is then only an example.
        (_, Some((start, fault))) if fault.truncated && finish == Finish::Length => {
            Err(message::broken(raw, start, &fault, finish))
        }
        (Some((_, _, object)), _) => Ok((Value::Object(object.members), object.log.into_repairs(raw))),
        (None, Some((start, fault))) => Err(message::broken(raw, start, &fault, finish)),
        (None, None) => Err(message::no_object(finish)),
    }
}

/// Brings a value to the types that a JSON Schema declares, where that loses nothing.
pub fn coerce(value: Value, schema: &Value) -> (Value, Vec<Repair>) {
    let mut coercer = super::coerce::Coercer::new(schema);
    let fitted = coercer.fit(value, schema, "");
    (fitted, coercer.repairs)
}
