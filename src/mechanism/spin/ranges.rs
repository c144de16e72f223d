//! Which lines of what were read, to tell a read that shows something new from one that does not.

use std::collections::VecDeque;

use serde_json::{Map, Value};

use super::fingerprint::{Fingerprint, canonical, plain_key};
use super::words::ratio;

/// Lines from the first to before the second.
type Span = (i64, i64);

/// Files whose ranges are remembered, the least recently read forgotten first.
const MOST_FILES: usize = 32;
/// Ranges with gaps between them that are remembered of one file.
const MOST_GAPS: usize = 256;
/// Numbers beyond this are no line numbers.
const FARTHEST: i64 = 1 << 40;

const FIRST: [&str; 8] = ["offset", "start", "startline", "from", "fromline", "linestart", "first", "skip"];
const LAST: [&str; 6] = ["end", "endline", "to", "toline", "lineend", "last"];
const LENGTH: [&str; 7] = ["limit", "length", "count", "lines", "numlines", "size", "maxlines"];
const BOTH: [&str; 3] = ["viewrange", "range", "linerange"];

/// A read of a range: of what, and which lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Read {
    of: Fingerprint,
    span: Span,
}

impl Read {
    /// The range that a call's arguments name; `None` when they name none. Arguments in `ignored`, as plain keys, do not count.
    pub(super) fn of(action: &str, arguments: &Value, ignored: &[String]) -> Option<Self> {
        let map = arguments.as_object()?;
        let number = |keys: &[&str]| {
            map.iter().find(|(key, _)| keys.contains(&plain_key(key).as_str())).and_then(|(_, value)| whole(value))
        };
        let pair =
            map.iter().find(|(key, _)| BOTH.contains(&plain_key(key).as_str())).and_then(|(_, value)| two(value));
        let (first, last) = match pair {
            Some((first, last)) => (first, Some(last)),
            None => (number(&FIRST)?, number(&LAST)),
        };
        let end = match (last, number(&LENGTH)) {
            (Some(last), _) if last >= first => last + 1,
            (_, Some(length)) if length > 0 => first.saturating_add(length),
            // Up to an end that is not known: only the place is compared.
            _ => first + 1,
        };
        let rest: Map<String, Value> = map
            .iter()
            .filter(|(key, _)| {
                let key = plain_key(key);
                let key = key.as_str();
                !(FIRST.contains(&key) || LAST.contains(&key) || LENGTH.contains(&key) || BOTH.contains(&key))
            })
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        let of = Fingerprint::of(&[action.as_bytes(), canonical(&Value::Object(rest), ignored).as_bytes()]);
        Some(Self { of, span: (first, end.min(FARTHEST)) })
    }
}

fn whole(value: &Value) -> Option<i64> {
    let number = match value {
        Value::Number(number) => number.as_i64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    (0..FARTHEST).contains(&number).then_some(number)
}

fn two(value: &Value) -> Option<Span> {
    let items = value.as_array()?;
    match items.as_slice() {
        [first, last] => Some((whole(first)?, whole(last).unwrap_or(-1))),
        _ => None,
    }
}

/// What was read of each file since something changed.
#[derive(Debug, Clone, Default)]
pub(super) struct Ranges {
    files: VecDeque<(Fingerprint, Vec<Span>)>,
}

impl Ranges {
    /// Notes a read; gives the share of its lines that were new.
    pub(super) fn add(&mut self, read: Read) -> f64 {
        let known = self.files.iter().position(|(of, _)| *of == read.of).and_then(|at| self.files.remove(at));
        let (of, mut spans) = known.unwrap_or((read.of, Vec::new()));
        let (first, end) = read.span;
        let seen: i64 = spans.iter().map(|(a, b)| (end.min(*b) - first.max(*a)).max(0)).sum();
        insert(&mut spans, read.span);
        spans.truncate(MOST_GAPS);
        self.files.push_back((of, spans));
        while self.files.len() > MOST_FILES {
            self.files.pop_front();
        }
        let all = (end - first).max(1);
        ratio(usize::try_from(all - seen).unwrap_or(0), usize::try_from(all).unwrap_or(1))
    }

    pub(super) fn clear(&mut self) {
        self.files.clear();
    }
}

/// Adds a span to sorted ones that do not touch.
fn insert(spans: &mut Vec<Span>, mut span: Span) {
    spans.retain(|&(a, b)| {
        let apart = b < span.0 || a > span.1;
        if !apart {
            span = (span.0.min(a), span.1.max(b));
        }
        apart
    });
    let at = spans.partition_point(|known| known.0 < span.0);
    spans.insert(at, span);
}
