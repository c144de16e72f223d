//! The table of verbs, alphabetical.

use std::marker::PhantomData;

use super::{AnyVerb, Entry, control, evidence, feedback, set, speak, timeline, todo};

/// All verbs. A new one is one file and one line here.
pub const VERBS: &[&dyn AnyVerb] = &[
    &entry::<speak::Answer>(),
    &entry::<speak::Ask>(),
    &entry::<speak::Emit>(),
    &entry::<evidence::Evidence>(),
    &entry::<feedback::Feedback>(),
    &entry::<control::ForbidActions>(),
    &entry::<control::ForbidExitNext>(),
    &entry::<control::NextActions>(),
    &entry::<control::RequestAsync>(),
    &entry::<set::Set>(),
    &entry::<control::Silence>(),
    &entry::<speak::Status>(),
    &entry::<speak::Thought>(),
    &entry::<timeline::Timeline>(),
    &entry::<todo::Todo>(),
];

const fn entry<V>() -> Entry<V> {
    Entry(PhantomData)
}
