//! What ends a run from outside: Ctrl-C and the clock.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::event::ExitReason;

/// Cancels a run: the first call stops the work and lets `finish` hooks run, the second stops at once.
#[derive(Debug, Clone, Default)]
pub struct Cancel {
    work: CancellationToken,
    hooks: CancellationToken,
    failure: Arc<Mutex<Option<String>>>,
}

impl Cancel {
    /// A fresh handle.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels; a second time also the `finish` hooks.
    pub fn cancel(&self) {
        if self.work.is_cancelled() {
            self.hooks.cancel();
        } else {
            self.work.cancel();
        }
    }

    /// Ends the run with `error` and these words, for a caller that cannot go on (a full disk under the event log).
    pub fn fail(&self, message: impl Into<String>) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert(message.into());
        drop(failure);
        self.work.cancel();
    }

    /// The words of [`Self::fail`].
    pub(super) fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// One loop's way of being stopped: a child of its parent's, with its own deadline.
#[derive(Debug, Clone)]
pub(super) struct Stop {
    /// Ends the work.
    pub(super) work: CancellationToken,
    /// Ends the `finish` hooks too.
    pub(super) hooks: CancellationToken,
    timed_out: Arc<AtomicBool>,
}

impl Stop {
    /// The outermost loop's.
    pub(super) fn outermost(cancel: &Cancel) -> Self {
        let work = cancel.work.child_token();
        Self { work, hooks: cancel.hooks.clone(), timed_out: Arc::default() }
    }

    /// A sub-loop's.
    pub(super) fn child(&self) -> Self {
        let work = self.work.child_token();
        Self { work, hooks: self.hooks.clone(), timed_out: Arc::default() }
    }

    /// Starts the clock; the guard stops it.
    pub(super) fn deadline(&self, after: Option<Duration>) -> Option<Clock> {
        let after = after?;
        let (work, timed_out) = (self.work.clone(), Arc::clone(&self.timed_out));
        Some(Clock(tokio::spawn(async move {
            tokio::time::sleep(after).await;
            timed_out.store(true, Ordering::Relaxed);
            work.cancel();
        })))
    }

    /// Why the work was stopped.
    pub(super) fn reason(&self) -> ExitReason {
        if self.timed_out.load(Ordering::Relaxed) { ExitReason::LimitTimeout } else { ExitReason::Cancelled }
    }
}

/// A running deadline; dropping it stops the clock.
#[derive(Debug)]
pub(super) struct Clock(tokio::task::JoinHandle<()>);

impl Drop for Clock {
    fn drop(&mut self) {
        self.0.abort();
    }
}
