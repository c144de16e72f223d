//! `exact`: the same call brings the same result again and again.

use super::super::lane::{Call, Lane, Passing};
use super::super::record::Class;
use super::super::settings::Settings;
use super::{Family, Judged};

pub(super) const FAMILY: Family = Family { name: "exact", about: "the same call with the same result in a row", judge };

fn judge(lane: &Lane, settings: &Settings) -> Option<Judged> {
    let set = &settings.families.exact;
    let call = lane.current().filter(|call| set.enabled && !matches!(call.class, Class::Wait | Class::Enumerate))?;
    let steps = lane.streak(|old| old.same_outcome(call));
    let oldest = steps.last().copied().unwrap_or(call.step);
    let threshold =
        if lane.waited(oldest, call.step) { set.poll_n.max(needed(call, settings)) } else { needed(call, settings) };
    if steps.len() < threshold {
        return None;
    }
    let text = format!("`{}` with the same arguments gave the same result {} times in a row", call.action, steps.len());
    Judged::hard(steps.clone(), steps.len(), threshold, text)
}

/// How many equal calls of this kind decide.
pub(super) fn needed(call: &Call, settings: &Settings) -> usize {
    let exact = &settings.families.exact;
    match (call.class, call.passing) {
        (Class::Poll, _) => exact.poll_n,
        (_, Passing::Error | Passing::Told) => exact.n.max(settings.families.error.transient_n),
        (_, Passing::No) => exact.n,
    }
}
