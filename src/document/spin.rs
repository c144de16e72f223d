//! Settings of spin detection: families, thresholds, what counts as the same. Defaults are those of `mechanism::spin`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use super::value::{Duration, TextSource};
use crate::syntax::Spanned;

/// Settings of spin detection.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Spin {
    /// Off switch. Default: true.
    pub enabled: Option<bool>,
    /// Actions of one type in a row that raise a suspicion. Default: 3.
    #[schemars(range(min = 2))]
    pub same_action: Option<u32>,
    /// Records that the helper model judges. Default: 5.
    #[schemars(range(min = 2))]
    pub same_logic: Option<u32>,
    /// Warnings in one incident, after which the next repetition ends the loop with `spin`. Default: 2.
    #[schemars(range(min = 1))]
    pub max_warnings: Option<u32>,
    /// The confidence from which the helper model's opinion counts, 0 to 1. Default: 0.9.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: Option<f64>,
    /// How often the helper model is asked, in one run of the loop. Used up in an incident, its last opinion stands.
    /// Default: 6.
    pub max_reviews: Option<u32>,
    /// The model tier. Default: `helper`.
    pub tier: Option<Spanned<String>>,
    /// What the helper model is told, in place of the file `prompts/mechanisms/spin.md.j2`.
    pub prompt: Option<TextSource>,
    /// Calls of one agent that are remembered; more where a threshold needs more. Default: 40.
    #[schemars(range(min = 4, max = 512))]
    pub window: Option<u32>,
    /// Arguments that carry no intent, such as `reason`; replaces the built-in list. Case, `_` and `-` do not matter.
    pub ignore_args: Option<Vec<String>>,
    /// Keys of a JSON result that say nothing about the outcome, such as `took_ms`; replaces the built-in list.
    pub ignore_results: Option<Vec<String>>,
    /// Parts of a result that differ from call to call although nothing changed. Default: all.
    pub mask_results: Option<Vec<SpinMask>>,
    /// A regular expression for errors that pass by themselves. Default: HTTP 429 and 502 to 504, timeouts, words for overload.
    pub transient: Option<Pattern>,
    /// What starts the history afresh.
    pub reset_on: Option<SpinReset>,
    /// What a tool is for, by its name.
    pub classes: BTreeMap<String, SpinClass>,
    /// Actions that ask to end the loop. Default: `finish`, `attempt_completion` and `submit`.
    pub finish_actions: Option<Vec<String>>,
    /// The families of repetition, each with its switch and thresholds.
    pub families: SpinFamilies,
}

/// Kinds of noise in a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpinMask {
    /// A date with a time, or a time with seconds.
    IsoTime,
    /// Seconds since 1970 behind a word for time.
    Epoch,
    /// A UUID.
    Uuid,
    /// How long it took.
    Duration,
    /// The number of a process or thread.
    Pid,
    /// A value whose label ends in `_id`, and ids of requests and traces.
    LabelledId,
    /// The name of a session, a terminal or a temporary path.
    Session,
    /// An address in memory.
    Address,
    /// What a harness adds about the call itself.
    Footer,
}

impl SpinMask {
    /// As it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::IsoTime => "iso_time",
            Self::Epoch => "epoch",
            Self::Uuid => "uuid",
            Self::Duration => "duration",
            Self::Pid => "pid",
            Self::LabelledId => "labelled_id",
            Self::Session => "session",
            Self::Address => "address",
            Self::Footer => "footer",
        }
    }
}

/// What a tool is for, where repeating it means something else than for most tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpinClass {
    /// Nothing special.
    Normal,
    /// Asks for a state until it changes.
    Poll,
    /// Lets time pass.
    Wait,
    /// Tries one candidate after the other.
    Enumerate,
    /// Does something in the world that must not be done twice.
    SideEffect,
}

/// What starts the history afresh.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SpinReset {
    /// A person spoke: in a running loop, by answering a question. Default: true.
    pub user_message: Option<bool>,
    /// So long without any activity of the agent; `0s` for never. For recorded histories: a running loop is never idle.
    /// Default: 2m.
    pub idle_gap: Option<Duration>,
    /// The same call brought something new. Default: true.
    pub new_result: Option<bool>,
}

/// A regular expression that compiles.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[serde(transparent)]
pub struct Pattern(pub String);

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match regex::Regex::new(&text) {
            Ok(_) => Ok(Self(text)),
            Err(error) => {
                let last =
                    error.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
                Err(serde::de::Error::custom(format!("`{text}` is no regular expression: {last}")))
            }
        }
    }
}

/// The families of repetition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SpinFamilies {
    /// The same call with an error in a row, whatever its text.
    pub error: SpinError,
    /// The same call with the same result in a row.
    pub exact: SpinExact,
    /// A call with a side effect made again, whatever its result. Default: 4 times.
    pub side_effect: SpinCount,
    /// A group of 2 to 6 calls over and over, with equal results each time.
    pub cycle: SpinCycle,
    /// The same call with the same result, with others between that change nothing.
    pub scattered: SpinScattered,
    /// A wish to finish that is refused for the same reason. Default: 5 times.
    pub refused_finish: SpinCount,
    /// One tool with other arguments and the same error. Default: 5 turns.
    pub same_error: SpinCount,
    /// Errors turn after turn, whatever the tool. Default: 8 turns.
    pub any_error: SpinCount,
    /// Reads of ranges that show little that was not seen.
    pub coverage: SpinCoverage,
    /// Messages or thoughts without a call between.
    pub monologue: SpinMonologue,
    /// A piece of one text over and over.
    pub chant: SpinChant,
    /// Internal events such as condensations, with nothing done between. Default: 8.
    pub event_storm: SpinCount,
    /// A question in other words with the same answer.
    pub paraphrase: SpinParaphrase,
    /// A check that says the same whatever is changed between.
    pub no_progress: SpinNoProgress,
    /// Calls that were all made before with the same results, in any order.
    pub no_news: SpinNoNews,
    /// One tool with other arguments and the same telling result; raises a suspicion only. Default: 6.
    pub same_result: SpinCount,
    /// One tool in a row with at most two different results; raises a suspicion only. Default: 8.
    pub few_results: SpinCount,
}

/// A family with one threshold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SpinCount {
    /// Off switch. Default: true.
    pub enabled: Option<bool>,
    /// How many.
    #[schemars(range(min = 2, max = 200))]
    pub n: Option<u32>,
}

/// The same call with the same result in a row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SpinExact {
    /// Off switch. Default: true.
    pub enabled: Option<bool>,
    /// How many calls. Default: 4.
    #[schemars(range(min = 2, max = 200))]
    pub n: Option<u32>,
    /// How many for a tool of class `poll`, and for calls with a wait between them. Default: 12.
    #[schemars(range(min = 2, max = 200))]
    pub poll_n: Option<u32>,
}

/// The same call with an error in a row, whatever its text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SpinError {
    /// Off switch. Default: true.
    pub enabled: Option<bool>,
    /// How many calls. Default: 3.
    #[schemars(range(min = 2, max = 200))]
    pub n: Option<u32>,
    /// How many when each error is one that passes by itself. Default: 6.
    #[schemars(range(min = 2, max = 200))]
    pub transient_n: Option<u32>,
}

/// A group of calls over and over, with equal results each time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SpinCycle {
    /// Off switch. Default: true.
    pub enabled: Option<bool>,
    /// The longest group, in calls. Default: 6.
    #[schemars(range(min = 2, max = 20))]
    pub max_period: Option<u32>,
    /// How many times. Default: 3.
    #[schemars(range(min = 2, max = 200))]
    pub repeats: Option<u32>,
}

/// The same call with the same result, with others between that change nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SpinScattered {
    /// Off switch. Default: true.
    pub enabled: Option<bool>,
    /// How many calls. Default: 5.
    #[schemars(range(min = 2, max = 200))]
    pub n: Option<u32>,
    /// Among how many of the last calls. Default: 20.
    #[schemars(range(min = 2, max = 200))]
    pub window: Option<u32>,
}

/// Messages or thoughts without a call between.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SpinMonologue {
    /// Off switch. Default: true.
    pub enabled: Option<bool>,
    /// How many near-equal messages. Default: 3.
    #[schemars(range(min = 2, max = 200))]
    pub same: Option<u32>,
    /// How many near-equal thoughts. Default: 4.
    #[schemars(range(min = 2, max = 200))]
    pub thoughts: Option<u32>,
    /// How many texts, however different. Default: 8.
    #[schemars(range(min = 2, max = 200))]
    pub any: Option<u32>,
    /// The share of common words from which two texts are near-equal, 0 to 1. Default: 0.85.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub similarity: Option<f64>,
}

/// A piece of one text over and over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SpinChant {
    /// Off switch. Default: true.
    pub enabled: Option<bool>,
    /// The length of the piece in characters. Default: 50.
    #[schemars(range(min = 10, max = 500))]
    pub chunk: Option<u32>,
    /// How many times. Default: 10.
    #[schemars(range(min = 2, max = 200))]
    pub n: Option<u32>,
    /// The most kinds of text between two pieces: more of them are a list with a common beginning. Default: 5.
    #[schemars(range(min = 1))]
    pub max_periods: Option<u32>,
}

/// Reads of ranges that show little that was not seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SpinCoverage {
    /// Off switch. Default: true.
    pub enabled: Option<bool>,
    /// How many reads in a row. Default: 6.
    #[schemars(range(min = 2, max = 200))]
    pub n: Option<u32>,
    /// The share of new lines from which a read counts as progress, 0 to 1. Default: 0.6.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_new: Option<f64>,
}

/// A question in other words with the same answer, until no word of it is new.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SpinParaphrase {
    /// Off switch. Default: true.
    pub enabled: Option<bool>,
    /// How many calls. Default: 8.
    #[schemars(range(min = 2, max = 200))]
    pub n: Option<u32>,
    /// How many of the last without a new word. Default: 4.
    #[schemars(range(min = 1, max = 200))]
    pub stale: Option<u32>,
}

/// A check that says the same whatever is changed between.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SpinNoProgress {
    /// Off switch. Default: true.
    pub enabled: Option<bool>,
    /// How many equal results raise a suspicion. Default: 7.
    #[schemars(range(min = 2, max = 200))]
    pub n: Option<u32>,
    /// How many equal errors decide. Default: 8.
    #[schemars(range(min = 2, max = 200))]
    pub errors: Option<u32>,
}

/// Calls that were all made before with the same results, in any order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SpinNoNews {
    /// Off switch. Default: true.
    pub enabled: Option<bool>,
    /// How many raise a suspicion. Default: 10.
    #[schemars(range(min = 2, max = 200))]
    pub n: Option<u32>,
    /// How many decide. Default: 20.
    #[schemars(range(min = 2, max = 200))]
    pub decide: Option<u32>,
}
