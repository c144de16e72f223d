//! The table of verbs, alphabetical.

use std::marker::PhantomData;

use super::{
    AnyVerb, Entry, call, check_spin, control, evidence, feedback, file, http, load_capability, load_skill, perceive,
    reflect, result, run, search, search_capabilities, set, speak, timeline, todo, verify_goal,
};

/// All verbs. A new one is one file and one line here.
pub const VERBS: &[&dyn AnyVerb] = &[
    &entry::<speak::Answer>(),
    &entry::<file::Artifact>(),
    &entry::<speak::Ask>(),
    &entry::<check_spin::CheckSpin>(),
    &entry::<speak::Emit>(),
    &entry::<load_capability::EnterFocusMode>(),
    &entry::<evidence::Evidence>(),
    &entry::<feedback::Feedback>(),
    &entry::<control::ForbidActions>(),
    &entry::<control::ForbidExitNext>(),
    &entry::<call::Forge>(),
    &entry::<search::Grep>(),
    &entry::<http::Http>(),
    &entry::<search::List>(),
    &entry::<load_capability::LoadCapability>(),
    &entry::<load_skill::LoadSkill>(),
    &entry::<call::Loop>(),
    &entry::<control::NextActions>(),
    &entry::<perceive::Perceive>(),
    &entry::<file::Read>(),
    &entry::<reflect::Reflect>(),
    &entry::<control::RequestAsync>(),
    &entry::<result::Result>(),
    &entry::<run::Run>(),
    &entry::<search_capabilities::SearchCapabilities>(),
    &entry::<set::Set>(),
    &entry::<control::Silence>(),
    &entry::<speak::Status>(),
    &entry::<speak::Thought>(),
    &entry::<timeline::Timeline>(),
    &entry::<todo::Todo>(),
    &entry::<call::Tool>(),
    &entry::<verify_goal::VerifyGoal>(),
    &entry::<file::Write>(),
];

const fn entry<V>() -> Entry<V> {
    Entry(PhantomData)
}
