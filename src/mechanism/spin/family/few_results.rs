//! `few_results`: one tool in a row, with hardly more than one result. A suspicion only.

use std::collections::HashSet;

use super::super::lane::{Call, Lane};
use super::super::record::Class;
use super::super::settings::Settings;
use super::{Family, Judged};

pub(super) const FAMILY: Family =
    Family { name: "few_results", about: "one tool in a row with at most two different results", judge };

/// More different results than this are news.
const FEW: usize = 2;

fn judge(lane: &Lane, settings: &Settings) -> Option<Judged> {
    let set = settings.families.few_results;
    let call = lane.current().filter(|call| set.enabled && call.class == Class::Normal)?;
    let row: Vec<&Call> = lane.working().take_while(|old| old.action == call.action).take(set.n).collect();
    if row.len() < set.n || row.iter().map(|call| call.result).collect::<HashSet<_>>().len() > FEW {
        return None;
    }
    let text = format!("the last {} calls of `{}` had at most {FEW} different results", row.len(), call.action);
    Judged::suspicion(row.iter().map(|call| call.step).collect(), row.len(), set.n, text)
}
