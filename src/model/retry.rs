//! Which failed calls are tried again, and after how long. Pure: the engine does the waiting.

use std::time::Duration;

use super::ModelError;

/// How failed calls are tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts in all.
    pub max_attempts: u32,
    /// The longest wait before the second attempt; doubled after each further one.
    pub base: Duration,
    /// The longest wait that the policy chooses.
    pub max: Duration,
    /// The longest wait that a provider may ask for. A longer one ends the call: nobody wants to sit through it unasked.
    pub max_retry_after: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 4,
            base: Duration::from_millis(500),
            max: Duration::from_secs(30),
            max_retry_after: Duration::from_secs(60),
        }
    }
}

impl RetryPolicy {
    /// One attempt, no retry.
    #[must_use]
    pub fn none() -> Self {
        Self { max_attempts: 1, ..Self::default() }
    }
}

/// The wait before the next attempt after `attempt` (from 1) failed; none when there is no next one.
///
/// The wait is drawn evenly from zero to an exponentially growing bound ("full jitter"), so that many clients that
/// failed together do not come back together. `random` gives numbers from 0 to 1. A provider's own wish comes first.
#[must_use]
pub fn next_delay(
    policy: &RetryPolicy,
    attempt: u32,
    error: &ModelError,
    random: &mut dyn FnMut() -> f64,
) -> Option<Duration> {
    if why_not(policy, attempt, error).is_some() {
        return None;
    }
    if error.retry_after.is_some() {
        return error.retry_after;
    }
    let bound =
        policy.base.saturating_mul(1u32.checked_shl(attempt.saturating_sub(1)).unwrap_or(u32::MAX)).min(policy.max);
    Some(bound.mul_f64(random().clamp(0.0, 1.0)))
}

/// Why there is no next attempt, in words for the operator; none when there is one.
#[must_use]
pub fn why_not(policy: &RetryPolicy, attempt: u32, error: &ModelError) -> Option<String> {
    if !error.class.is_retryable() {
        return Some(format!("a failure of the class {} is not tried again", error.class.name()));
    }
    if attempt >= policy.max_attempts {
        return Some(match policy.max_attempts {
            0 | 1 => "only one attempt was to be made".to_owned(),
            count => format!("all {count} attempts failed"),
        });
    }
    match error.retry_after {
        Some(wish) if wish > policy.max_retry_after => Some(format!(
            "the provider asks for a wait of {} s, and at most {} s are waited",
            wish.as_secs(),
            policy.max_retry_after.as_secs()
        )),
        _ => None,
    }
}

/// A number from 0 to 1 from the operating system; one half when it has none, which only makes waits less varied.
#[must_use]
pub fn random() -> f64 {
    getrandom::u32().map_or(0.5, |n| f64::from(n) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ErrorClass;

    fn error(class: ErrorClass, retry_after: Option<u64>) -> ModelError {
        ModelError { retry_after: retry_after.map(Duration::from_secs), ..ModelError::new(class, "no") }
    }

    fn delay(attempt: u32, error: &ModelError) -> Option<Duration> {
        next_delay(&RetryPolicy::default(), attempt, error, &mut || 1.0)
    }

    #[test]
    fn waits_double_up_to_the_cap_and_end_with_the_attempts() {
        let failed = error(ErrorClass::ServerError, None);
        let policy = RetryPolicy { max_attempts: 10, ..RetryPolicy::default() };
        let waits: Vec<u128> =
            (1..10).filter_map(|n| next_delay(&policy, n, &failed, &mut || 1.0)).map(|d| d.as_millis()).collect();
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000]);
        assert_eq!(next_delay(&policy, 10, &failed, &mut || 1.0), None);
        assert_eq!(next_delay(&policy, 3, &failed, &mut || 0.25).map(|d| d.as_millis()), Some(500));
    }

    #[test]
    fn only_the_right_classes_are_tried_again() {
        for class in [ErrorClass::Auth, ErrorClass::Quota, ErrorClass::BadRequest, ErrorClass::ContextLength] {
            assert_eq!(delay(1, &error(class, None)), None, "{class:?}");
        }
        for class in [ErrorClass::RateLimit, ErrorClass::Overloaded, ErrorClass::Timeout, ErrorClass::IncompleteStream]
        {
            assert!(delay(1, &error(class, None)).is_some(), "{class:?}");
        }
    }

    #[test]
    fn the_providers_wish_wins_and_an_endless_one_ends_the_call() {
        assert_eq!(delay(1, &error(ErrorClass::RateLimit, Some(7))), Some(Duration::from_secs(7)));
        assert_eq!(delay(1, &error(ErrorClass::RateLimit, Some(0))), Some(Duration::ZERO));
        let endless = error(ErrorClass::RateLimit, Some(3600));
        assert_eq!(delay(1, &endless), None);
        assert!(why_not(&RetryPolicy::default(), 1, &endless).unwrap().contains("3600 s"));
    }
}
