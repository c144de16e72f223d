//! `recover`: a panic becomes a failure. Always innermost, and once more around everything.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;

use super::service;
use crate::invoke::failure::Failure;
use crate::invoke::stack::Link;

/// Catches panics of what it is put around.
pub(in crate::invoke) struct Recover<T> {
    inner: Link<T>,
}

impl<T> Clone for Recover<T> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone() }
    }
}

impl<T> Recover<T> {
    pub(in crate::invoke) fn new(inner: Link<T>) -> Self {
        Self { inner }
    }
}

service!(Recover, |this, invocation| {
    // Nothing of the work is seen after it panicked but this failure, so that nothing half done is used.
    let work = AssertUnwindSafe(async { this.inner.invoke(invocation).await });
    work.catch_unwind().await.unwrap_or_else(|panic| Err(Failure::Panicked(words(&*panic)).into()))
});

/// What a panic said.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("it did not say why").to_owned()
}
