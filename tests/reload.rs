//! Hot reload of running loops, through the library: the server that plays the model edits the files between the
//! iterations, so that every run sees its changes at the same moment.

use std::sync::{Arc, Mutex, OnceLock};

use loopwright::event::{Envelope, Event, ReloadStatus, Subscriber};
use loopwright::{Engine, HotReload, Library, Outcome, Reloaded, RunRequest};

use crate::cli::Folder;
use crate::raw_http::{Response, Seen, Server};

const LOOP: &str = "\
name: work
description: Notes words.
prompt: { instruction: { file: prompts/work.md.j2 } }
limits: { max_iterations: 3 }
tools: [shout]
state:
  words: { type: array, default: [] }
actions:
  note:
    description: Note a word.
    params: { type: object, required: [word], properties: { word: { type: string } } }
    do:
      - set: { words: \"{{ state.words + [params.word] }}\" }
";

const TOOL: &str = "\
kind: tool
name: shout
description: Shouts.
params: { type: object, required: [text], properties: { text: { type: string } } }
do: [{ result: \"{{ params.text | upper }}\" }]
";

#[derive(Default)]
struct Events(Mutex<Vec<Envelope>>);

impl Subscriber for Events {
    fn on_event(&self, event: &Envelope) {
        self.0.lock().unwrap().push(event.clone());
    }
}

/// One run: at each request the story edits files and says what the model replies.
struct Story {
    folder: Arc<Folder>,
    engine: Arc<OnceLock<Engine>>,
    server: Server,
    events: Arc<Events>,
}

type Reply = String;

impl Story {
    fn new(files: &[(&str, &str)], tell: impl Fn(usize, &Folder, &Engine) -> Reply + Send + Sync + 'static) -> Self {
        let folder = Arc::new(Folder::new(&[]));
        let engine: Arc<OnceLock<Engine>> = Arc::default();
        let (place, known) = (Arc::clone(&folder), Arc::clone(&engine));
        let server = Server::answering(move |number, _| Response::says(&tell(number, &place, known.get().unwrap())));
        folder.write("loopwright.yaml", workspace(&server));
        folder.write("loops/work.yaml", LOOP);
        folder.write("loops/shout.yaml", TOOL);
        folder.write("prompts/work.md.j2", "Note each word.\n");
        for (name, text) in files {
            folder.write(name, text);
        }
        Self { folder, engine, server, events: Arc::default() }
    }

    fn run(&self, mode: HotReload) -> Outcome {
        let (library, _) = Library::open(self.folder.path());
        let events: Arc<dyn Subscriber> = Arc::clone(&self.events) as Arc<dyn Subscriber>;
        let engine = Engine::builder(Arc::new(library)).subscriber(events).hot_reload(mode).build().unwrap();
        let engine = self.engine.get_or_init(|| engine);
        run(engine, "work")
    }

    /// What each request held.
    fn requests(&self) -> Vec<String> {
        self.server.seen().iter().map(|seen: &Seen| String::from_utf8_lossy(&seen.body).into_owned()).collect()
    }

    /// The reload events: status, loop, the files' names, and what was found.
    fn reloads(&self) -> Vec<(ReloadStatus, String, Vec<String>, String)> {
        let name = |file: &String| file.rsplit('/').next().unwrap_or_default().to_owned();
        let events = self.events.0.lock().unwrap();
        let reloads = events.iter().filter_map(|envelope| match &envelope.event {
            Event::Reload { status, loop_name, files, findings, before, after } => {
                assert_eq!(*status == ReloadStatus::Restored, before.as_ref() == Some(after));
                assert_eq!(after.len(), 64);
                let words = findings.iter().map(|finding| finding.line()).collect::<Vec<_>>().join("; ");
                Some((*status, loop_name.clone(), files.iter().map(name).collect(), words))
            }
            _ => None,
        });
        reloads.collect()
    }

    fn statuses(&self) -> Vec<ReloadStatus> {
        self.reloads().into_iter().map(|(status, ..)| status).collect()
    }
}

fn workspace(server: &Server) -> String {
    let model = format!("{{ provider: openai, model: m, base_url: \"{}\" }}", server.base_url());
    format!("kind: workspace\nmodels: {{ local: {model} }}\ntiers: {{ main: local }}\n")
}

fn run(engine: &Engine, name: &str) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(engine.run(RunRequest { loop_name: name.into(), ..RunRequest::default() })).unwrap()
}

fn note(word: &str) -> Reply {
    format!(r#"{{"@action": "note", "word": "{word}"}}"#)
}

fn only(news: &[Reloaded]) -> &Reloaded {
    assert_eq!(news.len(), 1, "{news:?}");
    &news[0]
}

#[test]
fn a_saved_skill_is_in_the_next_prompt_and_one_that_breaks_is_put_away() {
    let skill = |words: &str| format!("---\nname: style\ndescription: House style.\n---\n{words}\n");
    let files = [("loops/work.yaml", &*format!("{LOOP}hooks: {{ init: [{{ load_skill: style }}] }}\n"))];
    let first = skill("Write short sentences.");
    let story = Story::new(&[files[0], ("skills/style/SKILL.md", &first)], move |number, folder, engine| {
        let text = match number {
            0 => skill("Write shorter sentences."),
            1 => "no front matter".to_owned(),
            _ => return note("a"),
        };
        folder.write("skills/style/SKILL.md", text);
        engine.reload();
        note("a")
    });
    story.run(HotReload::Manual);
    let requests = story.requests();
    assert!(requests[0].contains("Write short sentences.") && requests[1].contains("Write shorter sentences."));
    assert!(!requests[1].contains("Write short sentences."), "the text before is gone");
    let told = story.reloads();
    assert_eq!(told[0].0, ReloadStatus::Applied);
    // The step that loads it names a skill that is none any more, so the loop keeps what it has.
    assert_eq!(told[1].0, ReloadStatus::Refused, "{told:?}");
    assert!(told[1].3.contains("style") && requests[2].contains("Write shorter sentences."), "{told:?}");
}

#[test]
fn a_saved_template_is_in_the_next_prompt_and_not_in_the_one_before() {
    let story = Story::new(&[], |number, folder, engine| {
        if number == 0 {
            folder.write("prompts/work.md.j2", "Note each word, but never the same twice.\n");
            let news = engine.reload();
            assert_eq!(only(&news).status, ReloadStatus::Applied);
            assert_eq!(Some(&only(&news).after), engine.version("work").as_ref());
            assert!(engine.reload().is_empty(), "the same content is not new again");
        }
        note("a")
    });
    let outcome = story.run(HotReload::Manual);
    assert_eq!(outcome.state["words"], serde_json::json!(["a", "a", "a"]), "the state stays");
    let requests = story.requests();
    assert!(!requests[0].contains("never the same twice"));
    assert!(requests[1].contains("never the same twice") && requests[2].contains("never the same twice"));
    let reloads = story.reloads();
    assert_eq!(reloads.len(), 1, "applied once: {reloads:?}");
    assert_eq!(reloads[0], (ReloadStatus::Applied, "work".into(), vec!["work.md.j2".into()], String::new()));
    let events = story.events.0.lock().unwrap();
    let changed: Vec<&str> = events
        .iter()
        .filter_map(|envelope| match &envelope.event {
            Event::PrefixChanged { section, .. } => Some(section.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(changed, ["PERSISTENT"], "what comes before the changed section keeps its bytes and nonces");
}

#[test]
fn without_hot_reload_a_run_keeps_what_it_started_with() {
    let story = Story::new(&[], |_, folder, engine| {
        folder.write("prompts/work.md.j2", "Something else.\n");
        folder.write("loops/work.yaml", "broken: [");
        assert!(engine.reload().is_empty());
        note("a")
    });
    story.run(HotReload::Off);
    assert!(story.requests().iter().skip(1).all(|request| request.contains("Note each word.")));
    assert!(story.reloads().is_empty());
}

#[test]
fn limits_handlers_and_tools_change_between_iterations() {
    let story = Story::new(&[], |number, folder, engine| {
        match number {
            0 => {
                let text = LOOP.replace("max_iterations: 3", "max_iterations: 5").replace("[params.word]", "['NEW']");
                folder.write("loops/work.yaml", text + "hooks: { after_iteration: [{ status: hooked }] }\n");
            }
            2 => folder.write("loops/shout.yaml", TOOL.replace("upper", "replace('i', 'o')")),
            _ => {}
        }
        engine.reload();
        match number {
            1 | 3 => r#"{"@action": "directly_call_tool", "tool_name": "shout", "params": {"text": "hi"}}"#.to_owned(),
            _ => note("a"),
        }
    });
    let outcome = story.run(HotReload::Manual);
    assert_eq!(
        outcome.state["words"],
        serde_json::json!(["a", "NEW", "NEW"]),
        "the chosen action kept its old handler"
    );
    assert_eq!(outcome.totals.iterations, 5, "the new limit holds");
    let requests = story.requests();
    assert!(requests[2].contains("HI"), "the old tool: {}", requests[2]);
    assert!(requests[4].contains("ho"), "the new tool: {}", requests[4]);
    assert_eq!(story.statuses(), [ReloadStatus::Applied; 2]);
}

#[test]
fn a_bad_edit_keeps_the_last_good_version_and_recovers() {
    let story = Story::new(&[], |number, folder, engine| {
        match number {
            0 => folder.write("prompts/work.md.j2", "Note {{ nobody_knows }}.\n"),
            1 => folder.write("prompts/work.md.j2", "Note well.\n"),
            _ => {}
        }
        let news = engine.reload();
        assert_eq!(news.len(), usize::from(number < 2), "{news:?}");
        assert!(engine.reload().is_empty(), "told once");
        note("a")
    });
    let outcome = story.run(HotReload::Manual);
    assert_eq!(outcome.totals.iterations, 3);
    let requests = story.requests();
    assert!(requests[1].contains("Note each word.") && requests[2].contains("Note well."));
    let reloads = story.reloads();
    assert_eq!(story.statuses(), [ReloadStatus::Refused, ReloadStatus::Applied]);
    assert!(reloads[0].3.contains("work.md.j2:1:9: ") && reloads[0].3.contains("nobody_knows"), "{reloads:?}");
}

#[test]
fn a_bad_edit_that_is_taken_back_restores_and_one_at_the_end_is_told() {
    let story = Story::new(&[], |number, folder, engine| {
        match number {
            0 | 2 => folder.write("loops/work.yaml", "name: work\nprompt: [\n"),
            _ => folder.write("loops/work.yaml", LOOP),
        }
        engine.reload();
        note("a")
    });
    story.run(HotReload::Manual);
    assert_eq!(story.statuses(), [ReloadStatus::Refused, ReloadStatus::Restored, ReloadStatus::Refused]);
}

#[test]
fn what_a_running_loop_cannot_become_is_refused_in_words() {
    let typed = LOOP.replace("{ type: array, default: [] }", "{ type: string, default: \"\" }");
    let typed = typed.replace("{{ state.words + [params.word] }}", "{{ params.word }}");
    let gone = LOOP
        .replace("state:\n  words: { type: array, default: [] }\n", "")
        .replace("      - set: { words: \"{{ state.words + [params.word] }}\" }\n", "      - status: noted\n");
    let model = format!("{LOOP}model: {{ main: other }}\n");
    let cases =
        [(typed, "the type of the state variable `words`"), (gone, "`words` is gone"), (model, "`model` changed")];
    for (text, words) in cases {
        let saved = text.clone();
        let story = Story::new(&[], move |number, folder, engine| {
            if number == 0 {
                let workspace = folder.read("loopwright.yaml");
                folder.write("loops/work.yaml", &saved);
                let news = engine.reload();
                assert_eq!(workspace, folder.read("loopwright.yaml"));
                // The model `other` does not exist: then no run could use this version, not only the running one.
                assert_eq!(news.len(), 1, "{news:?}");
            }
            note("a")
        });
        if words.contains("model") {
            let text = story.folder.read("loopwright.yaml").replace(
                "models: { local:",
                "models: { other: { provider: openai, model: o, base_url: \"http://127.0.0.1:9/v1\" }, local:",
            );
            story.folder.write("loopwright.yaml", text);
        }
        let outcome = story.run(HotReload::Manual);
        assert_eq!(outcome.state["words"], serde_json::json!(["a", "a", "a"]), "{words}");
        let reloads = story.reloads();
        assert_eq!(story.statuses(), [ReloadStatus::Refused], "{words}: {reloads:?}");
        assert!(reloads[0].3.contains(words) && reloads[0].3.contains("start again"), "{reloads:?}");
        let events = story.events.0.lock().unwrap();
        let findings = events.iter().find_map(|told| match &told.event {
            Event::Reload { findings, .. } => Some(findings.clone()),
            _ => None,
        });
        let [finding] = &findings.unwrap()[..] else { panic!("one reason") };
        let code = if words.contains("model") { "running-model" } else { "running-state" };
        assert_eq!(finding.code.as_deref(), Some(code));
        assert!(finding.file.as_ref().is_some_and(|file| file.ends_with("work.yaml")), "{finding:?}");
        let line = text.lines().position(|line| match words {
            "the type of the state variable `words`" => line.trim_start().starts_with("words:"),
            "`model` changed" => line.starts_with("model:"),
            _ => true,
        });
        assert_eq!(finding.line, line.map(|line| u32::try_from(line).unwrap() + 1), "{finding:?}");
    }
}

#[test]
fn a_refusal_names_the_version_that_the_run_is_in_and_not_the_newest_one() {
    let typed = LOOP.replace("{ type: array, default: [] }", "{ type: string, default: \"\" }");
    let typed = typed.replace("{{ state.words + [params.word] }}", "{{ params.word }}");
    let story = Story::new(&[], move |number, folder, engine| {
        let (text, status) = match number {
            // Other runs can use it, this one cannot.
            0 => (typed.as_str(), ReloadStatus::Applied),
            1 => ("name: work\nprompt: [\n", ReloadStatus::Refused),
            _ => return note("a"),
        };
        folder.write("loops/work.yaml", text);
        assert_eq!(only(&engine.reload()).status, status);
        note("a")
    });
    story.run(HotReload::Manual);
    let told: Vec<(Option<String>, String)> = story
        .events
        .0
        .lock()
        .unwrap()
        .iter()
        .filter_map(|told| match &told.event {
            Event::Reload { before, after, .. } => Some((before.clone(), after.clone())),
            _ => None,
        })
        .collect();
    let [typed, broken] = &told[..] else { panic!("two refusals: {told:?}") };
    assert_eq!(typed.0, broken.0, "the run went on in the version that it began with: {told:?}");
    assert_ne!(typed.1, broken.1);
}

#[test]
fn what_an_engine_reads_once_is_refused_in_words() {
    let story = Story::new(&[], |number, folder, engine| {
        if number == 0 {
            let text = folder.read("loopwright.yaml") + "policy: [{ tool: \"*\", decision: allow }]\n";
            folder.write("loopwright.yaml", text);
            folder.write("prompts/work.md.j2", "Changed with it.\n");
            assert_eq!(only(&engine.reload()).status, ReloadStatus::Refused);
        }
        note("a")
    });
    story.run(HotReload::Manual);
    assert!(story.requests()[1].contains("Note each word."), "a version is taken whole or not at all");
    let reloads = story.reloads();
    assert!(reloads[0].3.contains("`policy` of the workspace cannot change"), "{reloads:?}");
}

#[test]
fn a_new_state_variable_comes_with_its_default() {
    let story = Story::new(&[], |number, folder, engine| {
        if number == 0 {
            let text = LOOP.replace("state:\n", "state:\n  tone: calm\n")
                + "hooks: { finish: [{ answer: \"{{ state.tone }}\" }] }\n";
            folder.write("loops/work.yaml", text);
            assert_eq!(only(&engine.reload()).status, ReloadStatus::Applied);
        }
        note("a")
    });
    let outcome = story.run(HotReload::Manual);
    assert_eq!(outcome.answer.as_deref(), Some("calm"));
    assert_eq!(outcome.state["words"], serde_json::json!(["a", "a", "a"]));
}

#[test]
fn a_turn_that_was_limited_to_an_action_that_is_gone_is_free() {
    let first = LOOP.to_owned()
        + "  later:\n    description: Later.\n    do: [{ status: later }]\n  tie:\n    description: Tie.\n    do: [{ next_actions: [later] }]\n";
    let story = Story::new(&[("loops/work.yaml", &first)], |number, folder, engine| {
        if number == 0 {
            folder.write("loops/work.yaml", LOOP);
            assert_eq!(only(&engine.reload()).status, ReloadStatus::Applied);
            return r#"{"@action": "tie"}"#.to_owned();
        }
        note("a")
    });
    let outcome = story.run(HotReload::Manual);
    assert_eq!(outcome.error, None);
    assert_eq!(outcome.totals.iterations, 3);
}

#[test]
fn a_sub_loop_takes_a_change_over_between_its_own_iterations_while_the_handler_around_it_stays() {
    let inner = "name: inner\ndescription: Inner.\nprompt: { instruction: Inner words. }\nlimits: { max_iterations: 2 }\nactions:\n  step:\n    description: Step.\n    do: [{ status: stepped }]\n";
    let outer = "name: work\ndescription: Outer.\nprompt: { instruction: Outer. }\nlimits: { max_iterations: 2 }\nactions:\n  note:\n    description: Note.\n    do:\n      - loop: { use: inner, input: x }\n        on_error: continue\n      - status: OLD\n      - loop: { use: inner, input: x }\n        on_error: continue\n";
    let story =
        Story::new(&[("loops/inner.yaml", inner), ("loops/work.yaml", outer)], move |number, folder, engine| {
            if number == 1 {
                folder.write("loops/inner.yaml", inner.replace("Inner words.", "NEW words."));
                folder.write("loops/work.yaml", outer.replace("OLD", "NEW"));
                engine.reload();
            }
            let action = if matches!(number, 0 | 5) { "note" } else { "step" };
            format!(r#"{{"@action": "{action}"}}"#)
        });
    story.run(HotReload::Manual);
    let requests = story.requests();
    assert!(requests[1].contains("Inner words.") && requests[2].contains("NEW words."), "between its own iterations");
    let reloads: Vec<(ReloadStatus, String)> =
        story.reloads().into_iter().map(|(status, name, ..)| (status, name)).collect();
    let applied = |name: &str| (ReloadStatus::Applied, name.to_owned());
    assert_eq!(reloads, [applied("inner"), applied("work")], "each once, though the handler starts `inner` twice");
    let events = story.events.0.lock().unwrap();
    let said: Vec<&str> = events
        .iter()
        .filter_map(|envelope| match &envelope.event {
            Event::Status { text } if text != "stepped" => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(said, ["OLD", "NEW"], "a handler that runs is not changed under way");
}

#[test]
fn two_runs_of_an_engine_take_a_change_over_each_in_its_own_time() {
    let changed = std::sync::atomic::AtomicBool::new(false);
    let story = Story::new(&[], move |number, folder, engine| {
        if number == 0 {
            folder.write("prompts/work.md.j2", "Changed.\n");
            engine.reload();
            changed.store(true, std::sync::atomic::Ordering::SeqCst);
        }
        // The first request of the other run is answered after the change too.
        while !changed.load(std::sync::atomic::Ordering::SeqCst) {
            std::thread::yield_now();
        }
        note("a")
    });
    let (library, _) = Library::open(story.folder.path());
    let events: Arc<dyn Subscriber> = Arc::clone(&story.events) as Arc<dyn Subscriber>;
    let builder = Engine::builder(Arc::new(library)).subscriber(events).hot_reload(HotReload::Manual);
    let engine = story.engine.get_or_init(|| builder.build().unwrap()).clone();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let request = || RunRequest { loop_name: "work".into(), ..RunRequest::default() };
    let (one, two) = runtime.block_on(async { tokio::join!(engine.run(request()), engine.run(request())) });
    assert_eq!((one.unwrap().totals.iterations, two.unwrap().totals.iterations), (3, 3));
    assert_eq!(story.statuses(), [ReloadStatus::Applied; 2], "one for each run");
    // The same runtime: it drives the connections that the engine keeps.
    runtime.block_on(engine.run(request())).unwrap();
    assert_eq!(story.statuses().len(), 2, "a run that starts later begins with the new version");
    assert!(story.requests().last().unwrap().contains("Changed."));
}

#[test]
fn a_run_that_watches_needs_no_call_and_its_thread_ends_with_the_engine() {
    let story = Story::new(&[], |number, folder, engine| {
        if number == 0 {
            let before = engine.version("work");
            folder.write("prompts/work.md.j2", "Seen by the watcher.\n");
            let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
            while engine.version("work") == before {
                assert!(std::time::Instant::now() < deadline, "the save was not seen");
                std::thread::yield_now();
            }
        }
        note("a")
    });
    let outcome = story.run(HotReload::Watch);
    assert_eq!(outcome.totals.iterations, 3);
    assert!(story.requests()[1].contains("Seen by the watcher."));
    assert_eq!(story.statuses(), [ReloadStatus::Applied]);
}

/// The spin events of a run: what follows, and how many warnings there were.
fn spins(story: &Story) -> Vec<(String, u32)> {
    let events = story.events.0.lock().unwrap();
    let spins = events.iter().filter_map(|envelope| match &envelope.event {
        Event::Spin { consequence, state, .. } => Some((format!("{consequence:?}"), state.warnings)),
        _ => None,
    });
    spins.collect()
}

const REPEATS: &str = "\
name: work
description: Says the same each time.
prompt: { instruction: Look. }
limits: { max_iterations: 8 }
actions: { look: { description: Look., do: [{ feedback: nothing is there to be seen }] } }
hooks: { after_iteration: [{ status: \"{{ spin.is_spinning }} {{ spin.warnings }}\" }] }
";

#[test]
fn another_number_of_warnings_takes_the_incident_over() {
    let story = Story::new(&[("loops/work.yaml", REPEATS)], |number, folder, engine| {
        if number == 4 {
            folder.write(
                "loops/work.yaml",
                format!("{REPEATS}mechanisms: {{ spin: {{ max_warnings: 1, max_reviews: 0 }} }}\n"),
            );
            engine.reload();
        }
        r#"{"@action": "look"}"#.to_owned()
    });
    let outcome = story.run(HotReload::Manual);
    assert_eq!(outcome.reason.name(), "spin");
    assert_eq!(spins(&story), [("Warning".to_owned(), 1), ("Warning".to_owned(), 2), ("End".to_owned(), 2)]);
}

#[test]
fn spin_detection_that_is_switched_off_forgets_the_incident() {
    let story = Story::new(&[("loops/work.yaml", REPEATS)], |number, folder, engine| {
        if number == 4 {
            folder.write("loops/work.yaml", format!("{REPEATS}mechanisms: {{ spin: {{ enabled: false }} }}\n"));
            engine.reload();
        }
        r#"{"@action": "look"}"#.to_owned()
    });
    story.run(HotReload::Manual);
    let events = story.events.0.lock().unwrap();
    let told: Vec<String> = events
        .iter()
        .filter_map(|envelope| match &envelope.event {
            Event::Status { text, .. } => Some(text.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(told[3..], ["true 1", "true 2", "false 0", "false 0", "false 0"]);
}
