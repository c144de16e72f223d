//! Replays side by side, as a table for people.

use std::collections::BTreeMap;

use serde::Serialize;

use super::candidate::Candidate;
use super::history::History;
use super::profile::Ai;
use super::replay::{Count, Lag, Replay, replay};
use crate::event::ExitReason;

/// One history under several settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// The history's name.
    pub history: String,
    /// Its iterations.
    pub iterations: u32,
    /// What it took, without the mechanisms.
    pub seconds: f64,
    /// The iteration after which the goal was reached.
    pub goal_at: Option<u32>,
    /// The iteration in which it began to repeat itself.
    pub spin_at: Option<u32>,
    /// What `saved` compares with: `recorded` or `defaults`.
    pub against: &'static str,
    /// The mechanisms' model calls there.
    pub against_calls: u32,
    /// A replay for each of the settings.
    pub replays: Vec<Row>,
    /// Tokens of each iteration's prompt, for the plot.
    #[serde(skip)]
    pub(super) prompt_tokens: Vec<u32>,
}

/// A replay under one set of settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The settings.
    pub settings: String,
    /// Which values differ from the loop, the preset or the defaults that they begin with: key → value.
    pub set: BTreeMap<String, String>,
    /// Model calls of the mechanisms that it makes less than the run that it is compared with.
    pub saved: i64,
    /// What would have happened.
    #[serde(flatten)]
    pub replay: Replay,
}

/// Replays a history under each of the settings. Where it does not say what the mechanisms cost in the run, it is
/// compared with `defaults`.
#[must_use]
pub fn compare(history: &History, all: &[Candidate], defaults: &Candidate, ai: Ai) -> Compared {
    let (against, against_calls) = match history.recorded {
        Some(recorded) => ("recorded", recorded.all()),
        None => ("defaults", replay(history, defaults, ai).calls.all().made),
    };
    let rows = all.iter().map(|candidate| {
        let replay = replay(history, candidate, ai);
        let saved = i64::from(against_calls) - i64::from(replay.calls.all().made);
        let set = candidate.overrides.iter().map(|one| (one.key.clone(), one.value.clone())).collect();
        Row { settings: candidate.name.clone(), set, saved, replay }
    });
    Compared {
        history: history.name.clone(),
        iterations: history.count(),
        seconds: history.iterations.last().map_or(0.0, |last| last.at),
        goal_at: history.goal_at,
        spin_at: history.spin_at,
        against,
        against_calls,
        replays: rows.collect(),
        prompt_tokens: history.iterations.iter().map(|one| one.prompt_tokens).collect(),
    }
}

const HEADER: [&str; 11] = [
    "settings",
    "ends",
    "calls",
    "saved",
    "perception",
    "reflection",
    "spin",
    "verification",
    "goal seen",
    "spin seen",
    "false",
];

/// The tables of all histories.
#[must_use]
pub fn table(all: &[Compared]) -> String {
    let mut text = String::new();
    for (index, one) in all.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        text.push_str(&title(one));
        text.push_str(&common(one));
        text.push('\n');
        let rows = one.replays.iter().map(|row| cells(one, row));
        let rows: Vec<[String; 11]> = std::iter::once(HEADER.map(str::to_owned)).chain(rows).collect();
        let widths = columns(&rows);
        for row in rows {
            let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
            text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
            text.push('\n');
        }
    }
    text
}

fn columns(rows: &[[String; 11]]) -> [usize; 11] {
    let mut widths = [0; 11];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    widths
}

fn title(one: &Compared) -> String {
    let mut words = format!("{}: {} iterations in {}", one_line(&one.history), one.iterations, span(one.seconds));
    if let Some(goal) = one.goal_at {
        words.push_str(&format!("; the goal is reached in iteration {goal}"));
    }
    if let Some(spin) = one.spin_at {
        words.push_str(&format!("; it repeats itself from iteration {spin} on"));
    }
    let calls = if one.against_calls == 1 { "1 call".to_owned() } else { format!("{} calls", one.against_calls) };
    words
        + &format!(
            "; compared with the {} ({calls})",
            if one.against == "recorded" { "recorded run" } else { one.against }
        )
}

/// The values that all settings share.
fn common(one: &Compared) -> String {
    let Some((first, others)) = one.replays.split_first() else { return String::new() };
    let shared = first.set.iter().filter(|(key, value)| others.iter().all(|row| row.set.get(*key) == Some(*value)));
    let words: Vec<String> = shared.map(|(key, value)| format!("{key}={value}")).collect();
    if words.is_empty() { String::new() } else { format!("; with {}", one_line(&words.join(" "))) }
}

fn cells(one: &Compared, row: &Row) -> [String; 11] {
    let replay = &row.replay;
    let calls = &replay.calls;
    let ends = match &replay.end {
        Some(end) => format!("{} in {}", end.reason.name(), end.iteration),
        None => format!("after {}", replay.iterations),
    };
    let satisfied = replay.end.as_ref().is_some_and(|end| end.reason == ExitReason::Satisfied);
    [
        one_line(&row.settings),
        ends,
        counted(calls.all()),
        row.saved.to_string(),
        counted(calls.perception),
        counted(calls.reflection),
        counted(calls.spin),
        counted(calls.verification),
        seen(one.goal_at.filter(|goal| satisfied || *goal <= replay.iterations), replay.goal),
        seen(one.spin_at.filter(|spin| *spin <= replay.iterations), replay.spin),
        replay.false_alarms.to_string(),
    ]
}

/// How many, and how many of them changed nothing.
fn counted(count: Count) -> String {
    if count.wasted == 0 { count.made.to_string() } else { format!("{} ({} wasted)", count.made, count.wasted) }
}

/// How late something was noticed; a dash where there was nothing to notice.
fn seen(at: Option<u32>, lag: Option<Lag>) -> String {
    match (at, lag) {
        (None, _) => "-".to_owned(),
        (Some(_), None) => "no".to_owned(),
        (Some(_), Some(lag)) => format!("+{}, {}", lag.iterations, span(lag.seconds)),
    }
}

/// Seconds as people read them.
fn span(seconds: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a history's times are bounded")]
    let whole = seconds.round() as u64;
    match whole {
        0..=119 => format!("{whole} s"),
        120..=7199 => format!("{} min", (whole + 30) / 60),
        _ => format!("{} h", (whole + 1800) / 3600),
    }
}

/// Names may hold anything; a row of the table is one line.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
