//! A response body as it arrives: finds out what it is, cuts it into frames, and knows whether the reply is whole.

use std::ops::ControlFlow;
use std::time::Duration;

use serde_json::value::RawValue;

use super::failure::Complaint;
use super::gather::Gather;
use super::lines::{Lines, is_json};
use super::sse::{Decoder, Frame};
use super::{ErrorClass, ModelError, Reply};

// A whole reply as one JSON body; as with frames, this only stops a server that never ends.
const MAX_BODY: usize = 16 << 20;

/// What a provider makes of one frame.
pub(super) trait Dialect: Send {
    /// Takes a frame, or a JSON body that came instead of an event stream.
    ///
    /// # Errors
    /// What the provider reports, or bytes that are not its protocol.
    fn frame(&mut self, frame: Frame<'_>, gather: &mut Gather<'_>) -> Result<Flow, ModelError>;

    /// Whether frames come as lines of JSON rather than as events.
    fn in_lines(&self) -> bool {
        false
    }
}

#[cfg(any(test, feature = "fuzzing"))]
impl Dialect for Box<dyn Dialect> {
    fn frame(&mut self, frame: Frame<'_>, gather: &mut Gather<'_>) -> Result<Flow, ModelError> {
        (**self).frame(frame, gather)
    }

    fn in_lines(&self) -> bool {
        (**self).in_lines()
    }
}

/// Whether more is to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// Read on.
    More,
    /// The server said that this was the end; what follows is not looked at.
    Done,
}

/// How the bytes ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// The server ended the body.
    Closed,
    /// The connection broke.
    Broken(String),
    /// Nothing that carries content came for so long.
    Silent(Duration),
}

/// Reads one body.
pub(super) struct Reader<'a, D> {
    dialect: D,
    gather: Gather<'a>,
    body: Body,
    headway: u64,
}

enum Body {
    /// Nothing but blanks so far.
    Unknown,
    Events(Decoder),
    Lines(Lines),
    Json(Vec<u8>),
}

impl<'a, D: Dialect> Reader<'a, D> {
    pub(super) fn new(dialect: D, gather: Gather<'a>) -> Self {
        Self { dialect, gather, body: Body::Unknown, headway: 0 }
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// The failure, without what had arrived: see [`Reader::fail`].
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Result<Flow, ModelError> {
        if matches!(self.body, Body::Unknown) {
            // What a body is shows in its first bytes. Content types say little: errors come as event streams, and
            // event streams as JSON or text.
            bytes = bytes.trim_ascii_start();
            match bytes.first() {
                None => return Ok(Flow::More),
                Some(b'{') if self.dialect.in_lines() => self.body = Body::Lines(Lines::default()),
                Some(b'{' | b'[') => self.body = Body::Json(Vec::new()),
                Some(b'<') => return Err(not_events(bytes)),
                Some(_) => self.body = Body::Events(Decoder::default()),
            }
        }
        let (dialect, gather) = (&mut self.dialect, &mut self.gather);
        let pieces = gather.pieces();
        let mut on_frame = |frame: Frame<'_>| match dialect.frame(frame, gather) {
            Ok(Flow::More) => ControlFlow::Continue(()),
            Ok(Flow::Done) => ControlFlow::Break(Ok(Flow::Done)),
            Err(error) => ControlFlow::Break(Err(error)),
        };
        let (flow, grew) = match &mut self.body {
            Body::Unknown => return Ok(Flow::More),
            Body::Json(json) => {
                json.extend_from_slice(bytes);
                self.headway += bytes.len() as u64;
                return if json.len() > MAX_BODY { Err(too_long()) } else { Ok(Flow::More) };
            }
            Body::Lines(lines) => {
                let before = lines.pending();
                let flow = lines.feed(bytes, |data| on_frame(Frame { is_error: false, data }));
                if lines.pending() > MAX_BODY {
                    return Err(too_long());
                }
                (flow, lines.pending() > before)
            }
            Body::Events(decoder) => {
                let before = decoder.pending();
                let flow = decoder.feed(bytes, on_frame).map_err(|_| too_long())?;
                (flow, decoder.pending() > before)
            }
        };
        if grew || self.gather.pieces() > pieces {
            self.headway += 1;
        }
        match flow {
            ControlFlow::Continue(()) => Ok(Flow::More),
            ControlFlow::Break(end) => end,
        }
    }

    /// Grows when something arrives that carries content; comments and pings do not.
    pub(super) fn headway(&self) -> u64 {
        self.headway
    }

    /// Whether the reply has its end, even if the server keeps the stream open.
    pub(super) fn is_whole(&self) -> bool {
        self.gather.is_whole()
    }

    /// The reply, now that no more bytes come.
    ///
    /// # Errors
    /// An incomplete stream, or a body that is something else.
    pub(super) fn end(mut self, end: &End) -> Result<Reply, ModelError> {
        match self.last_words(end) {
            Ok(()) => Ok(self.gather.into_reply()),
            Err(error) => Err(self.gather.into_error(error)),
        }
    }

    /// The failure with what had arrived.
    pub(super) fn fail(self, error: ModelError) -> ModelError {
        self.gather.into_error(error)
    }

    fn last_words(&mut self, end: &End) -> Result<(), ModelError> {
        match std::mem::replace(&mut self.body, Body::Unknown) {
            Body::Unknown => {}
            Body::Json(json) => self.whole_json(&json, end)?,
            Body::Lines(lines) if lines.is_one_body() => self.whole_json(lines.rest(), end)?,
            Body::Lines(lines) => {
                // Without its line end a frame counts if it is whole by itself.
                if is_json(lines.rest()) {
                    self.dialect.frame(Frame { is_error: false, data: lines.rest() }, &mut self.gather)?;
                }
            }
            Body::Events(mut decoder) => {
                // Without its blank line a frame counts if it is whole by itself.
                if let Some(frame) = decoder.finish() {
                    let data = frame.data.trim_ascii();
                    if data == b"[DONE]" || is_json(data) {
                        self.dialect.frame(frame, &mut self.gather)?;
                    }
                }
                if decoder.looks_foreign() && *end == End::Closed && !self.gather.is_whole() {
                    return Err(not_events(b""));
                }
            }
        }
        if self.gather.is_whole() {
            return Ok(());
        }
        let so_far = if self.gather.is_empty() { "before the reply began" } else { "in the middle of the reply" };
        let message = match end {
            End::Closed => format!("The stream ended {so_far}"),
            End::Broken(why) => format!("The connection broke {so_far}: {why}"),
            End::Silent(wait) => format!("The stream fell silent {so_far}: nothing for {} s", wait.as_secs_f64()),
        };
        Err(ModelError::new(ErrorClass::IncompleteStream, message))
    }

    /// A body of JSON: an error, a reply that did not stream, or chunks without their event frames.
    fn whole_json(&mut self, json: &[u8], end: &End) -> Result<(), ModelError> {
        let pieces = self.gather.pieces();
        for value in serde_json::Deserializer::from_slice(json).into_iter::<&RawValue>() {
            let value = match value {
                Ok(value) => value,
                Err(error) if error.is_eof() || *end != End::Closed => return Ok(()),
                Err(error) => {
                    let message = format!("The body is neither an event stream nor JSON: {error}");
                    return Err(ModelError::new(ErrorClass::Decode, message));
                }
            };
            // Some gateways wrap the object in an array.
            let items: Vec<&RawValue> = match serde_json::from_str(value.get()) {
                Ok(items) => items,
                Err(_) => vec![value],
            };
            for item in items {
                self.dialect.frame(Frame { is_error: false, data: item.get().as_bytes() }, &mut self.gather)?;
            }
        }
        if self.gather.pieces() == pieces {
            return Err(not_events(json));
        }
        self.gather.end();
        Ok(())
    }
}

/// Decodes a frame, and once more with what no text may have replaced: bytes that are not UTF-8, lone surrogates.
pub(super) fn parse_frame<T>(
    data: &[u8],
    mut parse: impl FnMut(&[u8]) -> serde_json::Result<T>,
) -> Result<T, ModelError> {
    parse(data).or_else(|error| {
        let mended = mend(data).and_then(|mended| parse(&mended).ok());
        mended.ok_or_else(|| {
            let start = super::failure::plain_words(data);
            ModelError::new(ErrorClass::Decode, format!("A frame of the stream is not JSON ({error}): {start}"))
        })
    })
}

/// The failure that an error frame reports: an object of any shape, or words.
pub(super) fn reported_error(data: &[u8]) -> ModelError {
    let value = serde_json::from_slice(data)
        .unwrap_or_else(|_| serde_json::Value::String(String::from_utf8_lossy(data).trim().to_owned()));
    Complaint::from_value(&value).into_error()
}

/// Puts U+FFFD for what cannot be text. None when there is no such thing.
fn mend(data: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(data);
    let mut out = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(at) = rest.find('\\') {
        let (plain, escape) = rest.split_at(at);
        out.push_str(plain);
        let unit = |text: &str| u32::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok();
        let length = match unit(escape) {
            Some(0xD800..=0xDBFF) => match escape.get(6..).and_then(unit) {
                Some(0xDC00..=0xDFFF) => 12,
                _ => 0,
            },
            Some(0xDC00..=0xDFFF) => 0,
            Some(_) => 6,
            None => 1 + escape[1..].chars().next().map_or(0, char::len_utf8),
        };
        if length == 0 {
            out.push('\u{FFFD}');
            rest = &escape[6..];
        } else {
            out.push_str(&escape[..length]);
            rest = &escape[length..];
        }
    }
    out.push_str(rest);
    (out.as_bytes() != data).then(|| out.into_bytes())
}

fn not_events(body: &[u8]) -> ModelError {
    let mut message = "The answer is no event stream; is base_url right?".to_owned();
    let start = super::failure::plain_words(body);
    if !start.is_empty() {
        message = format!("{message} It begins: {start}");
    }
    ModelError::new(ErrorClass::NotSse, message)
}

fn too_long() -> ModelError {
    ModelError::new(ErrorClass::Decode, format!("A frame of the stream is longer than {} MiB", MAX_BODY >> 20))
}
