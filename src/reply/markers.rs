//! The marks in `<…>` that part a reply: think tags, leaked channel headers, and nonce tags.

use std::collections::HashMap;

use memchr::memmem;

use super::Grammar;

/// What stands at a `<`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker<'a> {
    /// `<think>` and its kin; the name as it closes.
    ThinkOpen { name: &'static str, length: usize },
    /// `</think>` and its kin.
    ThinkClose { length: usize },
    /// `<|channel|>analysis<|message|>`: reasoning up to the next control mark.
    Channel { length: usize },
    /// `<|NAME_nonce|>` with a declared name and the live nonce.
    Tag { name: &'a str, length: usize },
    /// `<|NAME_other|>` with another nonce.
    Foreign { name: &'a str, nonce: &'a str, length: usize },
    /// Nothing of these.
    Text,
    /// The text so far does not say.
    More,
}

const THINK: [&str; 3] = ["think", "thinking", "reasoning"];
const CHANNEL: &str = "<|channel|>";
const MESSAGE: &str = "<|message|>";
/// Control marks that end a channel, with whether they belong to it.
pub(super) const CHANNEL_ENDS: [(&str, bool); 5] =
    [("<|end|>", true), ("<|return|>", true), ("<|call|>", true), ("<|start|>", false), ("<|channel|>", false)];
/// A tag's name and nonce together are not longer.
const TAG_LIMIT: usize = 160;
/// A channel's header is not longer.
const HEADER_LIMIT: usize = 160;

/// What stands at the `<` at `at`. `ended` says that the text is complete.
pub(super) fn marker<'a>(text: &'a str, at: usize, ended: bool, grammar: &Grammar) -> Marker<'a> {
    let rest = &text[at..];
    let found = if rest.len() < 2 {
        Marker::More
    } else if rest.starts_with(CHANNEL) {
        channel(rest)
    } else if rest.starts_with("<|") {
        if CHANNEL.starts_with(rest) { Marker::More } else { tag(rest, grammar) }
    } else {
        think(rest)
    };
    if ended && found == Marker::More { Marker::Text } else { found }
}

fn think(rest: &str) -> Marker<'static> {
    let closing = rest.as_bytes()[1] == b'/';
    let body = &rest.as_bytes()[1 + usize::from(closing)..];
    for name in THINK {
        let head = &body[..body.len().min(name.len())];
        if !head.eq_ignore_ascii_case(&name.as_bytes()[..head.len()]) {
            continue;
        }
        match body.get(name.len()) {
            None => return Marker::More,
            Some(b'>') => {
                let length = 2 + usize::from(closing) + name.len();
                return if closing { Marker::ThinkClose { length } } else { Marker::ThinkOpen { name, length } };
            }
            Some(_) => {}
        }
    }
    Marker::Text
}

fn channel(rest: &str) -> Marker<'static> {
    let after = &rest[CHANNEL.len()..];
    let kind = after.trim_start_matches(' ');
    let private = ["analysis", "commentary"].iter().any(|name| kind.starts_with(name));
    if !private {
        let may_be = ["analysis", "commentary"].iter().any(|name| name.starts_with(kind));
        return if may_be && after.len() < HEADER_LIMIT { Marker::More } else { Marker::Text };
    }
    match find(after, MESSAGE, HEADER_LIMIT) {
        Some(end) => Marker::Channel { length: CHANNEL.len() + end + MESSAGE.len() },
        None if after.len() < HEADER_LIMIT => Marker::More,
        None => Marker::Text,
    }
}

fn find(text: &str, needle: &str, limit: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    memmem::find(&bytes[..bytes.len().min(limit)], needle.as_bytes())
}

fn tag<'a>(rest: &'a str, grammar: &Grammar) -> Marker<'a> {
    let body = &rest[2..];
    let Some(end) = body.bytes().take(TAG_LIMIT).position(|b| !is_tag_byte(b)) else {
        return if body.len() < TAG_LIMIT { Marker::More } else { Marker::Text };
    };
    let closing = &body[end..];
    if closing == "|" {
        return Marker::More;
    }
    if !closing.starts_with("|>") {
        return Marker::Text;
    }
    let Some((name, nonce)) = body[..end].rsplit_once('_') else { return Marker::Text };
    if name.is_empty() || nonce.is_empty() {
        return Marker::Text;
    }
    let length = 2 + end + 2;
    if nonce != grammar.nonce {
        Marker::Foreign { name, nonce, length }
    } else if grammar.declares_tag(name) {
        Marker::Tag { name, length }
    } else {
        Marker::Text
    }
}

fn is_tag_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.') || byte >= 0x80
}

/// The mark that ends a tag.
pub(super) fn tag_end(name: &str, nonce: &str) -> String {
    format!("<|{name}_END_{nonce}|>")
}

/// The closing think tag of this name at or after `from`: where it starts and where it ends.
pub(super) fn find_think_end(text: &str, from: usize, name: &str) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    memmem::find_iter(&bytes[from..], b"</").find_map(|offset| {
        let start = from + offset;
        let word = bytes.get(start + 2..start + 2 + name.len())?;
        let end = start + 2 + name.len();
        let matches = word.eq_ignore_ascii_case(name.as_bytes()) && bytes.get(end) == Some(&b'>');
        matches.then_some((start, end + 1))
    })
}

/// The control mark that ends a channel at or after `from`: where the channel ends and where text goes on.
pub(super) fn find_channel_end(text: &str, from: usize) -> Option<(usize, usize)> {
    memmem::find_iter(&text.as_bytes()[from..], b"<|").find_map(|offset| {
        let start = from + offset;
        let (mark, inside) = CHANNEL_ENDS.iter().find(|(mark, _)| text[start..].starts_with(mark))?;
        Some((start, if *inside { start + mark.len() } else { start }))
    })
}

/// Takes one line break off each side of a tag's body.
pub(super) fn trim_body(body: &str) -> &str {
    let body = body.strip_prefix("\r\n").or_else(|| body.strip_prefix('\n')).unwrap_or(body);
    body.strip_suffix("\r\n").or_else(|| body.strip_suffix('\n')).unwrap_or(body)
}

/// Where every `<|NAME_END_nonce|>` of a text starts, so that a search for one never reads the text again.
#[derive(Debug, Default)]
pub(super) struct EndIndex<'a> {
    starts: HashMap<(&'a str, &'a str), Vec<usize>>,
}

impl<'a> EndIndex<'a> {
    /// Reads the text once.
    pub(super) fn new(text: &'a str) -> Self {
        let mut starts: HashMap<_, Vec<usize>> = HashMap::new();
        for at in memmem::find_iter(text.as_bytes(), b"<|") {
            let body = &text[at + 2..];
            let Some(end) = body.bytes().take(TAG_LIMIT).position(|b| !is_tag_byte(b)) else { continue };
            if !body[end..].starts_with("|>") {
                continue;
            }
            let Some((head, nonce)) = body[..end].rsplit_once('_') else { continue };
            if let Some(name) = head.strip_suffix("_END") {
                starts.entry((name, nonce)).or_default().push(at);
            }
        }
        Self { starts }
    }

    /// Where the block that was opened before `from` ends, if it is closed.
    pub(super) fn end_of(&self, name: &str, nonce: &str, from: usize) -> Option<usize> {
        let starts = self.starts.get(&(name, nonce))?;
        let start = *starts.get(starts.partition_point(|&start| start < from))?;
        Some(start + tag_end(name, nonce).len())
    }
}
