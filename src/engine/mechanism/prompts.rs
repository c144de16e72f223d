//! The mechanisms' prompts of one loop: its own, or the files of its language.

use crate::document::{Level, LoopDoc, TextSource};
use crate::engine::sections::{Source, file_source, inline};
use crate::load::{Library, Loaded};

/// The mechanisms' prompts of one loop.
pub(in crate::engine) struct Prompts {
    /// What every mechanism's model is told first.
    pub(super) system: Source,
    pub(super) perception: Source,
    pub(super) spin: Source,
    /// The words of a warning.
    pub(super) spin_warning: Source,
    reflection: Source,
    levels: Vec<(Level, Source)>,
}

impl Prompts {
    /// The prompts of a loop.
    ///
    /// # Errors
    /// A file that is not there.
    pub(in crate::engine) fn compile(library: &Library, loaded: &Loaded<LoopDoc>) -> Result<Self, String> {
        let doc = &loaded.doc;
        let file = |name: &str| file_source(library, &library.mechanism_file(loaded, name), &loaded.folder);
        let text = |own: &TextSource| match own {
            TextSource::Inline(text) => Ok(inline(text)),
            TextSource::File(path) => file_source(library, path, &loaded.folder),
        };
        let or_file = |own: Option<&TextSource>, name: &str| own.map_or_else(|| file(name), text);
        let mechanisms = &doc.mechanisms;
        let levels = mechanisms.reflection.iter().flat_map(|own| &own.levels);
        Ok(Self {
            system: file("system")?,
            perception: or_file(mechanisms.perception.as_ref().and_then(|own| own.prompt.as_ref()), "perception")?,
            spin: or_file(mechanisms.spin.as_ref().and_then(|own| own.prompt.as_ref()), "spin")?,
            spin_warning: file("spin_warning")?,
            reflection: file("reflection")?,
            levels: levels.map(|(level, own)| Ok((*level, text(own)?))).collect::<Result<_, String>>()?,
        })
    }

    /// The prompt of a reflection.
    pub(super) fn reflection(&self, level: Level) -> &Source {
        self.levels.iter().find(|(known, _)| *known == level).map_or(&self.reflection, |(_, own)| own)
    }
}
