//! Why a run could not start: for the operator, with what to do about it.

use crate::prompt::SecretError;
use crate::state::SetError;

/// A run that could not start.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// No loop of that name.
    #[error("There is no loop named `{name}`{}", did_you_mean(.suggestion.as_deref()))]
    UnknownLoop {
        /// The name that was asked for.
        name: String,
        /// A similar name that exists.
        suggestion: Option<String>,
    },
    /// The loop's document is wrong.
    #[error("The loop `{name}` cannot run: {problem}")]
    Document {
        /// The loop.
        name: String,
        /// What is wrong, with its place where it has one.
        problem: String,
    },
    /// No model answers.
    #[error("{message}")]
    Model {
        /// What is missing.
        message: String,
        /// What to do about it.
        help: Option<String>,
    },
    /// A state variable was set from outside to something that it cannot be.
    #[error("--set: {0}")]
    Set(#[from] SetError),
    /// The system gives no random bytes.
    #[error("Cannot draw the run's secret: {0}")]
    Secret(#[from] SecretError),
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
}

fn did_you_mean(name: Option<&str>) -> String {
    name.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

impl EngineError {
    /// What the operator can do about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Model { help, .. } => help.clone(),
            Self::UnknownLoop { .. } => {
                Some("`loopwright check` lists what is wrong; loops lie in `loops/`".to_owned())
            }
            Self::Document { .. } => Some("`loopwright check` shows every mistake with its place".to_owned()),
            Self::Set(_) | Self::Secret(_) | Self::Io { .. } => None,
        }
    }
}
