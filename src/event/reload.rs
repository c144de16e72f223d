//! What is told of a saved change.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What became of a saved change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReloadStatus {
    /// The first version that can be used (`watch` only: a run begins with one).
    Loaded,
    /// The new version is in force from now on.
    Applied,
    /// The new version cannot be used; the one before stays in force.
    Refused,
    /// After a refusal the files are again what is in force.
    Restored,
}

/// Something that was found in a changed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReloadFinding {
    /// `error` or `warning`.
    pub severity: String,
    /// The kind of finding, such as `undefined-variable`. For a change that a running loop cannot take: `running-state` for
    /// its variables, `running-model` for its models, none for anything else.
    pub code: Option<String>,
    /// What is wrong.
    pub message: String,
    /// The file, where the finding has a place.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column in characters, from 1.
    pub column: Option<u32>,
    /// What to write instead.
    pub help: Option<String>,
}

impl ReloadFinding {
    /// The same with a kind.
    #[must_use]
    pub fn coded(self, code: &str) -> Self {
        Self { code: Some(code.to_owned()), ..self }
    }

    /// The same with a place: a file, and line and column from 1.
    #[must_use]
    pub fn at(self, file: String, line: u32, column: u32) -> Self {
        Self { file: Some(file), line: Some(line), column: Some(column), ..self }
    }

    /// An error about a change as a whole, in words.
    #[must_use]
    pub fn of_change(words: &str) -> Self {
        Self {
            severity: "error".to_owned(),
            code: None,
            message: words.to_owned(),
            file: None,
            line: None,
            column: None,
            help: None,
        }
    }

    /// In one line, its place first.
    #[must_use]
    pub fn line(&self) -> String {
        let mut place = self.file.clone().unwrap_or_default();
        for number in [self.line, self.column].into_iter().flatten() {
            place.push_str(&format!(":{number}"));
        }
        let colon = if place.is_empty() { "" } else { ": " };
        let help = self.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
        format!("{place}{colon}{}{help}", self.message)
    }
}
