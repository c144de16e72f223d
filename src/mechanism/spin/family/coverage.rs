//! `coverage`: reads of ranges go on although all of it was read.

use super::super::lane::Lane;
use super::super::settings::Settings;
use super::{Family, Judged};

pub(super) const FAMILY: Family =
    Family { name: "coverage", about: "reads of ranges that show little that was not seen", judge };

fn judge(lane: &Lane, settings: &Settings) -> Option<Judged> {
    let set = &settings.families.coverage;
    let call = lane.current().filter(|call| set.enabled && call.new_lines.is_some())?;
    let reads =
        lane.back().take_while(|old| !old.changes || old.new_lines.is_some()).filter(|old| old.action == call.action);
    let stale = reads.take_while(|old| old.new_lines.is_some_and(|share| share < set.min_new));
    let steps: Vec<usize> = stale.map(|old| old.step).collect();
    if steps.len() < set.n {
        return None;
    }
    let text = format!(
        "{} reads with `{}` in a row showed less than {:.0} % lines that were new",
        steps.len(),
        call.action,
        set.min_new * 100.0
    );
    Judged::hard(steps.clone(), steps.len(), set.n, text)
}
