//! What was recorded of a run: its iterations, each with its action, when it was over, and how large the prompt was.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::document::ToolClass;

/// The most seconds that a run may take: a century.
const MOST_SECONDS: f64 = 3.2e9;

/// A recorded run of one loop.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct History {
    /// What tables call it. Default: the file's name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What happened, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The iteration, from 1, after which the goal was reached; left out when it never was, or nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub goal_at: Option<u32>,
    /// The iteration, from 1, in which the run began to repeat itself; left out when it never did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub spin_at: Option<u32>,
    /// What repeating a tool means: tool → class, as tool documents declare it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tool_classes: BTreeMap<String, ToolClass>,
    /// The model calls that the mechanisms made in the run. Left out, other settings are compared with the defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
    /// The iterations, in order.
    #[schemars(length(min = 1))]
    pub iterations: Vec<Iteration>,
}

/// Model calls that the mechanisms made, attempts that failed left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Recorded {
    /// Of perception.
    pub perception: u32,
    /// Of reflection.
    pub reflection: u32,
    /// Second opinions on a suspected spin.
    pub spin: u32,
    /// Of the verification gate.
    pub verification: u32,
}

impl Recorded {
    /// All of them.
    #[must_use]
    pub fn all(self) -> u32 {
        self.perception + self.reflection + self.spin + self.verification
    }
}

/// One iteration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Iteration {
    /// When its action was over: seconds since the loop began, without the time that mechanisms took.
    #[schemars(range(min = 0.0))]
    pub at: f64,
    /// The action.
    pub action: String,
    /// Its parameters.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub args: Value,
    /// What it brought; left out when it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Whether it failed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub error: bool,
    /// The tools that it called, where it is one of the engine's own actions that call tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// What the model thought aloud.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub thought: String,
    /// Tokens of its prompt.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub prompt_tokens: u32,
    /// Whether the action is one of the engine's own.
    #[serde(default, skip_serializing_if = "is_false")]
    pub builtin: bool,
    /// Whether the action is marked `key: true`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub key: bool,
    /// Whether the action changed the loop's variables.
    #[serde(default, skip_serializing_if = "is_false")]
    pub moved: bool,
    /// Whether the action ended the loop.
    #[serde(default, skip_serializing_if = "is_false")]
    pub ends: bool,
    /// What the work is about from here on; left out, it is still about the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<String>,
    /// The figure of `mechanisms.progress` after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<f64>,
    /// The list of todos after it; left out, it is still the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub todo: Option<TodoNow>,
}

/// A call of a tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The tool.
    pub tool: String,
    /// Its parameters.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub args: Value,
    /// What it brought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Whether it failed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub error: bool,
}

/// What a list of todos says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TodoNow {
    /// How many are not done.
    pub open: u32,
    /// The id of the one that is worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_false(value: &bool) -> bool {
    !value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(value: &u32) -> bool {
    *value == 0
}

/// Why a text is no history.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct HistoryError(pub(super) String);

/// Reads one history, a list of them, or the events of a run, one a line. One without a name gets `name`.
///
/// # Errors
/// What is wrong, and where.
pub fn read(text: &str, name: &str) -> Result<Vec<History>, HistoryError> {
    let text = text.trim_start_matches('\u{feff}');
    let is_list = text.trim_start().starts_with('[');
    let mut all = if is_list {
        serde_json::from_str::<Vec<History>>(text).map_err(|error| HistoryError(error.to_string()))?
    } else if let Some(read) = super::events::from_log(text) {
        vec![read?]
    } else {
        vec![serde_json::from_str(text).map_err(|error| HistoryError(error.to_string()))?]
    };
    let several = all.len() > 1;
    for (at, history) in all.iter_mut().enumerate() {
        if history.name.is_empty() {
            history.name = if several { format!("{name} {}", at + 1) } else { name.to_owned() };
        }
        history.sound().map_err(|words| HistoryError(format!("{}: {words}", history.name)))?;
    }
    Ok(all)
}

impl History {
    /// What no type says: time goes forward, and iterations that are named exist.
    fn sound(&self) -> Result<(), String> {
        let count = u32::try_from(self.iterations.len()).map_err(|_| "too many iterations")?;
        if count == 0 {
            return Err("`iterations` is empty".to_owned());
        }
        for (key, at) in [("goal_at", self.goal_at), ("spin_at", self.spin_at)] {
            if let Some(at) = at.filter(|at| *at == 0 || *at > count) {
                return Err(format!("`{key}: {at}` is none of the iterations, which are 1 to {count}"));
            }
        }
        let mut before = 0.0;
        for (index, iteration) in self.iterations.iter().enumerate() {
            let at = iteration.at;
            if !(before..=MOST_SECONDS).contains(&at) {
                return Err(format!("iterations[{index}].at is {at}, and the one before it was over at {before}"));
            }
            before = at;
        }
        Ok(())
    }

    /// How many iterations there are.
    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.iterations.len()).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        read(text, "file").unwrap_err().to_string()
    }

    #[test]
    fn a_history_without_a_name_has_its_files() {
        let one = r#"{ "iterations": [{ "at": 1, "action": "read" }] }"#;
        assert_eq!(read(one, "file").unwrap()[0].name, "file");
        let two = read(&format!("[{one}, {one}]"), "file").unwrap();
        assert_eq!([two[0].name.as_str(), two[1].name.as_str()], ["file 1", "file 2"]);
    }

    #[test]
    fn what_cannot_have_happened_is_refused_with_its_place() {
        assert!(fault(r#"{ "iterations": [] }"#).contains("`iterations` is empty"));
        assert!(
            fault(r#"{ "iterations": [{ "at": 5, "action": "a" }, { "at": 4, "action": "b" }] }"#)
                .contains("iterations[1].at is 4")
        );
        assert!(fault(r#"{ "iterations": [{ "at": 1e300, "action": "a" }] }"#).contains("iterations[0].at"));
        assert!(fault(r#"{ "goal_at": 2, "iterations": [{ "at": 5, "action": "a" }] }"#).contains("`goal_at: 2`"));
        assert!(fault(r#"{ "iteration": [] }"#).contains("unknown field `iteration`"));
        assert!(fault("nothing of the kind").contains("line 1"));
    }
}
