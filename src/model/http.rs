//! The HTTP side that all providers share: clients, one exchange, and the timers that watch it.

use std::error::Error as _;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use indexmap::IndexMap;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Body, Client, Method, Url};
use tokio::time::{Instant, timeout, timeout_at};

use super::failure::{Complaint, retry_after};
use super::setup::Key;
use super::stream::{Dialect, End, Flow, Reader};
use super::{BuildContext, ErrorClass, ModelError, ModelSetupError, Reply};

// Errors are short; this bounds a server that answers 500 with a film.
const MAX_ERROR_BODY: usize = 64 << 10;
// How long the rest of an error body may take.
const ERROR_BODY_WAIT: Duration = Duration::from_secs(10);
// After the finish reason only counters and the end mark come, at once where they come at all.
const AFTER_FINISH: Duration = Duration::from_secs(2);
// After the end mark only the end of the body comes. A body read to its end leaves the connection for the next call.
const AFTER_END: Duration = Duration::from_millis(50);

/// The clients of a process: one for each kind of connection, made when first needed.
#[derive(Debug, Default)]
pub struct HttpClients {
    made: Mutex<Vec<(ClientKind, Client)>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ClientKind {
    tls: bool,
    proxies: bool,
    connect_timeout: Duration,
}

impl HttpClients {
    fn get(&self, url: &Url, connect_timeout: Duration) -> Result<Client, ModelError> {
        let kind = ClientKind { tls: url.scheme() == "https", proxies: !is_loopback(url), connect_timeout };
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = made.iter().find(|(other, _)| *other == kind) {
            return Ok(client.clone());
        }
        let client = make_client(kind).map_err(|error| {
            ModelError::new(ErrorClass::ServerError, format!("Cannot set up HTTP: {}", causes(&error)))
        })?;
        made.push((kind, client.clone()));
        Ok(client)
    }
}

fn make_client(kind: ClientKind) -> reqwest::Result<Client> {
    static PROVIDER: OnceLock<()> = OnceLock::new();
    PROVIDER.get_or_init(|| {
        // Fails when the program around us has installed one, and then theirs is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    let mut builder = Client::builder()
        .user_agent(concat!("loopwright/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(kind.connect_timeout)
        // A key must not follow to wherever a server points.
        .redirect(reqwest::redirect::Policy::none());
    if !kind.tls {
        // Loading the system's certificates takes longer than the rest of the start.
        builder = builder.tls_certs_only([]);
    }
    if !kind.proxies {
        builder = builder.no_proxy();
    }
    builder.build()
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// What an [`Endpoint`] is made from.
pub(super) struct Target<'a> {
    pub(super) base_url: &'a str,
    /// What is added to the base URL.
    pub(super) path: &'a str,
    /// The user's headers, which win over the engine's.
    pub(super) headers: &'a IndexMap<String, String>,
    /// The provider's own headers.
    pub(super) fixed: &'a [(&'static str, &'static str)],
    pub(super) auth: Auth<'a>,
    pub(super) idle_timeout: Duration,
    pub(super) connect_timeout: Duration,
    pub(super) context: &'a BuildContext,
}

/// How a key travels.
pub(super) struct Auth<'a> {
    pub(super) header: &'static str,
    pub(super) prefix: &'static str,
    pub(super) key: &'a Key,
    /// The model, for errors.
    pub(super) label: &'a str,
}

impl Auth<'_> {
    fn value(&self) -> Result<Option<HeaderValue>, ModelSetupError> {
        let Some(key) = self.key.get()? else { return Ok(None) };
        let mut value = HeaderValue::from_str(&format!("{}{key}", self.prefix))
            .map_err(|_| ModelSetupError::BadKey { label: self.label.to_owned() })?;
        value.set_sensitive(true);
        Ok(Some(value))
    }
}

/// Where a provider's requests go.
pub(super) struct Endpoint {
    url: Url,
    headers: HeaderMap,
    /// Why no request can be sent.
    blocked: Option<ModelSetupError>,
    idle_timeout: Duration,
    connect_timeout: Duration,
    clients: Arc<HttpClients>,
    client: OnceLock<Client>,
    now: fn() -> SystemTime,
}

impl Endpoint {
    /// Joins the base URL and the path, and checks both and the headers. A missing key only shows in [`Endpoint::ready`].
    pub(super) fn new(target: &Target<'_>) -> Result<Self, ModelSetupError> {
        let bad = |reason: String| ModelSetupError::BaseUrl { url: target.base_url.to_owned(), reason };
        let base = target.base_url.trim().trim_end_matches('/');
        let no_scheme = || bad("it must begin with http:// or https:// and name a host".to_owned());
        let url = Url::parse(&format!("{base}{}", target.path)).map_err(|error| match base.contains("://") {
            true => bad(error.to_string()),
            false => no_scheme(),
        })?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(no_scheme());
        }
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in target.fixed {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        let blocked = match target.auth.value() {
            Ok(value) => {
                if let Some(value) = value {
                    headers.insert(target.auth.header, value);
                }
                None
            }
            Err(error) => Some(error),
        };
        for (name, value) in target.headers {
            let bad = || ModelSetupError::Header { name: name.clone() };
            let key = name.parse::<HeaderName>().map_err(|_| bad())?;
            headers.insert(key, HeaderValue::from_str(value).map_err(|_| bad())?);
        }
        Ok(Self {
            url,
            headers,
            blocked,
            idle_timeout: target.idle_timeout,
            connect_timeout: target.connect_timeout,
            clients: Arc::clone(&target.context.clients),
            client: OnceLock::new(),
            now: target.context.now,
        })
    }

    /// Whether a request could be sent.
    pub(super) fn ready(&self) -> Result<(), ModelSetupError> {
        self.blocked.clone().map_or(Ok(()), Err)
    }

    /// Sends one body and reads the reply. Dropping the future closes the connection.
    pub(super) async fn exchange<D: Dialect>(&self, body: Vec<u8>, reader: Reader<'_, D>) -> Result<Reply, ModelError> {
        self.ready().map_err(|error| ModelError::new(ErrorClass::Auth, error.to_string()))?;
        let client = match self.client.get() {
            Some(client) => client,
            None => {
                let client = self.clients.get(&self.url, self.connect_timeout)?;
                self.client.get_or_init(|| client)
            }
        };
        let mut request = reqwest::Request::new(Method::POST, self.url.clone());
        *request.headers_mut() = self.headers.clone();
        *request.body_mut() = Some(Body::from(body));

        let response = match timeout(self.idle_timeout, client.execute(request)).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(self.not_sent(&error)),
            Err(_) => {
                let wait = self.idle_timeout.as_secs_f64();
                let message = format!("{} did not answer within {wait} s", self.url);
                return Err(ModelError::new(ErrorClass::Timeout, message));
            }
        };
        if response.status().is_success() {
            self.read(response, reader).await
        } else {
            Err(self.refused(response).await)
        }
    }

    async fn read<D: Dialect>(
        &self,
        mut response: reqwest::Response,
        mut reader: Reader<'_, D>,
    ) -> Result<Reply, ModelError> {
        let mut since = Instant::now();
        let mut headway = reader.headway();
        loop {
            let wait = if reader.is_whole() { self.idle_timeout.min(AFTER_FINISH) } else { self.idle_timeout };
            let end = match timeout_at(since + wait, response.chunk()).await {
                Ok(Ok(Some(bytes))) => match reader.push(&bytes) {
                    Ok(Flow::More) => {
                        if reader.headway() > headway {
                            headway = reader.headway();
                            since = Instant::now();
                        }
                        continue;
                    }
                    Ok(Flow::Done) => {
                        let _ = timeout(AFTER_END, drain(&mut response)).await;
                        End::Closed
                    }
                    Err(error) => return Err(reader.fail(error)),
                },
                Ok(Ok(None)) => End::Closed,
                Ok(Err(error)) if is_garbled(&error) => {
                    let message = format!("The body cannot be decoded: {}", causes(&error));
                    return Err(reader.fail(ModelError::new(ErrorClass::Decode, message)));
                }
                Ok(Err(error)) => End::Broken(causes(&error)),
                Err(_) => End::Silent(wait),
            };
            return reader.end(&end);
        }
    }

    async fn refused(&self, mut response: reqwest::Response) -> ModelError {
        let status = response.status().as_u16();
        let wait = retry_after(response.headers(), (self.now)());
        let location = response.headers().get(reqwest::header::LOCATION).and_then(|value| value.to_str().ok());
        let location = location.map(str::to_owned);
        let mut body = Vec::new();
        let rest = async {
            while let Ok(Some(bytes)) = response.chunk().await {
                body.extend_from_slice(&bytes);
                if body.len() > MAX_ERROR_BODY {
                    break;
                }
            }
        };
        // What came in time is enough to go by.
        let _ = timeout(self.idle_timeout.min(ERROR_BODY_WAIT), rest).await;
        let mut error = Complaint::from_response(status, &body).into_error();
        error.retry_after = wait;
        match (status, location) {
            (300..400, Some(target)) => {
                error.message =
                    format!("{} redirects to {target}, which is not followed: set base_url to it", self.url);
            }
            (404, _) => error.message = format!("{} (asked {})", error.message, self.url),
            _ => {}
        }
        error
    }

    fn not_sent(&self, error: &reqwest::Error) -> ModelError {
        let why = causes(error);
        if error.is_timeout() {
            ModelError::new(ErrorClass::Timeout, format!("Cannot connect to {} in time: {why}", self.url))
        } else if error.is_connect() {
            let message = format!("Cannot connect to {}: {why}; is the server running and base_url right?", self.url);
            ModelError::new(ErrorClass::ServerError, message)
        } else {
            let message = format!("The connection to {} broke before an answer came: {why}", self.url);
            ModelError::new(ErrorClass::IncompleteStream, message)
        }
    }
}

async fn drain(response: &mut reqwest::Response) {
    while let Ok(Some(_)) = response.chunk().await {}
}

/// Whether the bytes themselves are wrong, such as a body that says gzip and is not; a cut is not that.
fn is_garbled(error: &reqwest::Error) -> bool {
    use std::io::ErrorKind;
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(io) = cause.downcast_ref::<std::io::Error>() {
            return error.is_decode() && matches!(io.kind(), ErrorKind::InvalidData | ErrorKind::InvalidInput);
        }
        source = cause.source();
    }
    false
}

/// The innermost causes of an error: the outer ones only repeat the URL.
fn causes(error: &reqwest::Error) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if words.last().is_none_or(|last| !last.contains(&text)) {
            words.push(text);
        }
        source = cause.source();
    }
    if words.is_empty() { error.to_string() } else { words.join(": ") }
}
