//! The examples on the codes' pages, given to the checker.

use super::*;
use crate::diag::codes::{CodeInfo, File, all};
use crate::diag::{Severity, render};

const WORKSPACE: &str =
    "kind: workspace\nmodels:\n  m-small: { provider: openai, model: m-small, base_url: \"http://127.0.0.1:1/v1\" }\n";
/// What uses the template of an example that has no document.
const LOOP: &str = "name: example\nprompt: { instruction: { file: prompts/example.md.j2 } }\n";

/// What is found in a workspace with these files.
fn findings(files: &[File]) -> (Diagnostics, String) {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("loopwright.yaml", WORKSPACE);
    std::fs::create_dir_all(folder.path().join("loops")).unwrap();
    if files.iter().all(|file| file.language == "jinja") {
        write("loops/example.yaml", LOOP);
    }
    for file in files {
        // A tab cannot be seen on a page.
        write(&file.path, &file.text.replace('→', "\t"));
    }
    let (mut library, _) = Library::open(folder.path());
    let found = check(&mut library, Targets::All, Options { schemas: true });
    let shown = render::concise(found.as_slice(), &library.sources);
    (found, shown)
}

fn faults(info: &CodeInfo) -> Vec<String> {
    let page = info.page();
    let mut faults = Vec::new();
    if info.tested_by.is_some() {
        return faults;
    }
    let (found, shown) = findings(&page.bad);
    let own = found.iter().filter(|finding| finding.code == info.code);
    let severities: Vec<Severity> = own.map(|finding| finding.severity).collect();
    if severities.is_empty() || severities.iter().any(|severity| *severity != info.severity) {
        faults.push(format!("{}: the bad example must give this {}:\n{shown}", info.code, info.severity.as_str()));
    }
    let (found, shown) = findings(&page.good);
    if !found.is_empty() {
        faults.push(format!("{}: the good example must give nothing:\n{shown}", info.code));
    }
    faults
}

#[test]
fn every_example_shows_what_its_page_says() {
    let faults: Vec<String> = all().iter().flat_map(faults).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn what_no_example_can_show_has_a_test() {
    let tests = [include_str!("../load/tests.rs"), include_str!("tests.rs")].concat();
    for test in all().iter().filter_map(|info| info.tested_by) {
        assert!(tests.contains(&format!("fn {test}()")), "no test {test}");
    }
}

/// `## Fix` stands on exactly those pages whose bad example shows a repair.
#[test]
fn a_page_says_what_is_repaired() {
    for info in all().iter().filter(|info| info.tested_by.is_none()) {
        let page = info.page();
        let (found, shown) = findings(&page.bad);
        let own = found.iter().filter(|finding| finding.code == info.code);
        let repaired = own.filter(|finding| finding.fix.as_ref().is_some_and(|fix| fix.safe)).count() > 0;
        assert_eq!(repaired, !page.fix.is_empty(), "{}: {shown}", info.code);
    }
}
