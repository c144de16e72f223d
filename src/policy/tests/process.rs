//! Programs: what they get, what is kept of them, and that they are gone afterwards.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::policy::{Access, Finished, Program};

fn access(root: &Path) -> Access {
    Access::new(root, &[".".into()], Vec::new())
}

fn program(argv: &[&str]) -> Program {
    Program {
        argv: argv.iter().map(|&s| s.to_owned()).collect(),
        cwd: None,
        env: Vec::new(),
        stdin: None,
        timeout: Duration::from_secs(20),
        max_output: 64 * 1024,
    }
}

async fn run(program: &Program) -> Finished {
    let dir = tempfile::tempdir().unwrap();
    access(dir.path()).run(program).await.unwrap()
}

fn alive(pid: i32) -> bool {
    // A zombie is dead: who reaps it is not our question.
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => !stat[stat.rfind(')').unwrap()..].starts_with(") Z"),
        Err(_) => false,
    }
}

/// Waits for a file that a script writes a process id to.
async fn pid_in(path: &Path) -> i32 {
    for _ in 0..200 {
        if let Some(pid) = std::fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok()) {
            return pid;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no process id in {}", path.display());
}

async fn gone(pid: i32) -> bool {
    for _ in 0..100 {
        if !alive(pid) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}

#[tokio::test]
async fn output_exit_code_and_input_are_passed() {
    let mut cat = program(&["sh", "-c", "cat; echo err >&2; exit 3"]);
    cat.stdin = Some("hello".into());
    let finished = run(&cat).await;
    assert_eq!((finished.stdout.text.as_str(), finished.stderr.text.as_str()), ("hello", "err\n"));
    assert_eq!((finished.exit_code, finished.timed_out), (Some(3), false));
    assert_eq!(run(&program(&["cat"])).await.stdout.text, "", "without input there is none to wait for");
    assert_eq!(run(&program(&["sh", "-c", "kill -9 $$"])).await.signal, Some(9));
}

#[tokio::test]
async fn the_environment_is_scrubbed() {
    // Cargo sets this one for every test.
    assert!(std::env::var("CARGO_MANIFEST_DIR").is_ok());
    let mut env = program(&["env"]);
    env.env.push(("GIVEN".into(), "yes".into()));
    let text = run(&env).await.stdout.text;
    assert!(text.contains("GIVEN=yes\n") && text.contains("PATH="), "{text}");
    assert!(!text.contains("CARGO_MANIFEST_DIR"), "{text}");
}

#[tokio::test]
async fn arguments_are_data() {
    let dir = tempfile::tempdir().unwrap();
    let hostile = "; touch pwned #$(touch pwned)`touch pwned`";
    let finished = access(dir.path()).run(&program(&["printf", "%s", hostile])).await.unwrap();
    assert_eq!(finished.stdout.text, hostile);
    assert!(!dir.path().join("pwned").exists());
}

#[tokio::test]
async fn a_timeout_ends_the_group_though_a_grandchild_holds_the_pipe() {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = program(&["sh", "-c", "sleep 60 & echo $! > pid; echo hi; wait"]);
    spec.timeout = Duration::from_secs(1);
    let start = Instant::now();
    let finished = access(dir.path()).run(&spec).await.unwrap();
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    assert!(finished.timed_out && finished.exit_code.is_none());
    assert_eq!(finished.stdout.text, "hi\n");
    assert!(gone(pid_in(&dir.path().join("pid")).await).await);
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_timeout_ends_who_ignores_it_and_who_left_the_group() {
    let dir = tempfile::tempdir().unwrap();
    let script = "trap '' TERM; setsid sh -c 'trap \"\" TERM; echo $$ > escaped; sleep 60; sleep 60' & \
                  (setsid sh -c 'echo $$ > orphan; sleep 60' &) ; sleep 60; sleep 60";
    let mut spec = program(&["sh", "-c", script]);
    spec.timeout = Duration::from_millis(700);
    let finished = access(dir.path()).run(&spec).await.unwrap();
    assert!(finished.timed_out);
    assert!(gone(pid_in(&dir.path().join("escaped")).await).await, "a child in a session of its own lives on");
    assert!(gone(pid_in(&dir.path().join("orphan")).await).await, "an orphan in a session of its own lives on");
}

#[tokio::test]
async fn a_dropped_future_takes_everything_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let access = access(dir.path());
    let spec = program(&["sh", "-c", "sh -c 'echo $$ > inner; sleep 60; true' & echo $$ > outer; wait"]);
    {
        let running = access.run(&spec);
        tokio::pin!(running);
        let started = async { (pid_in(&dir.path().join("outer")).await, pid_in(&dir.path().join("inner")).await) };
        let (outer, inner) = tokio::select! {
            _ = &mut running => panic!("it ended by itself"),
            pids = started => pids,
        };
        assert!(alive(outer) && alive(inner));
    }
    assert!(gone(pid_in(&dir.path().join("outer")).await).await);
    assert!(gone(pid_in(&dir.path().join("inner")).await).await);
}

#[tokio::test]
async fn a_program_in_the_background_is_not_waited_for_and_ends_with_the_step() {
    let dir = tempfile::tempdir().unwrap();
    let start = Instant::now();
    let finished = access(dir.path()).run(&program(&["sh", "-c", "sleep 60 & echo $! > pid"])).await.unwrap();
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!((finished.exit_code, finished.timed_out), (Some(0), false));
    assert!(gone(pid_in(&dir.path().join("pid")).await).await);
}

#[tokio::test]
async fn a_flood_is_capped_and_never_blocks() {
    let mut spec = program(&["yes"]);
    spec.timeout = Duration::from_millis(500);
    spec.max_output = 1000;
    let finished = run(&spec).await;
    assert!(finished.timed_out && finished.stdout.truncated);
    assert!(finished.stdout.total > 100_000, "{}", finished.stdout.total);
    assert!(finished.stdout.text.len() < 1100 && finished.stdout.text.starts_with("y\ny\n"));
}

#[tokio::test]
async fn bytes_that_are_no_text_are_replaced() {
    let finished = run(&program(&["printf", r"\377\000\376a"])).await;
    assert_eq!(finished.stdout.text, "\u{fffd}\0\u{fffd}a");
}

#[tokio::test]
async fn a_file_in_the_folder_is_no_program() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let fake = dir.path().join("only-here");
    std::fs::write(&fake, "#!/bin/sh\necho fake\n").unwrap();
    std::fs::set_permissions(&fake, std::fs::Permissions::from_mode(0o755)).unwrap();
    let access = access(dir.path());
    for path in ["", ".", ":.:", "relative"] {
        let mut spec = program(&["only-here"]);
        spec.env.push(("PATH".into(), path.into()));
        let words = access.run(&spec).await.unwrap_err().to_string();
        assert_eq!(words, "There is no program `only-here` on PATH");
    }
    assert_eq!(access.run(&program(&["./only-here"])).await.unwrap().stdout.text, "fake\n");
}

#[tokio::test]
async fn the_folder_lies_inside_the_roots() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("sub")).unwrap();
    let access = access(dir.path());
    let mut spec = program(&["pwd"]);
    spec.cwd = Some("sub".into());
    assert!(access.run(&spec).await.unwrap().stdout.text.trim().ends_with("/sub"));
    for cwd in ["/", "..", "nope"] {
        spec.cwd = Some(cwd.into());
        assert!(access.run(&spec).await.is_err(), "{cwd}");
    }
}
