//! `timeout`: gives up after a time, and stops the work.

use tower::Layer;

use super::service;
use crate::document::Duration;
use crate::invoke::failure::Failure;
use crate::invoke::stack::Link;

/// Gives up after a time.
pub(super) struct TimeoutLayer {
    limit: Duration,
}

impl TimeoutLayer {
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit }
    }
}

impl<T> Layer<Link<T>> for TimeoutLayer {
    type Service = Timeout<T>;

    fn layer(&self, inner: Link<T>) -> Timeout<T> {
        Timeout { inner, limit: self.limit }
    }
}

pub(super) struct Timeout<T> {
    inner: Link<T>,
    limit: Duration,
}

impl<T> Clone for Timeout<T> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), limit: self.limit }
    }
}

service!(Timeout, |this, invocation| {
    let work = this.inner.invoke(invocation);
    // The work is dropped with the timeout's future, which stops it.
    tokio::time::timeout(this.limit.0, work).await.unwrap_or_else(|_| Err(Failure::TimedOut(this.limit.0).into()))
});
