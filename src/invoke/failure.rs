//! Why a call failed, in words for the model and as a kind for layers.

use std::error::Error;

use std::time::Duration;

use crate::document::Duration as Span;

/// What layers hand on: a [`Failure`], or something of the caller's own, which no layer repeats or rewrites.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// Nothing has this name.
    #[error("there is no skill named `{name}`{}", near.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    NotFound {
        /// The name.
        name: String,
        /// A known name like it.
        near: Option<String>,
    },
    /// The arguments are no JSON, or do not fit the schema.
    #[error("the arguments do not fit: {0}")]
    InvalidArguments(String),
    /// It took too long. The work was stopped.
    #[error("timed out after {}", Span(*.0))]
    TimedOut(Duration),
    /// It panicked.
    #[error("it broke down (a panic): {0}")]
    Panicked(String),
    /// It would have had to wait too long for its turn.
    #[error("called too often: {calls} calls in {} are allowed, and the next is free in {}", Span(*per), Span(*wait))]
    RateLimited {
        /// How many calls are allowed.
        calls: u32,
        /// In what time.
        per: Duration,
        /// When the next may be made.
        wait: Duration,
    },
    /// It gave something else than it promised.
    #[error("the result does not fit: {0}")]
    InvalidResult(String),
    /// It said so itself.
    #[error("{0}")]
    Failed(String),
}

impl Failure {
    /// The kind in a word, for logs.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "not_found",
            Self::InvalidArguments(_) => "invalid_arguments",
            Self::TimedOut(_) => "timeout",
            Self::Panicked(_) => "panic",
            Self::RateLimited { .. } => "rate_limited",
            Self::InvalidResult(_) => "invalid_result",
            Self::Failed(_) => "failed",
        }
    }

    /// Whether the same call may go well another time. A panic may have left things half done, and arguments stay wrong.
    #[must_use]
    pub fn is_worth_another_try(&self) -> bool {
        match self {
            Self::TimedOut(_) | Self::RateLimited { .. } | Self::InvalidResult(_) | Self::Failed(_) => true,
            Self::NotFound { .. } | Self::InvalidArguments(_) | Self::Panicked(_) => false,
        }
    }
}

/// The failure in an error, unless it is of the caller's own.
pub(super) fn failure_in(error: &BoxError) -> Option<&Failure> {
    error.downcast_ref::<Failure>()
}
