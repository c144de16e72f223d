//! `scattered`: the same call keeps coming back among others that change nothing.

use super::super::lane::Lane;
use super::super::record::Class;
use super::super::settings::Settings;
use super::{Family, Judged, exact};

pub(super) const FAMILY: Family = Family {
    name: "scattered",
    about: "the same call with the same result, with others between that change nothing",
    judge,
};

fn judge(lane: &Lane, settings: &Settings) -> Option<Judged> {
    let set = &settings.families.scattered;
    let call = lane.current().filter(|call| set.enabled && !matches!(call.class, Class::Wait | Class::Enumerate))?;
    let threshold = set.n.max(exact::needed(call, settings));
    let since = lane.working().take(set.window).take_while(|old| {
        if old.args == call.args { old.same_result(call) || !settings.reset.new_result } else { !old.changes }
    });
    let steps: Vec<usize> = since.filter(|old| old.same_outcome(call)).map(|old| old.step).collect();
    let oldest = steps.last().copied().unwrap_or(call.step);
    let threshold =
        if lane.waited(oldest, call.step) { threshold.max(settings.families.exact.poll_n) } else { threshold };
    if steps.len() < threshold {
        return None;
    }
    let text = format!(
        "`{}` with the same arguments gave the same result {} times among the last {} calls, and nothing changed between",
        call.action,
        steps.len(),
        set.window
    );
    Judged::hard(steps.clone(), steps.len(), threshold, text)
}
