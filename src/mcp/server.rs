//! One server over its life: started, lost, started again after a wait, given up.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::{Instant, sleep_until, timeout};

use super::content;
use super::listing::{self, RemoteTool};
use super::session::{CallError, Connect, Patience, Session};
use crate::document::McpServerDoc;
use crate::event::{Event, EventStream, ToolServerStatus};

/// A server that lasted this long was well: what happens then begins a new row of restarts.
const WELL: Duration = Duration::from_secs(60);

/// How much longer than its silence a call may take while the server reports progress.
const PROGRESS: u32 = 10;

/// A server.
pub(super) struct Server {
    pub(super) name: String,
    pub(super) doc: McpServerDoc,
    connect: Box<dyn Connect>,
    state: tokio::sync::Mutex<State>,
    offered: Mutex<Option<Arc<Vec<RemoteTool>>>>,
    /// Raised with every change of the tools of any server.
    generation: Arc<AtomicU64>,
    /// Who is told, by the number of their lease.
    watchers: Mutex<Vec<(u64, EventStream)>>,
}

enum State {
    /// Nobody needs it.
    Idle,
    Up(Up),
    Down(Down),
}

struct Up {
    session: Arc<dyn Session>,
    since: Instant,
    /// Ends by itself in a row, before this start.
    row: u32,
    /// What [`Session::changes`] said when the tools were listed.
    listed: u64,
}

#[derive(Clone)]
struct Down {
    row: u32,
    not_before: Instant,
    why: String,
}

impl Server {
    pub(super) fn new(name: &str, doc: McpServerDoc, connect: Box<dyn Connect>, generation: Arc<AtomicU64>) -> Self {
        Self {
            name: name.to_owned(),
            doc,
            connect,
            state: tokio::sync::Mutex::new(State::Idle),
            offered: Mutex::default(),
            generation,
            watchers: Mutex::default(),
        }
    }

    /// The tools as last listed; none before the first start.
    pub(super) fn offered(&self) -> Option<Arc<Vec<RemoteTool>>> {
        lock(&self.offered).clone()
    }

    /// A connection: the one that is there, or a new one. Lists the tools again when the server said that they changed.
    ///
    /// # Errors
    /// Why there is none, in a sentence about the server.
    pub(super) async fn up(&self) -> Result<Arc<dyn Session>, String> {
        let mut state = self.state.lock().await;
        loop {
            match &mut *state {
                State::Up(up) if !up.session.is_closed() => {
                    let changes = up.session.changes();
                    let session = Arc::clone(&up.session);
                    if changes != up.listed {
                        self.list_again(&*session).await;
                        up.listed = changes;
                    }
                    return Ok(session);
                }
                State::Up(up) => {
                    let why = up.session.last_words().await;
                    *state = State::Down(self.fall(up, why));
                }
                State::Down(down) => {
                    let Down { row, not_before, why } = down.clone();
                    if row > self.doc.restart.max {
                        return Err(self.given_up(&why));
                    }
                    sleep_until(not_before).await;
                    *state = match self.begin().await {
                        Ok((session, listed)) => State::Up(Up { session, since: Instant::now(), row, listed }),
                        Err(why) => State::Down(self.down(row + 1, why)),
                    };
                }
                State::Idle => {
                    // A server that never ran is set up wrongly more often than it is unwell: it gets one attempt.
                    let (session, listed) =
                        self.begin().await.map_err(|why| format!("MCP server `{}` did not start: {why}", self.name))?;
                    *state = State::Up(Up { session, since: Instant::now(), row: 0, listed });
                }
            }
        }
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// What went wrong, for the model.
    pub(super) async fn call(&self, remote: &str, params: Map<String, Value>) -> Result<Value, String> {
        let session = self.up().await?;
        let silent = self.doc.timeout.0;
        let patience = Patience { silent, total: silent.saturating_mul(PROGRESS) };
        match session.call(remote.to_owned(), params, patience).await {
            Ok(result) => content::value(&result, self.doc.max_output),
            Err(CallError::Refused(words)) => Err(words),
            Err(CallError::TimedOut) => Err(format!(
                "no answer from MCP server `{}` within {}; the call was cancelled",
                self.name, self.doc.timeout
            )),
            Err(CallError::Lost(words)) => {
                let words = self.lost(&session, words).await;
                Err(format!("MCP server `{}` {words}; whether the call was carried out is not known", self.name))
            }
        }
    }

    /// Ends the server in order.
    pub(super) async fn close(&self) {
        let state = std::mem::replace(&mut *self.state.lock().await, State::Idle);
        if let State::Up(up) = state {
            up.session.close().await;
        }
    }

    /// Ends the server at once. Nobody who uses it is left, so the lock is free.
    pub(super) fn kill(&self) {
        if let Ok(mut state) = self.state.try_lock() {
            *state = State::Idle;
        }
    }

    /// From now on, a lease is told what happens to the server.
    pub(super) fn watch(&self, lease: u64, events: &EventStream) {
        let mut watchers = lock(&self.watchers);
        if !watchers.iter().any(|(known, _)| *known == lease) {
            watchers.push((lease, events.clone()));
        }
    }

    pub(super) fn unwatch(&self, lease: u64) {
        lock(&self.watchers).retain(|(known, _)| *known != lease);
    }

    /// Starts it and lists its tools; what [`Session::changes`] said before.
    async fn begin(&self) -> Result<(Arc<dyn Session>, u64), String> {
        let begun = Instant::now();
        let limit = self.doc.start_timeout;
        let work = async {
            let session: Arc<dyn Session> = Arc::from(self.connect.connect().await?);
            let changes = session.changes();
            let tools = session.list().await.map_err(|words| format!("its tools cannot be listed: {words}"));
            Ok::<_, String>((session, changes, tools?))
        };
        let started = timeout(limit.0, work).await.unwrap_or_else(|_| Err(format!("it was not ready within {limit}")));
        match started {
            Ok((session, changes, listed)) => {
                let (_, problems) = self.publish(&listed);
                self.tell(ToolServerStatus::Started, problems, begun.elapsed());
                Ok((session, changes))
            }
            Err(why) => {
                self.tell(ToolServerStatus::Failed, vec![why.clone()], begun.elapsed());
                Err(why)
            }
        }
    }

    async fn list_again(&self, session: &dyn Session) {
        let begun = Instant::now();
        let listed = timeout(self.doc.timeout.0, session.list()).await;
        match listed.unwrap_or_else(|_| Err(format!("no answer within {}", self.doc.timeout))) {
            Ok(listed) => {
                let (changed, problems) = self.publish(&listed);
                if changed {
                    self.tell(ToolServerStatus::Changed, problems, begun.elapsed());
                }
            }
            Err(words) => {
                let words = format!("it says that its tools changed, and they cannot be listed: {words}");
                self.tell(ToolServerStatus::Changed, vec![words], begun.elapsed());
            }
        }
    }

    /// Makes the tools known; whether they are others than before, and what is wrong with them.
    fn publish(&self, listed: &[Value]) -> (bool, Vec<String>) {
        let (tools, problems) = listing::read(&self.name, &self.doc, listed);
        let mut offered = lock(&self.offered);
        let changed = offered.as_deref() != Some(&tools);
        if changed {
            *offered = Some(Arc::new(tools));
            self.generation.fetch_add(1, Ordering::AcqRel);
        }
        (changed, problems)
    }

    /// Notes that a connection broke; how, in words.
    async fn lost(&self, session: &Arc<dyn Session>, words: String) -> String {
        let words = if session.is_closed() { session.last_words().await } else { format!("was lost: {words}") };
        let mut state = self.state.lock().await;
        if let State::Up(up) = &mut *state
            && Arc::ptr_eq(&up.session, session)
        {
            *state = State::Down(self.fall(up, words.clone()));
        }
        words
    }

    fn fall(&self, up: &Up, why: String) -> Down {
        let lasted = up.since.elapsed();
        self.tell(ToolServerStatus::Lost, vec![format!("it {why}")], lasted);
        let row = if lasted >= WELL { 0 } else { up.row };
        self.down(row + 1, format!("it {why}"))
    }

    fn down(&self, row: u32, why: String) -> Down {
        Down { row, not_before: Instant::now() + self.wait(row), why }
    }

    /// The wait before the start that follows the end of this number in a row.
    fn wait(&self, row: u32) -> Duration {
        let restart = &self.doc.restart;
        match row.checked_sub(2) {
            None => Duration::ZERO,
            Some(doubled) => restart.base_delay.0.saturating_mul(2u32.saturating_pow(doubled)).min(restart.max_delay.0),
        }
    }

    fn given_up(&self, why: &str) -> String {
        let name = &self.name;
        match self.doc.restart.max {
            0 => format!("MCP server `{name}` is not started again (`restart.max` is 0): {why}"),
            max => format!("MCP server `{name}` is not started again after {max} restarts in a row: {why}"),
        }
    }

    fn tell(&self, status: ToolServerStatus, problems: Vec<String>, took: Duration) {
        let tools = match status {
            ToolServerStatus::Started | ToolServerStatus::Changed => {
                self.offered().iter().flat_map(|tools| tools.iter()).map(|tool| tool.name.clone()).collect()
            }
            ToolServerStatus::Lost | ToolServerStatus::Failed => Vec::new(),
        };
        for (_, events) in lock(&self.watchers).iter() {
            events.emit(Event::ToolServer {
                server: self.name.clone(),
                status,
                tools: tools.clone(),
                problems: problems.clone(),
                duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            });
        }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
