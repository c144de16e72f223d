//! Middleware: what is wrapped around a call of a tool, forge or skill.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::params::Params;
use super::step::StepRetry;
use super::value::Duration;

/// One layer around a call: exactly one key. The first of a list is innermost; arguments are validated before all of them, and a
/// panic in a tool that is written in Rust is always caught.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Middleware {
    /// The same arguments give the same result for a while, without the work. Failures are not kept.
    Cache(CacheSettings),
    /// So many calls at the same time, in all runs together; the others wait for their turn.
    Concurrency(#[schemars(range(min = 1))] u32),
    /// Says in the program's log what is called, how long it takes and how it ends; without arguments and results. The value is
    /// the level.
    Logging(LogLevel),
    /// So many calls in any span of a length, in all runs together; the others wait for their turn.
    RateLimit(RateLimitSettings),
    /// A panic becomes a failure. Always there, innermost and once more around everything; it may be written down as the first.
    Recover(Always),
    /// Try again when the call fails: a number, or `{ times, backoff }`. A panic and wrong arguments are not tried again.
    Retry(StepRetry),
    /// Give up after this time, and stop the work.
    Timeout(Duration),
    /// The result must fit a schema.
    Validate(ValidateSettings),
}

impl Middleware {
    /// The key that names it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Cache(_) => "cache",
            Self::Concurrency(_) => "concurrency",
            Self::Logging(_) => "logging",
            Self::RateLimit(_) => "rate_limit",
            Self::Recover(_) => "recover",
            Self::Retry(_) => "retry",
            Self::Timeout(_) => "timeout",
            Self::Validate(_) => "validate",
        }
    }

    /// Gives up after this time.
    #[must_use]
    pub fn timeout(limit: std::time::Duration) -> Self {
        Self::Timeout(Duration(limit))
    }

    /// Tries again so often, after a wait that doubles from this one on.
    #[must_use]
    pub fn retry(times: u32, backoff: std::time::Duration) -> Self {
        Self::Retry(StepRetry { times, backoff: Duration(backoff) })
    }

    /// So many calls at the same time.
    #[must_use]
    pub fn concurrency(most: u32) -> Self {
        Self::Concurrency(most)
    }

    /// So many calls in a span of this length.
    #[must_use]
    pub fn rate_limit(calls: u32, per: std::time::Duration) -> Self {
        Self::RateLimit(RateLimitSettings { calls, per: Duration(per), max_wait: default_max_wait() })
    }

    /// Keeps results for a while.
    #[must_use]
    pub fn cache(ttl: std::time::Duration) -> Self {
        Self::Cache(CacheSettings { ttl: Duration(ttl), size: default_size() })
    }
}

/// How long results are kept.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheSettings {
    /// How long a result holds.
    pub ttl: Duration,
    /// How many results are kept; the oldest goes first. Default: 100.
    #[serde(default = "default_size")]
    #[schemars(range(min = 1))]
    pub size: u32,
}

fn default_size() -> u32 {
    100
}

/// How many calls are let through in a span.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateLimitSettings {
    /// How many calls.
    #[schemars(range(min = 1))]
    pub calls: u32,
    /// The length of the span.
    pub per: Duration,
    /// A call whose turn is further off than this fails at once. Default: 1m.
    #[serde(default = "default_max_wait")]
    pub max_wait: Duration,
}

fn default_max_wait() -> Duration {
    Duration::secs(60)
}

/// What a result must be.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValidateSettings {
    /// JSON Schema of the result, or the short form `name: type!` for an object.
    pub result: Params,
}

/// A level of the program's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// For those who look for a fault.
    Debug,
    /// For those who operate the program.
    Info,
    /// For everybody.
    Warn,
}

/// `true`: for what cannot be switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Always;

impl<'de> Deserialize<'de> for Always {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match bool::deserialize(deserializer)? {
            true => Ok(Self),
            false => Err(D::Error::custom("this is always on; write `true`, or leave it out")),
        }
    }
}

impl JsonSchema for Always {
    fn schema_name() -> Cow<'static, str> {
        "Always".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "const": true })
    }
}
