//! A name that nothing has: the loop `intent` looks for what was meant, once. Whoever asks for it again is refused.

use minijinja::Value;

use super::core::LoopCore;
use super::resolve::Used;
use crate::event::{CapabilityKind, Event, LoadOutcome};
use crate::verb::{LoopCall, Phase, SearchCall, StepFailure};

/// The loop that finds out what was meant. A workspace may have its own of this name.
pub(super) const INTENT: &str = "intent";

/// The most names that are told.
const MOST: usize = 5;

impl LoopCore {
    /// Nothing has this name.
    ///
    /// # Errors
    /// Always: in words, which name what may have been meant; what ends the run.
    pub(super) async fn unknown(
        &self,
        identifier: &str,
        wanted: Option<CapabilityKind>,
        phase: Phase,
    ) -> Result<Used, StepFailure> {
        let told = |outcome: LoadOutcome, detail: Option<String>| Event::Load {
            identifier: identifier.to_owned(),
            kind: None,
            outcome,
            detail,
        };
        if !self.state().unknown_names.insert(identifier.to_lowercase()) {
            self.events.emit(told(LoadOutcome::Blocked, None));
            return Err(StepFailure::new(format!(
                "`{identifier}` does not exist, as you were told before. Do not ask for it again: use another name, or \
                 another way."
            )));
        }
        let mut names = self.meant_by(identifier, phase).await?;
        if let Some(wanted) = wanted {
            names.retain(|name| self.edition.capabilities().get(wanted, name).is_some());
        }
        names.truncate(MOST);
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let words = match names.is_empty() {
            true => "nothing that you may use is like it; go on without".to_owned(),
            false => format!("what was meant may be: {}", names.join(", ")),
        };
        self.events.emit(told(LoadOutcome::Unknown, Some(words.clone())));
        let what = wanted.map_or("capability", |kind| match kind {
            CapabilityKind::FocusMode => "focus mode",
            kind => kind.name(),
        });
        Err(StepFailure::new(format!("there is no {what} named `{identifier}`; {words}")))
    }

    /// The names that may have been meant, the best first, all of them of something that the loop may use.
    async fn meant_by(&self, identifier: &str, phase: Phase) -> Result<Vec<String>, StepFailure> {
        let names = self.ask_intent(identifier).await?;
        let search =
            SearchCall { queries: vec![identifier.to_owned()], catalog: Some(false), names, ..SearchCall::default() };
        let record = self.search_capabilities(search, phase).await?;
        Ok(self.usable_names(&record))
    }

    /// What the loop `intent` makes of the name and the task. Nothing, where it cannot run or fails: then words have to do.
    async fn ask_intent(&self, identifier: &str) -> Result<Vec<String>, StepFailure> {
        let known = self.edition.library.loops.contains_key(INTENT);
        if !known || self.line.iter().any(|around| around.name == INTENT) || self.depth >= self.depth_limit() {
            return Ok(Vec::new());
        }
        let input = format!("Wanted: something named `{identifier}`.\nFor this task:\n{}", self.task_text());
        let call = LoopCall { name: INTENT.to_owned(), input: Value::from(input), set: Vec::new() };
        match self.run_subtask(call, &self.task_of(INTENT, "")).await {
            Ok(value) => {
                let names = value.get_attr("state").and_then(|state| state.get_attr("names")).ok();
                let names = names.and_then(|names| names.try_iter().ok()).into_iter().flatten();
                Ok(names.filter_map(|name| name.as_str().map(str::to_owned)).collect())
            }
            Err(StepFailure::Failed(words)) => {
                self.events.emit(Event::Warning { message: format!("the loop `{INTENT}` found no name: {words}") });
                Ok(Vec::new())
            }
            Err(end) => Err(end),
        }
    }
}
