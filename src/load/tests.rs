//! The library as a workspace's author meets it.

use std::path::{Path, PathBuf};

use super::library::DocRef;
use super::shipped::SHIPPED;
use super::*;
use crate::diag::{Code, Severity, codes};
use crate::document::Kind;

struct Folder(tempfile::TempDir);

impl Folder {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            folder.write(name, text.as_bytes());
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        std::fs::write(self.path(name), bytes).unwrap();
    }

    fn open(&self) -> Library {
        Library::open(self.0.path()).0
    }
}

fn errors(library: &Library) -> Vec<Code> {
    library.findings().iter().filter(|f| f.severity == Severity::Error).map(|f| f.code).collect()
}

const LOOP: &str = "name: a\nprompt: { instruction: Do it. }\n";

#[test]
fn the_workspace_is_found_from_below_and_is_not_needed() {
    let folder = Folder::with(&[("loopwright.yaml", "language: zh\n"), ("loops/deep/a.yaml", LOOP), ("other/x", "")]);
    let library = Library::open(&folder.path("other")).0;
    assert_eq!(library.workspace.doc.language.as_deref(), Some("zh"));
    assert!(library.loops.contains_key("a"));
    let bare = Folder::with(&[("loops/a.yaml", LOOP)]);
    let library = bare.open();
    assert!(library.findings().is_empty(), "{:?}", library.findings());
    assert!(library.loops.contains_key("a") && library.presets.contains_key("strict"));
}

#[test]
fn what_is_shipped_is_without_fault_and_named_as_its_file() {
    let library = Folder::with(&[]).open();
    assert!(library.findings().is_empty(), "{:?}", library.findings());
    for (path, _) in SHIPPED.iter().filter(|(path, _)| path.starts_with("loops/")) {
        let name = Path::new(path).file_stem().unwrap().to_str().unwrap();
        let known = library.loops.contains_key(name)
            || library.presets.contains_key(name)
            || library.forges.contains_key(name)
            || library.tools.contains_key(name);
        assert!(known, "{path} is not named as its file");
    }
}

#[test]
fn a_presets_values_hold_where_the_loop_says_nothing() {
    let folder = Folder::with(&[
        (
            "loops/a.yaml",
            "name: a\nextends: [preset/base, preset/late]\nmodel: big\nprompt: { instruction: x }\nlimits: { timeout: 5m }\n",
        ),
        (
            "loops/base.yaml",
            "kind: preset\nname: base\nextends: preset/strict\nlimits: { max_iterations: 7, timeout: 1m, max_depth: 2 }\n",
        ),
        ("loops/late.toml", "kind = \"preset\"\nname = \"late\"\n[limits]\nmax_depth = 3\n"),
    ]);
    let library = folder.open();
    assert_eq!(errors(&library), [] as [Code; 0]);
    let loaded = &library.loops["a"];
    let limits = &loaded.doc.limits;
    assert_eq!((limits.max_iterations, limits.max_depth), (7, 3), "later presets win over earlier ones");
    assert_eq!(limits.timeout, Some(crate::document::Duration::secs(300)), "the loop wins");
    let tiers = &loaded.doc.model.as_ref().unwrap().tiers;
    assert_eq!(tiers.keys().collect::<Vec<_>>(), ["main", "helper"], "`model: NAME` is the main tier only");
    assert_eq!(loaded.doc.description, None, "a preset's description is its own");
    let place = loaded.node.at_pointer("/limits/max_iterations").unwrap().span;
    assert!(library.sources.path(place.source).ends_with("base.yaml"), "each value keeps its file");
}

#[test]
fn yaml_and_toml_give_the_same_document() {
    let folder = Folder::with(&[
        (
            "loops/a.yaml",
            "name: a\nprompt: { instruction: \"x {{ input }}\" }\nstate: { n: 1, list: [a, 2.5, true] }\nactions:\n  go: { description: d, do: [{ feedback: hi, when: input }], then: exit }\n",
        ),
        (
            "more/b.toml",
            "name = \"a\"\n[prompt]\ninstruction = \"x {{ input }}\"\n[state]\nn = 1\nlist = [\"a\", 2.5, true]\n[actions.go]\ndescription = \"d\"\nthen = \"exit\"\n[[actions.go.do]]\nfeedback = \"hi\"\nwhen = \"input\"\n",
        ),
    ]);
    let mut library = folder.open();
    let from_yaml = library.loops["a"].doc.clone();
    library.add_path(&folder.path("more/b.toml"));
    let from_toml = &library.loops["a"].doc;
    assert_eq!(from_yaml.state, from_toml.state);
    assert_eq!(from_yaml.prompt, from_toml.prompt);
    assert_eq!(library.loops["a"].node.to_json()["actions"]["go"]["do"][0]["feedback"], "hi");
    assert_eq!(from_yaml.actions["go"].then, from_toml.actions["go"].then);
    assert_eq!(errors(&library), [] as [Code; 0]);
}

#[test]
fn a_document_that_is_named_stands_before_one_of_the_same_name() {
    let folder = Folder::with(&[
        ("loops/a.yaml", LOOP),
        ("draft.yaml", "name: a\ndescription: new\nprompt: { instruction: x }\n"),
    ]);
    let mut library = folder.open();
    let added = library.add_path(&folder.path("draft.yaml"));
    assert_eq!(library.doc_ref(added[0]), Some(DocRef { kind: Kind::Loop, name: "a".to_owned() }));
    assert_eq!(library.loops["a"].doc.description.as_ref().unwrap().value, "new");
    assert_eq!(errors(&library), [] as [Code; 0]);
    let known = library.add_path(&folder.path("loops/a.yaml"));
    assert_ne!(known, added, "a file is read once");
    assert_eq!(library.add_path(&folder.path("loops/a.yaml")), known);
}

#[test]
fn files_that_cannot_be_read_say_why_and_the_others_are_read() {
    let folder = Folder::with(&[("loops/a.yaml", LOOP), ("loops/large.yaml", "")]);
    folder.write("loops/latin.yaml", b"name: caf\xE9\n");
    folder.write("loops/large.yaml", format!("name: big\nx: {}\n", "x".repeat(2 << 20)).as_bytes());
    let mut library = folder.open();
    assert!(library.loops.contains_key("a"));
    let mut codes = errors(&library);
    codes.sort();
    assert_eq!(codes, [codes::ENCODING, codes::FILE_TOO_LARGE]);
    library.add_path(&folder.path("nowhere.yaml"));
    library.add_path(Path::new("/dev/null"));
    let codes = errors(&library);
    assert_eq!(codes[2..], [codes::FILE_MISSING, codes::FILE_UNREADABLE]);
    assert_eq!(library.unusable.len(), 4);
}

#[cfg(unix)]
#[test]
fn links_that_lead_in_a_circle_are_reported_and_others_followed() {
    let folder =
        Folder::with(&[("loops/inner/a.yaml", LOOP), ("elsewhere/b.yaml", "name: b\nprompt: { instruction: x }\n")]);
    std::os::unix::fs::symlink(folder.path("loops"), folder.path("loops/inner/back")).unwrap();
    std::os::unix::fs::symlink(folder.path("elsewhere"), folder.path("loops/there")).unwrap();
    let library = folder.open();
    assert_eq!(errors(&library), [codes::FOLDER_CYCLE]);
    assert!(library.loops.contains_key("a") && library.loops.contains_key("b"));
}

#[test]
fn an_error_is_kept_with_its_file() {
    let folder =
        Folder::with(&[("loops/a.yaml", LOOP), ("loops/b.yaml", "name: b\nprompt: { instruction: x }\nzebra: 1\n")]);
    let library = folder.open();
    assert!(library.is_sound(library.loops["a"].source));
    assert!(!library.is_sound(library.loops["b"].source));
}

#[test]
fn a_folder_gives_the_files_that_say_that_they_are_documents() {
    let folder = Folder::with(&[
        ("loops/broken.yaml", "actoins: {}\n"),
        ("Cargo.toml", "[package]\nname = \"x\"\n"),
        ("tests/run.yaml", "about: a test\nloop: { name: b }\n"),
        ("more/c.yaml", LOOP),
        ("other/loopwright.yaml", "kind: workspace\n"),
        ("other/loops/d.yaml", "name: d\nprompt: x\n"),
    ]);
    let mut library = folder.open();
    let added = library.add_path(&folder.path("."));
    assert_eq!(added.len(), 2, "{:?}", library.findings());
    assert_eq!(library.passed_over(), 2);
    assert_eq!(library.add_path(&folder.path("tests/run.yaml")).len(), 1, "a file that is named is a document");
    assert_eq!(library.add_path(&folder.path("other")).len(), 1, "a workspace that is named is looked into");
}

#[test]
fn what_is_read_again_is_what_would_be_read_afresh_and_what_did_not_change_is_kept() {
    let folder = Folder::with(&[
        ("loopwright.yaml", "kind: workspace\n"),
        ("loops/a.yaml", LOOP),
        ("loops/b.yaml", "name: b\nextends: calm\nprompt: { instruction: Do it. }\n"),
        ("loops/calm.yaml", "kind: preset\nname: calm\nlimits: { max_iterations: 4 }\n"),
        ("loops/c.yaml", "name: c\nextends: loops/calm.yaml\nprompt: { instruction: x }\n"),
    ]);
    let told = |library: &Library| {
        let Library { sources, workspace, loops, tools, forges, presets, unusable, .. } = library;
        format!(
            "{workspace:?} {loops:?} {tools:?} {forges:?} {presets:?} {unusable:?} {:?} {sources:?}",
            library.findings()
        )
    };
    let kept = |one: &Library, other: &Library, name: &str| {
        one.loops
            .get(name)
            .zip(other.loops.get(name))
            .is_some_and(|(one, other)| std::sync::Arc::ptr_eq(&one.doc, &other.doc))
    };
    let mut library = folder.open();
    // A file, what it is now (nothing: it is deleted), and which of the loops a, b and c are kept.
    let edits: [(&str, Option<&str>, &str); 13] = [
        ("loops/a.yaml", Some("name: a\nprompt: { instruction: Do more. }\n"), "bc"),
        ("loops/a.yaml", Some("\u{feff}name: a\nprompt: { instruction: Do more. }\n"), "abc"),
        ("loops/calm.yaml", Some("kind: preset\nname: calm\nlimits: { max_iterations: 5 }\n"), "a"),
        ("loops/calm.yaml", Some("kind: preset\nname: calmer\nlimits: { max_iterations: 5 }\n"), "a"),
        ("loops/calm.yaml", Some("kind: tool\nname: calm\nlimits: { max_iterations: 5 }\n"), "a"),
        ("loops/calm.yaml", Some("kind: preset\nname: calm\nlimits: [\n"), "a"),
        ("loops/calm.yaml", Some("kind: preset\nname: calm\nlimits: { max_iterations: 6 }\n"), "a"),
        ("loops/c.yaml", Some(""), "a"),
        ("loops/c.yaml", None, "a"),
        ("loops/bb.yaml", Some("name: b\nprompt: { instruction: Twice. }\n"), "a"),
        ("loops/bb.yaml", None, "a"),
        ("loops/0.yaml", Some("kind: preset\nname: first\n"), ""),
        ("loopwright.yaml", Some("kind: workspace\nname_: x\n"), "ab"),
    ];
    for (file, text, expected) in edits {
        match text {
            Some(text) => folder.write(file, text.as_bytes()),
            None => std::fs::remove_file(folder.path(file)).unwrap(),
        }
        let again = library.reopen();
        assert_eq!(told(&again), told(&folder.open()), "{file}: {text:?}");
        let names: String = ["a", "b", "c"].into_iter().filter(|name| kept(&library, &again, name)).collect();
        assert_eq!(names, expected, "{file}: {text:?}");
        library = again;
    }
}
