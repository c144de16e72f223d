//! Keys that nobody may see: noted as they are found, masked wherever text leaves a run.

use std::borrow::Cow;
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;

/// What stands in place of a secret.
const MASK: &str = "[secret]";

/// Short values would mask half the alphabet; keys are far longer.
const SHORTEST: usize = 8;

/// The secrets of an engine. Clones share one list, which grows while models are built.
#[derive(Clone, Default)]
pub struct Secrets(Arc<RwLock<Vec<String>>>);

impl Secrets {
    /// Notes further secrets.
    pub fn add(&self, values: impl IntoIterator<Item = String>) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for value in values {
            if value.len() >= SHORTEST && !known.contains(&value) {
                known.push(value);
            }
        }
        // The longest first: one secret may be a part of another.
        known.sort_by_key(|value| std::cmp::Reverse(value.len()));
    }

    /// All of them, the longest first.
    #[must_use]
    pub fn all(&self) -> Vec<String> {
        self.read(<[String]>::to_vec)
    }

    /// The text without secrets.
    #[must_use]
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.read(|known| mask(text, known))
    }

    /// Whether JSON text may hold a secret: cheaper to ask than to look at every string.
    pub(super) fn may_be_in(&self, json: &str) -> bool {
        self.read(|known| known.iter().any(|secret| json.contains(secret.as_str()) || secret.contains(is_escaped)))
    }

    /// Masks every string inside; whether there was a secret.
    pub(super) fn mask_value(&self, value: &mut Value) -> bool {
        self.read(|known| mask_value(value, known))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.read(<[String]>::is_empty)
    }

    /// Where the end of the text begins that may be the beginning of a secret; its length when there is none.
    pub(super) fn open_end(&self, text: &str) -> usize {
        self.read(|known| {
            let starts = known.iter().filter_map(|secret| {
                secret.char_indices().rev().map(|(at, _)| at).filter(|at| *at > 0).find_map(|at| {
                    let begun = &secret[..at];
                    text.ends_with(begun).then(|| text.len() - begun.len())
                })
            });
            starts.min().unwrap_or(text.len())
        })
    }

    fn read<T>(&self, look: impl FnOnce(&[String]) -> T) -> T {
        look(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secrets(..)")
    }
}

/// Whether JSON may write the character in another way.
fn is_escaped(c: char) -> bool {
    c.is_control() || matches!(c, '"' | '\\')
}

fn mask<'a>(text: &'a str, known: &[String]) -> Cow<'a, str> {
    let mut text = Cow::Borrowed(text);
    for secret in known {
        if text.contains(secret.as_str()) {
            text = Cow::Owned(text.replace(secret.as_str(), MASK));
        }
    }
    text
}

fn mask_value(value: &mut Value, known: &[String]) -> bool {
    match value {
        Value::String(text) => match mask(text, known) {
            Cow::Borrowed(_) => false,
            Cow::Owned(masked) => {
                *text = masked;
                true
            }
        },
        Value::Array(items) => items.iter_mut().fold(false, |found, item| mask_value(item, known) | found),
        Value::Object(map) => {
            let mut found = map.values_mut().fold(false, |found, item| mask_value(item, known) | found);
            if map.keys().any(|key| matches!(mask(key, known), Cow::Owned(_))) {
                found = true;
                *map =
                    std::mem::take(map).into_iter().map(|(key, item)| (mask(&key, known).into_owned(), item)).collect();
            }
            found
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_string_is_masked_keys_of_maps_too() {
        let secrets = Secrets::default();
        secrets.add(["sk-very".into(), "sk-very-secret".into(), "short".into(), "sk-very-secret-2".into()]);
        let mut value = serde_json::json!({ "a": ["sk-very-secret-2", 1], "sk-very-secret": "short" });
        assert!(secrets.mask_value(&mut value));
        assert_eq!(value, serde_json::json!({ "a": ["[secret]", 1], "[secret]": "short" }));
        assert_eq!(format!("{secrets:?}"), "Secrets(..)");
        assert!(secrets.may_be_in("[\"sk-very-secret\"]") && !secrets.may_be_in("[\"sk-ver\"]"));
        secrets.add(["with\"quote".into()]);
        assert!(secrets.may_be_in("[\"with\\\"quote\"]"));
    }

    #[test]
    fn the_beginning_of_a_secret_is_seen_at_the_end() {
        let secrets = Secrets::default();
        assert_eq!(secrets.open_end("abc"), 3);
        secrets.add(["sk-ä-secret".into()]);
        for (text, end) in [("my sk-", 3), ("my sk-ä", 3), ("my sk-x", 7), ("s", 0), ("", 0), ("sk-ä-secret", 12)] {
            assert_eq!(secrets.open_end(text), end, "{text}");
        }
    }
}
