//! `same_action`: one type of action in a row. A suspicion only: alone it is wrong about most honest work.

use super::super::lane::Lane;
use super::super::record::Class;
use super::super::settings::Settings;
use super::{Family, Judged};

pub(super) const FAMILY: Family = Family { name: "same_action", about: "one type of action in a row", judge };

fn judge(lane: &Lane, settings: &Settings) -> Option<Judged> {
    let set = settings.families.same_action;
    let call = lane.current().filter(|call| set.enabled && matches!(call.class, Class::Normal | Class::SideEffect))?;
    let steps = lane.streak(|old| old.action == call.action);
    if steps.len() < set.n {
        return None;
    }
    let text = format!("`{}` was taken {} times in a row", call.action, steps.len());
    Judged::suspicion(steps.clone(), steps.len(), set.n, text)
}
