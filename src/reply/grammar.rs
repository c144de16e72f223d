//! What a reply may say this turn: the actions offered, their parameters and tags, and the nonce of the tags.

use std::sync::{Arc, OnceLock};

use indexmap::IndexMap;
use serde_json::Value;

/// The actions a model may choose from in one turn, and the nonce of the tags it may write.
///
/// Building one is cheap: the actions are shared, so an engine keeps each [`ActionGrammar`] for the whole run and
/// makes a new grammar for every turn.
#[derive(Debug, Clone, Default)]
pub struct Grammar {
    /// The turn's nonce, as it stands in `<|TAG_nonce|>`.
    pub nonce: String,
    /// The actions by name, in the order in which they are named to the model.
    pub actions: IndexMap<String, Arc<ActionGrammar>>,
}

/// The parameters and tags of one action.
#[derive(Debug, Default)]
pub struct ActionGrammar {
    /// JSON Schema of the object that holds the parameters.
    pub params: Value,
    /// Tags whose bodies belong to the action.
    pub tags: IndexMap<String, TagRule>,
    validator: OnceLock<Result<jsonschema::Validator, String>>,
}

/// What is asked of a tag.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TagRule {
    /// A reply without the tag is refused.
    pub required: bool,
}

impl Grammar {
    /// A grammar of these actions, with tags under this nonce.
    pub fn new(nonce: impl Into<String>, actions: impl IntoIterator<Item = (String, Arc<ActionGrammar>)>) -> Self {
        Self { nonce: nonce.into(), actions: actions.into_iter().collect() }
    }

    /// The action that a model's word names: the exact name, else the same name in another case.
    pub fn find(&self, word: &str) -> Option<(&str, &ActionGrammar)> {
        let word = word.trim();
        if let Some((name, action)) = self.actions.get_key_value(word) {
            return Some((name, action));
        }
        let folded = word.to_lowercase();
        self.actions
            .iter()
            .find(|(name, _)| name.to_lowercase() == folded)
            .map(|(name, action)| (name.as_str(), action.as_ref()))
    }

    /// Whether any action declares this tag.
    pub fn declares_tag(&self, name: &str) -> bool {
        self.actions.values().any(|action| action.tags.contains_key(name))
    }
}

impl ActionGrammar {
    /// An action whose parameters obey the schema `params`, with these tags.
    pub fn new(params: Value, tags: IndexMap<String, TagRule>) -> Self {
        Self { params, tags, validator: OnceLock::new() }
    }

    /// The schema compiled, on first use; or why it cannot be.
    pub(super) fn validator(&self) -> Result<&jsonschema::Validator, &str> {
        self.validator
            .get_or_init(|| jsonschema::validator_for(&self.params).map_err(|error| error.to_string()))
            .as_ref()
            .map_err(String::as_str)
    }
}
