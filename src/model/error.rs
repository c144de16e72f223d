//! What can go wrong between a request and a whole reply.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::event::Usage;

/// The kind of a failure, the same for every provider: it decides whether another attempt makes sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// Too many requests for now.
    RateLimit,
    /// The account has nothing left.
    Quota,
    /// The provider is overloaded.
    Overloaded,
    /// The provider failed.
    ServerError,
    /// Nothing came in time.
    Timeout,
    /// The key is missing, wrong or not allowed.
    Auth,
    /// No such model or path.
    NotFound,
    /// The provider refuses the request as it is.
    BadRequest,
    /// The request is longer than the model's context.
    ContextLength,
    /// The stream ended before the reply did.
    IncompleteStream,
    /// Bytes that are not the protocol.
    Decode,
    /// A body that is no event stream at all.
    NotSse,
    /// A script or recording does not have this request.
    Mismatch,
}

impl ErrorClass {
    /// The name in events and output.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::RateLimit => "rate_limit",
            Self::Quota => "quota",
            Self::Overloaded => "overloaded",
            Self::ServerError => "server_error",
            Self::Timeout => "timeout",
            Self::Auth => "auth",
            Self::NotFound => "not_found",
            Self::BadRequest => "bad_request",
            Self::ContextLength => "context_length",
            Self::IncompleteStream => "incomplete_stream",
            Self::Decode => "decode",
            Self::NotSse => "not_sse",
            Self::Mismatch => "mismatch",
        }
    }

    /// Whether another attempt at the same request may succeed.
    #[must_use]
    pub fn is_retryable(self) -> bool {
        match self {
            Self::RateLimit | Self::Overloaded | Self::ServerError | Self::Timeout | Self::IncompleteStream => true,
            Self::Quota
            | Self::Auth
            | Self::NotFound
            | Self::BadRequest
            | Self::ContextLength
            | Self::Decode
            | Self::NotSse
            | Self::Mismatch => false,
        }
    }
}

/// A failed call.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// The class.
    pub class: ErrorClass,
    /// What happened, for the operator.
    pub message: String,
    /// The HTTP status, where there was one.
    pub status: Option<u16>,
    /// When the provider wants to be asked again.
    pub retry_after: Option<Duration>,
    /// Text that had arrived.
    pub partial_text: String,
    /// Reasoning that had arrived.
    pub partial_reasoning: String,
    /// Tokens that were reported before the failure.
    pub usage: Option<Usage>,
}

impl ModelError {
    /// A failure with nothing but a class and words.
    #[must_use]
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            status: None,
            retry_after: None,
            partial_text: String::new(),
            partial_reasoning: String::new(),
            usage: None,
        }
    }
}
