//! `event_storm`: the harness works on itself, and nothing else happens.

use super::super::lane::Lane;
use super::super::record::Kind;
use super::super::settings::Settings;
use super::{Family, Judged};

pub(super) const FAMILY: Family =
    Family { name: "event_storm", about: "internal events such as condensations, with nothing done between", judge };

fn judge(lane: &Lane, settings: &Settings) -> Option<Judged> {
    let set = settings.families.event_storm;
    if !set.enabled || lane.last != Some(Kind::Event) || lane.events.len() < set.n {
        return None;
    }
    let text = format!("{} internal events, and nothing was done between", lane.events.len());
    Judged::hard(lane.events.iter().copied().collect(), lane.events.len(), set.n, text)
}
