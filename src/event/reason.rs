//! Why a run ends, and what the process says of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a run ended. Each has its own process exit code, see [`ExitReason::exit_code`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExitReason {
    /// An action ended the loop with `then: exit`.
    Exit,
    /// An `init` hook found nothing to do (`then: done`).
    Done,
    /// The verification gate was satisfied.
    Satisfied,
    /// The work was handed over and still runs.
    Async,
    /// A step ended the loop with `then: fail`.
    Fail,
    /// The loop repeated itself.
    Spin,
    /// The progress metric did not move.
    NoProgress,
    /// The goal could not be verified.
    Unverified,
    /// `limits.max_iterations` was reached.
    MaxIterations,
    /// `limits.max_total_tokens` was reached.
    #[serde(rename = "limit:tokens")]
    LimitTokens,
    /// `limits.max_cost_usd` was reached.
    #[serde(rename = "limit:cost")]
    LimitCost,
    /// `limits.timeout` was reached.
    #[serde(rename = "limit:timeout")]
    LimitTimeout,
    /// `limits.max_tool_calls` was reached.
    #[serde(rename = "limit:tool_calls")]
    LimitToolCalls,
    /// `limits.max_depth` (sub-loops inside sub-loops) was reached.
    #[serde(rename = "limit:depth")]
    LimitDepth,
    /// Something that the loop cannot mend: no valid reply after all retries, a provider's refusal, a full disk.
    Error,
    /// Ctrl-C or a caller's cancellation.
    Cancelled,
}

impl ExitReason {
    /// Every reason, in the order of their declaration.
    pub const ALL: [Self; 16] = [
        Self::Exit,
        Self::Done,
        Self::Satisfied,
        Self::Async,
        Self::Fail,
        Self::Spin,
        Self::NoProgress,
        Self::Unverified,
        Self::MaxIterations,
        Self::LimitTokens,
        Self::LimitCost,
        Self::LimitTimeout,
        Self::LimitToolCalls,
        Self::LimitDepth,
        Self::Error,
        Self::Cancelled,
    ];

    /// The name that documents, events and hooks use, such as `max_iterations` or `limit:cost`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Exit => "exit",
            Self::Done => "done",
            Self::Satisfied => "satisfied",
            Self::Async => "async",
            Self::Fail => "fail",
            Self::Spin => "spin",
            Self::NoProgress => "no_progress",
            Self::Unverified => "unverified",
            Self::MaxIterations => "max_iterations",
            Self::LimitTokens => "limit:tokens",
            Self::LimitCost => "limit:cost",
            Self::LimitTimeout => "limit:timeout",
            Self::LimitToolCalls => "limit:tool_calls",
            Self::LimitDepth => "limit:depth",
            Self::Error => "error",
            Self::Cancelled => "cancelled",
        }
    }

    /// The process exit code: 0 for success, 130 for a cancelled run, 1 for everything else.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Exit | Self::Done | Self::Satisfied | Self::Async => 0,
            Self::Cancelled => 130,
            Self::Fail
            | Self::Spin
            | Self::NoProgress
            | Self::Unverified
            | Self::MaxIterations
            | Self::LimitTokens
            | Self::LimitCost
            | Self::LimitTimeout
            | Self::LimitToolCalls
            | Self::LimitDepth
            | Self::Error => 1,
        }
    }
}
