//! `no_news`: call after call that was made before, and brought then what it brings now.

use super::super::lane::Lane;
use super::super::record::Class;
use super::super::settings::Settings;
use super::{Family, Judged};

pub(super) const FAMILY: Family =
    Family { name: "no_news", about: "only calls that were made before with the same results, in any order", judge };

fn judge(lane: &Lane, settings: &Settings) -> Option<Judged> {
    let set = &settings.families.no_news;
    let counts = |class: Class| matches!(class, Class::Normal | Class::SideEffect);
    lane.current().filter(|call| set.enabled && counts(call.class))?;
    // One that waits for something else may go round for a while.
    let stale = lane.back().take_while(|old| old.repeats && counts(old.class));
    let steps: Vec<usize> = stale.map(|old| old.step).collect();
    let count = steps.len();
    let text = || format!("the last {count} calls were all made before, with the same results");
    if count >= set.decide {
        Judged::hard(steps, count, set.decide, text())
    } else if count >= set.n {
        Judged::suspicion(steps, count, set.n, text())
    } else {
        None
    }
}
