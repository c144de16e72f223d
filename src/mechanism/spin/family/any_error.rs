//! `any_error`: nothing works any more, whichever tool is called.

use super::super::lane::{Call, Lane};
use super::super::record::Class;
use super::super::settings::Settings;
use super::same_error::turns;
use super::{Family, Judged};

pub(super) const FAMILY: Family =
    Family { name: "any_error", about: "errors turn after turn, whatever the tool and the text", judge };

fn judge(lane: &Lane, settings: &Settings) -> Option<Judged> {
    let set = settings.families.any_error;
    let counts = |call: &&Call| matches!(call.class, Class::Normal | Class::SideEffect);
    lane.current().filter(|call| set.enabled && call.error && counts(call))?;
    // A miss of an enumeration is no error, and no success either.
    let failed: Vec<&Call> = lane.back().filter(counts).take_while(|call| call.error).collect();
    let turns = turns(&failed);
    if turns < set.n {
        return None;
    }
    let text = format!("{turns} turns in a row brought nothing but errors");
    Judged::hard(failed.iter().map(|call| call.step).collect(), turns, set.n, text)
}
