//! Programs that run on beside the engine and are spoken to over their standard input and output. Nothing of them
//! outlives the value that stands for them.

use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::Signal;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::time::timeout;

use super::capture::Capture;
use super::descendants::Family;
use super::process::Program;
use super::{Access, AccessError};

/// How long its last words are waited for: something that it started may hold the pipe open.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// A running program. Dropping it kills the program, and everything that it started.
#[derive(Debug)]
pub struct Service {
    // Before the child: whoever left the group is found by its parents.
    family: Family,
    child: Child,
    stderr: Arc<Mutex<Capture>>,
    reader: tokio::task::JoinHandle<()>,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceEnd {
    /// Its exit code; none when a signal ended it, or when it runs still.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// What it wrote to its standard error.
    pub stderr: String,
}

impl Access {
    /// Starts a program. Its time limit does not count here, and its standard input is for the caller.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(&self, program: &Program) -> Result<(Service, ChildStdin, ChildStdout), AccessError> {
        let mut prepared = self.prepare(program)?;
        prepared.command.stdin(Stdio::piped());
        let (mut child, family) = prepared.spawn()?;
        let stderr = Arc::new(Mutex::new(Capture::new(program.max_output)));
        let reader = tokio::spawn(read(child.stderr.take(), Arc::clone(&stderr)));
        let pipes = child.stdin.take().zip(child.stdout.take());
        let service = Service { family, child, stderr, reader };
        let (stdin, stdout) = pipes.ok_or_else(|| {
            let name = program.argv.first().cloned().unwrap_or_default();
            AccessError::io("talk to", name, std::io::Error::other("it has no pipes"))
        })?;
        Ok((service, stdin, stdout))
    }
}

impl Service {
    /// Ends it, after its standard input was closed: waits this long, asks it to end, waits once more, and kills it.
    pub async fn end(mut self, patience: Duration) {
        if timeout(patience, self.child.wait()).await.is_err() {
            self.family.signal(Signal::TERM);
            let _ = timeout(patience, self.child.wait()).await;
        }
        // Whatever is left is killed as the value goes.
    }

    /// How it ended, once it has.
    pub async fn autopsy(&mut self) -> ServiceEnd {
        // It has closed its output or is about to go; a moment, so that its exit code and last words are there.
        let status = timeout(LAST_WORDS, self.child.wait()).await.ok().and_then(Result::ok);
        if !self.reader.is_finished() {
            let _ = timeout(LAST_WORDS, &mut self.reader).await;
        }
        let stderr = self.stderr.lock().unwrap_or_else(PoisonError::into_inner).so_far();
        ServiceEnd {
            exit_code: status.and_then(|status| status.code()),
            signal: status.and_then(|status| std::os::unix::process::ExitStatusExt::signal(&status)),
            stderr: stderr.text,
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

async fn read(pipe: Option<impl AsyncRead + Unpin>, into: Arc<Mutex<Capture>>) {
    let Some(mut pipe) = pipe else { return };
    let mut buffer = vec![0; 4 * 1024];
    while let Ok(read @ 1..) = pipe.read(&mut buffer).await {
        into.lock().unwrap_or_else(PoisonError::into_inner).push(&buffer[..read]);
    }
}
