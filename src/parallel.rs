//! Work on many items by several threads, with the results in the order of the items.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread::{Builder, available_parallelism, scope};

/// What a thread has for its calls: documents may be nested as deep as on the main thread.
const STACK: usize = 8 << 20;

/// Cuts `items` into as many runs as there are processors, each of at least `least` items and about as heavy as the
/// others, and works on all of them at once. The results are in the order of the items, and so do not depend on how many
/// threads there are.
///
/// A panic in `work` goes on in the caller.
pub fn shares<T, R>(items: &[T], least: usize, weight: impl Fn(&T) -> usize, work: impl Fn(&[T]) -> R + Sync) -> Vec<R>
where
    T: Sync,
    R: Send,
{
    let runs = cut(items, threads().min(items.len() / least.max(1)), weight);
    let Some((first, others)) = runs.split_first() else { return vec![work(items)] };
    let work = &work;
    scope(|scope| {
        let start = |run| Builder::new().stack_size(STACK).spawn_scoped(scope, move || work(run)).map_err(|_| run);
        let started: Vec<_> = others.iter().copied().map(start).collect();
        let mut results = vec![work(first)];
        results.extend(started.into_iter().map(|thread| match thread.map(|thread| thread.join()) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => resume_unwind(panic),
            // The system gives no further thread: then it takes longer.
            Err(run) => work(run),
        }));
        results
    })
}

/// How many threads pay.
fn threads() -> usize {
    #[cfg(test)]
    if let Some(count) = LIMIT.get() {
        return count;
    }
    available_parallelism().map_or(1, NonZero::get)
}

#[cfg(test)]
thread_local! {
    static LIMIT: std::cell::Cell<Option<usize>> = const { std::cell::Cell::new(None) };
}

/// Runs a test with this many threads.
#[cfg(test)]
pub fn with_threads<R>(count: usize, run: impl FnOnce() -> R) -> R {
    LIMIT.set(Some(count));
    let result = run();
    LIMIT.set(None);
    result
}

/// The same, item by item.
pub fn map<T, R>(items: &[T], least: usize, weight: impl Fn(&T) -> usize, work: impl Fn(&T) -> R + Sync) -> Vec<R>
where
    T: Sync,
    R: Send,
{
    let done = shares(items, least, weight, |run| run.iter().map(&work).collect::<Vec<R>>());
    done.into_iter().flatten().collect()
}

/// Cuts a list into `count` runs of about the same weight; fewer when there are too few items.
fn cut<T>(items: &[T], count: usize, weight: impl Fn(&T) -> usize) -> Vec<&[T]> {
    let weights: Vec<usize> = items.iter().map(weight).collect();
    let mut left: usize = weights.iter().sum();
    let (mut runs, mut start) = (Vec::new(), 0);
    for parts in (1..=count).rev() {
        let (mut end, mut own) = (start, 0);
        while end < items.len() && (parts == 1 || own < left.div_ceil(parts)) {
            own += weights[end];
            end += 1;
        }
        if end > start {
            runs.push(&items[start..end]);
        }
        (start, left) = (end, left - own);
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_in_order_complete_and_about_as_heavy() {
        let items = [9, 1, 1, 1, 1, 5, 0, 0];
        for count in 1..10 {
            let runs = cut(&items, count, |item| *item);
            assert_eq!(runs.concat(), items, "{count}");
            assert!(runs.len() <= count && runs.iter().all(|run| !run.is_empty()), "{count}: {runs:?}");
        }
        assert_eq!(cut(&items, 2, |item| *item), [&items[..1], &items[1..]]);
        assert_eq!(cut(&[0, 0, 0], 2, |item| *item).concat(), [0, 0, 0], "nothing weighs anything");
        assert!(cut(&[0; 0], 3, |item| *item).is_empty());
    }

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..100).collect();
        assert_eq!(map(&items, 1, |_| 1, |item| item * 2), items.iter().map(|item| item * 2).collect::<Vec<_>>());
        assert_eq!(map(&items[..0], 1, |_| 1, |item| *item), [0; 0]);
        assert_eq!(shares(&items, 1, |_| 1, <[usize]>::to_vec).concat(), items);
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        let caught = std::panic::catch_unwind(|| map(&[1, 2, 3], 1, |_| 1, |item| assert!(*item < 3, "three")));
        assert!(caught.is_err());
    }
}
