//! The layers, one file each, and which layer a document's word stands for.

mod cache;
mod concurrency;
mod logging;
mod rate_limit;
mod recover;
mod retry;
mod timeout;
mod validate;

use serde::Serialize;
use tower::{Layer, Service};

use super::failure::BoxError;
use super::stack::{BoxFuture, Invocation, Link, Outcome};
use crate::document::Middleware;

pub(super) use recover::Recover;

/// Puts the layer of a document around a service.
pub(super) fn wrap<T: Clone + Serialize + Send + Sync + 'static>(inner: Link<T>, layer: &Middleware) -> Link<T> {
    match layer {
        Middleware::Cache(settings) => Link::new(cache::CacheLayer::new(settings).layer(inner)),
        Middleware::Concurrency(most) => concurrency::layer(*most, inner),
        Middleware::Logging(level) => Link::new(logging::LoggingLayer::new(*level).layer(inner)),
        Middleware::RateLimit(settings) => Link::new(rate_limit::RateLimitLayer::new(settings).layer(inner)),
        // Always there, see `Stack::new`.
        Middleware::Recover(_) => inner,
        Middleware::Retry(settings) => Link::new(retry::RetryLayer::new(settings).layer(inner)),
        Middleware::Timeout(limit) => Link::new(timeout::TimeoutLayer::new(*limit).layer(inner)),
        Middleware::Validate(settings) => Link::new(validate::ValidateLayer::new(settings).layer(inner)),
    }
}

/// The innermost service: the work itself.
#[derive(Clone, Copy)]
pub(super) struct Run;

impl<'a, T: 'static> Service<Invocation<'a, T>> for Run {
    type Response = T;
    type Error = BoxError;
    type Future = BoxFuture<'a, Outcome<T>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), BoxError>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, invocation: Invocation<'a, T>) -> Self::Future {
        // The work begins when it is awaited, so that a panic at its very beginning is caught too.
        Box::pin(async move { invocation.leaf.run().await })
    }
}

/// Makes a service of a layer whose work is an async block: it is always ready, since each call waits for its own turn.
macro_rules! service {
    ($name:ident, |$this:ident, $invocation:ident| $work:block) => {
        impl<'a, T> tower::Service<crate::invoke::stack::Invocation<'a, T>> for $name<T>
        where
            T: Clone + serde::Serialize + Send + Sync + 'static,
        {
            type Response = T;
            type Error = crate::invoke::failure::BoxError;
            type Future = crate::invoke::stack::BoxFuture<'a, crate::invoke::stack::Outcome<T>>;

            fn poll_ready(
                &mut self,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Result<(), crate::invoke::failure::BoxError>> {
                std::task::Poll::Ready(Ok(()))
            }

            fn call(&mut self, $invocation: crate::invoke::stack::Invocation<'a, T>) -> Self::Future {
                let $this = self.clone();
                Box::pin(async move $work)
            }
        }
    };
}
use service;

/// Waits, unless the caller gives up.
async fn pause(invocation: &Invocation<'_, impl Sized>, until: tokio::time::Instant) -> Result<(), BoxError> {
    tokio::select! {
        biased;
        () = invocation.stop.cancelled() => Err("stopped while waiting".into()),
        () = tokio::time::sleep_until(until) => Ok(()),
    }
}
