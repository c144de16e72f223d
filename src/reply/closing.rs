//! Whether a quote inside a broken JSON string ends the string: decided by what follows it.
//!
//! A quote that ends a value stands before something that can follow a value. Any other quote is text.

use super::chars::{Quote, char_at, is_bare_key, is_blank, is_closing_fence, narrow};

/// What the text after a quote says about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// The string ends here.
    Close,
    /// The quote is part of the string.
    Inner,
    /// The text so far does not say.
    More,
}

/// Where the quote stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// The string is an element of an array.
    pub(super) in_array: bool,
    /// The object has shown a key without quotes, so another may follow.
    pub(super) bare_keys: bool,
    /// The text is complete.
    pub(super) ended: bool,
    /// What to decide when what follows is too long to look through, or cut off.
    pub(super) in_doubt: Decision,
}

/// The longest key that is looked for, in characters.
const KEY_LIMIT: usize = 64;
/// How many bytes of blanks and comments are looked through.
const BLANK_LIMIT: usize = 4096;

/// Why looking ahead stopped.
enum Stop {
    /// At the end of the text so far.
    End,
    /// After too much.
    TooFar,
}

/// Decides on the quote that stands just before `at`.
pub(super) fn decide(text: &str, at: usize, place: Place) -> Decision {
    look(text, at, place).unwrap_or_else(|stop| match stop {
        Stop::End if !place.ended => Decision::More,
        Stop::End | Stop::TooFar => place.in_doubt,
    })
}

fn look(text: &str, at: usize, place: Place) -> Result<Decision, Stop> {
    let at = match skip_blanks(text, at) {
        Err(Stop::End) if place.ended => return Ok(Decision::Close),
        other => other?,
    };
    let Some(c) = char_at(text, at) else { return Err(Stop::End) };
    match narrow(c) {
        '}' => Ok(Decision::Close),
        ']' if place.in_array => Ok(Decision::Close),
        ',' => after_comma(text, at, place),
        '+' => {
            let next = skip_blanks(text, at + 1)?;
            Ok(close_if(char_at(text, next).and_then(Quote::of).is_some()))
        }
        '`' => closing_fence(text, at, place),
        _ if place.in_array => Ok(close_if(Quote::of(c).is_some())),
        _ => is_key(text, at, place.bare_keys).map(close_if),
    }
}

/// A comma ends the string if a key, a value or a closing bracket follows.
fn after_comma(text: &str, mut at: usize, place: Place) -> Result<Decision, Stop> {
    while let Some(c) = char_at(text, at).filter(|&c| narrow(c) == ',') {
        at = match skip_blanks(text, at + c.len_utf8()) {
            Err(Stop::End) if place.ended => return Ok(Decision::Close),
            other => other?,
        };
    }
    let Some(c) = char_at(text, at) else { return Err(Stop::End) };
    if matches!(narrow(c), '}' | ']') {
        return Ok(Decision::Close);
    }
    if place.in_array { starts_value(text, at) } else { is_key(text, at, place.bare_keys) }.map(close_if)
}

/// A code fence that closes the whole reply counts as its end; otherwise a backtick may open a key or an element.
fn closing_fence(text: &str, at: usize, place: Place) -> Result<Decision, Stop> {
    let rest = &text[at..];
    if place.ended && is_closing_fence(rest) {
        return Ok(Decision::Close);
    }
    if !place.ended && rest.len() <= BLANK_LIMIT && (rest.len() < 3 || is_closing_fence(rest)) {
        return Err(Stop::End);
    }
    if place.in_array { Ok(Decision::Close) } else { is_key(text, at, place.bare_keys).map(close_if) }
}

fn close_if(yes: bool) -> Decision {
    if yes { Decision::Close } else { Decision::Inner }
}

/// Whether a key and its colon stand at `at`.
fn is_key(text: &str, at: usize, bare_keys: bool) -> Result<bool, Stop> {
    let Some(first) = char_at(text, at) else { return Err(Stop::End) };
    let after = if let Some(quote) = Quote::of(first) {
        match skip_quoted_key(text, at + first.len_utf8(), quote)? {
            Some(after) => after,
            None => return Ok(false),
        }
    } else if bare_keys && is_bare_key(first) {
        skip_bare_key(text, at)?
    } else {
        return Ok(false);
    };
    let colon = skip_blanks(text, after)?;
    match char_at(text, colon) {
        Some(c) => Ok(narrow(c) == ':'),
        None => Err(Stop::End),
    }
}

/// The end of a quoted key; none if it cannot be one.
fn skip_quoted_key(text: &str, at: usize, quote: Quote) -> Result<Option<usize>, Stop> {
    let mut escaped = false;
    for (count, (offset, c)) in text[at..].char_indices().enumerate() {
        if count > KEY_LIMIT {
            return Err(Stop::TooFar);
        }
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return Ok(None),
            c if quote.closed_by(c) => return Ok(Some(at + offset + c.len_utf8())),
            _ => {}
        }
    }
    Err(Stop::End)
}

fn skip_bare_key(text: &str, at: usize) -> Result<usize, Stop> {
    for (count, (offset, c)) in text[at..].char_indices().enumerate() {
        if !is_bare_key(c) {
            return Ok(at + offset);
        }
        if count > KEY_LIMIT {
            return Err(Stop::TooFar);
        }
    }
    Err(Stop::End)
}

/// Whether an array element could start at `at`.
fn starts_value(text: &str, at: usize) -> Result<bool, Stop> {
    let rest = &text[at..];
    let mut chars = rest.chars();
    let Some(first) = chars.next() else { return Err(Stop::End) };
    if Quote::of(first).is_some() || matches!(narrow(first), '{' | '[') || first.is_ascii_digit() {
        return Ok(true);
    }
    if matches!(first, '-' | '+' | '.') {
        return chars.next().map(|c| c.is_ascii_digit() || c == '.').ok_or(Stop::End);
    }
    // A literal counts only as a whole word: `, then` is text and `, true` is a value.
    let word_end = rest.char_indices().take(8).find(|&(_, c)| !c.is_alphanumeric()).map(|(end, _)| end);
    match word_end {
        Some(end) => Ok(super::scalar::literal(&rest[..end]).is_some()),
        None if rest.chars().count() < 8 => Err(Stop::End),
        None => Ok(false),
    }
}

/// The next position that is neither blank nor comment.
fn skip_blanks(text: &str, from: usize) -> Result<usize, Stop> {
    let mut at = from;
    loop {
        let rest = &text[at..];
        let Some(c) = rest.chars().next() else { return Err(Stop::End) };
        if at - from > BLANK_LIMIT {
            return Err(Stop::TooFar);
        }
        if is_blank(c) {
            at += c.len_utf8();
            continue;
        }
        let comment = if c == '#' || rest.starts_with("//") {
            memchr::memchr(b'\n', rest.as_bytes())
        } else if let Some(body) = rest.strip_prefix("/*") {
            memchr::memmem::find(body.as_bytes(), b"*/").map(|end| end + 4)
        } else if rest == "/" {
            None
        } else {
            return Ok(at);
        };
        match comment {
            Some(length) => at += length,
            None if rest.len() > BLANK_LIMIT => return Err(Stop::TooFar),
            None => return Err(Stop::End),
        }
    }
}
