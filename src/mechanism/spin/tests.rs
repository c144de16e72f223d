//! Spin detection over the cases in `tests/cases/spin/`, and what must not depend on names, order and noise.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

fn rows() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/spin");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut rows = Vec::new();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|end| end == "json")) {
        let list: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        rows.extend(list.as_array().unwrap().iter().map(|row| (format!("{file}: {}", row["id"]), row.clone())));
    }
    rows
}

fn read(row: &Value) -> History {
    histories(&row.to_string()).unwrap().remove(0)
}

#[test]
fn each_case_spins_where_it_says_and_no_other_does() {
    let rules = Rules::default();
    let rows = rows();
    assert!(rows.len() >= 180, "only {} rows", rows.len());
    let mut faults = Vec::new();
    for (name, row) in &rows {
        let found = detect(&read(row), &rules).spin;
        let step = found.as_ref().map(|finding| finding.step as u64);
        let right = match row["expected"].as_str().unwrap() {
            "spin" => step.is_some_and(|step| {
                step <= row["first_detect_step"].as_u64().unwrap()
                    && step >= row["earliest_ok_step"].as_u64().unwrap_or(1)
            }),
            _ => step.is_none(),
        };
        if !right {
            faults.push(format!("{name}: expected {} by {}, got {found:?}", row["expected"], row["first_detect_step"]));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_family_that_decides_does_so_in_some_case_and_is_silent_when_switched_off() {
    let rows = rows();
    let on = Rules::default();
    for family in FAMILIES {
        let hit = |rules: &Rules| {
            rows.iter().any(|(_, row)| {
                let mut detector = Detector::new(rules);
                let history = read(row);
                detector = detector.with_classes(history.classes.clone());
                history
                    .records
                    .iter()
                    .any(|record| detector.observe_all(record).iter().any(|f| f.family == family.name))
            })
        };
        assert!(hit(&on), "no case for {}", family.name);
        if family.name == "same_action" {
            continue; // It has a threshold and no switch: a suspicion costs nothing by itself.
        }
        let yaml = json!({ "families": { family.name: { "enabled": false } } });
        let off = Rules::new(Settings::from(&serde_json::from_value::<crate::document::Spin>(yaml).unwrap()));
        assert!(!hit(&off), "{} is not switched off", family.name);
    }
}

#[test]
fn a_document_says_it_over_the_defaults() {
    let of = |value: Value| Settings::from(&serde_json::from_value::<crate::document::Spin>(value).unwrap());
    assert_eq!(of(json!({})), Settings::default());
    let all: Vec<&str> = MASKS.iter().map(|mask| mask.name).collect();
    assert_eq!(of(json!({ "mask_results": all })), Settings::default(), "the document names every mask");
    let set = of(json!({ "same_action": 5, "reset_on": { "idle_gap": "0s" }, "classes": { "tail": "poll" },
        "families": { "exact": { "n": 9 } } }));
    assert_eq!((set.families.same_action.n, set.families.exact.n, set.families.exact.poll_n), (5, 9, 12));
    assert_eq!((set.reset.idle_gap, set.classes["tail"], set.classes["wait"]), (None, Class::Poll, Class::Wait));
    let broken = serde_json::from_value::<crate::document::Spin>(json!({ "transient": "(" }));
    assert!(broken.unwrap_err().to_string().contains("no regular expression"));
}

#[test]
fn what_is_no_history_is_refused_with_its_place() {
    for (text, path, word) in [
        ("[{\"steps\": [{\"action\": 3}]}]", "[0].steps[0].action", "expected a text, found 3"),
        ("[{\"steps\": []}, {\"stepz\": []}]", "[1]", "needs `steps`"),
        ("{\"steps\": [{\"action\": \"a\", \"error\": \"no\"}]}", "steps[0].error", "true or false"),
        ("{\"steps\": [], \"tool_classes\": {\"a\": \"pol\"}}", "tool_classes.a", "poll, wait, enumerate"),
        ("7", "", "expected a list of histories"),
        ("nonsense", "", "no JSON"),
    ] {
        let error = histories(text).unwrap_err();
        assert_eq!(error.path, path, "{text}");
        assert!(error.message.contains(word), "{text}: {}", error.message);
    }
}

#[test]
fn masks_take_noise_and_leave_progress() {
    let masker = super::mask::Masker::new(&Settings::default().mask_results);
    for (one, other) in [
        ("denied at 2031-01-01T00:00:00Z", "denied at 2031-02-03T11:12:13.5+01:00"),
        ("9 passed in 0.31s", "9 passed in 12.4s"),
        ("pid 12 done", "pid 9312 done"),
        ("request_id=ab-1: no", "request_id=zz-9: no"),
        ("saved to /tmp/tmp.a8Xk2q", "saved to /tmp/tmp.zz91kd"),
        ("text [read 2× this session]", "text [read 31× this session]"),
    ] {
        assert_eq!(masker.apply(one, false), masker.apply(other, false), "noise");
    }
    for (one, other) in [
        ("10 % done", "20 % done"),
        ("step 3 of 9", "step 4 of 9"),
        ("open: 9", "open: 8"),
        ("a.rs:12:3", "a.rs:14:3"),
        ("next_page_id=k9", "next_page_id=m2"),
        ("commit 1a2b3c4", "commit 9f8e7d6"),
        ("eta 30 s", "eta 20 s"),
        ("2031-01-01: 3 berths", "2031-01-02: 3 berths"),
    ] {
        assert_ne!(masker.apply(one, false).0, masker.apply(other, false).0, "progress");
    }
}

/// A record in the same history under other names: tools, keys and values that no setting knows by name.
fn renamed(step: &Value, salt: &str, reverse: bool, noise: u32) -> Value {
    let mut step = step.clone();
    let action = step["action"].as_str().unwrap().to_owned();
    let special = ["say", "think", "user_message", "condense", "finish", "wait", "sleep"];
    if special.contains(&action.as_str()) {
        return step;
    }
    step["action"] = json!(format!("{action}{salt}"));
    if let Some(map) = step["args"].as_object() {
        let mut entries: Vec<(String, Value)> = map.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        if reverse {
            entries.reverse();
        }
        entries.push(("request_id".into(), json!(format!("r{noise}"))));
        entries.insert(0, ("timestamp".into(), json!(noise)));
        step["args"] = Value::Object(entries.into_iter().collect::<Map<_, _>>());
    }
    step
}

proptest! {
    // Each runs over all rows.
    #![proptest_config(ProptestConfig { cases: 2, ..ProptestConfig::default() })]

    #[test]
    fn names_order_and_declared_noise_do_not_matter(salt in "_[a-z]{1,8}", seed in any::<u32>()) {
        let rules = Rules::default();
        for (name, row) in rows() {
            let mut other = row.clone();
            for (at, step) in other["steps"].as_array_mut().unwrap().iter_mut().enumerate() {
                let noise = seed.wrapping_mul(31).wrapping_add(at as u32);
                *step = renamed(step, &salt, noise % 3 == 0, noise);
            }
            if let Some(classes) = row["tool_classes"].as_object() {
                let renamed = |tool: &str| if ["wait", "sleep"].contains(&tool) { tool.to_owned() } else { format!("{tool}{salt}") };
                other["tool_classes"] = classes.iter().map(|(tool, class)| (renamed(tool), class.clone())).collect::<Map<_, _>>().into();
            }
            let place = |row: &Value| detect(&read(row), &rules).spin.map(|found| (found.step, found.family));
            prop_assert_eq!(place(&row), place(&other), "{}", name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics_and_the_fold_is_the_whole(
        steps in prop::collection::vec((0..6u8, "[ab]{0,2}|\\PC{0,12}", "\\PC{0,60}", any::<bool>()), 0..60)
    ) {
        let rules = Rules::default();
        let mut detector = Detector::new(&rules);
        let kinds = [Kind::Call, Kind::Call, Kind::Say, Kind::Think, Kind::User, Kind::Event];
        let records: Vec<Record> = steps.into_iter().map(|(kind, word, text, error)| Record {
            kind: kinds[usize::from(kind)],
            action: word.clone(),
            arguments: json!({ "text": word, "offset": text.len(), "limit": 3 }),
            observation: Some(text),
            error,
            ..Record::default()
        }).collect();
        let first = records.iter().filter_map(|record| detector.observe(record)).find(|f| f.severity == Severity::Hard);
        let whole = detect(&History { records, ..History::default() }, &rules);
        prop_assert_eq!(first, whole.spin);
    }
}
