//! Whether a repetition that was found goes on, and what made different results count as the same.

use std::collections::{HashMap, HashSet};

use super::family::{FAMILIES, Judged, Severity};
use super::lane::{Call, Lane};
use super::{Detector, Finding};

/// A repetition counts as given up when it stays away so many times longer than it ever did before.
const PATIENCE: usize = 2;

/// Families for which equal results decide, so that it matters what made them equal.
const BY_RESULT: [&str; 8] =
    ["exact", "cycle", "scattered", "refused_finish", "same_error", "paraphrase", "no_progress", "no_news"];

impl Detector {
    /// Whether a repetition is over: something new came since, and doing the same once more would not be found again, or
    /// it was given up. What is done between its rounds does not end a repetition that allows for it, such as edits
    /// between checks that all say the same.
    #[must_use]
    pub fn is_over(&self, found: &Finding) -> bool {
        let place = self.lanes().find_map(|lane| Some((lane, lane.newest_of(&found.evidence.steps)?)));
        let Some((lane, call)) = place else {
            // A text, or forgotten: over as soon as anything new is done.
            return !self.lanes().any(|lane| lane.back().next().is_some() && !lane.has_news(found.step));
        };
        if !lane.has_news(call.step) {
            return false;
        }
        if lane.gave_up(&found.evidence.steps) {
            return true;
        }
        let mut once_more = lane.clone();
        once_more.push_call(Call { step: found.step.saturating_add(1), batch: None, ..call.clone() }, usize::MAX, None);
        let settings = self.settings();
        let judged = FAMILIES.iter().find(|family| family.name == found.family).map(|family| family.judge);
        let again = judged.and_then(|judge| judge(&once_more, settings));
        !again.is_some_and(|again| again.severity == Severity::Hard)
    }
}

impl Lane {
    fn newest_of(&self, steps: &[usize]) -> Option<&Call> {
        self.back().find(|call| steps.contains(&call.step))
    }

    /// Whether a call after a step brought what no equal call brought before.
    fn has_news(&self, since: usize) -> bool {
        self.working().take_while(|call| call.step > since).any(|call| !call.repeats)
    }

    /// Whether none of these calls came back for much longer than between any two of them.
    fn gave_up(&self, steps: &[usize]) -> bool {
        let places: Vec<usize> =
            self.working().enumerate().filter(|(_, call)| steps.contains(&call.step)).map(|(at, _)| at).collect();
        let longest = places.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(1).max(2);
        places.first().is_some_and(|since| *since > longest * PATIENCE)
    }

    /// What the masks left out where calls count as having the same result, in words.
    pub(super) fn note_masks(&self, family: &str, judged: &mut Judged) {
        if !BY_RESULT.contains(&family) {
            return;
        }
        let mut plain: HashMap<_, HashSet<u64>> = HashMap::new();
        let mut names: Vec<&str> = Vec::new();
        for call in self.back().filter(|call| judged.evidence.steps.contains(&call.step)) {
            let Some(result) = call.result else { continue };
            plain.entry(result).or_default().insert(call.plain);
            names.extend(call.left_out.iter().filter(|name| !names.contains(*name)).copied().collect::<Vec<_>>());
        }
        if !names.is_empty() && plain.values().any(|texts| texts.len() > 1) {
            names.sort_unstable();
            let text = format!("; they differ only in what {} leaves out", settings_of(&names));
            judged.evidence.text.push_str(&text);
        }
    }
}

/// Names the settings that left something out: masks by their names.
fn settings_of(names: &[&str]) -> String {
    let masks: Vec<&str> = names.iter().filter(|name| !name.starts_with('`')).copied().collect();
    let masks = (!masks.is_empty()).then(|| format!("`mask_results` ({})", masks.join(", ")));
    let keys = names.iter().find(|name| name.starts_with('`')).map(|name| (*name).to_owned());
    masks.into_iter().chain(keys).collect::<Vec<_>>().join(" or ")
}
