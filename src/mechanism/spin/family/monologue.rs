//! `monologue`: the agent talks, or thinks, and does nothing.

use super::super::lane::{Lane, Text};
use super::super::record::Kind;
use super::super::settings::Settings;
use super::{Family, Judged};

pub(super) const FAMILY: Family =
    Family { name: "monologue", about: "near-equal messages or thoughts, or many of any kind, without a call", judge };

fn judge(lane: &Lane, settings: &Settings) -> Option<Judged> {
    let set = &settings.families.monologue;
    let current = lane.texts.back().filter(|text| set.enabled && lane.last == Some(text.kind))?;
    let (threshold, noun) = match current.kind {
        Kind::Think => (set.thoughts, "thoughts"),
        _ => (set.same, "messages"),
    };
    let alike = |text: &&Text| text.kind == current.kind && text.words.likeness(&current.words) >= set.similarity;
    let steps: Vec<usize> = lane.texts.iter().filter(alike).map(|text| text.step).collect();
    if steps.len() >= threshold {
        let text = format!("{} {noun} say nearly the same, and nothing was done between", steps.len());
        return Judged::hard(steps.clone(), steps.len(), threshold, text);
    }
    if lane.texts.len() >= set.any {
        let steps: Vec<usize> = lane.texts.iter().map(|text| text.step).collect();
        let text = format!("{} texts in a row, and nothing was done between", steps.len());
        return Judged::hard(steps.clone(), steps.len(), set.any, text);
    }
    None
}
