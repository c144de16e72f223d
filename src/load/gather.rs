//! Files on their way into a library: each is read once, several at a time, and what did not change is not parsed again.

use std::path::PathBuf;
use std::sync::Arc;

use super::Library;
use super::library::{LEAST, real, slashed};
use super::read::{Place, Reading, shipped_place};
use super::shipped::SHIPPED;
use crate::diag::SourceId;
use crate::parallel;

impl Library {
    /// Reads files, each with its path as people see it. Gives the source of each, also of those that were read already.
    pub(super) fn read(&mut self, files: Vec<(PathBuf, PathBuf)>) -> Vec<SourceId> {
        let mut next = self.sources.next().0;
        let mut unread = Vec::new();
        let sources = files.into_iter().map(|(file, shown)| {
            let real = real(&file);
            if let Some(known) = self.known.get(&real) {
                return *known;
            }
            let folder = real.parent().and_then(|folder| folder.strip_prefix(&self.real_root).ok()).map(slashed);
            let place = Place { file, shown, folder: folder.unwrap_or_default(), expected: None };
            let source = SourceId(next);
            next = next.saturating_add(1);
            unread.push((place, self.overlay.get(&real), source));
            self.known.insert(real, source);
            source
        });
        let sources = sources.collect();
        let memory = &self.memory;
        let work = |(place, draft, source): &(Place, Option<&Arc<str>>, SourceId)| {
            let known = |bytes: &[u8]| memory.reading(place, *source, bytes);
            match draft.map(|text| text.as_bytes()) {
                Some(bytes) => known(bytes).unwrap_or_else(|| Arc::new(Reading::of_bytes(place, *source, bytes))),
                None => Reading::of_file(place, *source, known),
            }
        };
        let readings = parallel::map(&unread, LEAST, |_| 1, work);
        readings.iter().for_each(|reading| self.keep_reading(reading));
        sources
    }

    pub(super) fn keep_reading(&mut self, reading: &Arc<Reading>) {
        self.sources.add(&reading.doc.path, Arc::clone(&reading.text));
        self.findings.extend(reading.findings.iter().cloned());
        self.docs.push(reading.doc.clone());
        self.memory.keep(reading);
    }

    pub(super) fn read_shipped(&mut self) {
        for (path, text) in SHIPPED {
            let is_document = path.starts_with("loops/") && !path.ends_with(".j2");
            if !is_document {
                continue;
            }
            let (place, source) = (shipped_place(path), self.sources.next());
            let known = self.memory.reading(&place, source, text.as_bytes());
            self.keep_reading(&known.unwrap_or_else(|| {
                let mut reading = Reading::of_bytes(&place, source, text.as_bytes());
                reading.doc.shipped = true;
                Arc::new(reading)
            }));
        }
    }
}
