//! Servers behind an address that speak streamable HTTP.

use std::collections::HashMap;

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::service::serve_client;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use super::{Client, Link, words};
use crate::document::McpServerDoc;
use crate::mcp::secret;
use crate::policy::Access;

pub(super) async fn connect(url: &str, doc: &McpServerDoc, access: &Access) -> Result<Link, String> {
    let http = access.client_to(url).map_err(|error| error.to_string())?;
    let config = StreamableHttpClientTransportConfig::with_uri(url.to_owned()).custom_headers(headers(doc, access)?);
    let client = Client::default();
    let transport = StreamableHttpClientTransport::with_client(http, config);
    let running = serve_client(client.clone(), transport).await.map_err(|error| words(&error))?;
    Ok(Link::new(running, &client, None))
}

fn headers(doc: &McpServerDoc, access: &Access) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    let mut headers = HashMap::new();
    for (name, value) in &doc.headers {
        let bad = |what: &str| format!("the {what} of header `{name}` has characters that headers cannot have");
        let key: HeaderName = name.parse().map_err(|_| bad("name"))?;
        let text = secret::read(value, access.root())?;
        let mut value = HeaderValue::from_str(&text).map_err(|_| bad("value"))?;
        value.set_sensitive(true);
        headers.insert(key, value);
    }
    Ok(headers)
}
