//! What a running loop takes over when its files were saved, and what it refuses, in words.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::builder::Engine;
use super::edition::{Edition, Published, Reloaded};
use super::iteration::LoopRun;
use super::program::Program;
use crate::event::{Event, ReloadFinding, ReloadStatus};
use crate::state::lock;

/// What a run was told last of each of its loops, so that nothing is told twice: a sub-loop may run many times in one
/// handler, each time from the version that the handler has.
#[derive(Debug, Default)]
pub(super) struct Told(Mutex<HashMap<String, (ReloadStatus, String)>>);

impl Told {
    /// Notes what is about to be told; false when it was told last.
    fn is_new(&self, loop_name: &str, status: ReloadStatus, version: &str) -> bool {
        let news = (status, version.to_owned());
        lock(&self.0).insert(loop_name.to_owned(), news.clone()) != Some(news)
    }

    fn last(&self, loop_name: &str) -> Option<ReloadStatus> {
        lock(&self.0).get(loop_name).map(|(status, _)| *status)
    }
}

impl Engine {
    /// Reads the files of every loop that was started and checks them, without waiting for one to become whole. Runs take
    /// over what can be used before their next iteration. Does nothing under [`super::HotReload::Off`].
    pub fn reload(&self) -> Vec<Reloaded> {
        self.inner.editions.look()
    }

    /// The version of a loop that a run would begin with now, or that a running one will take over: SHA-256 over the files
    /// that it uses. None before its first run, and under [`super::HotReload::Off`].
    #[must_use]
    pub fn version(&self, loop_name: &str) -> Option<String> {
        self.inner.editions.published(loop_name).map(|published| published.edition.version.to_string())
    }
}

impl LoopRun {
    /// Takes over what was published since the last iteration, if this loop can.
    pub(super) fn take_over_changes(&mut self) {
        let shared = Arc::clone(&self.core.shared);
        let Some(published) = shared.engine.editions.published(&shared.root_loop) else { return };
        if published.number == self.publication || self.core.stop.work.is_cancelled() {
            return;
        }
        self.publication = published.number;
        let name = self.core.program.name.clone();
        if published.edition.version != self.core.edition.version {
            self.take_over(&published.edition);
        } else if published.refused.is_none() && shared.told.last(&name) == Some(ReloadStatus::Refused) {
            let version = published.edition.version.to_string();
            self.tell(Reloaded {
                loop_name: name,
                status: ReloadStatus::Restored,
                before: version.clone(),
                after: version,
                files: Vec::new(),
                findings: Vec::new(),
            });
        }
        self.tell_refusal(&published);
    }

    /// Tells of a refusal that no iteration came after.
    pub(super) fn tell_refusals(&self) {
        let shared = &self.core.shared;
        if let Some(published) = shared.engine.editions.published(&shared.root_loop) {
            self.tell_refusal(&published);
        }
    }

    fn tell_refusal(&self, published: &Published) {
        if let Some(refused) = &published.refused {
            // What is in force for this run may be older than what is in force for the next one.
            self.tell(Reloaded { before: self.core.edition.version.to_string(), ..(**refused).clone() });
        }
    }

    fn take_over(&mut self, edition: &Arc<Edition>) {
        let (name, before) = (self.core.program.name.clone(), Arc::clone(&self.core.edition));
        let program = edition.program(&name);
        let reasons = match &program {
            Ok(program) => refusals(&self.core.program, program, edition),
            Err(error) => vec![ReloadFinding::of_change(&error.to_string())],
        };
        let refused = !reasons.is_empty();
        if let (Ok(program), false) = (program, refused) {
            self.change_to(edition, program);
        }
        self.tell(Reloaded {
            loop_name: name,
            status: if refused { ReloadStatus::Refused } else { ReloadStatus::Applied },
            before: before.version.to_string(),
            after: edition.version.to_string(),
            files: edition.contents.changed_since(&before.contents),
            findings: if refused { reasons } else { edition.warnings.clone() },
        });
    }

    /// Goes on with another version of the loop, or the same one with other tools.
    pub(super) fn change_to(&mut self, edition: &Arc<Edition>, program: Arc<Program>) {
        self.max_iterations = self.asked_iterations.unwrap_or(program.limits.max_iterations);
        let timeout = (self.core.program.limits.timeout, program.limits.timeout);
        {
            let mut state = self.core.state();
            state.vars.add(&program.state);
            // An action that the turn was limited to may be gone; with none of them left, nothing limits it.
            if let Some(only) = &mut state.next_actions {
                only.retain(|name| program.actions.contains_key(name));
            }
            state.next_actions = state.next_actions.take().filter(|only| !only.is_empty());
        }
        self.core = self.core.with(Arc::clone(edition), program, self.max_iterations);
        self.core.refresh_skills();
        self.memory.forget_bodies();
        if timeout.0 != timeout.1 {
            self.start_clock();
        }
    }

    /// Starts the clock of `limits.timeout`, which counts from the loop's start.
    pub(super) fn start_clock(&mut self) {
        let spent = self.core.base.facts.started.elapsed();
        let timeout = self.core.program.limits.timeout.map(|timeout| timeout.0.saturating_sub(spent));
        // Assigned in two steps, so that the old clock stops before the new one starts.
        self.clock = None;
        self.clock = self.core.stop.deadline(timeout);
    }

    fn tell(&self, news: Reloaded) {
        if !self.core.shared.told.is_new(&news.loop_name, news.status, &news.after) {
            return;
        }
        self.core.events.emit(Event::Reload {
            loop_name: news.loop_name,
            status: news.status,
            before: Some(news.before),
            after: news.after,
            files: news.files,
            findings: news.findings,
        });
    }
}

/// Why a running loop cannot become this; nothing when it can. The places are in the new documents.
fn refusals(old: &Program, new: &Program, edition: &Edition) -> Vec<ReloadFinding> {
    let document = edition.library.loops.get(&new.name).map(|loaded| (&loaded.node, loaded.source));
    let refusal = |code: &str, path: &[&str], words: String| {
        let finding = ReloadFinding::of_change(&words).coded(code);
        let Some((node, source)) = document else { return finding };
        // The place of the last part that is there.
        let mut at = (node, crate::diag::Span::new(source, 0, 0));
        for key in path {
            let Some(entry) = at.0.entry(key) else { break };
            at = (&entry.value, if entry.key_span.is_none() { at.1 } else { entry.key_span });
        }
        let sources = &edition.library.sources;
        let place = sources.line_col(at.1).start;
        finding.at(sources.path(at.1.source).display().to_string(), place.line, place.column)
    };
    let mut reasons = Vec::new();
    for (name, var) in &old.state {
        match new.state.get(name) {
            None => {
                let words = format!(
                    "the state variable `{name}` is gone: a running loop keeps its variables, put it back or start again"
                );
                reasons.push(refusal("running-state", &["state"], words));
            }
            Some(changed) if changed.schema != var.schema => {
                let words = format!(
                    "the type of the state variable `{name}` changed from {} to {}: a running loop keeps its types, \
                     put it back or start again",
                    var.schema, changed.schema
                );
                reasons.push(refusal("running-state", &["state", name], words));
            }
            Some(_) => {}
        }
    }
    let models = |program: &Program| {
        program.models.iter().map(|(tier, model)| (tier.clone(), model.node().to_json())).collect::<Vec<_>>()
    };
    if models(old) != models(new) {
        let words = "`model` changed: a running loop keeps its models, put it back or start again";
        reasons.push(refusal("running-model", &["model"], words.to_owned()));
    }
    reasons
}
