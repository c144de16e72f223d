//! A program's output, kept up to a limit: the first half and the last half, with a count of what lies between.

use std::collections::VecDeque;

/// Output as text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// The text; bytes that are no UTF-8 are replaced.
    pub text: String,
    /// Bytes in all.
    pub total: u64,
    /// Whether something was left out.
    pub truncated: bool,
}

/// A text that is there as a whole, kept up to `max` bytes.
#[must_use]
pub fn captured(text: &str, max: usize) -> Captured {
    let mut capture = Capture::new(max);
    capture.push(text.as_bytes());
    capture.finish()
}

/// Collects output.
#[derive(Debug, Clone)]
pub(super) struct Capture {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Capture {
    /// Keeps at most `max` bytes.
    pub(super) fn new(max: usize) -> Self {
        Self { half: max.div_ceil(2), head: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total = self.total.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        let (first, rest) = bytes.split_at(bytes.len().min(self.half.saturating_sub(self.head.len())));
        self.head.extend_from_slice(first);
        // Of more than fits, only the end matters.
        let rest = &rest[rest.len().saturating_sub(self.half)..];
        let excess = (self.tail.len() + rest.len()).saturating_sub(self.half);
        self.tail.drain(..excess);
        self.tail.extend(rest);
    }

    /// What has come until now.
    #[cfg(feature = "mcp")]
    pub(super) fn so_far(&self) -> Captured {
        self.clone().finish()
    }

    pub(super) fn finish(self) -> Captured {
        let tail = Vec::from(self.tail);
        let kept = u64::try_from(self.head.len() + tail.len()).unwrap_or(u64::MAX);
        let left_out = self.total.saturating_sub(kept);
        if left_out == 0 {
            let whole = [self.head, tail].concat();
            return Captured {
                text: String::from_utf8_lossy(&whole).into_owned(),
                total: self.total,
                truncated: false,
            };
        }
        let head = String::from_utf8_lossy(whole_end(&self.head));
        let tail = String::from_utf8_lossy(whole_start(&tail)).into_owned();
        Captured {
            text: format!("{head}\n[… {left_out} bytes left out …]\n{tail}"),
            total: self.total,
            truncated: true,
        }
    }
}

/// Without the first bytes of a character that is cut at the end.
fn whole_end(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => bytes,
    }
}

/// Without the last bytes of a character that is cut at the start.
fn whole_start(bytes: &[u8]) -> &[u8] {
    let cut = bytes.iter().take(3).take_while(|byte| (0x80..0xC0).contains(*byte)).count();
    &bytes[cut..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(max: usize, chunks: &[&str]) -> Captured {
        let mut capture = Capture::new(max);
        for chunk in chunks {
            capture.push(chunk.as_bytes());
        }
        capture.finish()
    }

    #[test]
    fn short_output_is_whole_however_it_arrives() {
        let whole = Captured { text: "abcdef".into(), total: 6, truncated: false };
        assert_eq!(capture(6, &["abcdef"]), whole);
        assert_eq!(capture(6, &["a", "bcd", "ef"]), whole);
        assert_eq!(capture(100, &[""]).text, "");
    }

    #[test]
    fn long_output_keeps_both_ends_and_counts() {
        let captured = capture(6, &["abcd", "efghij", "k"]);
        assert_eq!(captured.text, "abc\n[… 5 bytes left out …]\nijk");
        assert_eq!((captured.total, captured.truncated), (11, true));
        assert!(capture(0, &["abc"]).truncated);
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        let captured = capture(8, &["aé€€€€z"]);
        assert!(!captured.text.contains('\u{fffd}'), "{captured:?}");
    }
}
