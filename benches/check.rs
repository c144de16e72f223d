//! What a check costs: 1,000 documents of 150 lines with their templates.
//!
//!     cargo bench --bench check
//!
//! The documents come from `benches/check_speed/compare.py --write`, which also times another checker over them.

#![allow(clippy::expect_used, reason = "a benchmark that cannot start has nothing to say")]

use std::path::Path;
use std::process::Command;

use loopwright::{Library, check_workspace};

fn main() {
    divan::main();
}

/// A folder with the documents, which is removed when it is dropped.
fn corpus() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let target = folder.path().join("corpus");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/check_speed/compare.py");
    let done = Command::new("python3").arg(script).arg("--write").arg(&target).status().expect("python3");
    assert!(done.success());
    (folder, target)
}

/// Finds, reads and decodes the documents.
#[divan::bench(sample_count = 10)]
fn open_1000_documents(bencher: divan::Bencher<'_, '_>) {
    let (_keep, root) = corpus();
    bencher.bench_local(|| Library::open(&root).0.loops.len());
}

/// Checks them: schemas, templates, all rules.
#[divan::bench(sample_count = 10)]
fn check_1000_documents(bencher: divan::Bencher<'_, '_>) {
    let (_keep, root) = corpus();
    bencher.with_inputs(|| Library::open(&root).0).bench_local_values(|mut library| {
        let found = check_workspace(&mut library);
        assert!(found.is_empty(), "the documents are right");
    });
}
