//! From a save to the moment that the next iteration can use it: 1,000 saves of the files of `log_analyze`.
//!
//!     cargo bench --bench reload
//!
//! The engine watches a copy of this repository's workspace, as `run` does. Each save is timed from just before the first
//! system call of the writer to the moment at which the engine offers the new version, read again, checked and compiled,
//! to runs. Saves alternate between three files and two ways to write: in place, and a new file moved over the old one.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a measurement prints, and cannot go on without its files"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use loopwright::{Engine, HotReload, Library, RunRequest};

const SAVES: usize = 1_000;

/// A template, a loop and a preset that it extends.
const FILES: [&str; 3] =
    ["prompts/log_analyze/instruction.md.j2", "loops/log_analyze.yaml", "loops/presets/strict.yaml"];

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for name in ["loops", "prompts", "examples"] {
        copy(&root.join(name), &folder.path().join(name));
    }
    std::fs::copy(root.join("loopwright.yaml"), folder.path().join("loopwright.yaml"))
        .map(drop)
        .or_else(|_| std::fs::write(folder.path().join("loopwright.yaml"), "kind: workspace\n"))
        .expect("the workspace");
    let library = Arc::new(Library::open(folder.path()).0);
    let engine = Engine::builder(library).hot_reload(HotReload::Watch).build().expect("an engine");
    let request = RunRequest { loop_name: "log_analyze".into(), ..RunRequest::default() };
    // As a run does it: from here on the loop is watched.
    let start = Instant::now();
    engine.render(&request).expect("a prompt");
    println!("first prompt, with the watcher started: {:.1} ms", ms(start.elapsed()));
    // A first save, which is not counted, shows that the watches are there.
    let texts = FILES.map(|name| std::fs::read_to_string(folder.path().join(name)).expect("a file"));
    save(&engine, &folder.path().join(FILES[0]), &format!("{}{{# ready #}}\n", texts[0]), false);

    let mut times = [Vec::new(), Vec::new()];
    for n in 0..SAVES {
        let (file, moved) = (n % FILES.len(), n % 2 == 1);
        let comment = if FILES[file].ends_with(".j2") { format!("{{# {n} #}}\n") } else { format!("# {n}\n") };
        let text = format!("{}{comment}", texts[file]);
        times[usize::from(moved)].push(save(&engine, &folder.path().join(FILES[file]), &text, moved));
        // A person does not save a thousand times in a row; the queue is empty before the next save.
        std::thread::sleep(Duration::from_millis(5));
    }
    let all = [times[0].clone(), times[1].clone()].concat();
    for (what, times) in [("written in place", times[0].clone()), ("moved into place", times[1].clone()), ("all", all)]
    {
        report(what, times);
    }
}

/// Saves, and waits until the engine offers another version than before.
fn save(engine: &Engine, path: &Path, text: &str, moved: bool) -> Duration {
    let before = engine.version("log_analyze");
    let start = Instant::now();
    if moved {
        let new = PathBuf::from(format!("{}.new", path.display()));
        std::fs::write(&new, text).expect("a save");
        std::fs::rename(&new, path).expect("a move");
    } else {
        std::fs::write(path, text).expect("a save");
    }
    while engine.version("log_analyze") == before {
        assert!(start.elapsed() < Duration::from_secs(30), "the save was missed");
        std::thread::sleep(Duration::from_micros(50));
    }
    start.elapsed()
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: f64| ms(times[((times.len() as f64 * share).ceil() as usize).clamp(1, times.len()) - 1]);
    let (count, p50, p99, max) = (times.len(), at(0.5), at(0.99), at(1.0));
    println!("{what}: {count} saves, p50 {p50:.1} ms, p99 {p99:.1} ms, max {max:.1} ms");
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a copy");
        }
    }
}
