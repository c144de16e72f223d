//! Keeping text that anybody may have written from looking like a section delimiter.
//!
//! A delimiter is `<|NAME_nonce|>`. Anything of that shape in a value gets a backslash after the `<`: `<\|NAME_nonce|>`.
//! What already has backslashes there gets one more, so taking one away gives back the value, whatever it was.
//!
//! Look-alikes count as the shape too: full-width characters, invisible characters between or inside the parts,
//! spaces, attributes, any case. The shape is hygiene; that a value cannot hold the live nonce is checked by the
//! assembler of the prompt, and is the guarantee.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

/// Text with delimiter shapes made harmless, and how many there were.
#[must_use]
pub fn neutralise(text: &str) -> (Cow<'_, str>, usize) {
    rewrite(text, |out, after| {
        out.push('\\');
        out.push_str(after);
        true
    })
}

/// The text that [`neutralise`] was given.
#[must_use]
pub fn restore(text: &str) -> Cow<'_, str> {
    rewrite(text, |out, after| match after.strip_prefix('\\') {
        Some(rest) => {
            out.push_str(rest);
            true
        }
        None => {
            out.push_str(after);
            false
        }
    })
    .0
}

/// Copies text and hands what follows the `<` of each shape, up to the next copy, to `edit`.
fn rewrite(text: &str, mut edit: impl FnMut(&mut String, &str) -> bool) -> (Cow<'_, str>, usize) {
    let mut out = String::new();
    let mut copied = 0;
    let mut count = 0;
    for (after, end) in shapes(text) {
        out.push_str(&text[copied..after]);
        if edit(&mut out, &text[after..end]) {
            count += 1;
        }
        copied = end;
    }
    if count == 0 {
        return (Cow::Borrowed(text), 0);
    }
    out.push_str(&text[copied..]);
    (Cow::Owned(out), count)
}

/// The shapes in a text: where each one's `<` ends, and where the shape ends.
fn shapes(text: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let (open, width) = next_open(text, at)?;
            let after = open + width;
            match shape_end(&text[after..]) {
                Some(len) => {
                    at = after + len;
                    return Some((after, after + len));
                }
                None => at = after,
            }
        }
    })
}

/// The next character that is a `<` or normalises to one, and its width.
fn next_open(text: &str, from: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    // 0xEF leads the full-width and small forms, U+FF1C and U+FE64.
    memchr::memchr2_iter(b'<', 0xEF, &bytes[from..]).map(|i| from + i).find_map(|i| match bytes[i] {
        b'<' => Some((i, 1)),
        _ => text[i..].chars().next().filter(|c| is_open(*c)).map(|c| (i, c.len_utf8())),
    })
}

/// The length of the rest of a shape, after its `<`.
fn shape_end(rest: &str) -> Option<usize> {
    let mut chars = rest.char_indices().peekable();
    // Between `<` and the bar: backslashes of earlier rounds, spaces, invisible characters.
    while chars.next_if(|(_, c)| *c == '\\' || is_gap(*c)).is_some() {}
    chars.next_if(|(_, c)| is_bar(*c))?;
    let mut spaced = false;
    while let Some((_, c)) = chars.next_if(|(_, c)| is_gap(*c) || *c == '/') {
        spaced |= !is_ignorable(c) && c != '/';
    }
    let mut letters = 0;
    let mut joined = false;
    while let Some((_, c)) = chars.next_if(|(_, c)| is_name(*c) || is_ignorable(*c)) {
        letters += usize::from(!is_ignorable(c));
        joined |= is_underscore(c);
    }
    if letters == 0 {
        return None;
    }
    // `f <| x |> g` is code in several languages; a name with an underscore or tight bars is a delimiter.
    loop {
        match chars.next() {
            // A shape that the value leaves open could be closed by what is printed next.
            None => return joined.then_some(rest.len()),
            Some((_, c)) if is_bar(c) => {
                while chars.next_if(|(_, c)| is_gap(*c)).is_some() {}
                let (at, close) = chars.next_if(|(_, c)| is_close(*c))?;
                return (joined || !spaced).then_some(at + close.len_utf8());
            }
            Some((_, c)) if is_open(c) || is_close(c) || c == '\n' || c == '\r' => return None,
            Some((_, c)) => spaced |= c.is_whitespace(),
        }
    }
}

fn is_open(c: char) -> bool {
    matches!(c, '<' | '\u{FF1C}' | '\u{FE64}')
}

fn is_close(c: char) -> bool {
    matches!(c, '>' | '\u{FF1E}' | '\u{FE65}')
}

fn is_bar(c: char) -> bool {
    // The last three do not normalise to a bar; they look like one.
    matches!(c, '|' | '\u{FF5C}' | '\u{FFE8}' | '\u{2223}' | '\u{2758}')
}

fn is_underscore(c: char) -> bool {
    matches!(c, '_' | '\u{FF3F}' | '\u{FE33}' | '\u{FE34}' | '\u{FE4D}'..='\u{FE4F}')
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || is_underscore(c) || matches!(c, '-' | '.' | ':' | '/')
}

/// Spaces of every kind but line breaks, and invisible characters.
fn is_gap(c: char) -> bool {
    (c.is_whitespace() && !matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')) || is_ignorable(c)
}

/// Characters that are not shown (Unicode's Default_Ignorable_Code_Point).
fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFF8}' | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Text as the eye and a forgiving tokeniser may take it: normalised (NFKC), lower case, nothing invisible.
#[must_use]
pub fn canonical(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        if text.bytes().any(|b| b.is_ascii_uppercase()) {
            return Cow::Owned(text.to_ascii_lowercase());
        }
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().filter(|c| !is_ignorable(*c)).nfkc().flat_map(char::to_lowercase).collect())
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;
