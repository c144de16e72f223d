//! Thresholds and switches, with the defaults that are in force when a document says nothing.

use std::collections::BTreeMap;

use super::mask::MASKS;
use super::record::Class;

/// What the detector goes by. [`Settings::default`] is what ships; `docs/spin.md` says where the numbers come from.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Calls of one agent that are remembered; more where a threshold needs more.
    pub window: usize,
    /// Arguments that carry no intent, wherever they are in the arguments; case, `_` and `-` do not matter.
    pub ignore_args: Vec<String>,
    /// Keys of a JSON result that say nothing about the outcome.
    pub ignore_results: Vec<String>,
    /// Names of [`MASKS`].
    pub mask_results: Vec<String>,
    /// A regular expression for errors that pass by themselves.
    pub transient: String,
    /// What starts a history afresh.
    pub reset: Reset,
    /// The class of a tool by its name.
    pub classes: BTreeMap<String, Class>,
    /// Actions that ask to end the loop.
    pub finish: Vec<String>,
    /// Thresholds of the families.
    pub families: Families,
}

/// What starts a history afresh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reset {
    /// A person spoke.
    pub user_message: bool,
    /// So many seconds in which an agent did nothing; `None` for never.
    pub idle_gap: Option<f64>,
    /// The same call brought something new.
    pub new_result: bool,
}

/// A threshold with its switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// Off switch.
    pub enabled: bool,
    /// How many.
    pub n: usize,
}

/// `exact`: the same call with the same result in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exact {
    /// Off switch.
    pub enabled: bool,
    /// How many calls.
    pub n: usize,
    /// How many for a tool of class `poll`, and for calls with a wait between them.
    pub poll_n: usize,
}

/// `error`: the same call with an error in a row, whatever its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Errors {
    /// Off switch.
    pub enabled: bool,
    /// How many calls.
    pub n: usize,
    /// How many when each error is one that passes by itself.
    pub transient_n: usize,
}

/// `cycle`: a group of calls with equal results over and over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cycle {
    /// Off switch.
    pub enabled: bool,
    /// The longest group.
    pub max_period: usize,
    /// How many times.
    pub repeats: usize,
}

/// `scattered`: the same call with the same result, with others between that change nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scattered {
    /// Off switch.
    pub enabled: bool,
    /// How many calls.
    pub n: usize,
    /// Among how many of the last calls.
    pub window: usize,
}

/// `monologue`: texts without a call between.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Monologue {
    /// Off switch.
    pub enabled: bool,
    /// How many near-equal messages.
    pub same: usize,
    /// How many near-equal thoughts.
    pub thoughts: usize,
    /// How many texts, however different.
    pub any: usize,
    /// From which share of common words two texts are near-equal.
    pub similarity: f64,
}

/// `chant`: a piece of one text over and over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chant {
    /// Off switch.
    pub enabled: bool,
    /// The length of the piece in characters.
    pub chunk: usize,
    /// How many times.
    pub n: usize,
    /// The most kinds of text between two pieces: more of them are a list with a common beginning.
    pub max_periods: usize,
}

/// `coverage`: reads of ranges that show little that was not seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coverage {
    /// Off switch.
    pub enabled: bool,
    /// How many reads in a row.
    pub n: usize,
    /// From which share of new lines a read counts as progress.
    pub min_new: f64,
}

/// `paraphrase`: a question in other words with the same answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paraphrase {
    /// Off switch.
    pub enabled: bool,
    /// How many calls.
    pub n: usize,
    /// How many of the last without a new word.
    pub stale: usize,
}

/// `no_progress`: a check that fails alike whatever is changed between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoProgress {
    /// Off switch.
    pub enabled: bool,
    /// How many equal results raise a suspicion.
    pub n: usize,
    /// How many equal errors decide.
    pub errors: usize,
}

/// `no_news`: calls that were all made before, with the same results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoNews {
    /// Off switch.
    pub enabled: bool,
    /// How many raise a suspicion.
    pub n: usize,
    /// How many decide.
    pub decide: usize,
}

/// Thresholds of all families.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "each type says it")]
pub struct Families {
    pub error: Errors,
    pub exact: Exact,
    pub side_effect: Count,
    pub cycle: Cycle,
    pub scattered: Scattered,
    pub refused_finish: Count,
    pub same_error: Count,
    pub any_error: Count,
    pub coverage: Coverage,
    pub monologue: Monologue,
    pub chant: Chant,
    pub event_storm: Count,
    pub paraphrase: Paraphrase,
    pub no_progress: NoProgress,
    pub no_news: NoNews,
    pub same_result: Count,
    pub few_results: Count,
    pub same_action: Count,
}

/// Names of arguments that say why or when, and not what.
const IGNORED_ARGUMENTS: [&str; 24] = [
    "reason",
    "why",
    "thought",
    "thinking",
    "explanation",
    "justification",
    "rationale",
    "task_progress",
    "request_id",
    "call_id",
    "tool_call_id",
    "correlation_id",
    "idempotency_key",
    "trace_id",
    "span_id",
    "nonce",
    "timestamp",
    "ts",
    "cache_buster",
    "attempt",
    "attempt_id",
    "attempt_number",
    "retry",
    "retry_count",
];

/// Keys of a JSON result that differ from call to call.
const IGNORED_RESULTS: [&str; 24] = [
    "request_id",
    "call_id",
    "tool_call_id",
    "correlation_id",
    "trace_id",
    "span_id",
    "session_id",
    "nonce",
    "timestamp",
    "ts",
    "time",
    "date",
    "now",
    "server_time",
    "generated_at",
    "fetched_at",
    "took",
    "took_ms",
    "elapsed",
    "elapsed_ms",
    "duration",
    "duration_ms",
    "latency_ms",
    "pid",
];

/// Errors that pass by themselves: capacity, rate, network.
pub const TRANSIENT: &str = r"(?i)\b(?:429|50[234])\b|\bbusy\b|\btime[ds]?[ -]?out\b|rate.?limit|too many requests|overloaded|throttl|temporar(?:y|ily)|unavailable|try (?:again )?later|slow down|connection (?:reset|refused|closed)|econn(?:reset|refused)";

impl Default for Settings {
    fn default() -> Self {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self {
            window: 40,
            ignore_args: owned(&IGNORED_ARGUMENTS),
            ignore_results: owned(&IGNORED_RESULTS),
            mask_results: MASKS.iter().map(|mask| mask.name.to_owned()).collect(),
            transient: TRANSIENT.to_owned(),
            reset: Reset { user_message: true, idle_gap: Some(120.0), new_result: true },
            classes: BTreeMap::from([("wait".to_owned(), Class::Wait), ("sleep".to_owned(), Class::Wait)]),
            finish: owned(&["finish", "attempt_completion", "submit"]),
            families: Families::default(),
        }
    }
}

impl Default for Families {
    fn default() -> Self {
        let count = |n| Count { enabled: true, n };
        Self {
            error: Errors { enabled: true, n: 3, transient_n: 6 },
            exact: Exact { enabled: true, n: 4, poll_n: 12 },
            side_effect: count(4),
            cycle: Cycle { enabled: true, max_period: 6, repeats: 3 },
            scattered: Scattered { enabled: true, n: 5, window: 20 },
            refused_finish: count(5),
            same_error: count(5),
            any_error: count(8),
            coverage: Coverage { enabled: true, n: 6, min_new: 0.6 },
            monologue: Monologue { enabled: true, same: 3, thoughts: 4, any: 8, similarity: 0.85 },
            chant: Chant { enabled: true, chunk: 50, n: 10, max_periods: 5 },
            event_storm: count(8),
            paraphrase: Paraphrase { enabled: true, n: 8, stale: 4 },
            no_progress: NoProgress { enabled: true, n: 7, errors: 8 },
            no_news: NoNews { enabled: true, n: 10, decide: 20 },
            same_result: count(6),
            few_results: count(8),
            same_action: count(3),
        }
    }
}

impl Settings {
    /// How many calls an agent's window must hold for every threshold to be reachable.
    pub(super) fn reach(&self) -> usize {
        let f = &self.families;
        let cycles = f.cycle.max_period.saturating_mul(f.cycle.repeats.max(f.error.transient_n).saturating_mul(2));
        [
            self.window,
            f.error.n,
            f.error.transient_n,
            f.exact.n,
            f.exact.poll_n,
            f.side_effect.n,
            cycles,
            f.scattered.window,
            f.coverage.n,
            f.paraphrase.n,
            f.same_error.n,
            f.any_error.n,
            f.no_news.decide,
            f.same_action.n,
        ]
        .into_iter()
        .max()
        .unwrap_or(self.window)
        .min(MOST_CALLS)
    }
}

/// A window longer than this would cost more than it finds.
const MOST_CALLS: usize = 512;
