//! The assembler: one a run, called once a turn.

use std::sync::Arc;

use super::nonce::{Nonce, NonceSource, RunSecret};
use super::seen::Seen;
use super::{Tier, Trust, guard};
use crate::event::SectionProfile;
use crate::model::Block;

/// A section of this turn's prompt.
#[derive(Debug, Clone)]
pub struct Section<'a> {
    /// Its name, such as `USER_QUERY`.
    pub name: &'a str,
    /// How long its bytes stay the same.
    pub tier: Tier,
    /// Whether its text may show delimiters.
    pub trust: Trust,
    /// Its text. The same pointer as last turn means that nothing changed; otherwise the bytes are compared. A body
    /// of nothing but white space leaves the section out.
    pub body: Arc<str>,
}

/// An untrusted body holds the nonce of this turn: begin the turn again and render again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Section {section} holds the nonce of this turn")]
pub struct StaleTurnNonce {
    /// The section.
    pub section: String,
}

/// What the guard did in a section, for the event log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guarded {
    /// The section.
    pub section: String,
    /// Delimiter shapes that were made harmless.
    pub shapes: usize,
    /// Whether the section's nonce occurred in a text and was drawn again.
    pub redrawn: bool,
}

/// Text that stands in the transcript for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    /// The text in its delimiters.
    pub text: String,
    /// The nonce of the delimiters.
    pub nonce: Nonce,
    /// Delimiter shapes that were made harmless.
    pub shapes: usize,
}

/// The prompt of a turn.
#[derive(Debug)]
pub struct Assembled {
    /// One block a static tier that has sections. A block that did not change is the same pointer as last turn.
    pub system: Vec<Block>,
    /// The last user part: `timeline_open`, then `dynamic`.
    pub last: String,
    /// Each section's share, in the order of the prompt.
    pub profile: Vec<SectionProfile>,
    /// Names and values that differ between runs: `nonce`, `nonce.SECTION`.
    pub volatile: Vec<(String, String)>,
    /// Sections in which the guard had something to do this turn.
    pub guarded: Vec<Guarded>,
    /// The first section of the system blocks that differs from last turn; none on the first turn and while the
    /// provider's prompt cache stays valid.
    pub changed_prefix: Option<String>,
}

/// Assembles the prompts of one run.
#[derive(Debug)]
pub struct Assembler {
    nonces: NonceSource,
    turn: Nonce,
    /// The sections of the last turn, in order.
    slots: Vec<Slot>,
    blocks: Vec<CachedBlock>,
    /// From text outside of sections, such as the transcript.
    seen: Seen,
    /// The part of it that live nonces were not checked against yet.
    unchecked: Seen,
    turns: usize,
    /// Kept token counts are of another counter.
    recount: bool,
}

/// A section as it was sent.
#[derive(Debug, Clone)]
struct Slot {
    name: Arc<str>,
    /// Counts sections of the same name.
    nth: usize,
    tier: Tier,
    trust: Trust,
    body: Arc<str>,
    seen: Arc<Seen>,
    nonce: Nonce,
    framed: Arc<str>,
    tokens: usize,
    shapes: usize,
}

#[derive(Debug, Clone)]
struct CachedBlock {
    tier: Tier,
    parts: Vec<Arc<str>>,
    text: Arc<str>,
}

impl Assembler {
    /// An assembler for a run.
    #[must_use]
    pub fn new(secret: &RunSecret) -> Self {
        let mut nonces = NonceSource::new(secret);
        let turn = nonces.draw("turn");
        Self {
            nonces,
            turn,
            slots: Vec::new(),
            blocks: Vec::new(),
            seen: Seen::default(),
            unchecked: Seen::default(),
            turns: 0,
            recount: false,
        }
    }

    /// Notes untrusted text that the request holds outside of sections, once: no nonce that it holds is used again.
    pub fn observe(&mut self, text: &str) {
        self.unchecked.add(text);
    }

    /// Wraps untrusted text that goes into the transcript, where it is sent again and again and never changes.
    pub fn seal(&mut self, name: &str, body: &str) -> Sealed {
        self.observe(body);
        let nonce = loop {
            let nonce = self.nonces.draw(name);
            if !self.seen.holds(nonce.as_str()) && !self.unchecked.holds(nonce.as_str()) {
                break nonce;
            }
        };
        let (shown, shapes) = guard::neutralise(body);
        Sealed { text: format!("<|{name}_{nonce}|>\n{shown}\n<|{name}_END_{nonce}|>"), nonce, shapes }
    }

    /// Begins a turn: draws the nonce of the tags that the model writes. Templates see it as `nonce`.
    pub fn begin_turn(&mut self) -> Nonce {
        loop {
            let nonce = self.nonces.draw("turn");
            let text = nonce.as_str();
            let taken = self.seen.holds(text)
                || self.unchecked.holds(text)
                || self.slots.iter().any(|slot| slot.nonce == nonce || slot.seen.holds(text));
            if !taken {
                self.turn = nonce.clone();
                return nonce;
            }
        }
    }

    /// Forgets all token counts: the next turn is counted by another counter.
    pub fn recount(&mut self) {
        self.recount = true;
    }

    /// Assembles the prompt of the turn. `tokens` counts a text's tokens; it is asked about changed sections only.
    ///
    /// # Errors
    /// When an untrusted body holds the nonce of this turn.
    pub fn assemble(
        &mut self,
        sections: &[Section<'_>],
        tokens: &dyn Fn(&str) -> usize,
    ) -> Result<Assembled, StaleTurnNonce> {
        let mut drafts = self.drafts(sections);
        if let Some(draft) = drafts.iter().find(|d| d.trust == Trust::Untrusted && d.seen.holds(self.turn.as_str())) {
            return Err(StaleTurnNonce { section: draft.name.to_string() });
        }
        self.settle_nonces(&mut drafts);
        let guarded = drafts.iter().filter_map(Draft::guarded).collect();
        let changed: Vec<bool> = drafts.iter().map(|draft| draft.framed.is_none()).collect();
        let slots: Vec<Slot> = drafts.into_iter().map(|draft| self.frame(draft, tokens)).collect();
        self.recount = false;
        let changed_prefix = if self.turns == 0 { None } else { first_difference(&self.slots, &slots) };
        self.turns += 1;
        self.slots = slots;
        self.seen.absorb(&mut self.unchecked);
        Ok(Assembled {
            system: self.system(),
            last: self.last(),
            profile: self.slots.iter().zip(changed).map(|(slot, changed)| slot.profile(changed)).collect(),
            volatile: self.volatile(),
            guarded,
            changed_prefix,
        })
    }

    /// The sections in the order of the prompt, with what is kept of last turn.
    fn drafts(&self, sections: &[Section<'_>]) -> Vec<Draft> {
        let mut drafts: Vec<Draft> = Vec::with_capacity(sections.len());
        for tier in Tier::ALL {
            for section in sections.iter().filter(|s| s.tier == tier && !s.body.trim().is_empty()) {
                let nth = drafts.iter().filter(|draft| &*draft.name == section.name).count();
                drafts.push(self.draft(section, nth));
            }
        }
        drafts
    }

    fn draft(&self, section: &Section<'_>, nth: usize) -> Draft {
        let last = self.slots.iter().find(|slot| {
            slot.nth == nth && slot.tier == section.tier && slot.trust == section.trust && &*slot.name == section.name
        });
        match last {
            Some(slot) if Arc::ptr_eq(&slot.body, &section.body) || slot.body == section.body => Draft {
                name: slot.name.clone(),
                nth,
                tier: slot.tier,
                trust: slot.trust,
                body: section.body.clone(),
                seen: slot.seen.clone(),
                shown: None,
                shapes: slot.shapes,
                nonce: Some(slot.nonce.clone()),
                framed: Some((slot.framed.clone(), slot.tokens)),
                redrawn: false,
            },
            _ => Draft::new(section, nth, last),
        }
    }

    /// Gives every section a nonce that no text of the prompt holds, and keeps the old one where it may be kept.
    fn settle_nonces(&mut self, drafts: &mut [Draft]) {
        for i in 0..drafts.len() {
            let Some(nonce) = &drafts[i].nonce else { continue };
            let text = nonce.as_str();
            // What is unchanged on both sides was checked when it was new.
            let leaked = self.unchecked.holds(text) || drafts.iter().any(|d| d.framed.is_none() && d.seen.holds(text));
            if leaked {
                // The framed text stays for now: it says that this body's own runs need no second look.
                drafts[i].nonce = None;
                drafts[i].redrawn = true;
            }
        }
        for i in 0..drafts.len() {
            while drafts[i].nonce.is_none() {
                let nonce = self.nonces.draw(&drafts[i].name);
                let text = nonce.as_str();
                if self.seen.holds(text) || self.unchecked.holds(text) || drafts.iter().any(|d| d.seen.holds(text)) {
                    drafts[i].redrawn = true;
                } else {
                    drafts[i].nonce = Some(nonce);
                    drafts[i].framed = None;
                }
            }
        }
    }

    /// Wraps a section in its delimiters, or takes the bytes of last turn.
    fn frame(&mut self, draft: Draft, tokens: &dyn Fn(&str) -> usize) -> Slot {
        // `settle_nonces` gave each draft one.
        let nonce = draft.nonce.unwrap_or_else(|| self.nonces.draw(&draft.name));
        let recount = self.recount;
        let kept = draft.framed.map(|(framed, count)| {
            let count = if recount { tokens(&framed) } else { count };
            (framed, count)
        });
        let (framed, tokens) = kept.unwrap_or_else(|| {
            let shown = draft.shown.as_deref().unwrap_or(&draft.body);
            let name = &draft.name;
            let framed: Arc<str> = format!("<|{name}_{nonce}|>\n{shown}\n<|{name}_END_{nonce}|>").into();
            let count = tokens(&framed);
            (framed, count)
        });
        Slot {
            name: draft.name,
            nth: draft.nth,
            tier: draft.tier,
            trust: draft.trust,
            body: draft.body,
            seen: draft.seen,
            nonce,
            framed,
            tokens,
            shapes: draft.shapes,
        }
    }

    /// The system blocks; those whose sections did not change are the same pointer as last turn.
    fn system(&mut self) -> Vec<Block> {
        let mut blocks = Vec::with_capacity(3);
        for tier in Tier::ALL.into_iter().filter(|tier| tier.is_static()) {
            let parts = || self.slots.iter().filter(|slot| slot.tier == tier).map(|slot| &slot.framed);
            if parts().next().is_none() {
                continue;
            }
            let cached = self.blocks.iter().find(|block| {
                block.tier == tier
                    && block.parts.len() == parts().count()
                    && block.parts.iter().zip(parts()).all(|(a, b)| Arc::ptr_eq(a, b))
            });
            blocks.push(match cached {
                Some(block) => block.clone(),
                None => CachedBlock { tier, parts: parts().cloned().collect(), text: join(parts()).into() },
            });
        }
        self.blocks = blocks;
        self.blocks.iter().map(|block| Block { text: block.text.clone() }).collect()
    }

    fn last(&self) -> String {
        join(self.slots.iter().filter(|slot| !slot.tier.is_static()).map(|slot| &slot.framed))
    }

    fn volatile(&self) -> Vec<(String, String)> {
        let mut volatile = Vec::with_capacity(self.slots.len() + 1);
        volatile.push(("nonce".to_string(), self.turn.to_string()));
        for slot in &self.slots {
            let name = match slot.nth {
                0 => format!("nonce.{}", slot.name),
                nth => format!("nonce.{}.{}", slot.name, nth + 1),
            };
            volatile.push((name, slot.nonce.to_string()));
        }
        volatile
    }
}

/// A section on its way into the prompt.
struct Draft {
    name: Arc<str>,
    nth: usize,
    tier: Tier,
    trust: Trust,
    body: Arc<str>,
    seen: Arc<Seen>,
    /// The guarded body, where it differs from `body`.
    shown: Option<String>,
    shapes: usize,
    nonce: Option<Nonce>,
    /// Bytes and tokens of last turn, while they hold.
    framed: Option<(Arc<str>, usize)>,
    redrawn: bool,
}

impl Draft {
    /// A section that is new or changed. It keeps nothing of `last` but the name's memory.
    fn new(section: &Section<'_>, nth: usize, last: Option<&Slot>) -> Self {
        let (shown, shapes) = guard_body(section);
        Self {
            name: last.map_or_else(|| Arc::from(section.name), |slot| slot.name.clone()),
            nth,
            tier: section.tier,
            trust: section.trust,
            body: section.body.clone(),
            seen: Arc::new(Seen::of(&section.body)),
            shown,
            shapes,
            nonce: None,
            framed: None,
            redrawn: false,
        }
    }

    fn guarded(&self) -> Option<Guarded> {
        let changed = self.framed.is_none();
        let worth_saying = self.redrawn || (changed && self.shapes > 0);
        worth_saying.then(|| Guarded { section: self.name.to_string(), shapes: self.shapes, redrawn: self.redrawn })
    }
}

impl Slot {
    fn profile(&self, changed: bool) -> SectionProfile {
        SectionProfile {
            name: self.name.to_string(),
            tier: self.tier.name().to_string(),
            bytes: self.framed.len(),
            tokens: self.tokens,
            changed,
        }
    }
}

/// The body as the model sees it, when that is not the body itself, and how many shapes were made harmless.
fn guard_body(section: &Section<'_>) -> (Option<String>, usize) {
    match section.trust {
        Trust::Trusted => (None, 0),
        Trust::Untrusted => match guard::neutralise(&section.body) {
            (std::borrow::Cow::Owned(shown), shapes) => (Some(shown), shapes),
            (std::borrow::Cow::Borrowed(_), _) => (None, 0),
        },
    }
}

fn join<'a>(parts: impl Iterator<Item = &'a Arc<str>> + Clone) -> String {
    let mut text = String::with_capacity(parts.clone().map(|part| part.len() + 2).sum());
    for part in parts {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(part);
    }
    text
}

/// The first section of the system blocks that is not what it was.
fn first_difference(old: &[Slot], new: &[Slot]) -> Option<String> {
    let stable = |slots: &'_ [Slot]| slots.iter().take_while(|slot| slot.tier.is_static()).count();
    let (old, new) = (&old[..stable(old)], &new[..stable(new)]);
    let same = old.iter().zip(new).take_while(|(a, b)| Arc::ptr_eq(&a.framed, &b.framed)).count();
    new.get(same).or_else(|| old.get(same)).map(|slot| slot.name.to_string())
}

#[cfg(test)]
#[path = "assemble_tests.rs"]
mod tests;
