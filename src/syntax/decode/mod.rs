//! A node becomes a type: a serde deserializer over [`Node`] whose errors say where, and that does not stop at the first.

mod access;
pub(super) mod context;
mod de;
mod error;
mod words;

use std::collections::HashSet;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use error::DecodeError;

use super::Node;
use crate::diag::Diagnostics;
use de::NodeDeserializer;

/// How many mistakes are looked for in one value. Each costs one more pass over it.
const MAX_ERRORS: usize = 32;

/// Decodes a value, and reports everything that is wrong with it.
///
/// Unknown keys are errors whether or not the type denies them, since every document is strict; they
/// do not keep the rest from being decoded. Any other error gives `None`.
pub fn decode<T: DeserializeOwned>(node: &Node, diagnostics: &mut Diagnostics) -> Option<T> {
    let outcome = run(node);
    let value = outcome.value.filter(|_| !outcome.broken);
    diagnostics.extend(outcome.found);
    value
}

/// Like [`decode`], but leaves out entries and items that cannot be decoded, as long as the rest still
/// makes a value. For checkers that want to go on after a mistake.
pub fn decode_partial<T: DeserializeOwned>(node: &Node, diagnostics: &mut Diagnostics) -> Option<T> {
    let outcome = run(node);
    diagnostics.extend(outcome.found);
    outcome.value
}

/// Decodes a node inside another type's `Deserialize` implementation, with no loss of places.
///
/// For types that look at a [`super::Raw`] before they decide what it is. With any other
/// deserializer than ours the message is kept and the place is lost.
pub fn decode_within<'de, T, E>(node: &Node) -> Result<T, E>
where
    T: Deserialize<'de>,
    E: serde::de::Error,
{
    // The root keeps its error unplaced, so that the caller's own place, with its key, is used.
    T::deserialize(NodeDeserializer::root(node)).map_err(|error| {
        let message = error.to_string();
        context::set_pending(error);
        E::custom(message)
    })
}

struct Outcome<T> {
    value: Option<T>,
    found: Diagnostics,
    broken: bool,
}

/// Decodes again and again, each time leaving out what was found broken, until nothing new is found.
fn run<T: DeserializeOwned>(node: &Node) -> Outcome<T> {
    let scope = context::Scope::enter();
    let mut found = Diagnostics::new();
    let mut broken = HashSet::new();
    let mut value = None;
    for _ in 0..MAX_ERRORS {
        context::set_broken(broken.clone());
        match T::deserialize(NodeDeserializer::root(node)) {
            Ok(decoded) => {
                value = Some(decoded);
                break;
            }
            Err(error) => {
                let error = error.at(node, None);
                let culprit = error.culprit();
                if !error.follows_from(&broken) {
                    found.push(error.into());
                }
                // The whole document is at fault, or leaving the culprit out changed nothing.
                if culprit == context::address(node) || !broken.insert(culprit) {
                    break;
                }
            }
        }
    }
    let (noticed, passed_over) = scope.leave();
    found.extend(noticed);
    found.dedup();
    Outcome { value, found, broken: passed_over || !broken.is_empty() }
}

#[cfg(test)]
mod tests;
