//! `side_effect`: something is done to the world again, whatever it answers.

use super::super::lane::Lane;
use super::super::record::Class;
use super::super::settings::Settings;
use super::{Family, Judged};

pub(super) const FAMILY: Family = Family {
    name: "side_effect",
    about: "a call of a tool with side effects made again, whatever its result, while nothing else changes",
    judge,
};

fn judge(lane: &Lane, settings: &Settings) -> Option<Judged> {
    let set = settings.families.side_effect;
    let call = lane.current().filter(|call| set.enabled && call.class == Class::SideEffect)?;
    let since = lane.back().take_while(|old| old.args == call.args || !old.changes);
    let steps: Vec<usize> = since.filter(|old| old.args == call.args).map(|old| old.step).collect();
    if steps.len() < set.n {
        return None;
    }
    let text =
        format!("`{}` has a side effect and was made {} times with the same arguments", call.action, steps.len());
    Judged::hard(steps.clone(), steps.len(), set.n, text)
}
