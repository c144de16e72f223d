//! `concurrency`: so many calls at the same time; the others wait for their turn. It is tower's own.

use serde::Serialize;
use tower::Layer as _;
use tower::limit::ConcurrencyLimitLayer;

use crate::invoke::stack::Link;

pub(super) fn layer<T: Clone + Serialize + Send + Sync + 'static>(most: u32, inner: Link<T>) -> Link<T> {
    // None at a time would never end.
    Link::new(ConcurrencyLimitLayer::new(most.max(1) as usize).layer(inner))
}
