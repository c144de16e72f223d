//! A preview for people.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Amount, Preview};

pub(super) fn render(preview: &Preview) -> String {
    let mut rows: Vec<(String, &Amount)> = Vec::new();
    rows.extend(preview.iteration_parts.iter().map(|part| (format!("  {}", part.what), &part.amount)));
    rows.push(("one iteration".to_owned(), &preview.per_iteration));
    rows.extend(preview.run_parts.iter().map(|part| (format!("  {}", part.what), &part.amount)));
    let times = preview.iterations;
    rows.push((format!("a run of {times} iteration{}", if times == 1 { "" } else { "s" }), &preview.per_run));
    let width = rows.iter().map(|(what, _)| what.chars().count()).max().unwrap_or(0);
    let mut text = format!("{}: at most\n\n", preview.name);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{:width$}  {:>9}  {:>14}  {:>12}", "", "calls", "tokens", "US dollars");
    for (what, amount) in &rows {
        let (calls, tokens) = (count(amount.calls), count(amount.tokens));
        let _ = writeln!(text, "{what:width$}  {calls:>9}  {tokens:>14}  {:>12}", money(amount.cost_usd));
    }
    if !preview.ceilings.is_empty() {
        text.push_str("\nWhat ends it earlier:\n");
        for ceiling in &preview.ceilings {
            let _ = match ceiling.reached_in_iteration {
                Some(at) => writeln!(text, "- `{}: {}`, at worst in iteration {at}", ceiling.limit, ceiling.value),
                None => writeln!(text, "- `{}: {}`", ceiling.limit, ceiling.value),
            };
        }
    }
    let why: BTreeSet<&String> = preview.per_run.unknown.union(&preview.per_iteration.unknown).collect();
    if !why.is_empty() {
        text.push_str("\nWhat is not known:\n");
        for reason in why {
            let _ = writeln!(text, "- {reason}");
        }
    }
    text
}

fn count(value: Option<u64>) -> String {
    let Some(value) = value else { return "unknown".to_owned() };
    let digits = value.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

fn money(value: Option<f64>) -> String {
    value.map_or_else(|| "unknown".to_owned(), |value| format!("{value:.4}"))
}
