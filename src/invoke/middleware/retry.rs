//! `retry`: makes a call again that failed.

use std::time::Duration;

use tokio::time::Instant;
use tower::Layer;

use super::{pause, service};
use crate::document::StepRetry;
use crate::invoke::failure::{Failure, failure_in};
use crate::invoke::stack::Link;

/// The longest wait between two attempts, so that doubling stays within reason.
const MAX_BACKOFF: Duration = Duration::from_secs(60);

/// Makes a call again that failed.
pub(super) struct RetryLayer {
    times: u32,
    backoff: Duration,
}

impl RetryLayer {
    pub(super) fn new(settings: &StepRetry) -> Self {
        Self { times: settings.times, backoff: settings.backoff.0 }
    }
}

impl<T> Layer<Link<T>> for RetryLayer {
    type Service = Retry<T>;

    fn layer(&self, inner: Link<T>) -> Retry<T> {
        Retry { inner, times: self.times, backoff: self.backoff }
    }
}

pub(super) struct Retry<T> {
    inner: Link<T>,
    times: u32,
    backoff: Duration,
}

impl<T> Clone for Retry<T> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), times: self.times, backoff: self.backoff }
    }
}

service!(Retry, |this, invocation| {
    let mut wait = this.backoff;
    let mut left = this.times;
    loop {
        let outcome = this.inner.invoke(invocation).await;
        let again = match &outcome {
            Ok(_) => false,
            Err(error) => failure_in(error).is_some_and(Failure::is_worth_another_try),
        };
        if !again || left == 0 {
            return outcome;
        }
        left -= 1;
        pause(&invocation, Instant::now() + wait).await?;
        wait = wait.saturating_mul(2).min(MAX_BACKOFF);
    }
});
