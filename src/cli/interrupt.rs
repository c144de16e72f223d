//! Ctrl-C during a run: the first stops the work and lets `finish` hooks run, the second stops everything at once.

use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::output::Output;
use crate::engine::Cancel;

/// After the second Ctrl-C the run has this long to end its children and its event log.
const LAST_GRACE: Duration = Duration::from_secs(2);

/// Waits for the run. `None` when it did not end after the second Ctrl-C; dropping it ends what it had started.
pub(super) async fn until_done<T>(run: impl Future<Output = T>, cancel: Cancel, output: Output) -> Option<T> {
    tokio::pin!(run);
    let mut signals = Signals::new();
    let mut pressed = 0;
    let mut last = None;
    loop {
        let deadline = last.unwrap_or_else(|| Instant::now() + Duration::from_secs(3600));
        tokio::select! {
            biased;
            () = signals.next() => {
                pressed += 1;
                cancel.cancel();
                match pressed {
                    1 => output.note("\nstopping; finish hooks still run (press Ctrl-C again to stop at once)"),
                    2 => last = Some(Instant::now() + LAST_GRACE),
                    _ => return None,
                }
            }
            done = &mut run => return Some(done),
            () = sleep_until(deadline), if last.is_some() => return None,
        }
    }
}

/// Ctrl-C, and where there is such a thing the request to terminate.
pub(super) struct Signals {
    #[cfg(unix)]
    terminate: Option<tokio::signal::unix::Signal>,
    #[cfg(unix)]
    interrupt: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    pub(super) fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        // Without a handler the signal ends the process, as it does for any program.
        Self { terminate: signal(SignalKind::terminate()).ok(), interrupt: signal(SignalKind::interrupt()).ok() }
    }

    pub(super) async fn next(&mut self) {
        async fn one(signal: &mut Option<tokio::signal::unix::Signal>) {
            let came = match signal {
                Some(signal) => signal.recv().await.is_some(),
                None => false,
            };
            if !came {
                std::future::pending::<()>().await;
            }
        }
        tokio::select! {
            () = one(&mut self.interrupt) => {}
            () = one(&mut self.terminate) => {}
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    pub(super) fn new() -> Self {
        Self {}
    }

    pub(super) async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
