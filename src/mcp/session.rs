//! What a connection to a server is asked for, whatever speaks the protocol.

use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

/// Makes connections to one server.
pub(super) trait Connect: Send + Sync {
    /// A connection that is ready for requests. Dropping the future ends what it has started.
    fn connect(&self) -> BoxFuture<'_, Result<Box<dyn Session>, String>>;
}

/// A connection. Dropping it ends the server's process at once.
pub(super) trait Session: Send + Sync {
    /// The tools, all pages of them, as the server writes them.
    fn list(&self) -> BoxFuture<'_, Result<Vec<Value>, String>>;

    /// Calls a tool; the result as the server writes it. Dropping the future tells the server to stop.
    fn call(&self, tool: String, params: Map<String, Value>, wait: Patience)
    -> BoxFuture<'_, Result<Value, CallError>>;

    /// Whether nothing can be asked any more.
    fn is_closed(&self) -> bool;

    /// How often the server said that its tools changed.
    fn changes(&self) -> u64;

    /// How it ended, in words that go on after "it".
    fn last_words(&self) -> BoxFuture<'_, String>;

    /// Ends it in order: the server is told first.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// How long a call may take.
#[cfg_attr(not(feature = "mcp"), allow(dead_code, reason = "the client makes and reads them"))]
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// Without a sign of progress.
    pub(super) silent: Duration,
    /// In all.
    pub(super) total: Duration,
}

/// Why a call has no result.
#[cfg_attr(not(feature = "mcp"), allow(dead_code, reason = "the client makes and reads them"))]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CallError {
    /// The server answered that it cannot.
    Refused(String),
    /// The connection broke; whether the call was carried out is not known.
    Lost(String),
    /// No answer in time.
    TimedOut,
}
