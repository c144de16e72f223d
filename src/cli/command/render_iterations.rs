//! `render --iterations`: what changes in the prompt from one iteration of a run to another.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::render_diff::{Difference, Earlier, both};
use super::run::cannot_start;
use crate::cli::error::CliError;
use crate::cli::runtime;
use crate::engine::{Cancel, EngineBuilder, IterationPrompt, RunRequest};
use crate::event::{Envelope, Event, ReplySource, Subscriber};

/// Two iterations, each from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair {
    before: u32,
    after: u32,
}

impl Pair {
    /// Reads `A..B`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let number = |word: &str| word.trim().parse::<u32>().ok().filter(|number| *number > 0);
        let pair = text.split_once("..").and_then(|(before, after)| Some((number(before)?, number(after)?)));
        let (before, after) = pair.ok_or("write two iterations, counted from 1, such as 2..5")?;
        Ok(Self { before, after })
    }

    fn last(self) -> u32 {
        self.before.max(self.after)
    }
}

/// Stops a run that a model would answer.
struct NoModel {
    cancel: Cancel,
    asked: Mutex<Option<String>>,
}

impl Subscriber for NoModel {
    fn on_event(&self, told: &Envelope) {
        if let Event::RunStarted { source: ReplySource::Model, model, .. } = &told.event {
            self.asked.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(model.clone());
            self.cancel.cancel();
        }
    }
}

/// Runs the loop until the later iteration's prompt is there, and compares the two.
///
/// # Errors
/// The run cannot start, a model would answer, or it ends before.
pub(super) fn compare(pair: Pair, builder: EngineBuilder, request: RunRequest) -> Result<Difference, CliError> {
    let cancel = request.cancel.clone();
    let seen: Arc<Mutex<BTreeMap<u32, IterationPrompt>>> = Arc::default();
    let (kept, stop) = (Arc::clone(&seen), cancel.clone());
    let watch = move |prompt: IterationPrompt| {
        if prompt.iteration >= pair.last() {
            stop.cancel();
        }
        // A turn that is assembled again is sent as it is then.
        kept.lock().unwrap_or_else(PoisonError::into_inner).insert(prompt.iteration, prompt);
    };
    let no_model = Arc::new(NoModel { cancel, asked: Mutex::default() });
    let subscriber: Arc<dyn Subscriber> = Arc::clone(&no_model) as Arc<dyn Subscriber>;
    let engine =
        builder.subscriber(subscriber).prompts(Arc::new(watch)).build().map_err(|error| cannot_start(&error))?;
    let outcome = runtime()?.block_on(engine.run(request)).map_err(|error| cannot_start(&error))?;
    if let Some(model) = &*no_model.asked.lock().unwrap_or_else(PoisonError::into_inner) {
        return Err(CliError::usage(format!("{model} would have to be asked, and `render` asks no model"))
            .hint("name a script or a recording, which `run --record FILE` makes: --model main=replay:FILE"));
    }
    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    let reached = seen.keys().next_back().copied().unwrap_or(0);
    let (Some(before), Some(after)) = (seen.get(&pair.before).cloned(), seen.remove(&pair.after)) else {
        let why = outcome.error.map(|error| format!(": {error}")).unwrap_or_default();
        return Err(CliError::failed(format!(
            "The run has no iteration {}, it ended after {reached}{why}",
            pair.last()
        )));
    };
    Ok(both(&Earlier::of_iteration(before), &Earlier::of_iteration(after)))
}
