//! What a report does when it cannot write: it remembers why, and tells whoever runs the loop to stop.

use std::io;
use std::sync::{Mutex, PoisonError};

/// The first failure of a report's output, and what is called when it happens.
///
/// A report sees events and cannot return an error, so a full disk is told through this.
pub struct Trouble {
    first: Mutex<Option<io::Error>>,
    stop: Box<dyn Fn(&io::Error) + Send + Sync>,
}

impl Trouble {
    /// Calls `stop` at the first failure. It is called inside the event stream's lock: it must not emit events.
    pub fn new(stop: impl Fn(&io::Error) + Send + Sync + 'static) -> Self {
        Self { first: Mutex::new(None), stop: Box::new(stop) }
    }

    /// Notes a failure.
    pub fn note(&self, error: io::Error) {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if first.is_none() {
            (self.stop)(first.insert(error));
        }
    }

    /// Whether there was one.
    #[must_use]
    pub fn happened(&self) -> bool {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// The first failure, to be reported once.
    #[must_use]
    pub fn take(&self) -> Option<io::Error> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
