//! `http`: a request, and its response as data.

use std::borrow::Cow;

use indexmap::IndexMap;
use minijinja::Value;
use reqwest::Url;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::json;

use super::shape::{self, is_list, items, plain, string_or, text};
use super::{Group, StepContext, StepFailure, Verb};
use crate::document::{Duration, Templated};
use crate::policy::{HttpRequest, HttpResponse, Reach};
use crate::syntax::{Raw, Value as Data, decode_within};

/// How long a request may take that says nothing else.
const TIMEOUT: Duration = Duration::secs(30);
/// Bytes of a body that are read unless the step says otherwise.
const MAX_BYTES: usize = 1 << 20;
/// Redirects that are followed unless the step says otherwise.
const MAX_REDIRECTS: u32 = 5;
/// Characters of a body that a failure tells.
const TOLD: usize = 1000;

/// Makes a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Http(HttpArgs);

/// A request.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HttpArgs {
    /// The URL: http or https. Values belong in `query`, where they are escaped.
    url: String,
    /// The method. Default: `GET`, or `POST` when there is a body.
    #[serde(default)]
    method: Option<Templated<Method>>,
    /// Headers: name → value. They go to this host only, also when it redirects.
    #[serde(default)]
    headers: Option<Templated<IndexMap<String, String>>>,
    /// Query parameters: name → value; a list gives the name once for each item, and none leaves it out.
    #[serde(default)]
    query: IndexMap<String, serde_json::Value>,
    /// The body as text.
    #[serde(default)]
    body: Option<String>,
    /// The body as JSON, a template at any depth; sets the content type.
    #[serde(default)]
    json: Option<serde_json::Value>,
    /// The time from the first byte to the last. Default: 30s.
    #[serde(default)]
    timeout: Option<Templated<Option<Duration>>>,
    /// The most bytes of the response's body. Default: 1048576.
    #[serde(default)]
    max_bytes: Option<Templated<Option<usize>>>,
    /// How many redirects are followed; with 0 the redirect is the response. Default: 5.
    #[serde(default)]
    max_redirects: Option<u32>,
    /// Whether a status of 400 and more makes the step fail. Default: true.
    #[serde(default = "yes")]
    check: bool,
    /// Reach only what the workspace's policy lets the model's `http_request` reach: no private address that no rule
    /// names, also after a redirect. Default: false, the step runs as written.
    #[serde(default)]
    obey_policy: bool,
}

fn yes() -> bool {
    true
}

/// A method's name.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(transparent)]
struct Method(String);

impl<'de> Deserialize<'de> for Method {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            return Err(D::Error::custom(format!(
                "`{name}` is no HTTP method: write GET, POST, PUT, PATCH, DELETE or HEAD"
            )));
        }
        Ok(Self(name.to_ascii_uppercase()))
    }
}

impl<'de> Deserialize<'de> for Http {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        if !matches!(raw.node().value, Data::Map(_)) {
            let url = decode_within::<String, D::Error>(raw.node())?;
            return decode_within::<HttpArgs, D::Error>(&crate::syntax::Node::synthetic(&json!({ "url": url })))
                .map(Self);
        }
        let args = decode_within::<HttpArgs, D::Error>(raw.node())?;
        if args.body.is_some() && args.json.is_some() {
            return Err(D::Error::custom("a request has one body: `body` (text) or `json`"));
        }
        Ok(Self(args))
    }
}

impl JsonSchema for Http {
    fn schema_name() -> Cow<'static, str> {
        "Http".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let examples = json!([
            "https://api.example.com/status",
            { "url": "https://api.example.com/search", "query": { "q": "{{ params.query }}" }, "timeout": "10s" }
        ]);
        let description = "Makes an HTTP request: a URL, or a map. The result has `status`, `headers`, `body`, `json` (none unless the body is JSON), `url` and `truncated`.";
        string_or::<HttpArgs>(generator, description, examples)
    }
}

impl Verb for Http {
    const NAME: &'static str = "http";
    const GROUP: Group = Group::Compute;

    async fn run(&self, cx: &StepContext<'_>) -> Result<Value, StepFailure> {
        let request = self.0.request(cx)?;
        let response = cx.access.http(&request).await?;
        let body = String::from_utf8_lossy(&response.body);
        if self.0.check && response.status >= 400 {
            let told: String = body.chars().take(TOLD).collect();
            let line = format!("{} `{}` gave status {}", request.method, request.url, response.status);
            return Err(StepFailure::new(if told.trim().is_empty() { line } else { format!("{line}\n{told}") }));
        }
        let headers: serde_json::Map<_, _> =
            response.headers.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
        Ok(plain(&json!({
            "status": response.status,
            "url": response.url,
            "headers": headers,
            "json": parsed(&response),
            "body": body,
            "truncated": response.truncated,
        })))
    }
}

/// The body as JSON, when it says that it is.
fn parsed(response: &HttpResponse) -> Option<serde_json::Value> {
    let kind = &response.headers.iter().find(|(name, _)| name == "content-type")?.1;
    let kind = kind.split(';').next()?.trim();
    let is_json = kind == "application/json" || kind.ends_with("+json");
    if is_json && !response.truncated { serde_json::from_slice(&response.body).ok() } else { None }
}

impl HttpArgs {
    fn request(&self, cx: &StepContext<'_>) -> Result<HttpRequest, StepFailure> {
        let url = self.full_url(cx)?;
        let mut headers: Vec<(String, String)> = match &self.headers {
            None => Vec::new(),
            Some(Templated::Literal(map)) => {
                let rendered = map.iter().map(|(name, value)| Ok((name.clone(), cx.text(value)?)));
                rendered.collect::<Result<_, StepFailure>>()?
            }
            Some(template) => cx.get(template)?.into_iter().collect(),
        };
        let body = match (&self.json, &self.body) {
            (Some(source), _) => {
                if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
                    headers.push(("content-type".to_owned(), "application/json".to_owned()));
                }
                let json = shape::json(&cx.json(source)?)?;
                // A tool whose caller gave no body passes none here.
                if json.is_null() { None } else { Some(json.to_string().into_bytes()) }
            }
            (None, Some(source)) => {
                let value = cx.value(source)?;
                if value.is_none() { None } else { Some(text(&value).into_bytes()) }
            }
            (None, None) => None,
        };
        let method = match &self.method {
            Some(method) => cx.get(method)?.0,
            None if body.is_some() => "POST".to_owned(),
            None => "GET".to_owned(),
        };
        Ok(HttpRequest {
            method,
            url,
            headers,
            body,
            timeout: self.timeout.as_ref().map_or(Ok(None), |timeout| cx.get(timeout))?.unwrap_or(TIMEOUT).0,
            max_bytes: self.max_bytes.as_ref().map_or(Ok(None), |max| cx.get(max))?.unwrap_or(MAX_BYTES),
            max_redirects: self.max_redirects.unwrap_or(MAX_REDIRECTS),
            reach: if self.obey_policy { Reach::Policy } else { Reach::AsWritten },
        })
    }

    fn full_url(&self, cx: &StepContext<'_>) -> Result<String, StepFailure> {
        let rendered = cx.text(&self.url)?;
        let bad = |problem: &str| StepFailure::new(format!("`{rendered}` is no URL: {problem}"));
        let mut url = Url::parse(rendered.trim()).map_err(|error| bad(&error.to_string()))?;
        if let Some(host) = written_host(&self.url)
            && url.host_str() != Some(host.as_str())
        {
            return Err(bad(&format!("a value in it changes the host `{host}`; write `/` before the value")));
        }
        for (name, source) in &self.query {
            let value = cx.json(source)?;
            let values = if is_list(&value) { items(&value)? } else { vec![value] };
            for value in values.iter().filter(|value| !value.is_none()) {
                url.query_pairs_mut().append_pair(name, &text(value));
            }
        }
        Ok(url.into())
    }
}

/// The host of a URL whose author wrote it out and then went on with a template: `https://api.example.com{{ path }}`
/// must not become `https://api.example.com@elsewhere/`.
fn written_host(source: &str) -> Option<String> {
    let source = source.trim();
    let literal = &source[..source.find("{{")?];
    let (scheme, authority) = literal.split_once("://")?;
    if authority.is_empty() || authority.contains(['/', '?', '#']) || authority.ends_with(['.', '-', '@']) {
        return None;
    }
    Url::parse(&format!("{scheme}://{}", authority.trim_end_matches(':'))).ok()?.host_str().map(str::to_owned)
}
