//! `skills`: what other programs read, and what a person sees.

use serde_json::json;

use super::Folder;

const COUNT: &str = "---\nname: count-apples\ndescription: Counts apples. Use when a crate arrives.\nlicense: MIT\n\
                     metadata: { by: orchard }\n---\n\nCount them.\n";
const ODD: &str = "---\nname: Odd_One\ndescription: Use when: asked\n---\nx\n";

fn workspace() -> Folder {
    Folder::new(&[
        ("loopwright.yaml", "kind: workspace\n"),
        ("skills/count-apples/SKILL.md", COUNT),
        ("skills/count-apples/references/kinds.md", "red, green"),
        (".claude/skills/odd/SKILL.md", ODD),
        (".agents/skills/broken/SKILL.md", "# no front matter\n"),
        ("elsewhere/count-apples/SKILL.md", &COUNT.replace("Counts", "Also counts")),
    ])
}

#[test]
fn a_list_has_every_skill_and_what_is_wrong_with_it() {
    let folder = workspace();
    let list = folder.run(&["skills", "list", "--format", "json"]).exits(0).json();
    let rows: Vec<_> =
        list.as_array().unwrap().iter().map(|row| (&row["name"], &row["ok"], &row["error_class"])).collect();
    assert_eq!(
        rows,
        [
            (&json!("count-apples"), &json!(true), &json!(null)),
            (&json!(null), &json!(false), &json!("missing_frontmatter")),
            (&json!("Odd_One"), &json!(true), &json!(null)),
        ]
    );
    assert_eq!(list[0]["metadata"], json!({ "by": "orchard" }));
    assert_eq!(list[0]["path"], "skills/count-apples/SKILL.md");
    assert_eq!(list[2]["warnings"], json!(["yaml_repaired", "name_dir_mismatch", "name_not_conforming"]));
    assert_eq!((&list[2]["findings"][0]["line"], &list[2]["description"]), (&json!(3), &json!("Use when: asked")));
    let text = folder.run(&["skills", "list"]).exits(0);
    assert!(text.stdout.starts_with("Odd_One  (.claude/skills/odd/SKILL.md)\n"), "{}", text.stdout);
    assert!(text.stderr.contains(".agents/skills/broken/SKILL.md:1:1: error[skill-front-matter]"), "{}", text.stderr);
}

#[test]
fn of_two_skills_with_one_name_the_first_root_wins() {
    let folder = workspace();
    let roots = ["skills", "list", "--format", "json", "--root", "elsewhere", "--root", "skills"];
    let list = folder.run(&roots).exits(0).json();
    assert_eq!((&list[0]["ok"], &list[1]["ok"]), (&json!(true), &json!(false)));
    assert_eq!((&list[1]["error_class"], &list[1]["name"]), (&json!("shadowed"), &json!("count-apples")));
    assert_eq!(folder.run(&["skills", "list", "--format", "json", "--root", "none"]).exits(0).json(), json!([]));
}

#[test]
fn a_skill_is_shown_with_its_files() {
    let folder = workspace();
    let shown = folder.run(&["skills", "show", "count-apples", "--format", "json"]).exits(0).json();
    assert_eq!((&shown["body"], &shown["resources"]), (&json!("Count them."), &json!(["references/kinds.md"])));
    assert!(folder.run(&["skills", "show", "count-apples"]).exits(0).stdout.ends_with("\n\nCount them.\n"));
    let error = folder.run(&["skills", "show", "count-aples"]).exits(2).stderr;
    assert!(error.contains("did you mean `count-apples`?"), "{error}");
}

#[test]
fn validating_is_strict() {
    let folder = workspace();
    let strict = |path: &str, exit| folder.run(&["skills", "validate", path, "--format", "json"]).exits(exit).json();
    // Brackets in the front matter: read here, refused by the format's own reader.
    assert_eq!(strict("skills", 1)[0]["error_class"], "yaml_style");
    let odd = strict(".claude/skills/odd", 1);
    let classes: Vec<_> = odd[0]["errors"].as_array().unwrap().iter().map(|error| &error["class"]).collect();
    assert_eq!(classes, ["yaml_repaired", "name_dir_mismatch", "name_not_conforming"]);
    assert_eq!(strict("nowhere", 1)[0]["error_class"], "not_found");
    let good = Folder::new(&[("a/SKILL.md", "---\nname: a\ndescription: A.\nversion: 1.0\n---\n")]);
    let row = good.run(&["skills", "validate", "a", "--format", "json"]).exits(0).json();
    assert_eq!((&row[0]["ok"], &row[0]["version"]), (&json!(true), &json!("1.0")));
    let text = folder.run(&["skills", "validate", ".claude/skills/odd"]).exits(1).stdout;
    assert!(text.contains("SKILL.md:3:22: error[skill-format]"), "{text}");
}

#[test]
fn a_resource_is_printed_or_refused() {
    let folder = workspace();
    let resource = |path: &str| folder.run(&["skills", "resource", "skills/count-apples", path, "--format", "json"]);
    assert_eq!(resource("references/kinds.md").exits(0).json()["content"], "red, green");
    assert_eq!(resource("../../loopwright.yaml").exits(1).json()["error_class"], "path_escape");
    let text = folder.run(&["skills", "resource", "skills/count-apples", "references/kinds.md"]).exits(0).stdout;
    assert_eq!(text, "red, green");
}

#[test]
fn check_reports_the_skills_of_the_workspace() {
    let folder = workspace();
    let found = folder.run(&["check", "--format", "json"]).exits(1).json();
    let codes: Vec<_> =
        found.as_array().unwrap().iter().map(|row| (row["code"].as_str().unwrap(), &row["line"])).collect();
    let at = |line: u32| json!(line);
    assert!(codes.contains(&("skill-front-matter", &at(1))) && codes.contains(&("skill-format", &at(3))), "{codes:?}");
    let one = folder.run(&["check", "--format", "json", ".claude/skills/odd/SKILL.md"]).exits(0).json();
    assert_eq!(one.as_array().unwrap().len(), 3, "{one}");
    let below = folder.run(&["check", "--format", "json", ".agents"]).exits(1).json();
    assert_eq!(below[0]["code"], "skill-front-matter");
}
