//! `refused_finish`: the agent asks to end the loop and is refused for the same reason each time.

use super::super::lane::Lane;
use super::super::settings::Settings;
use super::{Family, Judged};

pub(super) const FAMILY: Family =
    Family { name: "refused_finish", about: "a wish to finish that is refused for the same reason each time", judge };

fn judge(lane: &Lane, settings: &Settings) -> Option<Judged> {
    let set = settings.families.refused_finish;
    let call = lane.current().filter(|call| set.enabled && call.finish && call.error)?;
    let attempts = lane.back().filter(|old| old.finish);
    let steps: Vec<usize> = attempts.take_while(|old| old.error && old.same_result(call)).map(|old| old.step).collect();
    if steps.len() < set.n {
        return None;
    }
    let text = format!("`{}` was refused {} times for the same reason", call.action, steps.len());
    Judged::hard(steps.clone(), steps.len(), set.n, text)
}
