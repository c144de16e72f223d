//! The shapes of published skills, as data: what loading gives, what the format's rules say, and where nothing may be read.

use std::collections::BTreeSet;
use std::path::Path;

use data_encoding::BASE64;
use serde_json::Value as Json;

use super::*;
use crate::diag::SourceMap;

/// Rows whose expectation differs from what is right here, with the reason.
const OTHER_BODY: [(&str, &str); 1] =
    [("body_code_indent", "the indentation of the first line is that of a block of code")];
/// Rows that the format's own validator refuses because of its own faults: it takes `---` inside of values for fences.
const FAULTY_REFERENCE: [(&str, &str); 2] = [
    ("dashes_in_quoted_multiline", "dashes inside of a quoted text are no fence"),
    ("tab_after_colon", "YAML allows a tab between a colon and its value"),
];

fn rows(text: &str) -> Vec<Json> {
    serde_json::from_str::<Json>(text).unwrap().as_array().unwrap().clone()
}

fn text<'a>(row: &'a Json, key: &str) -> &'a str {
    row[key].as_str().unwrap()
}

fn put(folder: &Path, path: &str, bytes: &[u8]) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn load(folder: &Path, roots: &[&str]) -> SkillSet {
    let roots: Vec<Root> = roots.iter().map(|root| Root::new(folder.join(root))).collect();
    SkillSet::load(&roots, &|_| None, &mut SourceMap::new())
}

/// The skill of a row of files.json, in a folder of its own.
fn skill_of(row: &Json) -> (SkillEntry, bool) {
    let folder = tempfile::tempdir().unwrap();
    let bytes = match row["content_b64"].as_str() {
        Some(encoded) => BASE64.decode(encoded.as_bytes()).unwrap(),
        None => text(row, "content").as_bytes().to_vec(),
    };
    put(folder.path(), &format!("{}/SKILL.md", text(row, "dir_name")), &bytes);
    let set = load(folder.path(), &["."]);
    let entry = set.entries()[0].clone();
    let valid = entry.violations().count() == 0;
    (entry, valid)
}

#[test]
fn every_published_shape_is_loaded_or_refused_as_it_should_be() {
    let mut faults = Vec::new();
    for row in rows(include_str!("../../tests/cases/skills/files.json")) {
        let (id, expected) = (text(&row, "id"), &row["expected"]);
        let (entry, _) = skill_of(&row);
        let mut differs = |what: &str, got: Json| {
            if !expected[what].is_null() && expected[what] != got {
                faults.push(format!("{id}: {what} is {got}, expected {}\n  {:?}", expected[what], entry.findings));
            }
        };
        differs("ok", entry.skill.is_some().into());
        differs("error_class", entry.error().map(|finding| finding.fault.as_str()).into());
        let Some(skill) = &entry.skill else { continue };
        differs("name", skill.name.as_str().into());
        differs("description", skill.description.as_str().into());
        differs("license", skill.license.clone().into());
        differs("metadata", skill.metadata.clone().into());
        differs("allowed_tools", skill.allowed_tools.clone().into());
        differs("warnings", entry.warnings().into());
        if !OTHER_BODY.iter().any(|(other, _)| *other == id) {
            differs("body", skill.instructions.trim().into());
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn validating_agrees_with_the_reference_of_the_format() {
    let mut faults = Vec::new();
    for row in rows(include_str!("../../tests/cases/skills/files.json")) {
        let (id, expected) = (text(&row, "id"), row["skills_ref"]["valid"].as_bool().unwrap());
        let (entry, valid) = skill_of(&row);
        if valid != expected && !FAULTY_REFERENCE.iter().any(|(other, _)| *other == id) {
            faults.push(format!("{id}: valid is {valid}: {:?}", entry.findings));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_finding_has_a_place_in_its_file() {
    for row in rows(include_str!("../../tests/cases/skills/files.json")) {
        for finding in skill_of(&row).0.findings {
            let place = finding.diagnostic.span;
            assert!(place.is_some_and(|span| !span.is_none()), "{}: {finding:?}", row["id"]);
        }
    }
}

fn link(folder: &Path, row: &Json) {
    for (path, aim) in row["symlinks"].as_object().into_iter().flatten() {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(aim.as_str().unwrap(), path).unwrap();
    }
}

#[test]
fn folders_give_the_skills_that_they_should() {
    for row in rows(include_str!("../../tests/cases/skills/folders.json")) {
        let folder = tempfile::tempdir().unwrap();
        for (path, content) in row["files"].as_object().unwrap() {
            put(folder.path(), path, content.as_str().unwrap().as_bytes());
        }
        link(folder.path(), &row);
        let roots: Vec<&str> = row["roots"].as_array().unwrap().iter().map(|root| text(root, "path")).collect();
        let set = load(folder.path(), &roots);
        let skills = set.skills();
        let names: BTreeSet<&str> = skills.iter().map(|(_, skill)| skill.name.as_str()).collect();
        let expected = &row["expected"];
        if let Some(wanted) = expected["names"].as_array() {
            assert_eq!(names, wanted.iter().filter_map(Json::as_str).collect(), "{}", row["id"]);
        }
        for (name, description) in expected["descriptions"].as_object().into_iter().flatten() {
            assert_eq!(set.get(name).unwrap().description.as_deref(), description.as_str(), "{}", row["id"]);
        }
        let told = set.diagnostics().count() as u64;
        assert!(told >= expected["diagnostics_min"].as_u64().unwrap_or_default(), "{}", row["id"]);
        assert!(expected["diagnostics"].as_u64().is_none_or(|wanted| wanted == told), "{}: {told}", row["id"]);
        assert!(expected["count_max"].as_u64().is_none_or(|most| names.len() as u64 <= most), "{}", row["id"]);
    }
}

#[test]
fn resources_never_come_from_outside_of_the_folder() {
    let all: Json = serde_json::from_str(include_str!("../../tests/cases/skills/resources.json")).unwrap();
    for row in all["cases"].as_array().unwrap() {
        let folder = tempfile::tempdir().unwrap();
        for (path, content) in all["files"].as_object().unwrap() {
            put(folder.path(), path, content.as_str().unwrap().as_bytes());
        }
        link(folder.path(), row);
        for (path, made) in row["gen"].as_object().into_iter().flatten() {
            let content = text(made, "repeat").repeat(usize::try_from(made["times"].as_u64().unwrap()).unwrap());
            put(folder.path(), path, content.as_bytes());
        }
        let result = read_resource(&folder.path().join(text(row, "skill_dir")), text(row, "path"));
        let expected = &row["expected"];
        assert_eq!(result.is_ok(), expected["ok"].as_bool().unwrap(), "{}: {result:?}", row["id"]);
        let class = result.as_ref().err().map(ResourceError::class).unwrap_or_default();
        let allowed = expected["error_class"].as_str().unwrap_or_default();
        assert!(allowed == class || (allowed == "path_escape_or_not_found" && class == "path_escape"), "{}", row["id"]);
    }
}

/// What a text gives in a folder named `count-apples`: its skill, and the classes of its findings.
fn given(text: &str) -> (Option<Skill>, Vec<&'static str>) {
    let reading = read(crate::diag::SourceId(0), text, "count-apples");
    (reading.skill, reading.findings.iter().map(|finding| finding.fault.as_str()).collect())
}

fn front(rest: &str) -> String {
    format!("---\nname: count-apples\n{rest}\n---\nCount.\n")
}

#[test]
fn texts_that_are_no_yaml_are_read_as_they_were_meant() {
    for (written, meant) in [
        ("it's: a trap", "it's: a trap"),
        ("\"says \"go\" now\"", "says \"go\" now"),
        ("'it's fine'", "it's fine"),
        ("\"a\" or \"b\"", "\"a\" or \"b\""),
        ("[draft] counts: apples", "[draft] counts: apples"),
        ("*bold* words", "*bold* words"),
        ("a: b\n  c: d", "a: b c: d"),
        ("`x` is: y", "`x` is: y"),
        ("100%: all", "100%: all"),
    ] {
        let (skill, found) = given(&front(&format!("description: {written}\nlicense: MIT")));
        let skill = skill.unwrap_or_else(|| panic!("{written}: {found:?}"));
        assert_eq!((skill.description.as_str(), skill.license.as_deref()), (meant, Some("MIT")), "{written}");
        assert!(found.iter().all(|class| *class == "yaml_repaired") && !found.is_empty(), "{written}: {found:?}");
    }
}

#[test]
fn a_mistake_in_a_key_that_nobody_needs_does_not_lose_the_skill() {
    let (skill, found) = given(&front("description: Counts.\nargument-hint: [a] [b: c]"));
    assert_eq!(
        (skill.unwrap().extra, found),
        (vec!["argument-hint".to_owned()], vec!["yaml_repaired", "unknown_field"])
    );
    let (skill, _) = given(&front("description: Counts.\nmetadata:\n  note: a: b\n  by: me"));
    assert_eq!(Json::from(skill.unwrap().metadata), serde_json::json!({ "note": "a: b", "by": "me" }));
    let (skill, _) = given(&front("description: Counts.\nallowed-tools: Read, Bash(git: *)"));
    assert_eq!(skill.unwrap().allowed_tools.unwrap(), ["Read", "Bash(git: *)"]);
}

#[test]
fn what_decides_more_than_words_is_never_guessed() {
    for (rest, class) in [
        ("description: Counts.\ninvoke:\n  run: [a] [b]", "invalid_yaml"),
        ("description: Counts.\ninvoke: { run: [a, b] ", "invalid_yaml"),
        ("description: Counts.\ninvoke: { rnu: [a, b], when: x, then: maybe }", "invalid_invoke"),
        ("description: Counts.\ninvoke: []\ninput_schema: { count: integr }", "invalid_input_schema"),
        ("description: Counts.\ndescription: Again.", "invalid_yaml"),
        ("description: |\nCounts.", "invalid_yaml"),
        ("description: Counts\nand more: of them\nin plain words", "invalid_yaml"),
        ("description: {a: b}", "invalid_description"),
        ("description: Counts.\nname2: x", "unknown_field"),
    ] {
        let (skill, found) = given(&front(rest));
        assert_eq!((skill.is_some(), found[0]), (class == "unknown_field", class), "{rest}: {found:?}");
    }
}

#[test]
fn no_text_brings_the_reader_down() {
    use proptest::prelude::*;
    const PARTS: [&str; 24] = [
        "---",
        "\n",
        "\r",
        "\r\n",
        "name",
        ": ",
        ":",
        " ",
        "\t",
        "description",
        "x",
        "\"",
        "'",
        "- ",
        "[",
        "{",
        "}",
        "|",
        ">-",
        "#",
        "果",
        "\u{202e}",
        "metadata:\n  a: b: c",
        "invoke: ",
    ];
    let text = proptest::collection::vec(proptest::sample::select(PARTS.to_vec()), 0..40);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..Default::default()
    });
    runner
        .run(&text, |parts| {
            let text = format!("---\n{}", parts.concat());
            let reading = read(crate::diag::SourceId(0), &text, "x");
            let has_error = reading.findings.iter().any(|finding| finding.level == Level::Error);
            prop_assert_eq!(reading.skill.is_none(), has_error, "{}", text);
            let place = |finding: &Finding| finding.diagnostic.span.map_or(0, |span| span.end as usize);
            prop_assert!(reading.findings.iter().all(|finding| place(finding) <= text.len()), "{}", text);
            Ok(())
        })
        .unwrap();
}

#[test]
fn allowed_tools_that_cannot_be_read_allow_nothing() {
    let (skill, found) = given(&front("description: Counts.\nallowed-tools: { Read: true }"));
    assert_eq!((skill.unwrap().allowed_tools, found[0]), (Some(Vec::new()), "allowed-tools_ignored"));
    assert_eq!(given(&front("description: Counts.")).0.unwrap().allowed_tools, None);
}

#[test]
fn an_executable_skill_is_a_tool_of_its_name() {
    let (skill, found) = given(&front(
        "description: Counts.\nversion: 1.10\ninput_schema: { crate: string! }\n\
         invoke: { do: [{ run: [wc, -l], id: out }], middleware: [{ timeout: 3s }], effect: pure }",
    ));
    let skill = skill.unwrap_or_else(|| panic!("{found:?}"));
    let tool = skill.invoke.unwrap().tool;
    assert_eq!((skill.version.as_deref(), tool.name.value.as_str()), (Some("1.10"), "count-apples"));
    assert_eq!((tool.steps.len(), tool.middleware.len()), (1, 1));
    assert_eq!(tool.params.as_ref().unwrap().schema["required"][0], "crate");
    let one = given(&front("description: Counts.\ninvoke: { run: [wc] }")).0.unwrap();
    let list = given(&front("description: Counts.\ninvoke:\n  - run: [wc]\n  - result: x")).0.unwrap();
    assert_eq!((one.invoke.unwrap().tool.steps.len(), list.invoke.unwrap().tool.steps.len()), (1, 2));
}

#[test]
fn a_link_to_the_same_skills_is_no_second_copy() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), ".agents/skills/a/SKILL.md", b"---\nname: a\ndescription: A.\n---\n");
    std::fs::create_dir(folder.path().join(".claude")).unwrap();
    std::os::unix::fs::symlink("../.agents/skills", folder.path().join(".claude/skills")).unwrap();
    let set = load(folder.path(), &[".agents/skills", ".claude/skills"]);
    assert_eq!((set.entries().len(), set.diagnostics().count()), (1, 0));
}

#[test]
fn links_in_a_circle_and_links_to_nowhere_end() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "skills/a/SKILL.md", b"---\nname: a\ndescription: A.\n---\n");
    for (path, aim) in [("skills/round", "."), ("skills/gone", "nowhere")] {
        std::os::unix::fs::symlink(aim, folder.path().join(path)).unwrap();
    }
    let set = load(folder.path(), &["skills"]);
    let classes: Vec<_> = set.entries().iter().map(|entry| entry.error().map(|found| found.fault.as_str())).collect();
    assert_eq!(classes, [None, Some("not_found")]);
}

#[test]
fn a_root_may_be_a_skill_or_a_file() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "a/SKILL.md", b"---\nname: a\ndescription: A.\n---\n");
    put(folder.path(), "b.md", b"---\nname: b\ndescription: B.\n---\n");
    for (root, name) in [("a", "a"), ("a/SKILL.md", "a"), ("b.md", "b")] {
        let set = load(folder.path(), &[root]);
        assert_eq!((set.skills()[0].1.name.as_str(), set.diagnostics().count()), (name, 0), "{root}");
    }
}

#[test]
fn one_bad_file_hides_no_other() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "bad/SKILL.md", b"\xff\xfe\x00\x01");
    put(folder.path(), "large/SKILL.md", &vec![b'x'; MAX_FILE + 1]);
    put(folder.path(), "good/SKILL.md", b"---\nname: good\ndescription: Good.\n---\n");
    let set = load(folder.path(), &["."]);
    let classes: Vec<_> = set.entries().iter().map(|entry| entry.error().map(|found| found.fault.as_str())).collect();
    assert_eq!(classes, [Some("not_utf8"), None, Some("too_large")]);
}

#[test]
fn resources_are_found_by_their_spelling_on_every_system() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "SKILL.md", b"x");
    put(folder.path(), "references/guide.md", b"\xEF\xBB\xBFguide");
    put(folder.path(), "logo.png", b"\x89PNG");
    put(folder.path(), ".git/config", b"x");
    let read = |path: &str| read_resource(folder.path(), path).map_err(|error| error.class());
    for path in
        ["references/guide.md", "./references/guide.md", "references\\guide.md", "scripts/../references/guide.md"]
    {
        assert_eq!(read(path).as_deref(), Ok("guide"), "{path}");
    }
    for (path, class) in [
        ("", "invalid_path"),
        ("references/../../x", "path_escape"),
        ("..\\x", "path_escape"),
        ("/etc/hostname", "path_escape"),
        ("References/guide.md", "not_found"),
        ("references/guide.md/x", "not_found"),
        (".", "not_a_file"),
        ("logo.png", "not_utf8"),
    ] {
        assert_eq!(read(path), Err(class), "{path}");
    }
    assert_eq!(list_resources(folder.path()), ["logo.png", "references/guide.md"]);
}
