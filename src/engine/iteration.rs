//! One loop of a run, iteration by iteration: the page to read first.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value as Json;

use super::act::Handled;
use super::core::LoopCore;
use super::finish::End;
use super::mechanism::Leave;
use super::memory::Memory;
use super::models::{Chain, ModelSlot};
use super::steps::Flow;
use super::stop::Clock;
use super::turn::Chosen;
use crate::event::{Event, ExitReason};
use crate::model::{Protocol, ToolResult};
use crate::state::{ActionRecord, Frame, TurnBinding};
use crate::verb::Phase;

/// A loop while it runs.
pub(super) struct LoopRun {
    pub(super) core: Arc<LoopCore>,
    pub(super) memory: Memory,
    /// The main tier's models.
    pub(super) chain: Chain,
    /// The one that answered last.
    pub(super) slot: Arc<ModelSlot>,
    pub(super) max_iterations: u32,
    /// The iteration limit that whoever started the run asked for.
    pub(super) asked_iterations: Option<u32>,
    /// Runs while `limits.timeout` does.
    pub(super) clock: Option<Clock>,
    /// The last publication of versions that the loop has looked at.
    pub(super) publication: u64,
}

impl LoopRun {
    /// A loop that is ready to begin.
    pub(super) fn new(core: Arc<LoopCore>, memory: Memory, chain: Chain, asked_iterations: Option<u32>) -> Self {
        Self {
            slot: Arc::clone(&chain[0]),
            max_iterations: asked_iterations.unwrap_or(core.program.limits.max_iterations),
            asked_iterations,
            clock: None,
            publication: 0,
            core,
            memory,
            chain,
        }
    }

    /// Runs the loop to its end, `finish` hooks included.
    pub(super) async fn run(&mut self) -> (End, bool) {
        self.start_clock();
        let mut end = self.work().await;
        if !self.core.has_handed_over() {
            self.clock = None;
        }
        let ignored = self.core.run_finish_hooks(&mut end).await;
        self.core.settle_handover(&mut end).await;
        self.clock = None;
        (end, ignored)
    }

    async fn work(&mut self) -> End {
        if let Some(end) = self.init().await {
            return end;
        }
        self.core.enter().await;
        loop {
            if let Some(end) = self.iterate().await {
                // Wherever in its iteration the loop ends, what was decided in it is told.
                self.core.tell_decisions();
                return end;
            }
        }
    }

    /// The `init` hooks; what they bind holds for the first iteration only.
    async fn init(&mut self) -> Option<End> {
        let mut frame = Frame::default();
        let flow = match self.core.run_steps(&self.core.program.init, &mut frame, Phase::WORK).await {
            Ok(flow) => flow,
            Err(failure) => return Some(self.core.hook_end("init", failure)),
        };
        self.seal_notes();
        if let Flow::Ended(then) = flow {
            return End::of(then);
        }
        // Whatever `init` prepared is what judges the loop.
        self.core.enforce_protection().await;
        self.core.settled().or_else(|| self.core.wants_async())
    }

    /// One iteration: eight stages, in this order.
    async fn iterate(&mut self) -> Option<End> {
        // 1. What was saved meanwhile is taken over here, between iterations.
        self.take_over_changes();
        // 2. Limits and cancellation.
        if let Some(end) = self.before_iteration() {
            return Some(end);
        }
        if let Some(end) = self.follow_tools().await {
            return Some(end);
        }
        // 3-5. The prompt, the model's reply, one valid and verified action.
        let binding = self.core.state().take_binding();
        let mut chosen = match self.watched_turn(&binding).await {
            Ok(chosen) => chosen,
            Err(end) => return Some(end),
        };
        // 6. The action's work.
        self.core.show_streamed(&chosen);
        let handled = match self.hold_or_act(&mut chosen).await {
            Ok(handled) => handled,
            Err(end) => return Some(end),
        };
        self.record(&chosen, &handled);
        if let Some(end) = handled.end.clone().or_else(|| self.core.wants_async()) {
            return Some(end);
        }
        // 7. The mechanisms look at what happened.
        let mut end = self.observe(&chosen, &handled).await;
        // 8. Hooks between the iterations, and the figure that they may have moved.
        if end.is_none() {
            end = self.after_iteration().await.or_else(|| self.core.settled()).or_else(|| self.core.measure_progress());
            self.seal(&chosen, &handled);
        }
        self.core.tell_decisions();
        end
    }

    /// Does what the turn chose, unless it would end the loop before its time.
    async fn hold_or_act(&mut self, chosen: &mut Chosen) -> Result<Handled, End> {
        if let Some(held) = self.hold_back(chosen) {
            return Ok(held);
        }
        match self.ask_gate(chosen).await? {
            Leave::Pass => self.act(chosen).await,
            Leave::Held(held) => Ok(held),
            Leave::Ends(end) => {
                let handled = self.act(chosen).await?;
                Ok(Handled { end: Some(end), ..handled })
            }
        }
    }

    /// One turn. When the model is silent for long, the verification gate looks meanwhile.
    async fn watched_turn(&mut self, binding: &TurnBinding) -> Result<Chosen, End> {
        let core = Arc::clone(&self.core);
        if !core.gate.guards() {
            return self.take_turn(binding).await;
        }
        core.note_activity();
        let turn = self.take_turn(binding);
        tokio::pin!(turn);
        loop {
            tokio::select! {
                biased;
                chosen = &mut turn => return chosen,
                () = core.idle() => {}
            }
            // A reply that comes while the gate looks waits for the verdict, which may make it needless.
            let looked = core.verify_by_watchdog();
            tokio::pin!(looked);
            let mut chosen = None;
            let end = loop {
                tokio::select! {
                    biased;
                    end = &mut looked => break end,
                    reply = &mut turn, if chosen.is_none() => chosen = Some(reply),
                }
            };
            match (end, chosen) {
                (Some(end), _) => return Err(end),
                (None, Some(chosen)) => return chosen,
                (None, None) => {}
            }
        }
    }

    fn before_iteration(&mut self) -> Option<End> {
        if self.core.stop.work.is_cancelled() {
            return Some(self.core.stopped());
        }
        if let Some(reason) = self.core.used_up() {
            return Some(End::new(reason));
        }
        let iteration = {
            let mut state = self.core.state();
            if state.iteration >= self.max_iterations {
                return Some(End::new(ExitReason::MaxIterations));
            }
            state.iteration += 1;
            state.silence = false;
            state.moved = false;
            state.shown_feedback = std::mem::take(&mut state.next_feedback);
            state.iteration
        };
        crate::state::lock(&self.core.shared.totals).iterations += 1;
        self.core.events.emit(Event::IterationStarted { iteration, max_iterations: self.max_iterations });
        None
    }

    async fn after_iteration(&mut self) -> Option<End> {
        let hooks = &self.core.program.after_iteration;
        if hooks.is_empty() {
            return None;
        }
        let mut frame = Frame::default();
        match self.core.run_steps(hooks, &mut frame, Phase::WORK).await {
            Ok(Flow::Done) => self.core.wants_async(),
            Ok(Flow::Ended(then)) => End::of(then),
            Err(failure) => Some(self.core.hook_end("after_iteration", failure)),
        }
    }

    fn record(&self, chosen: &Chosen, handled: &Handled) {
        let mut state = self.core.state();
        let record = ActionRecord {
            iteration: state.iteration,
            action: chosen.action.name.clone(),
            identifier: chosen.identifier.clone(),
            params: minijinja::Value::from(minijinja::value::Serde(&chosen.params)),
            ok: handled.ok,
            result: handled.result.clone(),
            error: handled.error.clone(),
        };
        state.history.push(record);
    }

    /// Appends the iteration to the transcript, where it never changes again.
    fn seal(&mut self, chosen: &Chosen, handled: &Handled) {
        let (notes, silence, iteration) = self.core.take_notes();
        if self.slot.model.info().protocol == Protocol::Tools && !chosen.calls.is_empty() {
            return self.seal_native(chosen, handled, &notes, silence);
        }
        let mut body = format!("### iteration {iteration}\n{}", action_line(chosen));
        if !silence {
            for outcome in handled.outcomes.iter().filter(|outcome| !outcome.is_empty()) {
                let _ = write!(body, "\nresult: {outcome}");
            }
            body.push_str(&notes);
        }
        self.memory.seal(&iteration.to_string(), &body);
    }

    fn seal_native(&mut self, chosen: &Chosen, handled: &Handled, notes: &str, silence: bool) {
        let each = handled.outcomes.len() == chosen.calls.len();
        let results = chosen
            .calls
            .iter()
            .enumerate()
            .map(|(index, call)| {
                let mut content = match (index, each) {
                    (_, true) => handled.outcomes[index].clone(),
                    (0, false) => handled.outcomes.join("\n"),
                    _ => "Not executed: one action a turn.".to_owned(),
                };
                if index == 0 {
                    content.push_str(notes);
                }
                if silence || content.trim().is_empty() {
                    content = "done".to_owned();
                }
                ToolResult { id: call.id.clone(), content: content.trim_start().to_owned(), is_error: !handled.ok }
            })
            .collect();
        self.memory.seal_calls(&chosen.text, chosen.calls.clone(), results);
    }

    /// Appends what hooks said before the first iteration.
    fn seal_notes(&mut self) {
        let (notes, silence, _) = self.core.take_notes();
        if !notes.is_empty() && !silence {
            self.memory.seal("0", notes.trim_start());
        }
    }
}

impl LoopCore {
    /// The end that a `request_async` step asks for.
    fn wants_async(&self) -> Option<End> {
        self.state().request_async.then(|| End::new(ExitReason::Async))
    }

    /// Lets steps know what people have already seen of this reply.
    fn show_streamed(&self, chosen: &Chosen) {
        self.state().streamed = chosen.shown.nodes().map(|(n, t)| (n.to_owned(), t.to_owned())).collect();
    }

    /// Feedback and timeline entries since the last seal, as lines; whether they stay out of the prompt; the iteration.
    fn take_notes(&self) -> (String, bool, u32) {
        let mut state = self.state();
        let feedback = std::mem::take(&mut state.feedback);
        let entries = std::mem::take(&mut state.timeline);
        let mut notes = String::new();
        for text in &feedback {
            let _ = write!(notes, "\nfeedback: {text}");
        }
        for entry in entries {
            let _ = write!(notes, "\n{}: {}", entry.kind, super::act::outcome_text(&entry.content));
        }
        if state.silence {
            state.next_feedback.clear();
        } else {
            state.next_feedback.extend(feedback);
        }
        (notes, state.silence, state.iteration)
    }
}

/// The action as the model wrote it, in one line: normalised, so that a broken reply is not repeated back to it.
fn action_line(chosen: &Chosen) -> String {
    let mut line = serde_json::Map::new();
    line.insert("@action".to_owned(), Json::from(chosen.action.name.as_str()));
    if let Some(identifier) = &chosen.identifier {
        line.insert("identifier".to_owned(), Json::from(identifier.as_str()));
    }
    line.extend(chosen.params.iter().map(|(key, value)| (key.clone(), value.clone())));
    let mut text = Json::Object(line).to_string();
    for (name, body) in &chosen.tags {
        let _ = write!(text, "\n{name}: {}", super::act::outcome_text(&minijinja::Value::from(body.as_str())));
    }
    text
}
