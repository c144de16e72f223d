//! `run` and `render` against a model server on loopback: streams, flags, exit codes, interruptions.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Done, Folder};
use crate::raw_http::{Ending, Response, Server};

/// A loop with a state variable, an action that goes on and one that ends.
const ECHO: &str = r#"
name: echo
description: Says a word.
state:
  word: { type: string, default: nothing }
  times: { type: integer, default: 1 }
prompt:
  instruction: Say the word.
  reactive: "Word: {{ state.word }}"
actions:
  wait:
    description: Do nothing.
    do: [ { feedback: "You waited." } ]
  say:
    description: Say it.
    params: { text: string! }
    stream: { text: answer }
    do: [ { answer: "{{ params.text }} {{ state.word }} {{ state.times + 1 }}" } ]
    then: exit
hooks:
  finish:
    - artifact: { path: "end-{{ reason }}.txt", content: "{{ input }}" }
"#;

const SAY: &str = r#"{"@action": "say", "human_readable_thought": "I speak.", "text": "The word is"}"#;
const WAIT: &str = r#"{"@action": "wait"}"#;

/// A workspace whose main model is the server, with the loop in it.
fn workspace(server: &Server) -> Folder {
    let url = server.base_url();
    let text = format!(
        "kind: workspace\nmodels:\n  \
           local: {{ provider: openai, model: m-local, base_url: \"{url}\", price: {{ input: 1000, output: 1000 }} }}\n  \
           other: {{ provider: openai, model: m-other, base_url: \"{url}\" }}\n\
         tiers: {{ main: local }}\n\
         retry: {{ base_delay: 10ms, max_delay: 20ms }}\n"
    );
    Folder::new(&[("loopwright.yaml", &text), ("loops/echo.yaml", ECHO)])
}

fn answering(text: &str) -> Server {
    Server::scripted(vec![Response::says(text)])
}

fn events(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// The log is whole: numbered without gaps, and it ends with the end of the run.
#[track_caller]
fn assert_complete(events: &[Value], reason: &str) {
    let numbers: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    assert_eq!(events[0]["event"], "run_started");
    let last = events.last().unwrap();
    assert_eq!((&last["event"], &last["reason"]), (&json!("run_finished"), &json!(reason)), "{last}");
    // Whatever began has its end.
    let mut open: Vec<String> = Vec::new();
    for event in events {
        let key = |kind: &str, names: &[&str]| {
            let parts: Vec<String> = names.iter().map(|name| event[*name].to_string()).collect();
            format!("{kind} {} {}", event["task"], parts.join(" "))
        };
        let (begins, key) = match event["event"].as_str().unwrap() {
            "model_call_started" => (true, key("call", &["call", "attempt"])),
            "model_call_finished" | "model_call_failed" => (false, key("call", &["call", "attempt"])),
            "step_started" => (true, key("step", &["path"])),
            "step_finished" => (false, key("step", &["path"])),
            "tool_started" => (true, key("tool", &["tool_call"])),
            "tool_finished" => (false, key("tool", &["tool_call"])),
            "focus_on" => (true, key("focus", &["loop", "depth"])),
            "focus_off" => (false, key("focus", &["loop", "depth"])),
            _ => continue,
        };
        match open.iter().position(|known| *known == key) {
            _ if begins => open.push(key),
            Some(at) => drop(open.remove(at)),
            None => panic!("ended without a beginning: {event}"),
        }
    }
    assert_eq!(open, [] as [&str; 0], "never ended");
}

#[test]
fn the_answer_goes_to_standard_output_and_all_else_to_standard_error() {
    let server = answering(SAY);
    let folder = workspace(&server);
    let done = folder.run(&["run", "echo", "--input", "hi"]).exits(0);
    assert_eq!(done.stdout, "The word is nothing 2\n");
    assert!(done.stderr.starts_with("echo, answered by openai:m-local\n"), "{done:?}");
    for words in
        ["iteration 1 of at most", "thought: I speak.", "> say: text: The word is", "finished: exit", "cost $0.009"]
    {
        assert!(done.stderr.contains(words), "{words}: {}", done.stderr);
    }
    assert!(!done.stderr.contains('\u{1b}') && !done.stderr.contains('\r'), "{done:?}");
    assert_eq!(folder.read("end-exit.txt"), "hi");
    let quiet = folder.run(&["run", "echo", "--input", "hi", "--quiet"]).exits(0);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("The word is nothing 2\n", ""));
    let verbose = folder.run(&["run", "echo", "--input", "hi", "-v"]).exits(0);
    assert!(verbose.stderr.contains("prompt: ") && verbose.stderr.contains("call 1: "), "{verbose:?}");
}

#[test]
fn events_are_the_same_in_a_file_and_on_standard_output() {
    let server = answering(SAY);
    let folder = workspace(&server);
    let arguments = ["run", "echo", "--input", "hi", "--format", "json", "--events", "run.ndjson"];
    let done = folder.run(&arguments).exits(0);
    assert_eq!(done.stderr, "");
    assert_eq!(done.stdout, folder.read("run.ndjson"));
    let events = events(&done.stdout);
    assert_complete(&events, "exit");
    let finished = events.last().unwrap();
    assert_eq!((&finished["usage"]["input"], &finished["model_calls"]), (&json!(7), &json!(1)), "{finished}");
}

#[test]
fn the_input_comes_from_anywhere() {
    let server = answering(SAY);
    let folder = workspace(&server);
    folder.write("in.txt", "from a file");
    folder.run(&["run", "echo", "--input", "@in.txt"]).exits(0);
    assert_eq!(folder.read("end-exit.txt"), "from a file");
    folder.run_with(&["run", "loops/echo.yaml", "--input", "-"], "from a pipe").exits(0);
    assert_eq!(folder.read("end-exit.txt"), "from a pipe");
    let seen = server.seen();
    assert!(String::from_utf8_lossy(&seen[0].body).contains("from a file"));
    assert!(String::from_utf8_lossy(&seen[1].body).contains("from a pipe"));
}

#[test]
fn every_flag_changes_something() {
    let server = answering(SAY);
    let folder = workspace(&server);
    let run = |more: &[&str]| folder.run(&[&["run", "echo", "--input", "x"], more].concat());
    let done = run(&["--set", "state.word=42", "--set", "state.times=4"]).exits(0);
    assert_eq!(done.stdout, "The word is 42 5\n");
    assert!(String::from_utf8_lossy(&server.seen().last().unwrap().body).contains("Word: 42"));
    let done = run(&["--set", "state.times=many"]).exits(2);
    assert!(done.stderr.contains("times"), "{done:?}");
    let done = run(&["--set", "state.wrod=x"]).exits(2);
    assert!(done.stderr.contains("wrod") && done.stderr.contains("word"), "{done:?}");
    run(&["--model", "main=other"]).exits(0);
    let body: Value = serde_json::from_slice(&server.seen().last().unwrap().body).unwrap();
    assert_eq!(body["model"], "m-other");
    let elsewhere = answering(SAY);
    run(&["--model", &format!("main=openai:m@1@{}", elsewhere.base_url())]).exits(0);
    let body: Value = serde_json::from_slice(&elsewhere.seen()[0].body).unwrap();
    assert_eq!(body["model"], "m@1");
    let done = run(&["--model", "main=opnai:x"]).exits(2);
    assert!(done.stderr.contains("opnai"), "{done:?}");

    let server = answering(WAIT);
    let folder = workspace(&server);
    let done = folder.run(&["run", "echo", "--input", "x", "--max-iterations", "3"]).exits(1);
    assert!(done.stderr.contains("finished: max_iterations (3 iterations, 3 model calls"), "{done:?}");
    assert_eq!(folder.read("end-max_iterations.txt"), "x");
}

#[test]
fn a_recording_answers_again_and_says_that_it_is_one() {
    let server = Server::scripted(vec![Response::says(WAIT), Response::says(SAY)]);
    let folder = workspace(&server);
    folder.run(&["run", "echo", "--input", "x", "--record", "rec.yaml"]).exits(0);
    folder.write(
        "loopwright.yaml",
        "kind: workspace\nmodels: { old: { provider: replay, path: rec.yaml } }\ntiers: { main: old }\n",
    );
    drop(server);
    let by_name = folder.run(&["run", "echo", "--input", "x", "--model", "main=replay:rec.yaml"]).exits(0);
    let done = folder.run(&["run", "echo", "--input", "x"]).exits(0);
    assert_eq!(done.stdout, "The word is nothing 2\n");
    assert_eq!(by_name.stdout, done.stdout);
    let says = done.stderr.matches("answered by a RECORDING of a model, not by a model: ").count();
    assert_eq!(says, 2, "the first line and the last: {}", done.stderr);
    let done = folder.run(&["run", "echo", "--input", "y", "--quiet"]).exits(1);
    assert!(done.stdout.is_empty() && done.stderr.contains("differs first in"), "{done:?}");
}

#[test]
fn what_cannot_start_exits_with_2_and_says_what_to_do() {
    let server = answering(SAY);
    let folder = workspace(&server);
    for (arguments, words) in [
        (&["run", "ehco"][..], "did you mean `echo`?"),
        (&["run", "loops/none.yaml"], "there is no such file"),
        (&["run", "echo", "--input", "@none.txt"], "none.txt"),
        (&["run", "echo", "--max-iterations", "0"], "1..=100000"),
        (&["run", "echo", "--model", "small"], "The workspace has no model `small`"),
        (&["run", "echo", "--events", "no/such/folder/x"], "Cannot write the events to no/such/folder/x"),
        (&["run", "echo", "--record", "no/such/folder/x"], "no/such/folder/x"),
    ] {
        let done = folder.run(arguments).exits(2);
        assert!(done.stderr.contains(words), "{arguments:?}: {done:?}");
        assert!(done.stdout.is_empty(), "{arguments:?}: {done:?}");
    }
    folder.write("loops/broken.yaml", "name: broken\nprompt: { instruction: x }\nlimits: { max_iteratoins: 3 }\n");
    for word in ["broken", "loops/broken.yaml"] {
        let done = folder.run(&["run", word]).exits(2);
        assert!(done.stderr.contains("broken.yaml:3:11") && done.stderr.contains("`max_iterations`?"), "{done:?}");
    }
    assert!(server.seen().is_empty(), "nothing was sent");
}

/// A replay gives the events of the run that was recorded, but for what says that it is a replay.
#[test]
#[cfg(unix)]
fn a_replay_gives_the_events_of_the_run() {
    // Braces that mean something in templates and in the recording itself are the model's own words here.
    let words = "so {{ nonce }} and {{nonce}} {% if %} {{ '{{' }} nonce }} [secret]";
    let save = json!({ "@action": "save", "text": words }).to_string();
    let say = json!({ "@action": "say", "text": words }).to_string();
    let server = Server::scripted(vec![Response::says(&save), Response::says(&say)]);
    let folder = workspace(&server);
    let save = "  save: { description: Save it., params: { text: string! }, do: [ { artifact: { path: saved, content: '{{ params.text }}' } } ] }\n";
    folder.write("loops/echo.yaml", ECHO.replace("actions:\n", &format!("actions:\n{save}")));
    let run = |more: &[&str]| {
        folder.run(&[&["run", "echo", "--events", "run.ndjson"], more].concat()).exits(0);
        assert_eq!(folder.read("saved"), words);
        let mut events = events(&folder.read("run.ndjson"));
        for event in &mut events {
            let event = event.as_object_mut().unwrap();
            for name in ["at_ms", "run", "task", "duration_ms", "source", "model", "cost_usd", "tokens"] {
                event.remove(name);
            }
            // Nonces are drawn anew, and so fall into more or fewer tokens.
            for section in event.get_mut("sections").and_then(Value::as_array_mut).into_iter().flatten() {
                section.as_object_mut().unwrap().remove("tokens");
            }
        }
        events
    };
    let first = run(&["--record", "rec.yaml"]);
    assert_eq!(run(&["--model", "main=replay:rec.yaml"]), first);
}

/// A provider, a model, a tool and a helper's provider repeat keys: none of them is shown or written down.
#[test]
fn keys_show_up_nowhere() {
    const KEYS: [&str; 2] = ["sk-main-0123456789", "sk-helper-9876543210"];
    let refusal = |key: &str| Response::status(400).body([format!("no good: Bearer {key}")]);
    let spoken = format!("{{\"@action\": \"say\", \"text\": \"It is {} indeed\"}}", KEYS[0]);
    let pieces = spoken.as_bytes().chunks(5).map(|piece| {
        let delta = json!({ "choices": [{ "index": 0, "delta": { "content": String::from_utf8_lossy(piece) } }] });
        format!("data: {delta}\n\n")
    });
    let spoken = Response::events(pieces.chain(["data: [DONE]\n\n".to_owned()]));
    let read = r#"{"@action": "directly_call_tool", "tool_name": "read_file", "params": {"path": "keys"}}"#;
    let server = Server::scripted(vec![
        Response::says(r#"{"@action": "think"}"#),
        Response::says(read),
        spoken,
        refusal(KEYS[0]),
    ]);
    let helper = Server::scripted(vec![refusal(KEYS[1])]);
    let folder = workspace(&server);
    let settings =
        folder.read("loopwright.yaml").replace("model: m-local,", "model: m-local, api_key: { env: KEY_A },");
    let other = format!(
        "  helper: {{ provider: openai, model: h, base_url: \"{}\", api_key: {{ env: KEY_B }} }}\ntiers:",
        helper.base_url()
    );
    folder.write("loopwright.yaml", settings.replacen("tiers:", &other, 1));
    let think = "think: { description: Think., do: [ { forge: { use: idea, tier: helper }, on_error: feedback } ] }";
    folder.write(
        "loops/echo.yaml",
        ECHO.replace(
            "actions:\n",
            &format!("tools: [read_file]\nmodel: {{ main: local, helper: helper }}\nactions:\n  {think}\n"),
        ),
    );
    folder.write(
        "loops/idea.yaml",
        "kind: forge\nname: idea\ndescription: An idea.\nprompt: Have an idea.\noutput: { type: object }\n",
    );
    folder.write("keys", KEYS.join("\n"));
    let run = |arguments: &[&str]| {
        let mut command = folder.loopwright(arguments);
        command.env("KEY_A", KEYS[0]).env("KEY_B", KEYS[1]);
        Done::of(&command.output().unwrap())
    };
    let shown = |text: &str| KEYS.iter().any(|key| text.contains(key));
    let done = run(&["run", "echo", "--events", "run.ndjson", "--record", "rec.yaml"]).exits(0);
    let log = folder.read("run.ndjson");
    assert!(!shown(&done.stderr) && !shown(&done.stdout) && !shown(&log), "{done:?}\n{log}");
    assert!(done.stdout.contains("It is [secret] indeed"), "{done:?}");
    let events_of = events(&log);
    assert_complete(&events_of, "exit");
    let told = |key: &str| {
        events_of
            .iter()
            .filter(|event| event["event"] == "delta")
            .any(|event| event["text"].as_str().unwrap().contains(key))
    };
    assert!(!told("sk-ma"), "a part of a key: {log}");
    let recording = folder.read("rec.yaml");
    assert!(!shown(&recording) && recording.contains("[secret]"), "{recording}");
    let again = run(&["run", "echo", "--model", "main=replay:rec.yaml", "--events", "again.ndjson"]);
    assert!(!shown(&again.stderr) && !shown(&again.stdout) && !shown(&folder.read("again.ndjson")), "{again:?}");
    // The answer to the last call: an error that is shown on standard error beside JSON.
    let done = run(&["run", "echo", "--format", "json"]).exits(1);
    assert!(done.stderr.contains("Bearer [secret]") && !shown(&done.stdout), "{done:?}");
}

#[test]
fn without_a_model_a_run_says_how_to_get_one() {
    let folder = Folder::new(&[("loops/echo.yaml", ECHO)]);
    let done = folder.run(&["run", "echo", "--input", "x"]).exits(2);
    for words in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "LOOPWRIGHT_BASE_URL"] {
        assert!(done.stderr.contains(words), "{words}: {done:?}");
    }
    let server = answering(SAY);
    let mut command = folder.loopwright(&["run", "echo", "--input", "x"]);
    command.env("LOOPWRIGHT_MODEL", "openai:mine").env("LOOPWRIGHT_BASE_URL", server.base_url());
    let done = Done::of(&command.output().unwrap()).exits(0);
    assert!(done.stderr.starts_with("echo, answered by openai:mine\n"), "{done:?}");
}

#[test]
fn text_arrives_while_the_model_still_speaks() {
    let piece =
        |text: &str| format!("data: {}\n\n", json!({ "choices": [{ "index": 0, "delta": { "content": text } }] }));
    let mut pieces: Vec<String> = vec![piece(r#"{"@action": "say", "text": ""#)];
    pieces.extend(["one ", "two ", "three ", "four ", "five ", "six "].map(piece));
    pieces.push(piece(r#""}"#));
    pieces.push(
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n".to_owned(),
    );
    let server = Server::scripted(vec![Response::events(pieces).paced(Duration::from_millis(100))]);
    let folder = workspace(&server);
    let done = folder.run(&["run", "echo", "--input", "x", "--format", "json"]).exits(0);
    let events = events(&done.stdout);
    let times: Vec<u64> = events
        .iter()
        .filter(|event| event["event"] == "delta" && event["node"] == "answer")
        .map(|event| event["at_ms"].as_u64().unwrap())
        .collect();
    assert!(times.len() >= 5, "{times:?}");
    assert!(times.last().unwrap() - times[0] >= 350, "one burst: {times:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_under_the_events_ends_the_run() {
    let server = answering(WAIT);
    let folder = workspace(&server);
    let done = folder.run(&["run", "echo", "--input", "x", "--events", "/dev/full", "--max-iterations", "50"]).exits(1);
    assert!(done.stderr.contains("Cannot write the events to /dev/full: No space left"), "{done:?}");
    assert!(server.seen().len() < 5, "the run went on: {}", server.seen().len());
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_under_the_answer_is_an_error() {
    let server = answering(SAY);
    let folder = workspace(&server);
    for more in [&[][..], &["--format", "json"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_loopwright"))
            .args([&["run", "echo", "--input", "x"], more].concat())
            .current_dir(folder.path())
            .stdout(full)
            .output()
            .unwrap();
        let done = Done::of(&output).exits(1);
        assert!(done.stderr.contains("Cannot write") && done.stderr.contains("No space left"), "{done:?}");
    }
}

/// Starts a run in the background, and its events.
#[cfg(unix)]
pub(crate) struct Background {
    child: std::process::Child,
    folder: Folder,
}

#[cfg(unix)]
impl Background {
    fn start(folder: Folder) -> Self {
        Self::running("echo", folder)
    }

    /// The same with another loop.
    pub(crate) fn running(name: &str, folder: Folder) -> Self {
        let child = std::process::Command::new(env!("CARGO_BIN_EXE_loopwright"))
            .args(["run", name, "--input", "x", "--events", "run.ndjson"])
            .current_dir(folder.path())
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        Self { child, folder }
    }

    pub(crate) fn wait_for(&self, words: &str) {
        let start = Instant::now();
        while !std::fs::read_to_string(self.folder.file("run.ndjson")).unwrap_or_default().contains(words) {
            assert!(start.elapsed() < Duration::from_secs(20), "{words} never came");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn interrupt(&self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    }

    /// What is left, and how long the end took.
    pub(crate) fn end(self) -> (Done, Folder, Duration) {
        let start = Instant::now();
        let done = Done::of(&self.child.wait_with_output().unwrap());
        (done, self.folder, start.elapsed())
    }
}

#[test]
#[cfg(unix)]
fn an_interrupt_in_a_stream_runs_the_finish_hooks() {
    let piece = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Let me\"}}]}\n\n";
    let server = Server::scripted(vec![Response::events([piece]).ending(Ending::Stall)]);
    let run = Background::start(workspace(&server));
    run.wait_for("model_call_started");
    std::thread::sleep(Duration::from_millis(200));
    run.interrupt();
    let (done, folder, took) = run.end();
    let done = done.exits(130);
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert!(done.stderr.contains("stopping; finish hooks still run"), "{done:?}");
    assert!(done.stderr.contains("finished: cancelled"), "{done:?}");
    assert_eq!(folder.read("end-cancelled.txt"), "x");
    assert_complete(&events(&folder.read("run.ndjson")), "cancelled");
}

#[test]
#[cfg(unix)]
fn an_interrupt_in_a_program_ends_it_and_its_children() {
    let server = answering(WAIT);
    let folder = workspace(&server);
    let slow = ECHO.replace(
        "do: [ { feedback: \"You waited.\" } ]",
        "do: [ { run: [sh, -c, \"sleep 60 & echo $! > pid; wait\"] } ]",
    );
    folder.write("loops/echo.yaml", slow);
    let run = Background::start(folder);
    let pid = wait_for_pid(&run.folder);
    run.interrupt();
    let (done, folder, took) = run.end();
    done.exits(130);
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert!(is_gone(pid), "the child lives on");
    assert_eq!(folder.read("end-cancelled.txt"), "x", "finish hooks ran");
    assert_complete(&events(&folder.read("run.ndjson")), "cancelled");
}

#[test]
#[cfg(unix)]
fn an_interrupt_is_noticed_between_steps_that_never_wait() {
    let server = answering(WAIT);
    let folder = workspace(&server);
    let busy = ECHO.replace(
        "do: [ { feedback: \"You waited.\" } ]",
        "do: [ { for_each: range(10000), set: { times: \"{{ item }}\" } } ]",
    );
    folder.write("loops/echo.yaml", busy);
    let run = Background::start(folder);
    run.wait_for("state_set");
    run.interrupt();
    let (done, folder, _) = run.end();
    done.exits(130);
    let events = events(&folder.read("run.ndjson"));
    assert_complete(&events, "cancelled");
    assert!(events.iter().filter(|event| event["event"] == "state_set").count() < 10_000, "all ran first");
}

#[test]
#[cfg(unix)]
fn an_interrupt_in_a_retry_wait_ends_the_wait() {
    let server = Server::scripted(vec![Response::status(429).header("retry-after", "50")]);
    let run = Background::start(workspace(&server));
    run.wait_for("model_call_failed");
    run.interrupt();
    let (done, folder, took) = run.end();
    done.exits(130);
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert_complete(&events(&folder.read("run.ndjson")), "cancelled");
}

#[test]
#[cfg(unix)]
fn a_second_interrupt_stops_at_once_and_leaves_no_child() {
    let server = Server::scripted(vec![Response::events(["data: \n\n"]).ending(Ending::Stall)]);
    let folder = workspace(&server);
    let slow =
        ECHO.replace("    - artifact:", "    - run: [sh, -c, \"echo $$ > pid; exec sleep 60\"]\n    - artifact:");
    folder.write("loops/echo.yaml", slow);
    let run = Background::start(folder);
    run.wait_for("model_call_started");
    run.interrupt();
    let pid = wait_for_pid(&run.folder);
    run.interrupt();
    let (done, _folder, took) = run.end();
    done.exits(130);
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert!(is_gone(pid), "the child lives on");
}

#[test]
#[cfg(unix)]
fn two_interrupts_in_a_finish_hook_cancel_a_run_that_had_succeeded() {
    let server = answering(SAY);
    let folder = workspace(&server);
    let slow =
        ECHO.replace("    - artifact:", "    - run: [sh, -c, \"echo $$ > pid; exec sleep 60\"]\n    - artifact:");
    folder.write("loops/echo.yaml", slow);
    let run = Background::start(folder);
    let pid = wait_for_pid(&run.folder);
    run.interrupt();
    std::thread::sleep(Duration::from_millis(200));
    assert!(rustix::process::test_kill_process(pid).is_ok(), "one lets finish hooks run");
    run.interrupt();
    let (done, folder, _) = run.end();
    done.exits(130);
    assert!(is_gone(pid), "the child lives on");
    assert_complete(&events(&folder.read("run.ndjson")), "cancelled");
}

/// The process that a program of the loop has written down.
#[cfg(unix)]
fn wait_for_pid(folder: &Folder) -> rustix::process::Pid {
    let start = Instant::now();
    loop {
        let text = std::fs::read_to_string(folder.file("pid")).unwrap_or_default();
        if let Ok(pid) = text.trim().parse() {
            return rustix::process::Pid::from_raw(pid).unwrap();
        }
        assert!(start.elapsed() < Duration::from_secs(20), "the program never ran");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether the process ends within two seconds.
#[cfg(unix)]
fn is_gone(pid: rustix::process::Pid) -> bool {
    (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        rustix::process::test_kill_process(pid).is_err()
    })
}

#[test]
fn a_reader_that_has_seen_enough_ends_the_run() {
    let server = answering(WAIT);
    let folder = workspace(&server);
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_loopwright"))
        .args(["run", "echo", "--input", "x", "--format", "json", "--max-iterations", "100000"])
        .current_dir(folder.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let done = Done::of(&child.wait_with_output().unwrap()).exits(130);
    assert_eq!(done.stderr, "", "nothing is wrong");
}

#[test]
fn a_question_that_nobody_can_be_asked_does_not_stop_the_run() {
    let ask = r#"{"@action": "ask_for_clarification", "question": "Which word?"}"#;
    let server = Server::scripted(vec![Response::says(ask), Response::says(SAY)]);
    let done = workspace(&server).run_with(&["run", "echo", "--input", "x"], "an answer that is no answer\n").exits(0);
    assert!(done.stderr.contains("? Which word? (nobody can be asked here)"), "{done:?}");
    let second = &server.seen()[1];
    assert!(!String::from_utf8_lossy(&second.body).contains("an answer that is no answer"));
}

#[test]
fn render_prints_the_prompt_and_asks_no_model() {
    let server = answering(SAY);
    let folder = workspace(&server);
    let done = folder.run(&["render", "echo", "--input", "a question", "--format", "json"]).exits(0).json();
    let text = format!("{}{}", done["system"], done["user"]);
    assert!(text.contains("Say the word.") && text.contains("a question") && text.contains("Word: nothing"), "{done}");
    let sections = done["sections"].as_array().unwrap();
    assert!(sections.iter().all(|s| s["bytes"].as_u64() > Some(0) && s["tokens"].as_u64() > Some(0)), "{done}");
    assert!(sections.iter().any(|section| section["name"] == "USER_QUERY"), "{done}");
    let done = folder.run(&["render", "echo", "--input", "a question", "--set", "state.word=tree"]).exits(0);
    assert!(done.stdout.contains("Word: tree") && done.stdout.contains("=== sections ==="), "{done:?}");
    assert!(server.seen().is_empty());
}

#[test]
fn render_needs_no_model() {
    let folder = Folder::new(&[("loops/echo.yaml", ECHO)]);
    let done = folder.run(&["render", "echo", "--input", "a question"]).exits(0);
    assert!(done.stdout.contains("a question"), "{done:?}");
}

#[test]
fn render_says_what_changed_and_up_to_where_a_cache_holds() {
    let server = answering("unused");
    let folder = workspace(&server);
    let before = folder.run(&["render", "echo", "--input", "one", "--format", "json"]).exits(0);
    folder.write("before.json", before.stdout);
    let same = folder.run(&["render", "echo", "--input", "one", "--diff", "before.json"]).exits(0);
    assert!(same.stdout.contains("USER_QUERY: same") && same.stdout.contains("cache holds for all"), "{}", same.stdout);
    let other = ECHO.replacen("instruction: ", "instruction: Now ", 1);
    folder.write("loops/echo.yaml", other);
    let changed =
        folder.run(&["render", "echo", "--input", "two", "--diff", "before.json", "--format", "json"]).exits(0).json();
    assert_eq!(changed["broken_by"], "PERSISTENT");
    let rows = changed["sections"].as_array().unwrap();
    let query = rows.iter().find(|row| row["name"] == "USER_QUERY").unwrap();
    assert_eq!(query["first"], json!({ "line": 1, "before": "one", "after": "two" }));
    folder.run(&["render", "echo", "--diff", "none.json"]).exits(2);
}

#[test]
fn iterations_of_a_scripted_run_are_compared() {
    let quote = |text: &str| serde_json::to_string(text).unwrap();
    let script = format!(
        "kind: script\nprotocol: json\nexchanges:\n- reply: {{ text: {} }}\n- reply: {{ text: {} }}\n",
        quote(WAIT),
        quote(SAY)
    );
    let folder = Folder::new(&[("loops/echo.yaml", ECHO), ("s.yaml", &script)]);
    let model = ["--model", "main=replay:s.yaml"];
    let with = |arguments: &[&str]| folder.run(&[arguments, &model].concat());
    // A script without its requests is refused, also one that the command line names; its author has them written.
    with(&["run", "echo", "--input", "x"]).exits(1);
    with(&["run", "echo", "--input", "x", "--accept-script"]).exits(0);
    assert!(folder.read("s.yaml").contains("request:"));

    let difference =
        with(&["render", "echo", "--input", "x", "--iterations", "1..2", "--format", "json"]).exits(0).json();
    let status = |name: &str| {
        let rows = difference["sections"].as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).map(|row| row["status"].as_str().unwrap().to_owned())
    };
    assert_eq!(status("ITERATION").as_deref(), Some("new"), "{difference}");
    assert_eq!(status("USER_QUERY").as_deref(), Some("same"), "{difference}");
    assert_eq!(difference["broken_by"], Value::Null, "the stable part stays");
    let text = with(&["render", "echo", "--input", "x", "--iterations", "1..2"]).exits(0).stdout;
    assert!(text.contains("+ ITERATION: new") && text.contains("  USER_QUERY: same"), "{text}");

    let beyond = with(&["render", "echo", "--input", "x", "--iterations", "1..9"]).exits(1);
    assert!(beyond.stderr.contains("no iteration 9") && beyond.stderr.contains("after 2"), "{beyond:?}");
    let server = answering(SAY);
    let refused = workspace(&server).run(&["render", "echo", "--input", "x", "--iterations", "1..2"]).exits(2);
    assert!(refused.stderr.contains("replay:FILE") && server.seen().is_empty(), "{refused:?}");
    for wrong in ["2", "0..1", "a..b"] {
        folder.run(&["render", "echo", "--iterations", wrong]).exits(2);
    }
}
