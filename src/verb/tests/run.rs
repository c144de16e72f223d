//! `run`: arguments are data, failures are words, and nothing stays behind.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::support::World;
use crate::policy::Access;

fn world(dir: &tempfile::TempDir) -> World {
    World::in_folder(dir.path()).with(
        "params",
        json!({
            "path": "; touch pwned #",
            "ref": "--output=pwned",
            "words": "two words",
            "list": ["echo", "a", "b c"],
            "options": ["echo", "-n", "x"],
            "none": null,
            "n": 3
        }),
    )
}

async fn run(args: Value) -> Result<Value, String> {
    let dir = tempfile::tempdir().unwrap();
    let result = world(&dir).run("run", args).await;
    assert!(!dir.path().join("pwned").exists());
    result
}

async fn stdout(args: Value) -> String {
    run(args).await.unwrap()["stdout"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn each_item_is_one_argument() {
    let show = |item: &str| json!(["printf", "[%s]", item, "end"]);
    assert_eq!(stdout(show("{{ params.path }}")).await, "[; touch pwned #][end]");
    assert_eq!(stdout(show("{{ params.words }}")).await, "[two words][end]");
    assert_eq!(stdout(show("{{ params.n }}")).await, "[3][end]");
    assert_eq!(stdout(json!(["printf", "[%s]", 7])).await, "[7]");
    assert_eq!(stdout(json!("{{ params.list }}")).await, "a b c\n");
    assert_eq!(stdout(json!({ "argv": "{{ params.list }}", "timeout": "{{ params.none }}" })).await, "a b c\n");
    assert!(run(json!("{{ params.words }}")).await.unwrap_err().contains("list of arguments"));
}

#[tokio::test]
async fn a_value_is_never_taken_for_an_option() {
    for args in
        [json!(["echo", "{{ params.ref }}"]), json!(["echo", "{{ params.ref }}", "--"]), json!("{{ params.options }}")]
    {
        let error = run(args.clone()).await.unwrap_err();
        assert!(error.contains("begins with `-`") && error.contains("allow_dash"), "{args}: {error}");
    }
    for args in [
        json!(["echo", "--", "{{ params.ref }}"]),
        json!(["echo", "--opt={{ params.ref }}"]),
        json!({ "argv": ["echo", "{{ params.ref }}"], "allow_dash": true }),
        json!({ "argv": "{{ params.options }}", "allow_dash": true }),
    ] {
        run(args).await.unwrap();
    }
}

#[tokio::test]
async fn a_failing_program_fails_the_step_with_its_words() {
    let fails = json!(["sh", "-c", "echo out; echo err >&2; exit 4"]);
    let error = run(fails.clone()).await.unwrap_err();
    assert!(
        error.contains("exit code 4") && error.contains("stdout:\nout") && error.contains("stderr:\nerr"),
        "{error}"
    );
    let result = run(json!({ "argv": fails, "check": false })).await.unwrap();
    assert_eq!(
        result,
        json!({
            "stdout": "out\n", "stderr": "err\n", "exit_code": 4, "signal": null, "timed_out": false, "truncated": false
        })
    );
    let error = run(json!(["no-such-program"])).await.unwrap_err();
    assert!(error.contains("`no-such-program`") && error.contains("PATH"), "{error}");
}

#[tokio::test]
async fn a_program_that_hangs_is_ended() {
    let start = Instant::now();
    let error = run(json!({ "argv": ["sleep", 30], "timeout": "300ms" })).await.unwrap_err();
    assert!(error.contains("`sleep 30` was ended after 300ms"), "{error}");
    let result = run(json!({ "argv": ["sleep", 30], "timeout": "300ms", "check": false })).await.unwrap();
    assert_eq!(result["timed_out"], json!(true));
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn input_folder_variables_and_limit_are_taken() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("sub")).unwrap();
    let args = json!({
        "argv": ["sh", "-c", "cat; basename \"$PWD\"; echo $V; echo $TOO_LONG | tr a b"],
        "cwd": "sub", "stdin": "<{{ params.words }}>\n", "env": { "V": "{{ params.n }}", "TOO_LONG": "aaa" }
    });
    let result = world(&dir).run("run", args).await.unwrap();
    assert_eq!(result["stdout"], json!("<two words>\nsub\n3\nbbb\n"));
    let result = run(json!({ "argv": ["seq", 1000], "max_output": 100 })).await.unwrap();
    assert_eq!(result["truncated"], json!(true));
    assert!(result["stdout"].as_str().unwrap().len() < 200);
    assert!(run(json!({ "argv": ["ls"], "cwd": "/" })).await.unwrap_err().contains("outside"));
}

#[tokio::test]
async fn a_shell_needs_the_policys_leave_and_takes_values_as_its_arguments() {
    let args = json!({ "argv": ["echo \"$1\" | tr a-z A-Z", "{{ params.path }}"], "shell": true });
    let error = run(args.clone()).await.unwrap_err();
    assert!(error.contains("policy"), "{error}");
    let dir = tempfile::tempdir().unwrap();
    let rules = serde_json::from_value(json!([{ "tool": "shell", "decision": "allow" }])).unwrap();
    let mut world = world(&dir);
    world.access = Access::new(dir.path(), &[".".into()], rules);
    assert_eq!(world.run("run", args).await.unwrap()["stdout"], json!("; TOUCH PWNED #\n"));
    assert!(!dir.path().join("pwned").exists());
}
