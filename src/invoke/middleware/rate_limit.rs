//! `rate_limit`: so many calls in any span of a length; the others wait for their turn, unless it is too far off.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tower::Layer;

use super::{pause, service};
use crate::document::RateLimitSettings;
use crate::invoke::failure::Failure;
use crate::invoke::stack::Link;

/// Lets so many calls through in a span.
pub(super) struct RateLimitLayer {
    settings: RateLimitSettings,
}

impl RateLimitLayer {
    pub(super) fn new(settings: &RateLimitSettings) -> Self {
        Self { settings: settings.clone() }
    }
}

impl<T> Layer<Link<T>> for RateLimitLayer {
    type Service = RateLimit<T>;

    fn layer(&self, inner: Link<T>) -> RateLimit<T> {
        RateLimit { inner, settings: self.settings.clone(), turns: Arc::default() }
    }
}

pub(super) struct RateLimit<T> {
    inner: Link<T>,
    settings: RateLimitSettings,
    /// When the last calls began or will begin, the oldest first; at most as many as are allowed in a span.
    turns: Arc<Mutex<VecDeque<Instant>>>,
}

impl<T> Clone for RateLimit<T> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), settings: self.settings.clone(), turns: Arc::clone(&self.turns) }
    }
}

impl<T> RateLimit<T> {
    /// The time of this call's turn, which is now taken; a failure when it is too far off.
    fn take_turn(&self, now: Instant) -> Result<Instant, Failure> {
        let calls = self.settings.calls.max(1);
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let full = turns.len() >= calls as usize;
        let turn = match turns.front() {
            Some(&oldest) if full => (oldest + self.settings.per.0).max(now),
            _ => now,
        };
        let wait = turn.saturating_duration_since(now);
        if wait > self.settings.max_wait.0 {
            return Err(Failure::RateLimited { calls, per: self.settings.per.0, wait: whole_millis(wait) });
        }
        if full {
            turns.pop_front();
        }
        turns.push_back(turn);
        Ok(turn)
    }
}

/// What people read has no nanoseconds.
fn whole_millis(wait: Duration) -> Duration {
    Duration::from_millis(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1))
}

service!(RateLimit, |this, invocation| {
    let turn = this.take_turn(Instant::now())?;
    pause(&invocation, turn).await?;
    this.inner.invoke(invocation).await
});
