//! `logging`: says in the program's log what was called, how long it took and how it ended. No arguments and results: they may
//! hold secrets, and a run's events have them.

use tokio::time::Instant;
use tower::Layer;

use super::service;
use crate::document::LogLevel;
use crate::invoke::failure::{Failure, failure_in};
use crate::invoke::stack::Link;

/// Logs calls.
pub(super) struct LoggingLayer {
    level: LogLevel,
}

impl LoggingLayer {
    pub(super) fn new(level: LogLevel) -> Self {
        Self { level }
    }
}

impl<T> Layer<Link<T>> for LoggingLayer {
    type Service = Logging<T>;

    fn layer(&self, inner: Link<T>) -> Logging<T> {
        Logging { inner, level: self.level }
    }
}

pub(super) struct Logging<T> {
    inner: Link<T>,
    level: LogLevel,
}

impl<T> Clone for Logging<T> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), level: self.level }
    }
}

/// The level of an event is a constant of its place.
macro_rules! at_level {
    ($level:expr, $($fields:tt)+) => {
        match $level {
            LogLevel::Debug => tracing::debug!(target: "loopwright::invoke", $($fields)+),
            LogLevel::Info => tracing::info!(target: "loopwright::invoke", $($fields)+),
            LogLevel::Warn => tracing::warn!(target: "loopwright::invoke", $($fields)+),
        }
    };
}

service!(Logging, |this, invocation| {
    let started = Instant::now();
    at_level!(this.level, name = invocation.name, "call");
    let outcome = this.inner.invoke(invocation).await;
    let ended = match &outcome {
        Ok(_) => "done",
        Err(error) => failure_in(error).map_or("stopped", Failure::kind),
    };
    let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    at_level!(this.level, name = invocation.name, ms, ended, "called");
    outcome
});
