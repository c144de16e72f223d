//! What an earlier reading gave: a document whose text is the same is neither parsed nor decoded again.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::admit::Decoded;
use super::read::{Place, ReadDoc, Reading};
use crate::diag::SourceId;
use crate::document::Kind;

/// What was read by now, and what was read the time before.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory {
    past: Arc<Remembered>,
    present: Remembered,
}

#[derive(Debug, Clone, Default)]
struct Remembered {
    /// In the order in which documents were read.
    readings: Vec<Arc<Reading>>,
    /// Where the file of a path stands among them.
    places: HashMap<PathBuf, usize>,
    decoded: HashMap<SourceId, Arc<Decoded>>,
}

impl Memory {
    /// Begins anew with what another one knows.
    pub(super) fn after(earlier: &Self) -> Self {
        Self { past: Arc::new(earlier.present.clone()), present: Remembered::default() }
    }

    /// Forgets what was read the time before.
    pub(super) fn settle(&mut self) {
        self.past = Arc::default();
    }

    /// What these bytes gave the time before at this place and under this id.
    pub(super) fn reading(&self, place: &Place, source: SourceId, bytes: &[u8]) -> Option<Arc<Reading>> {
        let known = self.past.readings.get(*self.past.places.get(&place.shown)?)?;
        known.is_of(place, source, bytes).then(|| Arc::clone(known))
    }

    pub(super) fn keep(&mut self, reading: &Arc<Reading>) {
        self.present.places.insert(reading.doc.path.clone(), self.present.readings.len());
        self.present.readings.push(Arc::clone(reading));
    }

    /// What the document at `index` gave the time before, if nothing that it depends on changed.
    pub(super) fn decoded(&self, index: usize, steady: bool) -> Option<Arc<Decoded>> {
        let (now, before) = (self.present.readings.get(index)?, self.past.readings.get(index)?);
        let known = self.past.decoded.get(&now.doc.source)?;
        let is_alone = now.doc.node.as_ref().is_none_or(|node| node.get("extends").is_none());
        let is_same = is_alone || (steady && known.among == self.present.readings.len());
        (Arc::ptr_eq(now, before) && is_same).then(|| Arc::clone(known))
    }

    pub(super) fn keep_decoded(&mut self, source: SourceId, decoded: &Arc<Decoded>) {
        self.present.decoded.insert(source, Arc::clone(decoded));
    }

    /// Whether what documents can extend is as it was: every document is where it was and is called what it was called,
    /// and no preset has another text.
    pub(super) fn is_steady(&self) -> bool {
        let (now, before) = (&self.present.readings, &self.past.readings);
        let header = |doc: &ReadDoc| (doc.source, doc.kind, doc.name().map(|(name, _)| name.to_owned()));
        let same = |(now, before): (&Arc<Reading>, &Arc<Reading>)| {
            Arc::ptr_eq(now, before)
                || (now.doc.kind != Kind::Preset
                    && header(&now.doc) == header(&before.doc)
                    && now.doc.path == before.doc.path)
        };
        now.len() <= before.len() && now.iter().zip(before).all(same)
    }
}
