//! What a person reads of a run.

use serde_json::json;

use super::*;
use crate::event::{CallPurpose, EventStream, RunId, Usage};

#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Buffer {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

const PLAIN: ScreenOptions =
    ScreenOptions { live: false, color: false, answers_live: false, verbosity: Verbosity::Normal };
const LIVE: ScreenOptions = ScreenOptions { live: true, color: true, answers_live: true, verbosity: Verbosity::Normal };

/// What the events put on progress and on answers.
fn draw(options: ScreenOptions, events: Vec<Event>) -> (String, String) {
    let (progress, answers) = (Buffer::default(), Buffer::default());
    let trouble = Arc::new(Trouble::new(|_| {}));
    let view = Terminal::new(Box::new(progress.clone()), Box::new(answers.clone()), options, trouble);
    let stream = EventStream::new(RunId("r".into()), vec![Arc::new(view)], crate::event::Secrets::default());
    for event in events {
        stream.emit(event);
    }
    (progress.text(), answers.text())
}

fn started(source: ReplySource) -> Event {
    Event::RunStarted {
        loop_name: "log".into(),
        source,
        model: "openai:m".into(),
        input_bytes: 1234,
        max_iterations: 15,
    }
}

fn call() -> Event {
    Event::ModelCallStarted {
        call: 1,
        purpose: CallPurpose::Action,
        tier: "main".into(),
        model: "openai:m".into(),
        attempt: 1,
    }
}

fn delta(node: &str, text: &str) -> Event {
    Event::Delta { node: node.into(), content_type: "text/markdown".into(), text: text.into() }
}

fn answer(text: &str) -> Event {
    Event::Answer { text: text.into(), content_type: "text/markdown".into(), streamed: true }
}

fn finished(reason: ExitReason, cost_usd: Option<f64>) -> Event {
    Event::RunFinished {
        reason,
        exit_code: reason.exit_code(),
        error: None,
        ignored: false,
        iterations: 1,
        model_calls: 1,
        tool_calls: 2,
        usage: Usage { input: 1200, output: 34, cache_read: 0, cache_write: 0 },
        cost_usd,
        duration_ms: 3210,
    }
}

/// A whole run with hostile text in it.
fn run() -> Vec<Event> {
    vec![
        started(ReplySource::Script { path: "scripts/log.yaml".into() }),
        Event::IterationStarted { iteration: 1, max_iterations: 15 },
        call(),
        delta("thought", "I look \u{1b}[2J at"),
        delta("thought", " it.\nThen"),
        delta("thought", " more."),
        Event::ModelCallFailed {
            call: 1,
            attempt: 1,
            class: "rate_limit".into(),
            message: "slow down".into(),
            retry_in_ms: Some(1500),
            usage: Usage::default(),
            cost_usd: None,
        },
        call(),
        delta("answer", "Two of th"),
        delta("answer", "em.\n"),
        Event::Action {
            action: "directly_answer".into(),
            identifier: None,
            thought: None,
            params: json!({ "kind": "x" }),
            tags: vec!["FINAL_ANSWER".into()],
            repairs: vec![],
        },
        Event::ToolStarted { tool_call: 1, tool: "read_file".into(), identifier: None, params: json!({ "path": "a" }) },
        Event::ToolFinished {
            tool_call: 1,
            tool: "read_file".into(),
            status: ToolStatus::Done,
            result: json!("line 1\nline 2"),
            duration_ms: 12,
        },
        Event::StepFinished {
            path: "actions.x.do[0]".into(),
            verb: "run".into(),
            status: StepStatus::Failed,
            duration_ms: 5,
            message: Some("exit code 3".into()),
        },
        Event::Artifact { path: "report.md".into(), bytes: 9 },
        answer("Two of them.\n"),
        finished(ExitReason::Exit, None),
    ]
}

#[test]
fn a_run_reads_line_by_line_without_a_terminal() {
    let (progress, answers) = draw(PLAIN, run());
    assert_eq!(answers, "Two of them.\n");
    assert!(!progress.contains('\u{1b}') && !progress.contains('\r'), "{progress}");
    insta::assert_snapshot!(progress, @r"
    log, answered by a SCRIPT, not by a model: scripts/log.yaml
    input: 1.2 KB; at most 15 iterations
    iteration 1 of at most 15
      thought: I look \u{1b}[2J at it.
      thought: Then more.
      ! model call failed (rate_limit): slow down; again in 1.5 s
      > directly_answer: kind: x + FINAL_ANSWER
        tool 1 read_file: path: a
        tool 1 read_file done (12 ms): line 1 line 2
        run failed (actions.x.do[0], 5 ms): exit code 3
        wrote report.md (9 bytes)
    finished: exit (1 iteration, 1 model call, 2 tool calls, 3.2 s)
    1,200 tokens in, 34 out
    answered by a SCRIPT, not by a model: scripts/log.yaml
    ");
}

#[test]
fn a_terminal_sees_text_grow_and_the_answer_once() {
    let (progress, answers) = draw(LIVE, run());
    assert_eq!(answers, "Two of them.\n", "what has been watched is not repeated");
    assert!(progress.contains("\u{1b}[2m"), "colours: {progress:?}");
    assert!(progress.contains("I look \\u{1b}[2J at"), "the text's own escape is spelled out: {progress:?}");
}

#[test]
fn quiet_gives_the_answer_and_says_that_a_script_answered() {
    let (progress, answers) = draw(ScreenOptions { verbosity: Verbosity::Quiet, ..PLAIN }, run());
    assert_eq!(answers, "Two of them.\n");
    assert_eq!(progress, "answered by a SCRIPT, not by a model: scripts/log.yaml\n");
    let by_model = vec![started(ReplySource::Model), answer("x"), finished(ExitReason::Exit, Some(0.0123))];
    let (progress, answers) = draw(ScreenOptions { verbosity: Verbosity::Quiet, ..PLAIN }, by_model);
    assert_eq!((progress.as_str(), answers.as_str()), ("", "x\n"));
}

#[test]
fn a_model_s_run_shows_who_answers_and_what_it_cost() {
    let events = vec![started(ReplySource::Model), finished(ExitReason::MaxIterations, Some(0.0123))];
    let (progress, _) = draw(PLAIN, events);
    assert!(progress.starts_with("log, answered by openai:m\n"), "{progress}");
    assert!(progress.contains("1,200 tokens in, 34 out; cost $0.0123"), "{progress}");
    assert!(progress.contains("finished: max_iterations") && !progress.contains("SCRIPT"), "{progress}");
}

#[test]
fn a_corrected_answer_is_written_again() {
    let events = vec![
        call(),
        delta("answer", "wrong"),
        Event::Correction { node: "answer".into(), text: "right".into() },
        answer("right"),
    ];
    let (progress, answers) = draw(LIVE, events.clone());
    assert_eq!(answers, "wrong\nright\n");
    assert!(progress.contains("withdrawn; this counts instead"), "{progress}");
    let (_, answers) = draw(PLAIN, events);
    assert_eq!(answers, "right\n", "a file gets only what counts");
}

#[test]
fn texts_that_grow_at_the_same_time_stay_apart_where_lines_are_whole() {
    let events = vec![delta("left", "one "), delta("right", "1 "), delta("left", "two\nth"), delta("right", "2")];
    let (progress, _) = draw(PLAIN, [events, vec![Event::Status { text: "on".into() }]].concat());
    assert_eq!(progress, "  left: one two\n  left: th\n  right: 1 2\n  on\n");
}

#[test]
fn a_sub_task_s_answer_is_not_the_run_s() {
    let (progress, answers) = (Buffer::default(), Buffer::default());
    let trouble = Arc::new(Trouble::new(|_| {}));
    let view = Terminal::new(Box::new(progress.clone()), Box::new(answers.clone()), PLAIN, trouble);
    let stream = EventStream::new(RunId("r".into()), vec![Arc::new(view)], crate::event::Secrets::default());
    stream.for_task("r/sub").emit(answer("for my parent"));
    stream.emit(answer("for the user"));
    assert_eq!(answers.text(), "for the user\n");
    assert!(progress.text().contains("for my parent"));
}

#[test]
fn the_spinner_shows_what_is_waited_for_and_goes_away() {
    let (progress, answers) = (Buffer::default(), Buffer::default());
    let trouble = Arc::new(Trouble::new(|_| {}));
    let view = Terminal::new(Box::new(progress.clone()), Box::new(answers), LIVE, trouble);
    let stream = EventStream::new(RunId("r".into()), vec![Arc::new(view)], crate::event::Secrets::default());
    stream.emit(call());
    std::thread::sleep(Duration::from_millis(600));
    assert!(progress.text().contains("waiting for openai:m"), "{:?}", progress.text());
    stream.emit(Event::Status { text: "on".into() });
    let text = progress.text();
    let last = text.rfind("waiting for").unwrap();
    assert!(text[last..].contains("\r\u{1b}[K  on\n"), "cleared before the next line: {text:?}");
}
