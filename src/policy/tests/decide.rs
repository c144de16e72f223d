//! The table of decisions.

use serde::Deserialize;
use serde_json::Value;

use crate::document::{Decision, Effect, PolicyRule};
use crate::policy::Access;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    case: String,
    rules: Vec<PolicyRule>,
    tool: String,
    params: Value,
    #[serde(default)]
    effect: Effect,
    is: Decision,
    #[serde(default)]
    words: String,
}

#[test]
fn each_case_is_decided_as_the_table_says() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../../../tests/cases/policy/decisions.json")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("secrets")).unwrap();
    std::os::unix::fs::symlink("secrets", dir.path().join("link")).unwrap();
    let mut wrong = Vec::new();
    for mut case in cases {
        if let Some(path) = case.params.get("path").and_then(Value::as_str) {
            case.params["path"] = path.replace("$ROOT", dir.path().to_str().unwrap()).into();
        }
        let access = Access::new(dir.path(), &[".".into()], case.rules).steered_by(["./loops".into()]);
        let (decision, words) = access.decide(&case.tool, &case.params, case.effect);
        if decision != case.is || !words.contains(&case.words) {
            wrong.push(format!("{}: {decision:?}, {words}", case.case));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
