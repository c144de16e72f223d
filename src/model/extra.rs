//! Further members of a request body, as a workspace declares them.

use serde_json::{Map, Value};

use super::{ModelSetupError, Sampling};

// What the engine must write itself.
const OWN: &[&str] =
    &["contents", "input", "instructions", "messages", "model", "stream", "system", "systemInstruction"];

/// Refuses members that the engine writes.
pub(super) fn check_extra(extra: &Map<String, Value>) -> Result<(), ModelSetupError> {
    match OWN.iter().find(|member| extra.contains_key(**member)) {
        Some(member) => Err(ModelSetupError::Extra { member: (*member).to_owned() }),
        None => Ok(()),
    }
}

/// Adds the members of the settings, then those of the call. An object joins one that is there, null takes a member
/// away, anything else replaces it.
pub(super) fn add_extra(members: &mut Map<String, Value>, settings: &Map<String, Value>, sampling: &Sampling) {
    let call = sampling.extra.iter().flat_map(|extra| extra.iter());
    for (name, value) in settings.iter().chain(call).filter(|(name, _)| !OWN.contains(&name.as_str())) {
        match (members.get_mut(name), value) {
            (_, Value::Null) => {
                members.shift_remove(name);
            }
            (Some(Value::Object(there)), Value::Object(more)) => {
                there.extend(more.iter().map(|(name, value)| (name.clone(), value.clone())));
            }
            _ => {
                members.insert(name.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn extra_joins_replaces_and_takes_away() {
        let object = |value: Value| value.as_object().unwrap().clone();
        let mut members = object(json!({ "a": 1, "b": { "x": 1 }, "c": 1, "model": "m" }));
        let call = Sampling { extra: Some(object(json!({ "d": 3, "model": "n" })).into()), ..Sampling::default() };
        add_extra(&mut members, &object(json!({ "a": 2, "b": { "y": 2 }, "c": null, "d": 2 })), &call);
        assert_eq!(Value::Object(members), json!({ "a": 2, "b": { "x": 1, "y": 2 }, "model": "m", "d": 3 }));
        assert!(check_extra(&object(json!({ "stream": false }))).is_err());
    }
}
