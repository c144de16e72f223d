//! How long a run has lasted, for whatever decides by time.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

use crate::state::lock;

/// The time of a run. A reply that was recorded brings the time at which it came then, so that a replay, which takes no
/// time, decides as the run did that was recorded.
#[derive(Debug)]
pub(super) struct RunTime(Mutex<(Instant, Duration)>);

impl Default for RunTime {
    fn default() -> Self {
        Self(Mutex::new((Instant::now(), Duration::ZERO)))
    }
}

impl RunTime {
    /// Time since the run began.
    pub(super) fn now(&self) -> Duration {
        let (since, passed) = *lock(&self.0);
        passed + since.elapsed()
    }

    /// So much time had passed here in the recording. Replies that were asked for together come in any order, so time
    /// never goes back.
    pub(super) fn reached(&self, at: Duration) {
        let mut time = lock(&self.0);
        if at > time.1 + time.0.elapsed() {
            *time = (Instant::now(), at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn time_goes_on_from_what_was_recorded_and_never_back() {
        let time = RunTime::default();
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(time.now(), Duration::from_secs(3));
        time.reached(Duration::from_secs(10));
        time.reached(Duration::from_secs(5));
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(time.now(), Duration::from_secs(11));
    }
}
