//! `watch` and `run` from outside, while files are saved. Lines are waited for; nothing depends on how long they take.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;

use super::Folder;
use crate::raw_http::{Response, Server};

const LOOP: &str = "\
name: work
description: Answers.
prompt: { instruction: { file: prompts/work.md.j2 } }
limits: { max_iterations: 3 }
";

fn folder() -> Folder {
    Folder::new(&[
        ("loopwright.yaml", "kind: workspace\n"),
        ("loops/work.yaml", LOOP),
        ("prompts/work.md.j2", "Answer.\n"),
    ])
}

/// A program that goes on, with the lines of its standard output as they come.
struct Going {
    child: Child,
    lines: Receiver<String>,
}

impl Going {
    fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_loopwright"));
        command.current_dir(folder.path()).args(arguments).stdin(Stdio::null());
        command.env_remove("LOOPWRIGHT_MODEL").env_remove("OPENAI_API_KEY").env_remove("ANTHROPIC_API_KEY");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        Self { child, lines }
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(Duration::from_secs(60)).expect("another line")
    }

    /// Waits for a line that begins so; gives it with those before it.
    fn until(&self, start: &str) -> Vec<String> {
        let mut lines = Vec::new();
        while !lines.last().is_some_and(|line: &String| line.starts_with(start)) {
            match self.lines.recv_timeout(Duration::from_secs(60)) {
                Ok(line) => lines.push(line),
                Err(_) => panic!("no line `{start}` among {lines:?}"),
            }
        }
        lines
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    #[cfg(unix)]
    fn interrupt(mut self) -> i32 {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
        self.child.wait().unwrap().code().unwrap()
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn watch_says_good_shows_mistakes_once_and_recovers() {
    let folder = folder();
    let going = Going::start(&folder, &["watch", "work", "--render"]);
    let first = going.line();
    assert!(first.starts_with("good     "), "{first}");
    going.until("prompt ");
    folder.write("prompts/work.md.j2", "Answer briefly.\n");
    let good = going.line();
    assert!(good.starts_with("good     ") && good.ends_with("prompts/work.md.j2"), "{good}");
    let shown = going.until("The stable part").join("\n");
    assert!(shown.contains("- Answer.") && shown.contains("+ Answer briefly."), "{shown}");
    assert!(!shown.contains("TURN"), "a fresh nonce is no change: {shown}");

    folder.write("prompts/work.md.j2", "Answer {{ nobody }}.\n");
    let refused = going.until("refused  ");
    let text = refused.join("\n");
    assert!(text.contains("prompts/work.md.j2:1:11") && text.contains("nobody"), "{text}");
    let stays = good.split_whitespace().nth(1).unwrap();
    assert!(refused.last().unwrap().ends_with(&format!("{stays} stays")), "{text}");
    folder.write("prompts/work.md.j2", "Answer {{ nobody }}.\n");
    folder.write("prompts/work.md.j2", "Answer briefly.\n");
    assert_eq!(going.line(), format!("restored {stays}"), "the same mistake is not told again");
    #[cfg(unix)]
    assert_eq!(going.interrupt(), 0);
}

#[test]
fn watch_begins_with_a_broken_file_and_prints_json() {
    let folder = folder();
    folder.write("loops/work.yaml", "name: work\nprompt: [\n");
    let going = Going::start(&folder, &["watch", "loops/work.yaml", "--format", "json"]);
    let first = going.json();
    assert_eq!((&first["event"], &first["status"]), (&"reload".into(), &"refused".into()), "{first}");
    assert_eq!(first["before"], Value::Null);
    assert_eq!(first["findings"][0]["file"], "loops/work.yaml", "{first}");
    assert!(first["findings"][0]["line"].is_u64() && first["findings"][0]["code"].is_string(), "{first}");
    folder.write("loops/work.yaml", LOOP);
    let second = going.json();
    assert_eq!((&second["status"], &second["loop"]), (&"loaded".into(), &"work".into()), "{second}");
    assert_eq!(second["after"].as_str().unwrap().len(), 64);
}

#[test]
fn watch_runs_the_loop_again_after_each_good_save() {
    let folder = folder();
    let server = Server::answering(|number, _| {
        Response::says(&format!(r#"{{"@action": "directly_answer", "answer_payload": "answer {number}"}}"#))
    });
    let base_url = server.base_url();
    let model = format!("{{ provider: openai, model: m, base_url: \"{base_url}\" }}");
    folder
        .write("loopwright.yaml", format!("kind: workspace\nmodels: {{ local: {model} }}\ntiers: {{ main: local }}\n"));
    let going = Going::start(&folder, &["watch", "work", "--run", "--input", "hello"]);
    going.until("answer 0");
    folder.write("prompts/work.md.j2", "Answer again.\n");
    going.until("answer 1");
    assert!(String::from_utf8_lossy(&server.seen()[1].body).contains("Answer again."));
}

#[test]
fn watch_names_a_loop_that_is_not_there() {
    let done = folder().run(&["watch", "wrok"]).exits(2);
    assert!(done.stderr.contains("did you mean `work`?"), "{}", done.stderr);
}

#[test]
fn a_run_takes_over_what_is_saved_and_no_reload_keeps_it() {
    for (more, expected) in [(&[][..], "Saved meanwhile."), (&["--no-reload"][..], "Answer.")] {
        let folder = std::sync::Arc::new(folder());
        let place = std::sync::Arc::clone(&folder);
        let server = Server::answering(move |number, seen| {
            if number == 0 {
                place.write("prompts/work.md.j2", "Saved meanwhile.\n");
            }
            // The model is slow enough for the change to be seen: it asks until it is, or long enough.
            let seen = String::from_utf8_lossy(&seen.body).contains("Saved meanwhile.");
            let answer = r#"{"@action": "directly_answer", "answer_payload": "done"}"#;
            let wait = r#"{"@action": "wait"}"#;
            Response::says(if seen || number >= 2000 { answer } else { wait })
        });
        let base_url = server.base_url();
        let model = format!("{{ provider: openai, model: m, base_url: \"{base_url}\" }}");
        let workspace = format!("kind: workspace\nmodels: {{ local: {model} }}\ntiers: {{ main: local }}\n");
        folder.write("loopwright.yaml", workspace);
        let text = LOOP.replace("max_iterations: 3", "max_iterations: 40");
        let text = if more.is_empty() { text.replace("40", "5000") } else { text };
        let action = "actions:\n  wait:\n    description: Wait.\n    do: [{ run: { argv: [sleep, \"0.02\"] } }]\n";
        folder.write("loops/work.yaml", text + action);
        let done = folder.run(&[&["run", "work", "--events", "run.ndjson"], more].concat());
        let last = String::from_utf8_lossy(&server.seen().last().unwrap().body).into_owned();
        assert!(last.contains(expected), "{more:?}: {done:?}");
        let reloads = folder.read("run.ndjson").matches("\"event\":\"reload\"").count();
        assert_eq!(reloads, usize::from(more.is_empty()), "{more:?}");
        assert_eq!(done.stderr.contains("reloaded work: "), more.is_empty(), "{}", done.stderr);
    }
}
