//! `error`: the same call fails again and again, whatever the words of the error.

use super::super::lane::{Call, Lane, Passing};
use super::super::record::Class;
use super::super::settings::Settings;
use super::{Family, Judged};

pub(super) const FAMILY: Family =
    Family { name: "error", about: "the same call with an error in a row, whatever its text", judge };

fn judge(lane: &Lane, settings: &Settings) -> Option<Judged> {
    let set = &settings.families.error;
    let call = lane.current().filter(|call| set.enabled && call.error && call.class != Class::Wait)?;
    let steps = lane.streak(|old| old.error && old.args == call.args);
    let threshold = needed(lane, call, &steps, settings);
    if steps.len() < threshold {
        return None;
    }
    let text = format!("`{}` with the same arguments failed {} times in a row", call.action, steps.len());
    Judged::hard(steps.clone(), steps.len(), threshold, text)
}

fn needed(lane: &Lane, call: &Call, steps: &[usize], settings: &Settings) -> usize {
    let set = &settings.families.error;
    let oldest = steps.last().copied().unwrap_or(call.step);
    let streak = || lane.back().filter(|old| steps.contains(&old.step));
    if call.class == Class::Poll {
        settings.families.exact.poll_n
    } else if streak().all(|old| old.passing == Passing::Error) || lane.waited(oldest, call.step) {
        set.transient_n
    } else {
        set.n
    }
}
