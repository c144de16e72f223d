//! Server-sent events, decoded from bytes.
//!
//! Not the browser's reader: a completions stream is read once, its last frame may lack the blank line, and old
//! servers send a field `error:` where others send data. Lines end at LF, CRLF or CR and nowhere else, and bytes become
//! text only as whole frames, so a character may be cut anywhere. A frame that lies in one chunk is not copied.

use std::ops::ControlFlow;

use memchr::{memchr, memchr2};

// The longest frames seen carry a whole reply: some hundred kilobytes. This only stops a server that never ends one.
const MAX_FRAME: usize = 16 << 20;

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    /// Whether the server calls it an error: `event: error`, or the field `error:` in place of `data:`.
    pub(super) is_error: bool,
    /// The data, lines joined by LF. Never blank.
    pub(super) data: &'a [u8],
}

/// A frame grew past what any provider sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLong;

/// Keeps what a chunk left unfinished.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// A line without its end yet.
    line: Vec<u8>,
    /// Data lines of a frame without its end yet.
    data: Vec<u8>,
    has_data: bool,
    is_error: bool,
    /// The last byte was a CR, so an LF belongs to it.
    after_cr: bool,
    /// A first line was seen: a byte order mark can no longer come.
    begun: bool,
    /// A line that no event stream has.
    foreign: bool,
    frames: u64,
}

/// The data of the frame at hand: in the chunk as long as it is one line.
enum Held<'a> {
    Nothing,
    InChunk(&'a [u8]),
    Copied,
}

impl Decoder {
    /// Decodes a chunk and hands every whole frame to `on_frame`, until it breaks.
    pub(super) fn feed<B>(
        &mut self,
        mut chunk: &[u8],
        mut on_frame: impl FnMut(Frame<'_>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, TooLong> {
        let mut held = if self.has_data { Held::Copied } else { Held::Nothing };
        if self.after_cr && !chunk.is_empty() {
            self.after_cr = false;
            if chunk[0] == b'\n' {
                chunk = &chunk[1..];
            }
        }
        while let Some(end) = memchr2(b'\n', b'\r', chunk) {
            let (head, rest) = chunk.split_at(end);
            chunk = &rest[1..];
            if rest[0] == b'\r' {
                match chunk.first() {
                    Some(b'\n') => chunk = &chunk[1..],
                    Some(_) => {}
                    None => self.after_cr = true,
                }
            }
            if self.line.is_empty() {
                if let ControlFlow::Break(value) = self.take_line(head, &mut held, &mut on_frame) {
                    return Ok(ControlFlow::Break(value));
                }
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(head);
                // A line from two chunks does not outlive this step, so its data is copied.
                let mut joined = match held {
                    Held::InChunk(data) => {
                        self.keep(data);
                        Held::Copied
                    }
                    Held::Nothing => Held::Nothing,
                    Held::Copied => Held::Copied,
                };
                let flow = self.take_line(&line, &mut joined, &mut on_frame);
                held = match joined {
                    Held::InChunk(data) => {
                        self.keep(data);
                        Held::Copied
                    }
                    Held::Nothing => Held::Nothing,
                    Held::Copied => Held::Copied,
                };
                line.clear();
                self.line = line;
                if let ControlFlow::Break(value) = flow {
                    return Ok(ControlFlow::Break(value));
                }
            }
        }
        if let Held::InChunk(data) = held {
            self.keep(data);
        }
        self.line.extend_from_slice(chunk);
        if self.pending() > MAX_FRAME { Err(TooLong) } else { Ok(ControlFlow::Continue(())) }
    }

    /// The frame that the end of the stream cut off, if it has data. Whether it counts is the caller's choice.
    pub(super) fn finish(&mut self) -> Option<Frame<'_>> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            let mut held = if self.has_data { Held::Copied } else { Held::Nothing };
            let _: ControlFlow<()> = self.take_line(&line, &mut held, &mut |_| ControlFlow::Continue(()));
            if let Held::InChunk(data) = held {
                self.keep(data);
            }
        }
        if self.has_data && !self.data.trim_ascii().is_empty() {
            Some(Frame { is_error: self.is_error, data: &self.data })
        } else {
            None
        }
    }

    /// Bytes of a frame that is still coming, comments not counted: it grows when the server makes headway.
    pub(super) fn pending(&self) -> usize {
        let line = if self.line.first() == Some(&b':') { 0 } else { self.line.len() };
        self.data.len() + line
    }

    /// Whether what came was text, but no event stream.
    pub(super) fn looks_foreign(&self) -> bool {
        self.frames == 0 && self.foreign
    }

    fn keep(&mut self, data: &[u8]) {
        self.data.extend_from_slice(data);
        self.has_data = true;
    }

    fn take_line<'a, B>(
        &mut self,
        mut line: &'a [u8],
        held: &mut Held<'a>,
        on_frame: &mut impl FnMut(Frame<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        if !self.begun {
            self.begun = true;
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            return self.dispatch(std::mem::replace(held, Held::Nothing), on_frame);
        }
        let (name, value) = match memchr(b':', line) {
            Some(0) => return ControlFlow::Continue(()),
            Some(colon) => {
                let value = &line[colon + 1..];
                (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &line[line.len()..]),
        };
        match name {
            b"data" => self.add(value, held),
            b"error" => {
                self.is_error = true;
                self.add(value, held);
            }
            b"event" => self.is_error = value == b"error",
            b"id" | b"retry" => {}
            _ => self.foreign = true,
        }
        ControlFlow::Continue(())
    }

    fn add<'a>(&mut self, value: &'a [u8], held: &mut Held<'a>) {
        match *held {
            Held::Nothing => *held = Held::InChunk(value),
            Held::InChunk(first) => {
                self.keep(first);
                self.data.push(b'\n');
                self.data.extend_from_slice(value);
                *held = Held::Copied;
            }
            Held::Copied => {
                self.data.push(b'\n');
                self.data.extend_from_slice(value);
            }
        }
    }

    fn dispatch<B>(
        &mut self,
        held: Held<'_>,
        on_frame: &mut impl FnMut(Frame<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let is_error = std::mem::take(&mut self.is_error);
        self.has_data = false;
        let data = match held {
            Held::Nothing => return ControlFlow::Continue(()),
            Held::InChunk(data) => data,
            Held::Copied => &self.data,
        };
        let flow = if data.trim_ascii().is_empty() {
            ControlFlow::Continue(())
        } else {
            self.frames += 1;
            on_frame(Frame { is_error, data })
        };
        self.data.clear();
        flow
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(chunks: &[&[u8]]) -> Vec<(bool, Vec<u8>)> {
        let mut decoder = Decoder::default();
        let mut frames = Vec::new();
        for chunk in chunks {
            let flow: ControlFlow<()> = decoder
                .feed(chunk, |frame| {
                    frames.push((frame.is_error, frame.data.to_vec()));
                    ControlFlow::Continue(())
                })
                .unwrap();
            assert!(flow.is_continue());
        }
        frames.extend(decoder.finish().map(|frame| (frame.is_error, frame.data.to_vec())));
        frames
    }

    fn data(frames: &[(bool, Vec<u8>)]) -> Vec<&str> {
        frames.iter().map(|(_, data)| std::str::from_utf8(data).unwrap()).collect()
    }

    #[test]
    fn reads_every_line_end_and_skips_what_carries_nothing() {
        let text = b"\xEF\xBB\xBFdata: a\r\ndata:b\r\n\r\n: comment\n\nid: 7\nretry: 5\ndata:\n\ndata:  \n\ndata: c\r\rdata\nnope: x\n\ndata: d";
        assert_eq!(data(&decode(&[text])), ["a\nb", "c", "d"]);
    }

    #[test]
    fn takes_one_space_only() {
        assert_eq!(data(&decode(&[b"data:  two\n\n"])), [" two"]);
    }

    #[test]
    fn marks_errors_of_both_kinds() {
        let frames = decode(&[b"event: error\ndata: {}\n\nerror: {}\n\nevent: message\ndata: {}\n\n"]);
        assert_eq!(frames.iter().map(|frame| frame.0).collect::<Vec<_>>(), [true, true, false]);
    }

    #[test]
    fn a_break_stops_at_that_frame() {
        let mut decoder = Decoder::default();
        let mut seen = 0;
        let flow = decoder.feed(b"data: 1\n\ndata: 2\n\n", |_| {
            seen += 1;
            ControlFlow::Break("enough")
        });
        assert_eq!((flow, seen), (Ok(ControlFlow::Break("enough")), 1));
    }

    #[test]
    fn a_frame_without_end_is_refused() {
        let mut decoder = Decoder::default();
        let piece = vec![b'x'; 1 << 20];
        assert!(decoder.feed::<()>(b"data: ", |_| ControlFlow::Continue(())).is_ok());
        let refused = (0..17).any(|_| decoder.feed::<()>(&piece, |_| ControlFlow::Continue(())).is_err());
        assert!(refused);
    }

    proptest! {
        #[test]
        fn cuts_change_nothing(
            lines in proptest::collection::vec("(data: ?|event: error|error:|:|id: )?[a-zé {}\u{2028}\u{85}]{0,6}(\n|\r\n|\r|\n\n|\r\n\r\n|\r\r)", 0..12),
            cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..12),
        ) {
            let text = lines.concat().into_bytes();
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            places.sort_unstable();
            let mut chunks = Vec::new();
            let mut from = 0;
            for place in places {
                chunks.push(&text[from..place]);
                from = place;
            }
            chunks.push(&text[from..]);
            let bytes: Vec<&[u8]> = text.chunks(1).collect();
            let whole = decode(&[&text]);
            prop_assert_eq!(&decode(&chunks), &whole);
            prop_assert_eq!(&decode(&bytes), &whole);
        }
    }
}
