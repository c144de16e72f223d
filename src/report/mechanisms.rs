//! What the mechanisms' events say to a person, in a line each.

use super::figures;
use super::plain::{escape, one_line};
use super::screen::Look;
use crate::event::{
    AsyncStatus, CatalogMatch, Decision, Event, Grounds, LoadOutcome, SkillChange, SpinConsequence,
    VerificationConsequence, VerificationOutcome,
};

/// The most characters of what a model says.
const WIDE: usize = 200;

/// A line for a person.
pub(super) enum Told {
    /// Always.
    Line(Look, String),
    /// When more is asked for.
    Detail(String),
}

/// The line of a mechanism's event; none for other events.
pub(super) fn told(event: &Event) -> Option<Told> {
    let failed =
        |what: &str, error: &str| Told::Line(Look::Warning, format!("  ! no {what}: {}", one_line(error, WIDE)));
    Some(match event {
        Event::Mechanisms { decisions, .. } => {
            let decisions: Vec<String> = decisions.iter().map(decision).collect();
            Told::Detail(format!("  decided: {}", decisions.join("; ")))
        }
        Event::Skill { skill, change, detail } => {
            let what = match change {
                SkillChange::Loaded => "loaded the skill",
                SkillChange::Moved => "looked further into the skill",
                SkillChange::PutAway => "put away the skill",
                SkillChange::Resource => "read a file of the skill",
            };
            let detail = if detail.is_empty() { String::new() } else { format!(": {}", one_line(detail, WIDE)) };
            Told::Line(Look::Dim, format!("  {what} {}{detail}", one_line(skill, 60)))
        }
        Event::Perception { error: Some(error), .. } => failed("perception", error),
        Event::Perception { written: false, grounds, .. } => {
            Told::Detail(format!("  perception: nothing new ({})", numbers(grounds)))
        }
        Event::Perception { state: Some(state), trigger, .. } => {
            let (summary, topics) = (one_line(&state.summary, WIDE), one_line(&state.topics.join(", "), WIDE));
            Told::Line(Look::Dim, format!("  perception ({}): {summary} [{topics}]", trigger.name()))
        }
        Event::Reflection { error: Some(error), .. } => failed("reflection", error),
        Event::Reflection { state: Some(state), grounds, .. } => {
            let words = if state.assessment.is_empty() { state.data.to_string() } else { state.assessment.clone() };
            let (level, rule) = (escape(&state.level), escape(&grounds.rule));
            Told::Line(Look::Dim, format!("  reflection ({level}, {rule}): {}", one_line(&words, WIDE)))
        }
        Event::Spin { error: Some(error), .. } => failed("second opinion on a suspected spin", error),
        Event::Spin { opinion: Some(said), grounds, .. } if !said.counts => {
            let what = if said.is_spinning { "a spin, not sure enough" } else { "no spin" };
            let reason = one_line(&said.reason, WIDE);
            Told::Detail(format!("  second opinion: {what} ({}): {reason}", numbers(grounds)))
        }
        Event::Spin { state, .. } if !state.is_spinning => Told::Detail("  suspected spin: none".to_owned()),
        Event::Spin { state, grounds, consequence, .. } => {
            let what = match consequence {
                SpinConsequence::None => "spin",
                SpinConsequence::Warning => "spin, the model is warned",
                SpinConsequence::End => "spin, the loop ends",
            };
            let (action, reason) = (one_line(&state.action, 60), one_line(&state.reason, WIDE));
            let grounds = numbers(grounds);
            let times = if state.count > 0 { format!(" x {}", state.count) } else { String::new() };
            Told::Line(Look::Warning, format!("  ! {what}: {action}{times} ({grounds}): {reason}"))
        }
        Event::Load { identifier, kind, outcome, detail } => {
            let what = kind.map_or("nothing", |kind| kind.name());
            let detail = detail.as_deref().map(|words| format!(": {}", one_line(words, WIDE))).unwrap_or_default();
            let line = format!("{} is {what}, {}{detail}", one_line(identifier, 60), outcome.name().replace('_', " "));
            match outcome {
                LoadOutcome::Failed | LoadOutcome::Unknown | LoadOutcome::Blocked => {
                    Told::Line(Look::Warning, format!("  ! {line}"))
                }
                _ => Told::Detail(format!("  {line}")),
            }
        }
        Event::AsyncStarted { name, .. } => {
            Told::Line(Look::Heading, format!("  {} takes the work over", one_line(name, 60)))
        }
        Event::AsyncFinished { name, status, duration_ms, .. } => {
            let (look, how) = match status {
                AsyncStatus::Done => (Look::Good, "done"),
                AsyncStatus::Error => (Look::Bad, "failed"),
                AsyncStatus::Silent => (Look::Bad, "silent for too long"),
                AsyncStatus::Stopped => (Look::Warning, "stopped"),
            };
            Told::Line(look, format!("  {} is over: {how} ({})", one_line(name, 60), figures::time(*duration_ms)))
        }
        Event::Capability { catalog: Some(CatalogMatch { error: Some(error), .. }), .. } => {
            failed("choice from the catalog of capabilities", error)
        }
        Event::Capability { queries, found, .. } => {
            let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
            let (asked, names) = (one_line(&queries.join("; "), 60), one_line(&names.join(", "), WIDE));
            let names = if names.is_empty() { "nothing".to_owned() } else { names };
            Told::Line(Look::Dim, format!("  searched ({asked}): {names}"))
        }
        Event::Progress { state, ends, grounds, .. } => {
            let line = format!(
                "progress: {} ({})",
                state.figure.map_or("no figure".to_owned(), |f| f.to_string()),
                numbers(grounds)
            );
            if *ends { Told::Line(Look::Warning, format!("  ! no {line}")) } else { Told::Detail(format!("  {line}")) }
        }
        Event::TodoCheckpoint { state, grounds } => {
            let what = match state.action.as_str() {
                "" => format!("todo {} lasts", one_line(&state.current, 60)),
                action => format!("{} is held back", one_line(action, 60)),
            };
            Told::Line(Look::Dim, format!("  todo checkpoint: {what} ({})", numbers(grounds)))
        }
        Event::Verification { error: Some(error), .. } => failed("verdict", error),
        Event::Verification { trigger, grounds, outcome: VerificationOutcome::None, .. } => {
            Told::Detail(format!("  no verification ({}, {})", trigger.name(), numbers(grounds)))
        }
        Event::Verification { trigger, state, consequence, because, grounds, restored, .. } => {
            let (look, what) = match consequence {
                VerificationConsequence::Satisfied => (Look::Dim, "the goal is reached"),
                VerificationConsequence::Continue => (Look::Dim, "the goal is not reached yet"),
                VerificationConsequence::Refused => (Look::Warning, "the goal is not reached yet, the loop goes on"),
                VerificationConsequence::Unverified => (Look::Warning, "nobody can say that the goal is reached"),
            };
            let mark = if look == Look::Warning { "!" } else { "?" };
            let failed = state.checks.iter().filter(|check| !check.passed).map(|check| check.name.as_str());
            let words: Vec<&str> = state.missing.iter().map(String::as_str).chain(failed).collect();
            let words =
                if words.is_empty() { one_line(&state.reasoning, WIDE) } else { one_line(&words.join("; "), WIDE) };
            let back = if restored.is_empty() {
                String::new()
            } else {
                format!(" [put back: {}]", one_line(&restored.join(", "), WIDE))
            };
            let rules = format!("{}, {}, {}", trigger.name(), escape(&grounds.rule), escape(&because.rule));
            Told::Line(look, format!("  {mark} verification ({rules}): {what}: {words}{back}"))
        }
        Event::FilePinned { path, bytes } => {
            Told::Line(Look::Dim, format!("  file {} ({bytes} bytes)", one_line(path, WIDE)))
        }
        _ => return None,
    })
}

fn decision(decision: &Decision) -> String {
    let act = if decision.act { "yes" } else { "no" };
    format!("{} {act} ({})", decision.mechanism.name(), numbers(&decision.grounds))
}

/// A rule with its numbers.
fn numbers(grounds: &Grounds) -> String {
    let numbers = grounds.numbers.iter().map(|(name, figure)| format!(" {}={figure}", escape(name)));
    format!("{}{}", escape(&grounds.rule), numbers.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{MechanismName, PerceptionState, PerceptionTrigger, SpinOpinion, SpinState};

    fn text(event: &Event) -> String {
        match told(event) {
            Some(Told::Line(_, text)) => text,
            Some(Told::Detail(text)) => format!("detail {text}"),
            None => String::new(),
        }
    }

    #[test]
    fn each_event_is_one_safe_line_with_its_grounds() {
        let grounds = Grounds::of("min_interval").with("since_ms", 3_u32).with("share", 0.5);
        let decision = Decision { mechanism: MechanismName::Perception, act: false, grounds: grounds.clone() };
        let event = Event::Mechanisms { iteration: 1, decisions: vec![decision] };
        assert_eq!(text(&event), "detail   decided: perception no (min_interval share=0.5 since_ms=3)");
        let state = PerceptionState { summary: "looks\n\u{1b}[2Jaround".into(), ..PerceptionState::default() };
        let event = Event::Perception {
            trigger: PerceptionTrigger::Forced,
            reason: None,
            grounds,
            written: true,
            state: Some(state),
            error: None,
        };
        assert_eq!(text(&event), "  perception (forced): looks \\u{1b}[2Jaround []");
        let state = SpinState { is_spinning: true, action: "read".into(), count: 4, ..SpinState::default() };
        let grounds = Grounds::of("exact").with("count", 4_u32);
        let event = Event::Spin { grounds, state, consequence: SpinConsequence::Warning, opinion: None, error: None };
        assert_eq!(text(&event), "  ! spin, the model is warned: read x 4 (exact count=4): ");
        let said = SpinOpinion { is_spinning: true, confidence: 0.8, reason: "reads on".into(), counts: false };
        let grounds = Grounds::of("same_action").with("confidence", 0.8).with("needed", 0.9);
        let state = SpinState::default();
        let event =
            Event::Spin { grounds, state, consequence: SpinConsequence::None, opinion: Some(said), error: None };
        let told = "detail   second opinion: a spin, not sure enough (same_action confidence=0.8 needed=0.9): reads on";
        assert_eq!(text(&event), told);
    }
}
