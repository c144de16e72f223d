//! The two `---` lines: where the front matter ends and the instructions begin.

/// A file in its parts, as byte offsets.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// Where the line after the first fence begins.
    pub(super) front: usize,
    /// Where the second fence begins.
    pub(super) end: usize,
    /// Where the instructions begin.
    pub(super) body: usize,
}

/// Why a file has no front matter.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoFrontMatter {
    /// It does not begin with a fence. The fence that it has further down, if all before it is blank or comment.
    Missing { later: Option<usize> },
    /// The second fence is missing.
    Unclosed,
}

/// Splits a file. A fence is a whole line `---`, with nothing before it; blanks may follow.
///
/// So neither `a --- b` in a value, nor `----`, nor an indented `---` in a block of text, is one; and rules in the
/// instructions are theirs, since the second fence ends the front matter.
pub(super) fn split(text: &str) -> Result<Parts, NoFrontMatter> {
    let mut lines = Lines { text, at: 0 };
    match lines.next() {
        Some((_, first)) if is_fence(first) => {}
        _ => return Err(NoFrontMatter::Missing { later: later_fence(text) }),
    }
    let front = lines.at;
    while let Some((at, line)) = lines.next() {
        if is_fence(line) {
            return Ok(Parts { front, end: at, body: lines.at });
        }
    }
    Err(NoFrontMatter::Unclosed)
}

fn is_fence(line: &str) -> bool {
    line.trim_end_matches([' ', '\t']) == "---"
}

fn later_fence(text: &str) -> Option<usize> {
    let mut lines = Lines { text, at: 0 };
    let (at, line) = lines.find(|(_, line)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#') && !line.starts_with("<!--")
    })?;
    is_fence(line.trim_start()).then_some(at)
}

/// The lines of a text with their offsets, whatever ends them: LF, CRLF or CR.
pub(super) struct Lines<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.at;
        let rest = self.text.get(start..).filter(|rest| !rest.is_empty())?;
        let Some(end) = rest.find(['\n', '\r']) else {
            self.at = self.text.len();
            return Some((start, rest));
        };
        let ending = if rest[end..].starts_with("\r\n") { 2 } else { 1 };
        self.at = start + end + ending;
        Some((start, &rest[..end]))
    }
}

/// A text with LF at the ends of its lines.
pub(super) fn unix_lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}
