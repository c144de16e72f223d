//! What the engine costs without a network: opening a workspace, and a whole run that a script answers.
//!
//!     cargo bench --bench core
//!
//! What it costs against other frameworks, over HTTP, is measured in `benches/peers/`.

#![allow(clippy::expect_used, reason = "a benchmark that cannot start has nothing to say")]

use std::path::Path;
use std::sync::Arc;

use loopwright::{Engine, Library, RunRequest};

fn main() {
    divan::main();
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Finds, reads and decodes every document of this repository's workspace.
#[divan::bench]
fn open_the_workspace() -> usize {
    Library::open(root()).0.loops.len()
}

/// Renders the first prompt of `log_analyze` over a log of 12 KB, nothing kept from before.
#[divan::bench]
fn render_the_first_prompt(bencher: divan::Bencher<'_, '_>) {
    let library = Arc::new(Library::open(root()).0);
    let input = std::fs::read_to_string(root().join("examples/auth.log")).expect("the example's log");
    let engine = Engine::builder(library).build().expect("an engine");
    let request = RunRequest { loop_name: "log_analyze".into(), input, ..RunRequest::default() };
    bencher.bench_local(|| engine.render(&request).expect("a prompt").user.len());
}

/// Runs `log_analyze` from its script to the end: 9 replies, 8 iterations, one rejected action, 2 files written.
#[divan::bench]
fn run_log_analyze_from_its_script(bencher: divan::Bencher<'_, '_>) {
    let library = Arc::new(Library::open(root()).0);
    let input = std::fs::read_to_string(root().join("examples/auth.log")).expect("the example's log");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    bencher.bench_local(|| {
        // A script tells its story once, so every run has an engine of its own.
        let engine = Engine::builder(Arc::clone(&library)).build().expect("an engine");
        let request = RunRequest { loop_name: "log_analyze".into(), input: input.clone(), ..RunRequest::default() };
        let outcome = runtime.block_on(engine.run(request)).expect("a run that starts");
        assert_eq!(outcome.exit_code, 0, "{outcome:?}");
    });
}

/// One more record for the spin detector, at a history of 1,000.
#[divan::bench]
fn observe_a_record_after_a_thousand(bencher: divan::Bencher<'_, '_>) {
    use loopwright::spin::{Detector, Record, Rules};
    let record = |n: usize| {
        let arguments =
            serde_json::json!({ "path": format!("src/part_{}.rs", n % 97), "offset": n % 7 * 40, "limit": 40 });
        Record::call(
            "read_file",
            arguments,
            format!("fn part_{n}() {{\n    // {}\n}}\n", "words of the file ".repeat(10)),
        )
    };
    let mut detector = Detector::new(&Rules::default());
    (0..1000).for_each(|n| drop(detector.observe(&record(n))));
    let mut next = 1000;
    bencher
        .with_inputs(|| {
            next += 1;
            record(next)
        })
        .bench_local_values(|record| detector.observe(&record));
}

/// All that the mechanisms decide in one iteration without a model, at a history of 1,000. At most 50 microseconds.
#[divan::bench]
fn decide_an_iteration_after_a_thousand(bencher: divan::Bencher<'_, '_>) {
    let mut iterations = loopwright::measure::Iterations::after(1000);
    bencher.bench_local(|| iterations.decide());
}
