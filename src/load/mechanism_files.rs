//! Which file a mechanism's prompt of a loop is.

use super::shipped::{SHIPPED_LANGUAGES, mechanism_prompt};
use super::{Library, Loaded};
use crate::document::LoopDoc;

impl Library {
    /// The file of a mechanism's prompt in a loop's language, or in English where it has none.
    #[must_use]
    pub fn mechanism_file(&self, loaded: &Loaded<LoopDoc>, name: &str) -> String {
        let language = loaded.doc.language.as_deref().or(self.workspace.doc.language.as_deref());
        language
            .and_then(|language| self.files.translation(language, name, &loaded.folder))
            .unwrap_or_else(|| mechanism_prompt(SHIPPED_LANGUAGES[0], name))
    }
}
