//! Capabilities that were found while a loop ran, beside those that it offers itself.

use super::RunState;
use crate::event::{CapabilityKind, CapabilityRef, CapabilityResult, ExtraCapability};

/// The most tools that the prompt lists beside the loop's own: each has a schema, and a model that sees too many chooses worse.
const MOST_TOOLS: usize = 50;

/// What a loop offers beside its tools and skills.
#[derive(Debug, Clone, Default)]
pub struct Listed {
    /// Forges that the model may run.
    pub forges: Vec<ExtraCapability>,
    /// Loops that it may enter.
    pub focus_modes: Vec<ExtraCapability>,
    /// Whether a search may find more.
    pub more: bool,
}

impl RunState {
    /// Notes what the loop offers.
    pub fn offer(&mut self, listed: Listed) {
        let known = &mut self.capabilities;
        (known.forges, known.focus_modes, known.more) = (listed.forges, listed.focus_modes, listed.more);
    }

    /// Notes a search: what it found, and what of it the model may use. What is known already moves to the end; beyond the most
    /// tools, those go that were found longest ago. Gives what is new.
    pub fn remember_found(&mut self, result: CapabilityResult, usable: Vec<ExtraCapability>) -> Vec<CapabilityRef> {
        self.capabilities.result = result;
        self.add_extra(usable)
    }

    /// Notes what the model may use from now on, as [`Self::remember_found`] does.
    pub fn add_extra(&mut self, usable: Vec<ExtraCapability>) -> Vec<CapabilityRef> {
        let known = &mut self.capabilities;
        let mut added = Vec::new();
        for one in usable {
            let same = |other: &ExtraCapability| other.kind == one.kind && other.name == one.name;
            match known.extra.iter().position(same) {
                Some(place) => drop(known.extra.remove(place)),
                None => added.push(CapabilityRef { name: one.name.clone(), kind: one.kind }),
            }
            known.extra.push(one);
        }
        let is_tool = |one: &ExtraCapability| one.kind == CapabilityKind::Tool;
        let mut excess = known.extra.iter().filter(|one| is_tool(one)).count().saturating_sub(MOST_TOOLS);
        known.extra.retain(|one| {
            let goes = excess > 0 && is_tool(one);
            excess -= usize::from(goes);
            !goes
        });
        added
    }

    /// Whether a search found this tool for the model.
    #[must_use]
    pub fn found_tool(&self, name: &str) -> bool {
        self.capabilities.extra.iter().any(|one| one.kind == CapabilityKind::Tool && one.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extra(kind: CapabilityKind, name: &str) -> ExtraCapability {
        ExtraCapability { name: name.to_owned(), kind, description: String::new(), usage: String::new(), params: None }
    }

    #[test]
    fn each_is_kept_once_and_tools_up_to_the_most() {
        let mut state = RunState::default();
        let tools =
            |range: std::ops::Range<usize>| range.map(|n| extra(CapabilityKind::Tool, &format!("t{n}"))).collect();
        let skill = vec![extra(CapabilityKind::Skill, "t0")];
        assert_eq!(state.remember_found(CapabilityResult::default(), skill).len(), 1);
        assert_eq!(state.remember_found(CapabilityResult::default(), tools(0..50)).len(), 50);
        assert_eq!(state.remember_found(CapabilityResult::default(), tools(0..1)), []);
        assert_eq!(state.remember_found(CapabilityResult::default(), tools(50..51)).len(), 1);
        assert_eq!(state.capabilities.extra.len(), 51);
        assert!(state.found_tool("t0") && !state.found_tool("t1") && state.found_tool("t50"));
        assert_eq!(state.capabilities.extra[0].kind, CapabilityKind::Skill);
    }
}
