//! All servers of a workspace, and the leases of those who use them: with the last lease, the processes end.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::future::join_all;
use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::listing::RemoteTool;
use super::name::{fits, server_of};
use super::secret;
use super::server::{Server, lock};
use super::session::Connect;
use crate::document::{Effect, McpServerDoc, McpStart};
use crate::event::EventStream;
use crate::policy::Access;
use crate::tool::NativeTool;

/// The servers of a workspace.
pub struct Servers {
    servers: IndexMap<String, Arc<Server>>,
    generation: Arc<AtomicU64>,
    /// The leases that are out, and the number of the next one.
    leases: Mutex<(usize, u64)>,
}

impl Servers {
    /// Servers that are not started yet.
    #[must_use]
    pub fn new(docs: &IndexMap<String, McpServerDoc>, access: &Access) -> Self {
        Self::with(docs.iter().map(|(name, doc)| (name.as_str(), doc.clone(), connector(doc, access))))
    }

    pub(super) fn with<'a>(docs: impl Iterator<Item = (&'a str, McpServerDoc, Box<dyn Connect>)>) -> Self {
        let generation = Arc::new(AtomicU64::new(1));
        let server = |(name, doc, connect): (&str, McpServerDoc, Box<dyn Connect>)| {
            (name.to_owned(), Arc::new(Server::new(name, doc, connect, Arc::clone(&generation))))
        };
        Self { servers: docs.map(server).collect(), generation, leases: Mutex::default() }
    }

    /// Whether the workspace declares none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// Secrets that must be masked, those that can be read. Paths of files start from `root`.
    pub fn secrets(&self, root: &Path) -> Vec<String> {
        self.servers.values().flat_map(|server| secret::all(&server.doc, root)).collect()
    }

    /// Another number means that some server has other tools. Never 0.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The names of the servers, in the order of the workspace.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.servers.keys().map(String::as_str)
    }

    /// The server that a tool's name or pattern belongs to.
    #[must_use]
    pub fn server_of(&self, tool: &str) -> Option<&str> {
        server_of(tool, self.names())
    }

    #[cfg(all(test, feature = "mcp"))]
    pub(super) fn server(&self, name: &str) -> Option<&Arc<Server>> {
        self.servers.get(name)
    }

    /// The tools of every server that was started, as last listed.
    #[must_use]
    pub fn tools(&self) -> Vec<McpTool> {
        let tools = self.servers.values().filter_map(|server| Some((server, server.offered()?)));
        tools
            .flat_map(|(server, tools)| {
                tools.iter().map(|tool| McpTool { server: Arc::clone(server), tool: tool.clone() }).collect::<Vec<_>>()
            })
            .collect()
    }

    /// The names of tools that a name or pattern means, of a server whose tools are known; none when they are not.
    ///
    /// # Errors
    /// The server has no tool of this name: says which it has.
    pub fn named(&self, pattern: &str) -> Result<Option<Vec<String>>, String> {
        let server = self.server_of(pattern).and_then(|server| self.servers.get(server));
        let Some((server, offered)) = server.and_then(|server| Some((server, server.offered()?))) else {
            return Ok(None);
        };
        let found: Vec<String> =
            offered.iter().map(|tool| &tool.name).filter(|name| fits(pattern, name)).cloned().collect();
        if found.is_empty() && !pattern.contains('*') {
            let has: Vec<String> = offered.iter().map(|tool| format!("`{}`", tool.name)).collect();
            let has = if has.is_empty() { "it has none".to_owned() } else { format!("it has {}", has.join(", ")) };
            return Err(format!("MCP server `{}` has no tool `{pattern}`; {has}", server.name));
        }
        Ok(Some(found))
    }

    /// A share in the servers, for one run. What happens to those that the run uses is told to its stream.
    #[must_use]
    pub fn lease(self: &Arc<Self>, events: &EventStream) -> Lease {
        let mut leases = lock(&self.leases);
        leases.0 += 1;
        leases.1 += 1;
        Lease { servers: Arc::clone(self), number: leases.1, events: events.clone() }
    }
}

fn connector(doc: &McpServerDoc, access: &Access) -> Box<dyn Connect> {
    #[cfg(feature = "mcp")]
    return Box::new(super::client::Connector::new(doc.clone(), access.clone()));
    #[cfg(not(feature = "mcp"))]
    {
        let _ = (doc, access);
        Box::new(Unsupported)
    }
}

/// Stands where the client would be.
#[cfg(not(feature = "mcp"))]
struct Unsupported;

#[cfg(not(feature = "mcp"))]
impl Connect for Unsupported {
    fn connect(&self) -> futures_util::future::BoxFuture<'_, Result<Box<dyn super::session::Session>, String>> {
        Box::pin(std::future::ready(Err(super::NOT_SUPPORTED.to_owned())))
    }
}

/// A share in the servers. With the last one gone, the servers' processes are killed.
pub struct Lease {
    servers: Arc<Servers>,
    number: u64,
    events: EventStream,
}

impl Lease {
    /// Starts these servers at the same time, or looks after those that run.
    ///
    /// # Errors
    /// Why the first of those that did not start did not.
    pub async fn start(&self, names: &[String]) -> Result<(), String> {
        let servers = names.iter().filter_map(|name| self.servers.servers.get(name));
        let started = join_all(servers.map(|server| async {
            server.watch(self.number, &self.events);
            server.up().await.map(drop)
        }));
        started.await.into_iter().collect()
    }

    /// Starts all servers. One that does not start is told of.
    pub async fn start_all(&self) {
        self.start_each(|_| true).await;
    }

    /// Starts the servers that every run starts. One that does not is told of; a loop that needs it fails later.
    pub async fn start_eager(&self) {
        self.start_each(|server| server.doc.start == McpStart::Eager).await;
    }

    async fn start_each(&self, wanted: impl Fn(&Server) -> bool) {
        let wanted = self.servers.servers.values().filter(|server| wanted(server));
        join_all(wanted.map(|server| async {
            server.watch(self.number, &self.events);
            let _ = server.up().await;
        }))
        .await;
    }

    /// Ends the servers in order, when nobody else uses them.
    pub async fn close(&self) {
        if lock(&self.servers.leases).0 == 1 {
            join_all(self.servers.servers.values().map(|server| server.close())).await;
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        for server in self.servers.servers.values() {
            server.unwatch(self.number);
        }
        let mut leases = lock(&self.servers.leases);
        leases.0 -= 1;
        if leases.0 == 0 {
            for server in self.servers.servers.values() {
                server.kill();
            }
        }
    }
}

/// A tool of a server.
#[derive(Clone)]
pub struct McpTool {
    server: Arc<Server>,
    tool: RemoteTool,
}

impl McpTool {
    /// What the server says of it.
    #[must_use]
    pub fn listed(&self) -> &RemoteTool {
        &self.tool
    }

    /// The server's name.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server.name
    }
}

impl NativeTool for McpTool {
    fn name(&self) -> &str {
        &self.tool.name
    }

    fn description(&self) -> &str {
        &self.tool.description
    }

    fn params(&self) -> Value {
        self.tool.params.clone()
    }

    fn effect(&self) -> Effect {
        self.tool.effect
    }

    fn foreign(&self) -> bool {
        true
    }

    fn call<'a>(&'a self, params: Value) -> Pin<Box<dyn Future<Output = Result<Value, String>> + Send + 'a>> {
        let params = match params {
            Value::Object(params) => params,
            _ => Map::new(),
        };
        Box::pin(self.server.call(&self.tool.remote, params))
    }
}
