//! Typed masks: parts of a result that differ from call to call although nothing has changed.
//!
//! A mask names a *kind* of noise by its shape or its label. None masks numbers as such: a counter that moves is
//! progress, and masking every digit makes honest work look like a loop.

use std::borrow::Cow;

use regex::Regex;

/// A kind of noise in results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mask {
    /// As it is written in a document.
    pub name: &'static str,
    /// What it masks.
    pub about: &'static str,
    pattern: &'static str,
}

/// What stands for a masked part.
const MASKED: &str = "\u{1}";

/// The table of masks; what comes first wins where two match at one place.
pub const MASKS: &[Mask] = &[
    Mask {
        name: "iso_time",
        about: "a date with a time, or a time with seconds: 2031-01-01T00:00:01Z, [12:00:01]",
        pattern: r"(?:[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}(?:T| |, ?))?[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?(?: ?[AaPp][Mm]\b)?(?:Z\b| ?(?:UTC|GMT)\b| ?[+-][0-9]{2}:?[0-9]{2}\b)?|[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T ][0-9]{2}:[0-9]{2}Z?\b",
    },
    Mask {
        name: "epoch",
        about: "seconds or milliseconds since 1970 behind a word for time: ts=1893456000",
        pattern: r#"\b(?i:ts|time|timestamp|epoch|now|at)["']?\s?[=:]?\s?[0-9]{10}(?:[0-9]{3})?(?:\.[0-9]{1,9})?\b"#,
    },
    Mask {
        name: "uuid",
        about: "a UUID",
        pattern: r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b",
    },
    Mask {
        name: "duration",
        about: "how long it took: took 0.1s, in 12 ms, elapsed: 3 seconds, real 0m0.12s",
        pattern: r"\b(?i:took|in|after|elapsed|duration|time|runtime|latency|real|user|sys)(?:\s?[:=]\s?|\s)~?(?:[0-9]+m)?[0-9]+(?:\.[0-9]+)?\s?(?i:ns|us|µs|ms|s|secs?|seconds?|milliseconds?|mins?|minutes?)\b|\b[0-9]+(?:\.[0-9]+)?\s?(?:ns|us|µs|ms)\b|\b[0-9]+\.[0-9]+\s?(?i:s|secs?|seconds?)\b",
    },
    Mask {
        name: "pid",
        about: "the number of a process or thread: pid 4711, tid=12",
        pattern: r#"\b(?i:p?pid|tid|process|thread)(?i:[ _]?id)?["']?\s?[#=:]?\s?[0-9]+\b"#,
    },
    Mask {
        name: "labelled_id",
        about: "a value whose label ends in `_id`, and ids of requests and traces: request_id=k3f9, Trace-Id: 77",
        // Ids that say how far a reader is, and those that a call without arguments asked for, are left alone: see `keeps`.
        pattern: r#"\b(?:[A-Za-z][0-9A-Za-z]*_)+(?:id|ID)["']?\s?[=:]\s?["']?[0-9A-Za-z][0-9A-Za-z._:-]*|\b(?i:request|req|trace|span|call|correlation|message|msg|session|run|event|response)[ -]?(?i:id)["']?\s?[=:#]?\s?["']?[0-9A-Za-z][0-9A-Za-z._-]*|\b(?i:nonce|etag|digest token)["']?\s?[=:]\s?["']?[0-9A-Za-z][0-9A-Za-z._-]*"#,
    },
    Mask {
        name: "session",
        about: "the name that a harness drew for a session, a terminal or a temporary path: session calm-otter, /tmp/tmp.a8Xk2q",
        pattern: r"\b(?i:session|sandbox|container|terminal|tmux)(?:\s?[:=#]\s?|[ _-])(?:[a-z]+-[a-z]+(?:-[0-9a-z]+)?|[0-9A-Za-z_-]*[0-9][0-9A-Za-z_-]*)|/(?:tmp|var/folders)/[0-9A-Za-z_./-]*[0-9A-Za-z]{6,}(?:\.[0-9A-Za-z]{1,5})?",
    },
    Mask { name: "address", about: "an address in memory: 0x7ffd3c2a", pattern: r"\b0x[0-9a-fA-F]{6,16}\b" },
    Mask {
        name: "footer",
        about: "what a harness adds about the call itself: read 3× this session, attempt 2 of 5, 4120 tokens left",
        pattern: r"\b(?i:read|seen|shown|called|viewed|opened|ran|run|used|requested|fetched|repeated|served|returned)\s(?i:it\s|this\s)?(?:[0-9]+\s?(?:x\b|×|times?\b)|(?i:for the )?[0-9]+(?:st|nd|rd|th) time\b)(?i:\s(?:in )?this (?:session|run|conversation|task))?|\b(?i:attempt|retry|try|call|invocation|turn)\s?(?i:no\.?\s?|number\s?|#\s?)?[0-9]+(?:\s?(?:of|/)\s?[0-9]+)?\b|\b[0-9][0-9,.]*k?\s?%?\s?(?i:tokens|calls|turns|iterations)\s(?i:used|left|remaining)\b|\b(?i:tokens|calls|turns|iterations|context|budget)\s(?i:used|left|remaining)\s?[:=]?\s?[0-9][0-9,.]*k?%?(?:\s?(?:of|/)\s?[0-9][0-9,.]*k?)?",
    },
];

/// The chosen masks, ready to use.
#[derive(Debug, Clone)]
pub(super) struct Masker {
    all: Option<Regex>,
    /// How each mask is named in evidence, with its own pattern.
    each: Vec<(&'static str, Regex)>,
}

impl Masker {
    /// Masks by name; unknown names are the caller's to report.
    pub(super) fn new(names: &[String]) -> Self {
        let chosen: Vec<&Mask> = MASKS.iter().filter(|mask| names.iter().any(|name| name == mask.name)).collect();
        if chosen.is_empty() {
            return Self { all: None, each: Vec::new() };
        }
        // One alternation is one pass over the text, whatever the number of masks. Without Unicode tables for `\b` and `\s`
        // it stays on the fast path of the engine; the µ and × in it are literals, which is fine.
        let plain = |pattern: &str| pattern.replace(r"\b", r"(?-u:\b)").replace(r"\s", "[ \t]");
        let all = chosen.iter().map(|mask| mask.pattern).collect::<Vec<_>>().join("|");
        let each = chosen.iter().filter_map(|mask| Some((mask.name, Regex::new(&plain(mask.pattern)).ok()?)));
        Self { all: Regex::new(&plain(&all)).ok(), each: each.collect() }
    }

    /// The text with the masked parts out, and the names of the masks. `bare` says that the call had no arguments.
    pub(super) fn apply<'t>(&self, text: &'t str, bare: bool) -> (Cow<'t, str>, Vec<&'static str>) {
        let Some(all) = &self.all else { return (Cow::Borrowed(text), Vec::new()) };
        let mut masked = String::new();
        let (mut end, mut names, mut looked_at) = (0, Vec::new(), 0);
        // Places are enough: `replace_all` would ask the slower engine for groups.
        for found in all.find_iter(text).filter(|found| !keeps(found.as_str(), bare)) {
            masked.push_str(text.get(end..found.start()).unwrap_or_default());
            masked.push_str(MASKED);
            end = found.end();
            looked_at += 1;
            if looked_at <= MOST_NAMED {
                let name = self.name(found.as_str());
                names.extend(name.filter(|name| !names.contains(name)));
            }
        }
        if end == 0 {
            return (Cow::Borrowed(text), names);
        }
        masked.push_str(text.get(end..).unwrap_or_default());
        (Cow::Owned(masked), names)
    }

    fn name(&self, found: &str) -> Option<&'static str> {
        self.each.iter().find(|(_, own)| own.is_match(found)).map(|(name, _)| *name)
    }
}

/// Masked parts of one text whose mask is worked out: evidence names the kinds, and further parts are of the same ones.
const MOST_NAMED: usize = 8;

/// Labels of ids that carry a position, so that a change of them is progress.
const POSITIONS: [&str; 6] = ["next", "page", "cursor", "offset", "last", "since"];

/// Labels of ids that are drawn for each call or message anew, and say nothing about what was done.
const DRAWN: [&str; 12] =
    ["request", "req", "trace", "span", "call", "correlation", "message", "msg", "session", "run", "event", "response"];

/// Words before the number of an attempt, which a harness counts; a number beyond this is a count of the work itself.
const ATTEMPTS: [&str; 3] = ["attempt", "retry", "try"];
const MOST_ATTEMPTS: usize = 2;

/// Whether what a mask found is no noise: it says how far a reader is, or what a call without arguments asked for.
fn keeps(found: &str, bare: bool) -> bool {
    let lower = found.to_ascii_lowercase();
    if let Some(label) = lower.find("_id").and_then(|end| lower.get(..end)) {
        let drawn = label.split('_').any(|part| DRAWN.contains(&part));
        return POSITIONS.iter().any(|word| label.contains(word)) || (bare && !drawn);
    }
    let counts = ATTEMPTS.iter().any(|word| lower.starts_with(word));
    counts && lower.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.len() > MOST_ATTEMPTS)
}
