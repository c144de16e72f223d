//! `same_error`: one tool, other arguments each time, always the same error.

use super::super::lane::{Call, Lane, Passing};
use super::super::record::Class;
use super::super::settings::Settings;
use super::{Family, Judged};

pub(super) const FAMILY: Family =
    Family { name: "same_error", about: "one tool with other arguments and the same error, turn after turn", judge };

fn judge(lane: &Lane, settings: &Settings) -> Option<Judged> {
    let set = settings.families.same_error;
    if !set.enabled {
        return None;
    }
    match lane.current() {
        Some(call) if call.error && matches!(call.class, Class::Normal | Class::SideEffect) => {
            calls(lane, call, set.n, settings.families.error.transient_n)
        }
        Some(_) => None,
        None => texts(lane, set.n),
    }
}

fn calls(lane: &Lane, call: &Call, threshold: usize, patience: usize) -> Option<Judged> {
    // What changes in between may be a try to mend it.
    let since = lane.back().take_while(|old| old.action == call.action || !old.changes);
    let failed: Vec<&Call> =
        since.filter(|old| old.action == call.action).take_while(|old| old.error && old.same_result(call)).collect();
    // The same call once more is for `error`.
    let other: Vec<&Call> = failed
        .iter()
        .enumerate()
        .filter(|(at, old)| failed.get(at + 1).is_none_or(|next| next.args != old.args))
        .map(|(_, old)| *old)
        .collect();
    let turns = turns(&other);
    let threshold =
        if failed.iter().all(|old| old.passing == Passing::Error) { threshold.max(patience) } else { threshold };
    if turns < threshold {
        return None;
    }
    let text = format!("`{}` failed in {turns} turns with the same error, whatever its arguments", call.action);
    Judged::hard(failed.iter().map(|call| call.step).collect(), turns, threshold, text)
}

/// Turns that the calls take: calls of one reply are one turn.
pub(super) fn turns(calls: &[&Call]) -> usize {
    let joined = |pair: &(&&Call, &&Call)| pair.0.batch.is_some() && pair.0.batch == pair.1.batch;
    calls.len() - calls.iter().zip(calls.iter().skip(1)).filter(joined).count()
}

/// Texts where a call was asked for, each refused with the same words.
fn texts(lane: &Lane, threshold: usize) -> Option<Judged> {
    let refusal = lane.texts.back()?.refused?;
    let refused = lane.texts.iter().rev().take_while(|text| text.refused == Some(refusal));
    let steps: Vec<usize> = refused.map(|text| text.step).collect();
    if steps.len() < threshold {
        return None;
    }
    let text = format!("{} texts in a row were refused with the same words", steps.len());
    Judged::hard(steps.clone(), steps.len(), threshold, text)
}
