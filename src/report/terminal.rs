//! A run as a person follows it at a terminal: drawn from the events and from nothing else.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::mechanisms::{self, Told};
use super::plain::{brief, escape, one_line};
use super::screen::{Look, Screen};
use super::{ScreenOptions, Trouble, Verbosity, Writer, figures, reload, servers};
use crate::event::{Envelope, Event, ExitReason, ReplySource, StepStatus, Subscriber, ToolStatus};

/// The longest text of one line.
const WIDE: usize = 160;

/// Verbs that have a line of their own, from an event.
const SHOWN_VERBS: [&str; 6] = ["answer", "artifact", "ask", "emit", "status", "thought"];

/// The terminal view.
pub struct Terminal {
    view: Arc<Mutex<View>>,
}

struct View {
    screen: Screen,
    source: ReplySource,
    question: Option<String>,
    /// Loops inside loops that have the focus now.
    depth: usize,
    /// The task that has taken the run's work over.
    handed_over: Option<String>,
}

impl Terminal {
    /// Shows progress on one writer and answers on the other. A failure to write an answer goes to `trouble`.
    pub fn new(progress: Writer, answers: Writer, options: ScreenOptions, trouble: Arc<Trouble>) -> Self {
        let screen = Screen::new(progress, answers, options, trouble);
        let view = View { screen, source: ReplySource::Model, question: None, depth: 0, handed_over: None };
        let view = Arc::new(Mutex::new(view));
        if options.live && options.verbosity > Verbosity::Quiet {
            let seen = Arc::downgrade(&view);
            // Without a thread there is no spinner, and nothing else is lost.
            let _ = std::thread::Builder::new().name("spinner".to_owned()).spawn(move || spin(&seen));
        }
        Self { view }
    }
}

/// Draws the spinner until the view is gone.
fn spin(view: &Weak<Mutex<View>>) {
    while let Some(view) = view.upgrade() {
        lock(&view).screen.tick();
        drop(view);
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn lock(view: &Mutex<View>) -> MutexGuard<'_, View> {
    view.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Subscriber for Terminal {
    fn on_event(&self, event: &Envelope) {
        lock(&self.view).show(event);
    }
}

/// What answers, for the first and the last line. A script is never passed off as a model.
fn answered_by(source: &ReplySource) -> Option<String> {
    match source {
        ReplySource::Model => None,
        ReplySource::Script { path } => Some(format!("answered by a SCRIPT, not by a model: {}", escape(path))),
        ReplySource::Recording { path } => {
            Some(format!("answered by a RECORDING of a model, not by a model: {}", escape(path)))
        }
    }
}

impl View {
    fn line(&mut self, look: Look, text: &str) {
        let indent = "  ".repeat(self.depth);
        self.screen.line(Verbosity::Normal, look, &format!("{indent}{text}"));
    }

    fn detail(&mut self, text: &str) {
        let indent = "  ".repeat(self.depth);
        self.screen.line(Verbosity::Verbose, Look::Dim, &format!("{indent}  {text}"));
    }

    fn show(&mut self, envelope: &Envelope) {
        // Answers of a sub-loop that runs as its own task are its parent's to use, not the user's.
        // What the run has handed over answers the user in its place.
        if let Event::AsyncStarted { async_task, .. } = &envelope.event
            && envelope.task == envelope.run.0
        {
            self.handed_over = Some(async_task.clone());
        }
        let own = envelope.task == envelope.run.0 || self.handed_over.as_ref() == Some(&envelope.task);
        match &envelope.event {
            Event::RunStarted { .. } | Event::IterationStarted { .. } | Event::RunFinished { .. } => {
                self.show_frame(&envelope.event);
            }
            Event::PromptProfile { .. }
            | Event::ModelCallStarted { .. }
            | Event::ModelCallFinished { .. }
            | Event::ModelCallFailed { .. } => self.show_call(&envelope.event),
            Event::Delta { node, text, .. } => {
                let (key, label) = node_name(&envelope.task, node, own);
                self.screen.grow(&key, &label, own && node == "answer", text);
            }
            Event::Correction { node, text } => {
                let (key, label) = node_name(&envelope.task, node, own);
                self.correct(&key, &label, own && node == "answer", text);
            }
            Event::Answer { text, .. } if own => {
                let (key, _) = node_name(&envelope.task, "answer", own);
                self.screen.answer(&key, text);
            }
            Event::Answer { text, .. } => self.line(Look::Plain, &format!("  answer: {}", one_line(text, WIDE))),
            Event::StepStarted { path, verb } => self.screen.wait(path, format!("running `{verb}`")),
            Event::StepFinished { path, verb, status, duration_ms, message } => {
                self.screen.ready(path);
                self.show_step(path, verb, *status, *duration_ms, message.as_deref());
            }
            other => self.show_happening(other),
        }
    }

    /// The beginning, each iteration's header, and the end.
    fn show_frame(&mut self, event: &Event) {
        match event {
            Event::RunStarted { loop_name, source, model, input_bytes, max_iterations } => {
                self.source = source.clone();
                let who = answered_by(source).unwrap_or_else(|| format!("answered by {}", escape(model)));
                let loop_name = escape(loop_name);
                self.line(Look::Heading, &format!("{loop_name}, {who}"));
                let input = figures::size(*input_bytes);
                self.line(
                    Look::Dim,
                    &format!("input: {input}; at most {}", figures::count(*max_iterations, "iteration")),
                );
            }
            Event::IterationStarted { iteration, max_iterations } => {
                self.line(Look::Heading, &format!("iteration {iteration} of at most {max_iterations}"));
            }
            Event::RunFinished { .. } => self.show_end(event),
            _ => {}
        }
    }

    fn show_end(&mut self, event: &Event) {
        let Event::RunFinished {
            reason,
            exit_code,
            error,
            ignored,
            iterations,
            model_calls,
            tool_calls,
            usage,
            cost_usd,
            duration_ms,
        } = event
        else {
            return;
        };
        self.screen.all_ready();
        self.depth = 0;
        if let Some(error) = error {
            // Also when quiet: a run that failed says why.
            self.screen.line(Verbosity::Quiet, Look::Bad, &format!("error: {}", escape(error)));
        }
        let ignored = if *ignored { ", error ignored by a finish hook" } else { "" };
        let look = if *exit_code == 0 { Look::Good } else { Look::Bad };
        self.line(
            look,
            &format!(
                "finished: {}{ignored} ({}, {}, {}, {})",
                reason.name(),
                figures::count(*iterations, "iteration"),
                figures::count(*model_calls, "model call"),
                figures::count(*tool_calls, "tool call"),
                figures::time(*duration_ms),
            ),
        );
        let cost =
            cost_usd.map_or("cost unknown: no price is set".to_owned(), |usd| format!("cost {}", figures::money(usd)));
        // Nobody pays for a script, and it counts tokens only where its author made some up.
        if usage.total() > 0 {
            let cost = if self.source == ReplySource::Model { format!("; {cost}") } else { String::new() };
            self.line(Look::Dim, &format!("{}{cost}", figures::tokens(*usage)));
        }
        if let Some(who) = answered_by(&self.source) {
            self.screen.line(Verbosity::Quiet, Look::Warning, &who);
        }
        if *exit_code != 0 && error.is_none() && *reason != ExitReason::Cancelled {
            self.screen.line(Verbosity::Quiet, Look::Bad, &format!("the loop ended with `{}`", reason.name()));
        }
    }

    fn show_call(&mut self, event: &Event) {
        match event {
            Event::PromptProfile { sections, bytes, tokens, estimated, shared_prefix, .. } => {
                let about = if *estimated { "about " } else { "" };
                let tokens = figures::grouped(*tokens as u64);
                self.detail(&format!(
                    "prompt: {} in {}, {about}{tokens} tokens, {} unchanged",
                    figures::size(*bytes),
                    figures::count(u32::try_from(sections.len()).unwrap_or(u32::MAX), "section"),
                    figures::size(*shared_prefix),
                ));
            }
            Event::ModelCallStarted { call, model, tier, purpose, attempt } => {
                self.screen.forget();
                self.screen.wait(&format!("call {call}"), format!("waiting for {model}"));
                let purpose = format!("{purpose:?}").to_lowercase();
                self.detail(&format!("call {call}: {} (tier {tier}, {purpose}, attempt {attempt})", escape(model)));
            }
            Event::ModelCallFinished { call, finish, usage, cost_usd, duration_ms, .. } => {
                self.screen.ready(&format!("call {call}"));
                let finish = finish.as_deref().unwrap_or("no finish reason");
                let cost = cost_usd.map(|usd| format!(", {}", figures::money(usd))).unwrap_or_default();
                let (tokens, time) = (figures::tokens(*usage), figures::time(*duration_ms));
                self.detail(&format!("call {call}: {}, {tokens}{cost}, {time}", escape(finish)));
            }
            Event::ModelCallFailed { call, class, message, retry_in_ms, .. } => {
                let message = one_line(message, 400);
                match retry_in_ms {
                    Some(ms) => {
                        let time = figures::time(*ms);
                        self.line(
                            Look::Warning,
                            &format!("  ! model call failed ({class}): {message}; again in {time}"),
                        );
                        self.screen
                            .wait(&format!("call {call}"), format!("{class}: waiting {time} before trying again"));
                    }
                    None => {
                        self.screen.ready(&format!("call {call}"));
                        let message = one_line(&message, 100);
                        self.line(Look::Bad, &format!("  ! model call failed ({class}): {message}"));
                    }
                }
            }
            _ => {}
        }
    }

    fn correct(&mut self, key: &str, label: &str, answer: bool, text: &str) {
        let shown = self.screen.shown(key);
        if shown.is_empty() || shown.trim() == text.trim() {
            return;
        }
        self.screen.forget_node(key);
        if text.trim().is_empty() {
            self.line(Look::Warning, &format!("  ! {label}: withdrawn"));
        } else {
            self.line(Look::Warning, &format!("  ! {label}: withdrawn; this counts instead:"));
            self.screen.grow(key, label, answer, text);
        }
    }

    fn show_step(&mut self, path: &str, verb: &str, status: StepStatus, ms: u64, message: Option<&str>) {
        let time = figures::time(ms);
        let path = escape(path);
        match status {
            // What these did has just been shown.
            StepStatus::Ok if SHOWN_VERBS.contains(&verb) => self.detail(&format!("  {verb} ({path}, {time})")),
            StepStatus::Ok => self.line(Look::Dim, &format!("    {verb} ({path}, {time})")),
            StepStatus::Skipped => self.detail(&format!("  {verb} skipped ({path})")),
            StepStatus::Cancelled => self.line(Look::Warning, &format!("    {verb} cancelled ({path}, {time})")),
            StepStatus::Failed => {
                let message = one_line(message.unwrap_or("no reason given"), 400);
                self.line(Look::Bad, &format!("    {verb} failed ({path}, {time}): {message}"));
            }
        }
    }

    /// Everything else that happens inside an iteration.
    fn show_happening(&mut self, event: &Event) {
        match event {
            Event::Neutralised { section, shapes, redrawn } => {
                let redrawn = if *redrawn { "; its nonce was drawn again" } else { "" };
                let section = escape(section);
                self.line(Look::Warning, &format!("  ! {section}: {shapes} delimiter shapes made harmless{redrawn}"));
            }
            Event::Action { action, identifier, thought, params, tags, repairs } => {
                if let Some(thought) = thought
                    && self.screen.shown("thought").is_empty()
                {
                    self.line(Look::Dim, &format!("  thought: {}", one_line(thought, 400)));
                }
                let name = identifier.as_ref().map(|name| format!(" ({})", one_line(name, 60))).unwrap_or_default();
                let tags =
                    if tags.is_empty() { String::new() } else { format!(" + {}", one_line(&tags.join(", "), 60)) };
                let params = brief(params, WIDE);
                let params = if params.is_empty() { params } else { format!(": {params}") };
                self.line(Look::Good, &format!("  > {}{name}{params}{tags}", escape(action)));
                for repair in repairs {
                    self.detail(&format!("  repaired {}: {}", repair.kind, one_line(&repair.detail, WIDE)));
                }
            }
            Event::ActionRejected { attempt, class, message, will_retry } => {
                let next = if *will_retry { "; asking again" } else { "; no more attempts" };
                let message = one_line(message, 400);
                let message = message.trim_end_matches('.');
                self.line(
                    Look::Warning,
                    &format!("  ! reply {attempt} gives no valid action ({class}): {message}{next}"),
                );
            }
            Event::ToolStarted { tool_call, tool, params, .. } => {
                let tool = escape(tool).into_owned();
                self.screen.wait(&format!("tool {tool_call}"), format!("running {tool}"));
                self.line(Look::Plain, &format!("    tool {tool_call} {tool}: {}", brief(params, WIDE)));
            }
            Event::ToolFinished { tool_call, tool, status, result, duration_ms } => {
                self.screen.ready(&format!("tool {tool_call}"));
                let (word, look) = match status {
                    ToolStatus::Done => ("done", Look::Plain),
                    ToolStatus::Error => ("failed", Look::Bad),
                    ToolStatus::Denied => ("denied", Look::Bad),
                };
                let (time, result) = (figures::time(*duration_ms), brief(result, WIDE));
                self.line(look, &format!("    tool {tool_call} {} {word} ({time}): {result}", escape(tool)));
            }
            Event::ToolServer { .. } => {
                for (look, words) in servers::lines(event) {
                    self.line(look, &words);
                }
            }
            Event::Feedback { text } => self.detail(&format!("  feedback: {}", one_line(text, WIDE))),
            Event::StateSet { values } => self.detail(&format!("  state: {}", brief(values, WIDE))),
            Event::Timeline { entry } => self.detail(&format!("  timeline: {}", brief(entry, WIDE))),
            Event::Status { text } => self.line(Look::Plain, &format!("  {}", one_line(text, 400))),
            Event::Artifact { path, bytes } => {
                self.line(Look::Good, &format!("    wrote {} ({})", escape(path), figures::size(*bytes)));
            }
            Event::Emit { name, data } => {
                self.line(Look::Plain, &format!("    {}: {}", escape(name), brief(data, WIDE)))
            }
            Event::Ask { question, .. } => {
                self.screen.make_room();
                self.question = Some(one_line(question, WIDE));
            }
            Event::Asked { answer } => {
                self.screen.asking = false;
                let question = self.question.take().unwrap_or_default();
                match answer {
                    None => self.line(Look::Warning, &format!("  ? {question} (nobody can be asked here)")),
                    // At a terminal both already stand there.
                    Some(_) if self.screen.options().live => {}
                    Some(answer) => self.line(Look::Plain, &format!("  ? {question} {}", one_line(answer, WIDE))),
                }
            }
            Event::FocusOn { loop_name, depth, .. } => {
                self.line(Look::Heading, &format!("  {} takes over", escape(loop_name)));
                self.depth = *depth as usize;
            }
            Event::FocusOff { loop_name, depth, reason } => {
                self.depth = (*depth as usize).saturating_sub(1);
                self.line(Look::Heading, &format!("  {} is over: {}", escape(loop_name), reason.name()));
            }
            Event::Fallback { from, to, class, .. } => {
                let words = format!("  ! {} ({class}): {} answers instead", escape(from), escape(to));
                self.line(Look::Warning, &words);
            }
            Event::Shrunk { how, turns, before, after } => {
                let (turns, before, after) = (format!("{turns} turns"), figures::size(*before), figures::size(*after));
                self.line(Look::Warning, &format!("  prompt too long: {how} {turns}, {before} became {after}"));
            }
            Event::PrefixChanged { section, .. } => {
                let words = format!("  the prompt's stable part changed in {section}: its cache starts afresh there");
                self.screen.line(Verbosity::Verbose, Look::Dim, &words);
            }
            Event::Reload { .. } => {
                for (look, words) in reload::lines(event) {
                    self.line(look, &words);
                }
            }
            Event::Warning { message } => {
                self.screen.line(Verbosity::Quiet, Look::Warning, &format!("warning: {}", escape(message)));
            }
            other => match mechanisms::told(other) {
                Some(Told::Line(look, text)) => self.line(look, &text),
                Some(Told::Detail(text)) => self.detail(&text),
                None => {}
            },
        }
    }
}

/// The key and the label of a node: a sub-loop's nodes are its own.
fn node_name(task: &str, node: &str, own: bool) -> (String, String) {
    let label = one_line(node, 40);
    if own { (node.to_owned(), label) } else { (format!("{task}\n{node}"), label) }
}

#[cfg(test)]
mod tests;
