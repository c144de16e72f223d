//! Questions of a run to the person at the terminal.

use std::io::{BufRead, IsTerminal};

use super::output::Output;
use crate::engine::Asker;
use crate::model::BoxFuture;

/// Asks on standard error and reads the answer from standard input, where that is a terminal.
pub(super) struct AtTerminal {
    output: Output,
}

impl AtTerminal {
    pub(super) fn new(output: Output) -> Self {
        Self { output }
    }
}

impl Asker for AtTerminal {
    fn ask<'a>(&'a self, question: String, options: Vec<String>) -> BoxFuture<'a, Option<String>> {
        let output = self.output;
        Box::pin(async move {
            if !std::io::stdin().is_terminal() {
                return None;
            }
            let (send, receive) = tokio::sync::oneshot::channel();
            // A thread of its own: nothing can interrupt a read from a terminal, and the run must be able to end.
            std::thread::spawn(move || {
                let mut lines = std::io::stdin().lock().lines();
                let answer = converse(&question, &options, output, || lines.next()?.ok());
                let _ = send.send(answer);
            });
            receive.await.ok().flatten()
        })
    }
}

/// Asks until the answer is one that fits; none when there is no more input.
fn converse(
    question: &str,
    options: &[String],
    output: Output,
    mut read: impl FnMut() -> Option<String>,
) -> Option<String> {
    let mut text = format!("? {question}\n");
    for (number, option) in (1..).zip(options) {
        text.push_str(&format!("  {number}. {option}\n"));
    }
    loop {
        output.prompt(&format!("{text}> "));
        let line = read()?;
        if let Some(answer) = choose(&line, options) {
            return Some(answer);
        }
        text = match options.len() {
            0 => String::new(),
            n => format!("please choose one of 1 to {n}\n"),
        };
    }
}

/// The answer that a line means: an option by its number or its words, or any words where there are no options.
fn choose(line: &str, options: &[String]) -> Option<String> {
    let line = line.trim();
    if line.is_empty() {
        return None;
    }
    if options.is_empty() {
        return Some(line.to_owned());
    }
    let by_words = options.iter().find(|option| option.to_lowercase() == line.to_lowercase());
    let by_number = || line.parse::<usize>().ok()?.checked_sub(1).and_then(|at| options.get(at));
    by_words.or_else(by_number).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_chosen_by_number_or_words_and_asked_for_again_otherwise() {
        let options = vec!["Yes".to_owned(), "No".to_owned()];
        let output = Output::new(true, false, true);
        let ask = |lines: &[&str], options: &[String]| {
            let mut lines = lines.iter().map(|line| (*line).to_owned());
            converse("sure?", options, output, || lines.next())
        };
        assert_eq!(ask(&["2"], &options).as_deref(), Some("No"));
        assert_eq!(ask(&["", "3", "0", "maybe", " yes "], &options).as_deref(), Some("Yes"));
        assert_eq!(ask(&["maybe"], &options), None, "input ended");
        assert_eq!(ask(&["", " some words "], &[]).as_deref(), Some("some words"));
    }
}
