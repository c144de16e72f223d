//! `cycle`: a group of calls comes round and round with equal results.

use super::super::lane::{Call, Lane, Passing};
use super::super::record::Class;
use super::super::settings::Settings;
use super::{Family, Judged};

pub(super) const FAMILY: Family =
    Family { name: "cycle", about: "a group of 2 to 6 calls over and over, with equal results each time", judge };

fn judge(lane: &Lane, settings: &Settings) -> Option<Judged> {
    let set = &settings.families.cycle;
    let current = lane.current().filter(|call| set.enabled && call.class != Class::Wait)?;
    let calls: Vec<&Call> = lane.working().collect();
    // Shorter groups first: a group of two is also one of four.
    for period in 2..=set.max_period {
        let Some(group) = calls.get(..period) else { break };
        if group.iter().all(|call| call.same_outcome(current)) {
            continue;
        }
        let round =
            calls.iter().zip(calls.iter().skip(period)).take_while(|(new, old)| new.same_outcome(old)).count() + period;
        let repeats = needed(lane, group, settings);
        if repeats > 1 && round >= period.saturating_mul(repeats) {
            let steps: Vec<usize> = calls.iter().take(round / period * period).map(|call| call.step).collect();
            let names: Vec<&str> = group.iter().rev().map(|call| &*call.action).collect();
            let text = format!("{} came round {} times with the same results", names.join(" → "), round / period);
            return Judged::hard(steps, round / period, repeats, text);
        }
    }
    None
}

/// How often a group must come round.
fn needed(lane: &Lane, group: &[&Call], settings: &Settings) -> usize {
    let (cycle, error, exact) = (&settings.families.cycle, &settings.families.error, &settings.families.exact);
    let patient = |call: &&Call| matches!(call.class, Class::Poll | Class::Enumerate);
    let one_call = group.iter().zip(group.iter().skip(1)).all(|(a, b)| a.args == b.args);
    let span = (group.last().map_or(0, |call| call.step), group.first().map_or(0, |call| call.step));
    if group.iter().all(patient) {
        cycle.repeats.max(exact.poll_n)
    } else if group.iter().any(patient)
        || group.iter().any(|call| call.passing != Passing::No)
        || lane.waited(span.0, span.1)
    {
        // Waiting for something, with other calls between: as patient as with what passes by itself.
        cycle.repeats.max(error.transient_n)
    } else if one_call {
        // One call whose results take turns may be chance, or a thing that moves by itself.
        cycle.repeats.saturating_mul(2)
    } else {
        cycle.repeats
    }
}
