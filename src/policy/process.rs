//! Programs: an argument list and no shell, a process group of its own, a scrubbed environment, a time limit, output
//! kept up to a limit. Nothing that was started outlives the future that runs it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use super::capture::{Capture, Captured};
use super::descendants::{Family, new_mark};
use super::{Access, AccessError};

/// Variables that a program gets from the engine's environment: where it is and how it speaks, nothing secret.
const KEPT: [&str; 22] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "TMPDIR",
    "TEMP",
    "TMP",
    "LC_ALL",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_COLLATE", // Where toolchains are installed: without them `cargo test` may not start.
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "VIRTUAL_ENV",
];

/// From the polite signal to the one that cannot be refused.
const GRACE: Duration = Duration::from_millis(200);
/// How long pipes are read on after their program has ended: a process in the background may hold them open for ever.
const PIPE_GRACE: Duration = Duration::from_millis(200);

/// A program to run.
#[derive(Debug, Clone)]
pub struct Program {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Its folder, inside the roots; the workspace's when none.
    pub cwd: Option<String>,
    /// Variables beside the few that every program gets.
    pub env: Vec<(String, String)>,
    /// What it reads; nothing when none.
    pub stdin: Option<String>,
    /// After this time it is ended.
    pub timeout: Duration,
    /// Bytes that are kept of each output.
    pub max_output: usize,
}

/// What a program did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// Its standard output.
    pub stdout: Captured,
    /// Its standard error.
    pub stderr: Captured,
    /// Its exit code; none when a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it was ended because its time was over.
    pub timed_out: bool,
}

impl Access {
    /// Runs a program to its end. Dropping the future kills it, and everything that it started.
    ///
    /// # Errors
    /// When it cannot be started. How it ends is no error here.
    pub async fn run(&self, program: &Program) -> Result<Finished, AccessError> {
        let mut prepared = self.prepare(program)?;
        prepared.command.stdin(if program.stdin.is_some() { Stdio::piped() } else { Stdio::null() });
        let name = prepared.name;
        let (mut child, mut family) = prepared.spawn()?;
        let (mut stdout, mut stderr) = (Capture::new(program.max_output), Capture::new(program.max_output));
        let (timed_out, status) = {
            let feed = feed(child.stdin.take(), program.stdin.as_deref());
            let (out, err) = (drain(child.stdout.take(), &mut stdout), drain(child.stderr.take(), &mut stderr));
            let pipes = async { tokio::join!(feed, out, err) };
            tokio::pin!(pipes);
            let mut open = true;
            let deadline = sleep(program.timeout);
            tokio::pin!(deadline);
            let ended = loop {
                tokio::select! {
                    status = child.wait() => break Some(status),
                    _ = &mut pipes, if open => open = false,
                    () = &mut deadline => break None,
                }
            };
            let result = match ended {
                Some(status) => {
                    if open {
                        open = timeout(PIPE_GRACE, &mut pipes).await.is_err();
                    }
                    family.end();
                    (false, status)
                }
                None => {
                    family.signal(Signal::TERM);
                    let politely = async {
                        tokio::join!(child.wait(), async {
                            if open {
                                pipes.as_mut().await;
                            }
                        })
                    };
                    let ended = timeout(GRACE, politely).await;
                    open = open && ended.is_err();
                    family.signal(Signal::KILL);
                    (true, child.wait().await)
                }
            };
            if open {
                // Whoever still holds the pipes is not waited for.
                let _ = timeout(PIPE_GRACE, &mut pipes).await;
            }
            result
        };
        family.end();
        let status = status.map_err(|source| AccessError::io("wait for", name, source))?;
        Ok(Finished {
            stdout: stdout.finish(),
            stderr: stderr.finish(),
            exit_code: status.code(),
            signal: std::os::unix::process::ExitStatusExt::signal(&status),
            timed_out,
        })
    }

    /// Everything but the standard input.
    pub(super) fn prepare<'a>(&self, program: &'a Program) -> Result<Prepared<'a>, AccessError> {
        let cwd = self.folder(program.cwd.as_deref())?;
        let [name, arguments @ ..] = program.argv.as_slice() else {
            return Err(AccessError::NoProgram { program: String::new(), place: "named".to_owned() });
        };
        let path = find_program(name, &cwd, &search_path(&program.env))?;
        let (variable, value, mark) = new_mark();
        let kept = KEPT.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)));
        let mut command = Command::new(&path);
        command
            .arg0(name)
            .args(arguments)
            .current_dir(&cwd)
            .env_clear()
            .envs(kept)
            .envs(program.env.iter().map(|(name, value)| (name, value)))
            .env(variable, value)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        Ok(Prepared { name, command, mark })
    }

    fn folder(&self, cwd: Option<&str>) -> Result<PathBuf, AccessError> {
        let Some(cwd) = cwd else { return Ok(self.root().to_path_buf()) };
        let inside = self.resolve(cwd)?;
        let full = inside.full();
        if full.is_dir() {
            return Ok(full);
        }
        let found = if full.exists() { "a file" } else { "not there" };
        Err(AccessError::WrongKind { path: inside.shown().to_owned(), found, wanted: "a folder" })
    }
}

/// A program that is ready to start.
pub(super) struct Prepared<'a> {
    name: &'a str,
    pub(super) command: Command,
    mark: String,
}

impl Prepared<'_> {
    pub(super) fn spawn(mut self) -> Result<(Child, Family), AccessError> {
        let child = self.command.spawn().map_err(|source| AccessError::io("run", self.name, source))?;
        let family = Family::new(child.id(), self.mark);
        Ok((child, family))
    }
}

async fn feed(pipe: Option<tokio::process::ChildStdin>, text: Option<&str>) {
    if let (Some(mut pipe), Some(text)) = (pipe, text) {
        // A program that does not read to the end is no failure of ours.
        let _ = pipe.write_all(text.as_bytes()).await;
    }
}

async fn drain(pipe: Option<impl AsyncRead + Unpin>, into: &mut Capture) {
    let Some(mut pipe) = pipe else { return };
    let mut buffer = vec![0; 16 * 1024];
    // An unreadable pipe is an ended one.
    while let Ok(read @ 1..) = pipe.read(&mut buffer).await {
        into.push(&buffer[..read]);
    }
}

fn search_path(env: &[(String, String)]) -> String {
    match env.iter().rev().find(|(name, _)| name == "PATH") {
        Some((_, path)) => path.clone(),
        None => std::env::var("PATH").unwrap_or_default(),
    }
}

/// The file of a program. A bare name is looked up in absolute folders only: never in the folder that the program
/// runs in, where a file named `git` may lie.
fn find_program(name: &str, cwd: &Path, search: &str) -> Result<PathBuf, AccessError> {
    let runs = |path: &Path| path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0);
    let missing = |place: String| AccessError::NoProgram { program: name.to_owned(), place };
    if name.contains('/') {
        let path = cwd.join(name);
        return if runs(&path) { Ok(path) } else { Err(missing(format!("that can be run in {}", cwd.display()))) };
    }
    std::env::split_paths(search)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|path| !name.is_empty() && runs(path))
        .ok_or_else(|| missing("on PATH".to_owned()))
}
