//! Checks: programs and expressions that decide without a model whether the goal is reached.

use std::fmt::Write as _;

use minijinja::Value;

use crate::diag::Diagnostics;
use crate::document::{Check, CheckKind, Feedback, FeedbackEnd};
use crate::engine::act::shorten;
use crate::engine::core::{LoopCore, millis};
use crate::engine::host::unless_stopped;
use crate::event::{CheckState, Event, StepStatus};
use crate::state::{Frame, Scope};
use crate::verb::{AnyStep, Phase, StepFailure};

/// The most bytes of a check's output that the model sees.
const OUTPUT: usize = 8 * 1024;

/// A check, ready to run.
pub(in crate::engine) struct CheckProgram {
    /// Where it stands, for events.
    path: String,
    name: String,
    kind: Kind,
    passes: u32,
    of: u32,
    feedback: Feedback,
}

enum Kind {
    Run(Box<dyn AnyStep>),
    That { that: String, message: Option<String> },
}

/// What one try came to.
struct Try {
    passed: bool,
    exit_code: Option<i32>,
    output: String,
}

impl CheckProgram {
    /// Compiles the check at a place of the list.
    ///
    /// # Errors
    /// Arguments that the step `run` does not take.
    pub(super) fn compile(at: usize, check: &Check) -> Result<Self, String> {
        let kind = match (&check.kind, check.run_arguments()) {
            (CheckKind::That { that, message }, _) => {
                Kind::That { that: that.to_string(), message: message.as_ref().map(|message| message.to_string()) }
            }
            (CheckKind::Run { .. }, arguments) => {
                let mut found = Diagnostics::new();
                let step = crate::verb::find("run")
                    .zip(arguments)
                    .and_then(|(verb, arguments)| verb.decode(&arguments, &mut found));
                let problem = || found.iter().map(|one| one.message.clone()).collect::<Vec<_>>().join("; ");
                Kind::Run(step.ok_or_else(|| format!("mechanisms.verification.checks[{at}]: {}", problem()))?)
            }
        };
        Ok(Self {
            path: format!("mechanisms.verification.checks[{at}]"),
            name: check.title(),
            kind,
            passes: check.passes,
            of: check.of,
            feedback: check.feedback.clone(),
        })
    }

    /// Whether a program decides, which would say the same again until something changes.
    pub(super) fn is_program(&self) -> bool {
        matches!(self.kind, Kind::Run(_))
    }
}

impl LoopCore {
    /// Tries all checks, in their order.
    ///
    /// # Errors
    /// Only what stops the run: a check that fails is a result.
    pub(super) async fn run_checks(&self, phase: Phase) -> Result<Vec<CheckState>, StepFailure> {
        let mut states = Vec::with_capacity(self.gate.checks.len());
        for check in &self.gate.checks {
            let verb = if check.is_program() { "run" } else { "that" };
            self.events.emit(Event::StepStarted { path: check.path.clone(), verb: verb.to_owned() });
            let started = std::time::Instant::now();
            let tried = self.try_check(check, phase).await;
            let (status, message) = match &tried {
                Ok(state) if state.passed => (StepStatus::Ok, None),
                Ok(state) => (StepStatus::Failed, Some(state.output.clone())),
                Err(_) => (StepStatus::Cancelled, None),
            };
            let duration_ms = millis(started.elapsed());
            let (path, verb) = (check.path.clone(), verb.to_owned());
            self.events.emit(Event::StepFinished { path, verb, status, duration_ms, message });
            states.push(tried?);
        }
        Ok(states)
    }

    /// Tries a check as often as it takes to decide.
    async fn try_check(&self, check: &CheckProgram, phase: Phase) -> Result<CheckState, StepFailure> {
        let mut state = CheckState { name: check.name.clone(), ..CheckState::default() };
        loop {
            let tried = self.try_once(check, phase).await?;
            state.tries += 1;
            state.passes += u32::from(tried.passed);
            state.exit_code = tried.exit_code;
            if !tried.passed {
                state.output = tried.output;
            }
            state.passed = state.passes >= check.passes;
            let hopeless = state.passes + (check.of - state.tries) < check.passes;
            if state.passed {
                state.output.clear();
            }
            if state.passed || hopeless {
                return Ok(state);
            }
        }
    }

    async fn try_once(&self, check: &CheckProgram, phase: Phase) -> Result<Try, StepFailure> {
        let failed = |output: String| Try { passed: false, exit_code: None, output };
        let scope = Scope::new(self.base.clone(), Frame::default());
        let cx = self.step_context(&scope, phase);
        match &check.kind {
            Kind::Run(step) => match unless_stopped(self.token(phase), step.run(&cx)).await? {
                Ok(value) => Ok(program_result(&value, &check.feedback)),
                Err(StepFailure::Failed(words)) => Ok(failed(words)),
                Err(stop) => Err(stop),
            },
            Kind::That { that, message } => match self.eval(that, &Frame::default()) {
                Ok(value) if value.is_true() => Ok(Try { passed: true, exit_code: None, output: String::new() }),
                Ok(_) => {
                    let words = message.as_ref().map(|message| cx.text(message));
                    Ok(failed(match words {
                        Some(Ok(words)) | Some(Err(StepFailure::Failed(words))) => words,
                        _ => format!("this must hold: {that}"),
                    }))
                }
                Err(failure) => Ok(failed(failure.to_string())),
            },
        }
    }
}

/// What a program's result means.
fn program_result(value: &Value, feedback: &Feedback) -> Try {
    let text = |key: &str| value.get_attr(key).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default();
    let exit_code = value.get_attr("exit_code").ok().and_then(|code| i32::try_from(code).ok());
    let timed_out = value.get_attr("timed_out").is_ok_and(|v| v.is_true());
    let mut output = String::new();
    if timed_out {
        output.push_str("its time was over before it ended\n");
    }
    for (name, stream) in [("stdout", text("stdout")), ("stderr", text("stderr"))] {
        let shown = lines(&stream, feedback);
        if !shown.is_empty() {
            let _ = writeln!(output, "{name}:\n{shown}");
        }
    }
    Try { passed: exit_code == Some(0) && !timed_out, exit_code, output: shorten(output.trim_end().to_owned(), OUTPUT) }
}

/// The lines of an output that the model sees.
fn lines(output: &str, feedback: &Feedback) -> String {
    let fits = |line: &&str| feedback.filter.as_ref().is_none_or(|filter| filter.0.is_match(line));
    let all: Vec<&str> = output.trim_end().lines().filter(fits).collect();
    let left_out = all.len().saturating_sub(feedback.lines);
    if feedback.lines == 0 || all.is_empty() {
        return String::new();
    }
    if left_out == 0 {
        return all.join("\n");
    }
    match feedback.from {
        FeedbackEnd::Head => format!("{}\n[… {left_out} lines more …]", all[..feedback.lines].join("\n")),
        FeedbackEnd::Tail => format!("[… {left_out} lines before …]\n{}", all[left_out..].join("\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feedback(json: serde_json::Value) -> Feedback {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn the_model_sees_the_end_the_beginning_or_the_lines_that_matter() {
        let output = (1..=100).map(|n| format!("line {n}\n")).collect::<String>();
        let shown = |json| lines(&output, &feedback(json));
        assert!(shown("tail".into()).starts_with("[… 40 lines before …]\nline 41\n"));
        assert!(shown("head".into()).ends_with("line 60\n[… 40 lines more …]"));
        assert_eq!(shown("none".into()), "");
        assert_eq!(shown(serde_json::json!({ "filter": "9[78]$" })), "line 97\nline 98");
        assert_eq!(shown(serde_json::json!({ "lines": 1, "from": "head" })), "line 1\n[… 99 lines more …]");
    }

    #[test]
    fn a_program_passes_with_exit_code_0_and_in_time() {
        let result = |json: serde_json::Value| {
            program_result(&Value::from(minijinja::value::Serde(&json)), &Feedback::default())
        };
        let value = |code: Option<i32>, late: bool| serde_json::json!({ "stdout": "a\n", "stderr": "b\n", "exit_code": code, "timed_out": late });
        assert!(result(value(Some(0), false)).passed);
        assert!(!result(value(Some(0), true)).passed);
        let failed = result(value(Some(3), false));
        assert_eq!(
            (failed.passed, failed.exit_code, failed.output.as_str()),
            (false, Some(3), "stdout:\na\nstderr:\nb")
        );
        assert!(result(value(None, true)).output.starts_with("its time was over"));
    }
}
