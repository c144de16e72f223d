//! The protocol, by the official SDK: requests of one connection, whatever carries it.

mod http;
mod stdio;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam, ClientCapabilities,
    ClientConfig, ClientRequest, Implementation, ListToolsRequest, PaginatedRequestParams, RequestId,
};
use rmcp::service::{NotificationContext, PeerRequestOptions, RunningService, ServiceError};
use rmcp::{ClientHandler, Peer, RoleClient};
use serde_json::{Map, Value};

use super::listing::MOST_TOOLS;
use super::session::{CallError, Connect, Patience, Session};
use crate::document::McpServerDoc;
use crate::policy::{Access, Service};

/// Pages of a list of tools that are read.
const MOST_PAGES: usize = 100;
/// How long a server is waited for when it is told to end, and once more when it is asked to.
const FAREWELL: Duration = Duration::from_secs(2);
/// Bytes of a server's standard error that are kept, half of them its last.
const STDERR: usize = 4096;

/// Connects to one server.
pub(super) struct Connector {
    doc: McpServerDoc,
    access: Access,
}

impl Connector {
    pub(super) fn new(doc: McpServerDoc, access: Access) -> Self {
        Self { doc, access }
    }
}

impl Connect for Connector {
    fn connect(&self) -> BoxFuture<'_, Result<Box<dyn Session>, String>> {
        Box::pin(async move {
            let link = match (&self.doc.command, &self.doc.url) {
                (Some(command), None) => stdio::connect(command, &self.doc, &self.access).await?,
                (None, Some(url)) => http::connect(url, &self.doc, &self.access).await?,
                _ => return Err("it needs `command` or `url`, one of them".to_owned()),
            };
            Ok(Box::new(link) as Box<dyn Session>)
        })
    }
}

/// What the server may ask of us, which is nothing, and tell us.
#[derive(Clone, Default)]
struct Client {
    changes: Arc<AtomicU64>,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let own = Implementation::new("loopwright", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), own)
    }

    fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) -> impl Future<Output = ()> + Send + '_ {
        self.changes.fetch_add(1, Ordering::AcqRel);
        std::future::ready(())
    }
}

/// A connection.
struct Link {
    peer: Peer<RoleClient>,
    changes: Arc<AtomicU64>,
    /// None once it was closed.
    ends: tokio::sync::Mutex<Option<Ends>>,
}

/// What keeps a connection alive.
struct Ends {
    running: RunningService<RoleClient, Client>,
    /// The process, where the server is one.
    service: Option<Service>,
}

impl Link {
    fn new(running: RunningService<RoleClient, Client>, client: &Client, service: Option<Service>) -> Self {
        Self {
            peer: running.peer().clone(),
            changes: Arc::clone(&client.changes),
            ends: tokio::sync::Mutex::new(Some(Ends { running, service })),
        }
    }

    /// One request. Dropping the future tells the server to stop.
    async fn ask(&self, request: ClientRequest, options: PeerRequestOptions) -> Result<Value, ServiceError> {
        let handle = self.peer.send_cancellable_request(request, options).await?;
        let mut abandoned = Abandoned { peer: &self.peer, id: Some(handle.id.clone()) };
        let result = handle.await_response().await;
        abandoned.id = None;
        // As the server wrote it, nearly: what the SDK cannot read is kept as it is.
        serde_json::to_value(result?).map_err(|_| ServiceError::UnexpectedResponse)
    }
}

impl Session for Link {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Value>, String>> {
        Box::pin(async move {
            let mut tools = Vec::new();
            let mut cursor: Option<String> = None;
            for _ in 0..MOST_PAGES {
                let page = PaginatedRequestParams::default().with_cursor(cursor.clone());
                let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(page));
                let page = match self.ask(request, PeerRequestOptions::no_options()).await {
                    Ok(page) => page,
                    // Servers without tools need not know the request.
                    Err(ServiceError::McpError(error)) if tools.is_empty() && error.code.0 == -32601 => break,
                    Err(error) => return Err(words(&error)),
                };
                match page.get("tools") {
                    Some(Value::Array(listed)) => tools.extend(listed.iter().cloned()),
                    _ => return Err("the answer has no list of `tools`".to_owned()),
                }
                let next = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
                // A cursor that comes again leads round in a circle.
                if next.is_none() || next == cursor || tools.len() > MOST_TOOLS {
                    break;
                }
                cursor = next;
            }
            Ok(tools)
        })
    }

    fn call(
        &self,
        tool: String,
        params: Map<String, Value>,
        wait: Patience,
    ) -> BoxFuture<'_, Result<Value, CallError>> {
        Box::pin(async move {
            let params = CallToolRequestParams::new(tool).with_arguments(params);
            let options = PeerRequestOptions::with_timeout(wait.silent)
                .reset_timeout_on_progress()
                .with_max_total_timeout(wait.total);
            let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
            self.ask(request, options).await.map_err(|error| match error {
                ServiceError::McpError(error) => CallError::Refused(refusal(&error.message, error.data.as_ref())),
                ServiceError::Timeout { .. } => CallError::TimedOut,
                ServiceError::Cancelled { reason } => CallError::Refused(
                    reason.unwrap_or_else(|| "the server cancelled the call and gave no reason".to_owned()),
                ),
                ServiceError::TransportClosed | ServiceError::TransportSend(_) => CallError::Lost(words(&error)),
                other => CallError::Refused(words(&other)),
            })
        })
    }

    fn is_closed(&self) -> bool {
        self.peer.is_transport_closed()
    }

    fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    fn last_words(&self) -> BoxFuture<'_, String> {
        Box::pin(async move {
            match self.ends.lock().await.as_mut().and_then(|ends| ends.service.as_mut()) {
                Some(service) => stdio::how_it_ended(service).await,
                None => "closed the connection".to_owned(),
            }
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let Some(mut ends) = self.ends.lock().await.take() else { return };
            let _ = ends.running.close_with_timeout(FAREWELL).await;
            if let Some(service) = ends.service {
                service.end(FAREWELL).await;
            }
        })
    }
}

/// A request whose answer nobody waits for any more, when it is dropped with its number.
struct Abandoned<'a> {
    peer: &'a Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else { return };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let reason = Some("nobody waits for the result".to_owned());
            let params = CancelledNotificationParam::new(Some(id), reason);
            let _ = peer.send_notification(CancelledNotification::new(params).into()).await;
        });
    }
}

fn refusal(message: &str, data: Option<&Value>) -> String {
    let data = data.filter(|data| !data.is_null()).map(|data| format!(" ({data})")).unwrap_or_default();
    let words = format!("{message}{data}");
    crate::policy::captured(&words, 4096).text
}

/// An error with its causes, cut.
fn words(error: &(dyn std::error::Error + 'static)) -> String {
    crate::policy::captured(&crate::policy::causes(error), 2048).text
}
