//! The table of verbs, alphabetical.

use std::marker::PhantomData;

use super::{AnyVerb, Entry};

/// All verbs. A new one is one file and one line here.
pub const VERBS: &[&dyn AnyVerb] = &[];

#[expect(dead_code, reason = "used by every line of the table")]
const fn entry<V>() -> Entry<V> {
    Entry(PhantomData)
}
