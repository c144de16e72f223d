//! The run that the README shows is a run that happens.

use std::path::Path;

use super::Folder;

/// A folder with the repository's workspace in it, so that a run writes nothing into the repository.
fn repository() -> Folder {
    fn copy(from: &Path, to: &Path) {
        if from.is_dir() {
            std::fs::create_dir_all(to).unwrap();
            for entry in std::fs::read_dir(from).unwrap() {
                let entry = entry.unwrap();
                copy(&entry.path(), &to.join(entry.file_name()));
            }
        } else {
            std::fs::copy(from, to).unwrap();
        }
    }
    let folder = Folder::new(&[]);
    for name in ["loopwright.yaml", "loops", "prompts", "examples"] {
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join(name), &folder.file(name));
    }
    folder
}

#[test]
fn every_line_of_the_output_in_the_readme_comes_from_the_run() {
    let readme = include_str!("../../README.md");
    let shown = readme.split("````text\n").nth(1).unwrap().split("````").next().unwrap();
    let done = repository().run(&["run", "log_analyze", "--input", "@examples/auth.log"]).exits(0);
    let real: Vec<String> = done.stderr.lines().chain(done.stdout.lines()).map(timeless).collect();
    let mut lines = 0;
    for line in shown.lines().filter(|line| !line.is_empty() && *line != "[…]") {
        lines += 1;
        let line = timeless(line);
        let is_real = match line.strip_suffix('…') {
            Some(start) => real.iter().any(|real| real.starts_with(start)),
            None => real.contains(&line),
        };
        assert!(is_real, "the README shows a line that the run does not print: {line}\n{}", done.stderr);
    }
    assert!(lines > 20, "the README shows no run");
    assert_eq!(
        shown.lines().next(),
        Some("log_analyze, answered by a SCRIPT, not by a model: examples/log_analyze.script.yaml")
    );
}

/// The line with every time replaced.
fn timeless(line: &str) -> String {
    let is_time = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let words: Vec<&str> = line.split(' ').collect();
    let mut out = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).map(|next| next.trim_end_matches(')'));
        out.push(if is_time(word) && matches!(next, Some("ms" | "s")) { "0" } else { word });
    }
    out.join(" ").replace("0 s)", "0 ms)")
}
