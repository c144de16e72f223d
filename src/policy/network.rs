//! HTTP: where a request may go is judged on the resolved address, and the connection goes to the address that was
//! judged; each redirect is judged again, and credentials do not follow to another host.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{
    ACCEPT, ACCEPT_LANGUAGE, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue,
    LOCATION, TRANSFER_ENCODING, USER_AGENT,
};
use reqwest::{Client, Method, StatusCode, Url};

use super::address::{Zone, zone};
use super::{Access, AccessError};
use crate::document::{Decision, Effect};

/// The built-in tool whose rules say where the model's requests may go.
const TOOL: &str = "http_request";

/// Headers that may go to another host than they were written for.
const HARMLESS: [HeaderName; 4] = [ACCEPT, ACCEPT_LANGUAGE, USER_AGENT, CONTENT_TYPE];

/// Headers that say where a request goes and where it ends.
const FRAMING: [HeaderName; 4] = [HOST, CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION];

/// How far a request may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// As the author wrote it: anywhere but link-local addresses, which no rule names.
    AsWritten,
    /// As the policy allows the model: public addresses, and what a rule names; redirects only to what a rule allows.
    Policy,
}

/// A request.
#[derive(Debug, Clone)]
pub struct HttpRequest {
    /// The method.
    pub method: String,
    /// The URL.
    pub url: String,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Option<Vec<u8>>,
    /// From the first byte to the last, redirects included.
    pub timeout: Duration,
    /// The most bytes of the body that are read, unpacked.
    pub max_bytes: usize,
    /// How many redirects are followed; with none the redirect is the response.
    pub max_redirects: u32,
    /// How far it may reach.
    pub reach: Reach,
}

/// A response.
#[derive(Debug, Clone)]
pub struct HttpResponse {
    /// The status.
    pub status: u16,
    /// Where it came from, after redirects.
    pub url: String,
    /// Names in lower case, and values; a name that came twice has its values joined by a comma.
    pub headers: Vec<(String, String)>,
    /// The body, or its start.
    pub body: Vec<u8>,
    /// Whether the body goes on.
    pub truncated: bool,
}

/// Where names are looked up; tests bring their own.
pub(super) type Lookup = dyn Fn(&str) -> Resolved + Send + Sync;
/// What a lookup gives.
pub(super) type Resolved = std::pin::Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// The network of a workspace: clients are made on first use and kept, since a client keeps its connections.
pub(super) struct Network {
    lookup: Arc<Lookup>,
    clients: Mutex<Vec<(Kind, Client)>>,
}

/// What a client is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kind {
    /// The highest zone that it may connect to.
    public_only: bool,
    tls: bool,
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").finish_non_exhaustive()
    }
}

impl Default for Network {
    fn default() -> Self {
        Self::new(Arc::new(|host| {
            let host = host.to_owned();
            Box::pin(async move {
                let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
                Ok(found.map(|address| address.ip()).collect())
            })
        }))
    }
}

impl Network {
    pub(super) fn new(lookup: Arc<Lookup>) -> Self {
        Self { lookup, clients: Mutex::default() }
    }

    fn client(&self, kind: Kind) -> reqwest::Result<Client> {
        static PROVIDER: OnceLock<()> = OnceLock::new();
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = clients.iter().find(|(known, _)| *known == kind) {
            return Ok(client.clone());
        }
        PROVIDER.get_or_init(|| {
            // Fails when the program around us has installed one, and then theirs is used.
            let _ = rustls::crypto::ring::default_provider().install_default();
        });
        let resolver = Vetted { lookup: Arc::clone(&self.lookup), public_only: kind.public_only };
        let mut builder = Client::builder()
            .user_agent(concat!("loopwright/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            // A proxy would look names up by itself.
            .no_proxy()
            .dns_resolver(resolver);
        if !kind.tls {
            // Loading the system's certificates takes longer than the rest.
            builder = builder.tls_certs_only([]);
        }
        let client = builder.build()?;
        clients.push((kind, client.clone()));
        Ok(client)
    }
}

/// Gives the connection only addresses that it may use.
struct Vetted {
    lookup: Arc<Lookup>,
    public_only: bool,
}

impl Resolve for Vetted {
    fn resolve(&self, name: Name) -> Resolving {
        let (found, public_only) = ((self.lookup)(name.as_str()), self.public_only);
        Box::pin(async move {
            let found = found.await?;
            let fits: Vec<SocketAddr> =
                found.iter().filter(|ip| allowed(**ip, public_only)).map(|ip| SocketAddr::new(*ip, 0)).collect();
            match (fits.is_empty(), found.first()) {
                (true, Some(address)) => Err(Box::new(refused(name.as_str(), *address)).into()),
                (true, None) => Err(io::Error::new(io::ErrorKind::NotFound, "the name has no address").into()),
                (false, _) => Ok(Box::new(fits.into_iter()) as Addrs),
            }
        })
    }
}

fn allowed(address: IpAddr, public_only: bool) -> bool {
    match zone(address) {
        Zone::Public => true,
        Zone::Private => !public_only,
        Zone::Metadata => false,
    }
}

fn refused(host: &str, address: IpAddr) -> AccessError {
    let kind = match zone(address) {
        Zone::Metadata => "a link-local address",
        Zone::Private | Zone::Public => "an address of this machine or of a private network",
    };
    let at = if host.trim_matches(['[', ']']) == address.to_string() {
        format!("`{host}` is {kind}")
    } else {
        format!("`{host}` has {kind} ({address})")
    };
    AccessError::Network(format!(
        "{at}; a request may go there only when a rule of the workspace's policy names it: {{ tool: {TOOL}, hosts: [\"{host}\"], decision: allow }}"
    ))
}

impl Access {
    /// Makes a request and reads the response. Dropping the future closes the connection.
    ///
    /// # Errors
    /// An address that may not be reached, and everything that keeps the response from coming. A status is no error.
    pub async fn http(&self, request: &HttpRequest) -> Result<HttpResponse, AccessError> {
        let words = || AccessError::Network(format!("No whole response from `{}` in time", request.url));
        tokio::time::timeout(request.timeout, self.follow(request)).await.map_err(|_| words())?
    }

    async fn follow(&self, request: &HttpRequest) -> Result<HttpResponse, AccessError> {
        let mut url = parse(&request.url)?;
        let mut method = Method::from_bytes(request.method.to_ascii_uppercase().as_bytes())
            .map_err(|_| AccessError::Network(format!("`{}` is no HTTP method", request.method)))?;
        let mut headers = headers(&request.headers, request.reach)?;
        let mut body = request.body.clone();
        let mut hop = 0;
        loop {
            let client = self.client_for(&url, request.reach, hop > 0)?;
            let mut call = client.request(method.clone(), url.clone()).headers(headers.clone());
            if let Some(body) = &body {
                call = call.body(body.clone());
            }
            let response = call.send().await.map_err(|error| told(&url, error))?;
            let Some(next) = redirect(&response, request.max_redirects > 0) else {
                return finish(response, request.max_bytes).await;
            };
            if hop >= request.max_redirects {
                let most = request.max_redirects;
                return Err(AccessError::Network(format!("`{}` redirects more than {most} times", request.url)));
            }
            let next = next?;
            let status = response.status();
            let keeps_body = matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
            if !keeps_body {
                if method != Method::HEAD {
                    method = Method::GET;
                }
                body = None;
                headers.remove(CONTENT_TYPE);
            }
            headers.remove(CONTENT_LENGTH);
            if next.origin() != url.origin() {
                if body.is_some() {
                    let host = next.host_str().unwrap_or_default();
                    return Err(AccessError::Network(format!(
                        "`{}` redirects to another host (`{host}`), and the request's body was not meant for it",
                        request.url
                    )));
                }
                headers = headers
                    .into_iter()
                    .filter_map(|(name, value)| Some((name.filter(|name| HARMLESS.contains(name))?, value)))
                    .collect();
            }
            url = next;
            hop += 1;
        }
    }

    /// A client for a service that the author named, which is spoken to without [`Access::http`]. It follows no redirect
    /// and connects only to what [`Reach::AsWritten`] reaches.
    ///
    /// # Errors
    /// An address that may not be reached, or none at all.
    #[cfg(feature = "mcp")]
    pub fn client_to(&self, url: &str) -> Result<Client, AccessError> {
        self.client_for(&parse(url)?, Reach::AsWritten, false)
    }

    /// The client that may go to a URL's host.
    fn client_for(&self, url: &Url, reach: Reach, is_redirect: bool) -> Result<Client, AccessError> {
        let host = url.host_str().unwrap_or_default();
        let params = serde_json::json!({ "url": url.as_str() });
        if reach == Reach::Policy && is_redirect {
            let (decision, words) = self.decide(TOOL, &params, Effect::AtMostOnce);
            if decision != Decision::Allow {
                return Err(AccessError::Network(format!("A redirect leads to `{host}`, and {words}")));
            }
        }
        let named = self.names_host(url);
        let public_only = reach == Reach::Policy && !named;
        if let Ok(address) = host.trim_matches(['[', ']']).parse::<IpAddr>()
            && !allowed(address, public_only)
            && !named
        {
            return Err(refused(host, address));
        }
        let kind = Kind { public_only, tls: url.scheme() == "https" };
        self.network
            .client(kind)
            .map_err(|error| AccessError::Network(format!("Cannot set up HTTP: {}", causes(&error))))
    }
}

fn parse(url: &str) -> Result<Url, AccessError> {
    let bad = |problem: &str| AccessError::Network(format!("`{url}` is no URL that can be asked: {problem}"));
    let parsed = Url::parse(url).map_err(|error| bad(&error.to_string()))?;
    match parsed.scheme() {
        "http" | "https" if parsed.host_str().is_some() => Ok(parsed),
        _ => Err(bad("it must begin with http:// or https:// and name a host")),
    }
}

fn headers(given: &[(String, String)], reach: Reach) -> Result<HeaderMap, AccessError> {
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let bad = |what: &str| {
            AccessError::Network(format!("The {what} of header `{name}` has characters that headers cannot have"))
        };
        let key: HeaderName = name.parse().map_err(|_| bad("name"))?;
        // With another `Host` a server that may be reached could pass the request on to one that may not.
        if reach == Reach::Policy && (FRAMING.contains(&key) || key.as_str().starts_with("proxy-")) {
            return Err(AccessError::Network(format!(
                "The header `{name}` cannot be set: it says where and how the request goes"
            )));
        }
        headers.append(key, HeaderValue::from_str(value).map_err(|_| bad("value"))?);
    }
    Ok(headers)
}

/// Where a response sends the request on to.
fn redirect(response: &reqwest::Response, follow: bool) -> Option<Result<Url, AccessError>> {
    let redirects = [301, 302, 303, 307, 308].contains(&response.status().as_u16());
    let location = response.headers().get(LOCATION).filter(|_| redirects && follow)?;
    let location = String::from_utf8_lossy(location.as_bytes()).into_owned();
    Some(
        response
            .url()
            .join(&location)
            .map_err(|error| error.to_string())
            .and_then(|url| {
                let fits = matches!(url.scheme(), "http" | "https");
                if fits { Ok(url) } else { Err("not http or https".to_owned()) }
            })
            .map_err(|problem| AccessError::Network(format!("A redirect leads to `{location}`: {problem}"))),
    )
}

async fn finish(mut response: reqwest::Response, max: usize) -> Result<HttpResponse, AccessError> {
    let (status, url) = (response.status().as_u16(), response.url().clone());
    let mut headers: Vec<(String, String)> = Vec::new();
    for (name, value) in response.headers() {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        match headers.iter_mut().find(|(known, _)| known == name.as_str()) {
            Some((_, all)) => *all = format!("{all}, {value}"),
            None => headers.push((name.as_str().to_owned(), value)),
        }
    }
    let mut body = Vec::new();
    let mut truncated = false;
    while let Some(chunk) = response.chunk().await.map_err(|error| told(&url, error))? {
        let room = max - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            truncated = true;
            break;
        }
    }
    Ok(HttpResponse { status, url: url.to_string(), headers, body, truncated })
}

/// Words for an error of the client; ours, when it was the resolver that refused.
fn told(url: &Url, error: reqwest::Error) -> AccessError {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(cause) = source {
        if let Some(AccessError::Network(words)) = cause.downcast_ref::<AccessError>() {
            return AccessError::Network(words.clone());
        }
        source = cause.source();
    }
    let host = url.host_str().unwrap_or_default();
    AccessError::Network(format!("No response from `{host}`: {}", causes(&error.without_url())))
}

/// An error with its causes, without repetitions.
pub(crate) fn causes(error: &dyn std::error::Error) -> String {
    let mut words = vec![error.to_string()];
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if !words.iter().any(|known| known.contains(&text)) {
            words.push(text);
        }
        source = cause.source();
    }
    words.join(": ")
}
