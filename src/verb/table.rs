//! The table of verbs, alphabetical.

use std::marker::PhantomData;

use super::{
    AnyVerb, Entry, call, control, evidence, feedback, file, http, result, run, search, set, speak, timeline, todo,
};

/// All verbs. A new one is one file and one line here.
pub const VERBS: &[&dyn AnyVerb] = &[
    &entry::<speak::Answer>(),
    &entry::<file::Artifact>(),
    &entry::<speak::Ask>(),
    &entry::<speak::Emit>(),
    &entry::<evidence::Evidence>(),
    &entry::<feedback::Feedback>(),
    &entry::<control::ForbidActions>(),
    &entry::<control::ForbidExitNext>(),
    &entry::<call::Forge>(),
    &entry::<search::Grep>(),
    &entry::<http::Http>(),
    &entry::<search::List>(),
    &entry::<call::Loop>(),
    &entry::<control::NextActions>(),
    &entry::<file::Read>(),
    &entry::<control::RequestAsync>(),
    &entry::<result::Result>(),
    &entry::<run::Run>(),
    &entry::<set::Set>(),
    &entry::<control::Silence>(),
    &entry::<speak::Status>(),
    &entry::<speak::Thought>(),
    &entry::<timeline::Timeline>(),
    &entry::<todo::Todo>(),
    &entry::<call::Tool>(),
    &entry::<file::Write>(),
];

const fn entry<V>() -> Entry<V> {
    Entry(PhantomData)
}
