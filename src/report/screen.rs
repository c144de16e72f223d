//! The two streams of a terminal as one page: whole lines, text that grows, and a spinner that never stays behind.
//!
//! Progress goes to one writer (standard error) and answers to the other (standard output). On a terminal text is shown
//! as it arrives; elsewhere it is kept until its line is complete, and no escape sequence is ever written.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Instant;

use anstyle::{AnsiColor, Style};

use super::plain::{escape, one_line};
use super::{Trouble, Writer, figures};

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Answers, and what must never be hidden.
    Quiet,
    /// What a person follows.
    Normal,
    /// Prompts, state, every step.
    Verbose,
}

/// What the two streams can do.
#[derive(Debug, Clone, Copy)]
pub struct ScreenOptions {
    /// Progress goes to a terminal that understands escape sequences.
    pub live: bool,
    /// Progress may be coloured.
    pub color: bool,
    /// Answers go to a terminal.
    pub answers_live: bool,
    /// How much is shown.
    pub verbosity: Verbosity,
}

/// How a line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Plain,
    Heading,
    Dim,
    Good,
    Warning,
    Bad,
}

impl Look {
    fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Heading => Style::new().bold(),
            Self::Dim => Style::new().dimmed(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Warning => AnsiColor::Yellow.on_default(),
            Self::Bad => AnsiColor::Red.on_default(),
        }
    }
}

/// Text that is still growing.
struct Open {
    node: String,
    /// What stands before its lines.
    label: String,
    /// Whether it goes to the answers' stream.
    answer: bool,
    /// Whether the cursor stands at the beginning of a line.
    fresh: bool,
    /// The unfinished line, where lines are shown whole.
    held: String,
}

/// Something that takes time, shown by the spinner.
struct Wait {
    id: String,
    words: String,
    since: Instant,
}

pub(super) struct Screen {
    progress: Writer,
    answers: Writer,
    options: ScreenOptions,
    trouble: Arc<Trouble>,
    open: Option<Open>,
    /// Other nodes with an unfinished line, where lines are shown whole: texts that grow at the same time stay apart.
    parked: Vec<Open>,
    shown: HashMap<String, String>,
    waits: Vec<Wait>,
    /// Whether the spinner's line is on the screen now.
    drawn: bool,
    frame: usize,
    /// Whether anything went to the answers' stream.
    answered: bool,
    /// A person is typing: the spinner keeps away.
    pub(super) asking: bool,
}

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const ERASE_LINE: &str = "\r\u{1b}[K";

impl Screen {
    pub(super) fn new(progress: Writer, answers: Writer, options: ScreenOptions, trouble: Arc<Trouble>) -> Self {
        Self {
            progress,
            answers,
            options,
            trouble,
            open: None,
            parked: Vec::new(),
            shown: HashMap::new(),
            waits: Vec::new(),
            drawn: false,
            frame: 0,
            answered: false,
            asking: false,
        }
    }

    pub(super) fn options(&self) -> ScreenOptions {
        self.options
    }

    /// A whole line of progress, from this verbosity on.
    pub(super) fn line(&mut self, from: Verbosity, look: Look, text: &str) {
        if self.options.verbosity < from {
            return;
        }
        self.close();
        self.erase();
        let text = self.painted(look, text);
        self.write_progress(&format!("{text}\n"));
    }

    fn painted(&self, look: Look, text: &str) -> String {
        if !self.options.color || look == Look::Plain || text.is_empty() {
            return text.to_owned();
        }
        let style = look.style();
        format!("{style}{text}{style:#}")
    }

    /// More text of a node. `answer`: it is what standard output is for.
    pub(super) fn grow(&mut self, node: &str, label: &str, answer: bool, text: &str) {
        if self.options.verbosity == Verbosity::Quiet || text.is_empty() {
            return;
        }
        // Where answers go to a file they are written whole; a person at the terminal still sees them grow.
        let answer_here = answer && self.options.answers_live;
        if answer && !answer_here && !self.options.live {
            return;
        }
        self.shown.entry(node.to_owned()).or_default().push_str(text);
        if self.open.as_ref().is_none_or(|open| open.node != node) {
            self.turn_to(node, label, answer_here);
        }
        self.erase();
        let Some(mut open) = self.open.take() else { return };
        let text = escape(text);
        if open.answer {
            open.fresh = text.ends_with('\n');
            self.answered = true;
            self.write_answer(&text);
        } else if self.options.live {
            self.grow_live(&mut open, &text);
        } else {
            self.grow_by_lines(&mut open, &text);
        }
        self.open = Some(open);
    }

    /// Makes a node the one that grows.
    fn turn_to(&mut self, node: &str, label: &str, answer: bool) {
        if self.options.live {
            self.close();
        } else {
            self.parked.extend(self.open.take());
        }
        let known = self.parked.iter().position(|open| open.node == node);
        self.open = Some(match known {
            Some(at) => self.parked.swap_remove(at),
            None => Open { node: node.to_owned(), label: label.to_owned(), answer, fresh: true, held: String::new() },
        });
    }

    fn grow_live(&mut self, open: &mut Open, text: &str) {
        let mut out = String::new();
        for part in text.split_inclusive('\n') {
            if open.fresh {
                out.push_str(&self.painted(Look::Dim, &format!("  {}: ", open.label)));
            }
            let (body, end) = part.strip_suffix('\n').map_or((part, ""), |body| (body, "\n"));
            out.push_str(&self.painted(Look::Dim, body));
            out.push_str(end);
            open.fresh = !end.is_empty();
        }
        self.write_progress(&out);
    }

    fn grow_by_lines(&mut self, open: &mut Open, text: &str) {
        open.held.push_str(text);
        while let Some(at) = open.held.find('\n') {
            let line: String = open.held.drain(..=at).collect();
            self.write_progress(&format!("  {}: {}\n", open.label, line.trim_end()));
        }
    }

    /// Ends the growing texts' lines, so that something else can be shown.
    pub(super) fn close(&mut self) {
        for open in std::mem::take(&mut self.parked).into_iter().chain(self.open.take()) {
            if !open.held.trim().is_empty() {
                self.write_progress(&format!("  {}: {}\n", open.label, open.held.trim_end()));
            } else if !open.fresh {
                if open.answer { self.write_answer("\n") } else { self.write_progress("\n") }
            }
        }
    }

    /// What a node has shown so far.
    pub(super) fn shown(&self, node: &str) -> &str {
        self.shown.get(node).map_or("", String::as_str)
    }

    /// Forgets what nodes have shown: a new reply begins.
    pub(super) fn forget(&mut self) {
        self.close();
        self.shown.clear();
    }

    /// Forgets one node.
    pub(super) fn forget_node(&mut self, node: &str) {
        if self.open.as_ref().is_some_and(|open| open.node == node) {
            self.close();
        }
        self.shown.remove(node);
    }

    /// A complete answer. Not written again where a person has just watched it grow.
    pub(super) fn answer(&mut self, node: &str, text: &str) {
        let seen = self.options.answers_live && !text.trim().is_empty() && self.shown(node).trim() == text.trim();
        self.close();
        self.erase();
        if !seen {
            if self.answered {
                self.write_answer("\n");
            }
            // Bytes for a file stay as they are; only a terminal could be fooled by them.
            let text = if self.options.answers_live { escape(text) } else { text.into() };
            let end = if text.ends_with('\n') { "" } else { "\n" };
            self.write_answer(&format!("{text}{end}"));
        }
        self.answered = true;
        self.shown.remove(node);
    }

    /// Something takes time from now on.
    pub(super) fn wait(&mut self, id: &str, words: impl Into<String>) {
        self.ready(id);
        self.waits.push(Wait { id: id.to_owned(), words: words.into(), since: Instant::now() });
    }

    /// It is over.
    pub(super) fn ready(&mut self, id: &str) {
        self.waits.retain(|wait| wait.id != id);
        if self.waits.is_empty() {
            self.erase();
        }
    }

    /// Nothing takes time any more.
    pub(super) fn all_ready(&mut self) {
        self.waits.clear();
        self.close();
        self.erase();
    }

    /// A person is asked: the line is free and the spinner keeps away until the answer.
    pub(super) fn make_room(&mut self) {
        self.close();
        self.erase();
        self.asking = true;
    }

    /// Draws the spinner's next picture, where there is something to wait for and a line to draw on.
    pub(super) fn tick(&mut self) {
        let free = self.open.as_ref().is_none_or(|open| open.fresh);
        if !self.options.live || self.options.verbosity == Verbosity::Quiet || self.asking || !free {
            return;
        }
        let Some(wait) = self.waits.last() else { return };
        let passed = wait.since.elapsed();
        // What is quick needs no spinner.
        if passed.as_millis() < 200 {
            return;
        }
        let time = figures::time(u64::try_from(passed.as_millis()).unwrap_or(u64::MAX));
        let others = match self.waits.len() {
            1 => String::new(),
            n => format!(", {} more", n - 1),
        };
        let line = format!("{} {} ({time}{others})", FRAMES[self.frame % FRAMES.len()], one_line(&wait.words, 50));
        self.frame += 1;
        let line = self.painted(Look::Dim, &line);
        self.write_progress(&format!("{ERASE_LINE}{line}"));
        self.drawn = true;
    }

    fn erase(&mut self) {
        if self.drawn {
            self.drawn = false;
            self.write_progress(ERASE_LINE);
        }
    }

    fn write_progress(&mut self, text: &str) {
        // Standard error may be gone; the run is not for its sake, so it goes on.
        let _ = self.progress.write_all(text.as_bytes()).and_then(|()| self.progress.flush());
    }

    fn write_answer(&mut self, text: &str) {
        let written = self.answers.write_all(text.as_bytes()).and_then(|()| self.answers.flush());
        match written {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => self.trouble.note(error),
            _ => {}
        }
    }
}
