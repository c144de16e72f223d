//! The program from outside: what it prints, where, and with which exit code.

mod caps;
mod check;
mod cost;
mod extract;
mod fmt;
mod handover;
mod help;
mod init;
mod model_ask;
mod output;
mod readme;
mod run;
mod seeing;
mod skills;
mod tune;
mod watch;

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;

/// A folder of its own for one test, with files in it.
pub(crate) struct Folder {
    dir: tempfile::TempDir,
}

impl Folder {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let folder = Self { dir };
        for (name, text) in files {
            folder.write(name, text);
        }
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.file(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap()
    }

    /// The program, to be started in this folder. Nothing of the caller's environment changes what it does.
    pub(crate) fn loopwright(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_loopwright"));
        command.current_dir(self.path()).args(arguments);
        for name in [
            "NO_COLOR",
            "COLUMNS",
            "CLICOLOR",
            "CLICOLOR_FORCE",
            "OPENAI_API_KEY",
            "ANTHROPIC_API_KEY",
            "LOOPWRIGHT_MODEL",
            "LOOPWRIGHT_BASE_URL",
        ] {
            command.env_remove(name);
        }
        command.timeout(std::time::Duration::from_secs(60));
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Done {
        Done::of(&self.loopwright(arguments).output().unwrap())
    }

    /// Runs the program with this on its standard input.
    pub(crate) fn run_with(&self, arguments: &[&str], stdin: impl Into<Vec<u8>>) -> Done {
        Done::of(&self.loopwright(arguments).write_stdin(stdin.into()).output().unwrap())
    }
}

/// What a process left behind.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Done {
    pub(crate) fn of(output: &Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Standard output as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        // A panic would exit with 101, and its words would be here.
        assert!(!self.stderr.contains("panicked"), "{self:?}");
        self
    }
}
