//! `no_progress`: whatever is changed, the check says the same.

use super::super::lane::{Call, Lane, Passing};
use super::super::record::Class;
use super::super::settings::Settings;
use super::{Family, Judged};

pub(super) const FAMILY: Family =
    Family { name: "no_progress", about: "a check that says the same whatever is changed between", judge };

fn judge(lane: &Lane, settings: &Settings) -> Option<Judged> {
    let set = &settings.families.no_progress;
    let checkable =
        |call: &&Call| matches!(call.class, Class::Normal | Class::SideEffect) && call.passing == Passing::No;
    let call = lane.current().filter(|call| set.enabled && checkable(call))?;
    let same: Vec<&Call> =
        lane.back().filter(|old| old.args == call.args).take_while(|old| old.same_result(call)).collect();
    // Rounds with something new in between; the others are for `exact`.
    let newly = |from: usize, to: usize| lane.back().any(|old| old.step > from && old.step < to && old.changes);
    let rounds = 1 + same.iter().zip(same.iter().skip(1)).filter(|(new, old)| newly(old.step, new.step)).count();
    let steps = || same.iter().map(|call| call.step).collect();
    let text = || format!("`{}` said the same {rounds} times, whatever was changed between", call.action);
    if call.error && rounds >= set.errors {
        Judged::hard(steps(), rounds, set.errors, text())
    } else if rounds >= set.n {
        Judged::suspicion(steps(), rounds, set.n, text())
    } else {
        None
    }
}
