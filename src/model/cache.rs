//! What a provider keeps of the last body, so that the next one is mostly copied.

use std::sync::Arc;

use serde_json::Value;

use super::{Block, Request, Sampling, Transcript, Turn};

/// Encoded bytes that a provider keeps between the iterations of one run. Made with `default()` and handed to every call.
///
/// `head` holds the encoded start of the body for one set of system blocks, tools and settings; `turns` the encoded
/// messages of the first `encoded` turns of one transcript. Each is made afresh when what it was made from differs.
#[derive(Debug, Default)]
pub struct EncodeCache {
    pub(super) made_from: Option<HeadKey>,
    pub(super) head: Vec<u8>,
    /// The provider instance and the transcript that `turns` belongs to.
    pub(super) transcript: (u64, u64),
    pub(super) encoded: usize,
    pub(super) turns: Vec<u8>,
    /// Whether `turns` ends inside a user message, so that the next user turn goes on in it.
    pub(super) open: bool,
    /// Length of the last body, a hint for the next buffer.
    pub(super) last_len: usize,
}

impl EncodeCache {
    /// Writes the head again if it was made from something else.
    pub(super) fn keep_head(&mut self, owner: u64, request: &Request<'_>, write: impl FnOnce(&mut Vec<u8>)) {
        if !self.made_from.as_ref().is_some_and(|key| key.fits(owner, request)) {
            self.head.clear();
            write(&mut self.head);
            self.made_from = Some(HeadKey::of(owner, request));
        }
    }

    /// The turns that are not encoded yet; from now on they count as encoded.
    pub(super) fn new_turns<'t>(&mut self, owner: u64, transcript: &'t Transcript) -> &'t [Turn] {
        let turns = transcript.turns();
        if self.transcript != (owner, transcript.id()) || self.encoded > turns.len() {
            self.transcript = (owner, transcript.id());
            self.encoded = 0;
            self.turns.clear();
            self.open = false;
        }
        let new = turns.get(self.encoded..).unwrap_or_default();
        self.encoded = turns.len();
        new
    }

    /// A buffer with head and turns in it and room for the rest.
    pub(super) fn begin_body(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(self.last_len.max(self.head.len() + self.turns.len()) + 1024);
        body.extend_from_slice(&self.head);
        body.extend_from_slice(&self.turns);
        body
    }
}

/// What an encoded head was made from. It holds the blocks themselves: an address alone could be taken again.
#[derive(Debug)]
pub(super) struct HeadKey {
    owner: u64,
    system: Vec<Block>,
    tools: Option<u64>,
    force_tool: Option<String>,
    schema: Option<Value>,
    sampling: Sampling,
}

impl HeadKey {
    /// The key of this request for the provider instance `owner`.
    pub(super) fn of(owner: u64, request: &Request<'_>) -> Self {
        Self {
            owner,
            system: request.system.to_vec(),
            tools: request.tools.map(|tools| tools.id),
            force_tool: request.force_tool.map(str::to_owned),
            schema: request.schema.cloned(),
            sampling: request.sampling.clone(),
        }
    }

    /// Whether a head with this key serves the request.
    pub(super) fn fits(&self, owner: u64, request: &Request<'_>) -> bool {
        let same_text = |a: &Block, b: &Block| Arc::ptr_eq(&a.text, &b.text) || a.text == b.text;
        self.owner == owner
            && self.tools == request.tools.map(|tools| tools.id)
            && self.force_tool.as_deref() == request.force_tool
            && self.schema.as_ref() == request.schema
            && self.sampling == *request.sampling
            && self.system.len() == request.system.len()
            && self.system.iter().zip(request.system).all(|(a, b)| same_text(a, b))
    }
}
