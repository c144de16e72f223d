//! The judge: one structured call that says whether the goal is reached, and what comes with its answer.
//!
//! What the loop's own model says reaches the judge as untrusted material only. Its verdict is read from the judge's own
//! reply, against a schema of its own: words in a reply, a file or a result that look like a verdict are just words.

use indexmap::IndexMap;
use minijinja::Value;
use minijinja::value::Serde;
use serde_json::{Value as Json, json};

use super::Ask;
use super::verify::Claim;
use crate::document::{Decision, Effect};
use crate::engine::act::{outcome_text, shorten};
use crate::engine::core::LoopCore;
use crate::event::{CallPurpose, CheckState, Event, OutputFile, VerificationState};
use crate::mechanism::verification::{Answer, EvidenceChange, EvidenceOp};
use crate::policy::Access;
use crate::state::{Frame, Scope};

/// Actions that the judge sees.
const ACTIONS: usize = 12;

/// The most bytes of an answer, of the evidence, and of the instruction.
const TEXT: usize = 16 * 1024;

/// The most files that are pinned, and bytes of one that the next prompt shows.
const FILES: usize = 8;
const EXCERPT: usize = 1024;

/// The most pieces of evidence, and bytes of one, that a judge may leave.
const EVIDENCE: usize = 50;
const CONTENT: usize = 2000;

impl LoopCore {
    /// Asks the judge. Gives the verdict, and whether it brought a new file or new evidence.
    ///
    /// # Errors
    /// Why there is no verdict, in words.
    pub(super) async fn ask_judge(
        &self,
        claim: &Claim,
        checks: Vec<CheckState>,
        before: &VerificationState,
    ) -> Result<(VerificationState, bool), String> {
        let settings = &self.gate.settings;
        let frame = Frame::default()
            .with("trigger", Value::from(claim.trigger.name()))
            .with("reason", Value::from(claim.reason.as_deref().unwrap_or_default()));
        let ask = Ask {
            purpose: CallPurpose::Verification,
            tier: &settings.tier,
            prompt: &self.gate.prompt,
            frame,
            material: self.judge_material(claim, &checks, before),
            schema: schema(settings.threshold.is_some()),
            stream: IndexMap::new(),
            phase: claim.phase,
        };
        let answer: Answer = self.ask_mechanism(ask).await?;
        let mut state = answer.weigh(settings);
        state.checks = checks;
        let changed = self.change_evidence(&answer.evidence);
        state.output_files = self.pin(answer.output_files, &before.output_files).await;
        let pinned = state.output_files.len() > before.output_files.len();
        Ok((state, changed || pinned))
    }

    /// What the judge gets to see: all of it untrusted.
    fn judge_material(
        &self,
        claim: &Claim,
        checks: &[CheckState],
        before: &VerificationState,
    ) -> Vec<(&'static str, String)> {
        let (asked, evidence, todo) = {
            let state = self.state();
            let answers = state.history.iter().filter(|record| record.action == "ask_for_clarification");
            let asked: Vec<String> = answers.map(|record| outcome_text(&record.result)).collect();
            let evidence = if state.evidence.is_empty() { None } else { Some(Value::from(Serde(&state.evidence))) };
            (asked.join("\n"), evidence, state.todo.clone())
        };
        let lists = |value: Option<Value>| value.map(|value| outcome_text(&value)).unwrap_or_default();
        let mut material = vec![
            ("USER_QUERY", self.task_text()),
            ("INSTRUCTION", shorten(self.instruction_text(), TEXT)),
            ("USER_ANSWERS", asked),
            ("ACTIONS", self.offered_text()),
            ("RECENT_ACTIONS", self.actions_text(ACTIONS)),
            ("NOTES", self.notes_text()),
            // Words of a step are often about values of the run.
            ("ATTENTION", claim.reason.clone().unwrap_or_default()),
            ("ANSWER", shorten(claim.answer.clone().unwrap_or_default(), TEXT)),
            ("EVIDENCE", shorten(lists(evidence), TEXT)),
            ("TODO", lists((!todo.is_empty()).then(|| Value::from(todo)))),
            ("CHECKS", if checks.is_empty() { String::new() } else { json!(checks).to_string() }),
        ];
        if before.count > 0 {
            let last = json!({
                "missing": before.missing, "next_movements": before.next_movements, "reasoning": before.reasoning,
                "output_files": before.output_files.iter().map(|file| &file.path).collect::<Vec<_>>(),
            });
            material.push(("LAST_VERDICT", last.to_string()));
        }
        material.retain(|(_, text)| !text.trim().is_empty());
        material
    }

    /// What the loop is told to do; nothing where that cannot be said outside of its prompt.
    fn instruction_text(&self) -> String {
        let Some(section) = self.program.sections.iter().find(|section| section.name == "PERSISTENT") else {
            return String::new();
        };
        let frame = Frame::default()
            .with("nonce", Value::from("NONCE"))
            .with("actions", Value::from(Vec::<Value>::new()))
            .with("tags", Value::from(Vec::<Value>::new()))
            .with("last_iteration", Value::from(false));
        let context = Scope::new(self.base.clone(), frame).context();
        self.render_source(&section.source, &context).unwrap_or_default()
    }

    /// What the loop can do at all.
    fn offered_text(&self) -> String {
        let actions = self.program.actions.values().map(|action| format!("{}: {}", action.name, action.description));
        let tools = self.program.tools.iter().filter_map(|name| self.edition.toolbox.get(name));
        let tools = tools.map(|tool| format!("tool {}: {}", tool.name, tool.description));
        actions.chain(tools).collect::<Vec<_>>().join("\n")
    }

    /// Makes the judge's changes of the evidence; whether there were any. One that does not fit is made as it is meant.
    fn change_evidence(&self, changes: &[EvidenceChange]) -> bool {
        let (changed, all) = {
            let mut state = self.state();
            let mut changed = false;
            for change in changes {
                let id = shorten(change.id.trim().to_owned(), 100);
                let evidence = &mut state.evidence;
                match change.op {
                    EvidenceOp::Remove => changed |= evidence.shift_remove(&id).is_some(),
                    EvidenceOp::Add | EvidenceOp::Update => {
                        let content = Value::from(shorten(change.content.clone(), CONTENT));
                        let room = evidence.len() < EVIDENCE || evidence.contains_key(&id);
                        if !id.is_empty() && room && evidence.get(&id) != Some(&content) {
                            evidence.insert(id, content);
                            changed = true;
                        }
                    }
                }
            }
            (changed, changed.then(|| json!(state.evidence)))
        };
        if let Some(evidence) = all {
            self.events.emit(Event::Evidence { evidence });
        }
        changed
    }

    /// The files that the loop brought: those that were known and are still there, and new ones. What lies outside the
    /// workspace's roots, does not exist, or is not for the model to read, is none.
    async fn pin(&self, named: Vec<String>, known: &[OutputFile]) -> Vec<OutputFile> {
        let paths: Vec<String> = known.iter().map(|file| file.path.clone()).chain(named).collect();
        if paths.is_empty() {
            return Vec::new();
        }
        let access = self.access.clone();
        let files = tokio::task::spawn_blocking(move || {
            let mut files: Vec<OutputFile> = Vec::new();
            for file in paths.iter().filter_map(|path| look_at_file(&access, path)) {
                if files.len() < FILES && files.iter().all(|known| known.path != file.path) {
                    files.push(file);
                }
            }
            files
        });
        // Without its thread nothing was looked at, so nothing is pinned.
        let files = files.await.unwrap_or_default();
        for file in files.iter().filter(|file| known.iter().all(|known| known.path != file.path)) {
            self.events.emit(Event::FilePinned { path: file.path.clone(), bytes: file.bytes });
        }
        files
    }
}

/// A file inside the roots, with its beginning.
///
/// The judge has read what the loop read, so it may have been talked into naming a file: what the policy does not let the
/// model read does not get into its prompt this way either.
fn look_at_file(access: &Access, path: &str) -> Option<OutputFile> {
    let inside = access.resolve(path.trim()).ok()?;
    let (decision, _) = access.decide("read_file", &json!({ "path": inside.shown() }), Effect::Pure);
    if decision != Decision::Allow {
        return None;
    }
    let bytes = access.open(&inside).ok()?.metadata().ok()?.len();
    let contents = access.read(&inside, EXCERPT).ok()?;
    let text = match std::str::from_utf8(&contents.bytes) {
        Ok(text) => text,
        // The cut may have gone through a character.
        Err(error) if contents.more && contents.bytes.len() - error.valid_up_to() < 4 => {
            std::str::from_utf8(&contents.bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => "",
    };
    let excerpt = if contents.more && !text.is_empty() { format!("{text}\n[…]") } else { text.to_owned() };
    Some(OutputFile { path: inside.shown().to_owned(), bytes, excerpt })
}

/// What the judge answers.
fn schema(sure: bool) -> Json {
    let list =
        |about: &str| json!({ "type": "array", "items": { "type": "string" }, "maxItems": 12, "description": about });
    let mut required = vec!["reasoning", "satisfied", "missing"];
    if sure {
        required.push("confidence");
    }
    json!({
        "type": "object",
        "required": required,
        "additionalProperties": false,
        "properties": {
            "reasoning": { "type": "string", "description": "What shows that the goal is reached, or that it is not. Two to five sentences." },
            "satisfied": { "type": "boolean", "description": "Whether everything that the user asked for is done." },
            "missing": list("What is not done yet, one item each. Empty when the goal is reached."),
            "impossible": { "type": "boolean", "description": "Whether nothing that the agent can do will ever reach the goal." },
            "confidence": { "type": "number", "minimum": 0, "maximum": 1, "description": "How sure you are." },
            "output_files": list("Paths of the files that the agent brought and the user will want."),
            "evidence": {
                "type": "array", "maxItems": 12, "description": "Changes of EVIDENCE: facts that the goal is judged by.",
                "items": {
                    "type": "object", "required": ["op", "id"], "additionalProperties": false,
                    "properties": {
                        "op": { "enum": ["add", "update", "remove"] },
                        "id": { "type": "string", "description": "A short name, in snake_case." },
                        "content": { "type": "string", "description": "The fact, with where it comes from." }
                    }
                }
            },
            "next_movements": list("What the agent should do next, when the goal is not reached."),
            "completed_task_index": list("Ids of the todos, or numbers of the parts of the task, that are done.")
        }
    })
}
