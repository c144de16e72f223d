//! `same_result`: one tool, other arguments each time, always the same long or empty result. A suspicion only.

use super::super::lane::Lane;
use super::super::record::Class;
use super::super::settings::Settings;
use super::{Family, Judged};

pub(super) const FAMILY: Family =
    Family { name: "same_result", about: "one tool with other arguments and the same telling result", judge };

fn judge(lane: &Lane, settings: &Settings) -> Option<Judged> {
    let set = settings.families.same_result;
    let call =
        lane.current().filter(|call| set.enabled && call.class == Class::Normal && !call.error && call.telling)?;
    let same = lane.back().filter(|old| old.action == call.action).take_while(|old| old.same_result(call));
    let steps: Vec<usize> = same.map(|old| old.step).collect();
    if steps.len() < set.n {
        return None;
    }
    let text = format!("`{}` gave one result to {} calls with other arguments", call.action, steps.len());
    Judged::suspicion(steps.clone(), steps.len(), set.n, text)
}
