//! From a status and a body to an error class, and from headers to the wait that the provider asks for.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;
use serde_json::Value;

use super::{ErrorClass, ModelError};

/// What a provider said about a failure, whatever shape it came in.
#[derive(Debug, Default)]
pub(super) struct Complaint {
    /// The status of the response, and the one that the body names.
    statuses: [Option<u16>; 2],
    /// `code`, `type` and `status` of the body, lower-case.
    codes: Vec<String>,
    /// The words.
    message: String,
}

const QUOTA: &[&str] = &[
    "insufficient_quota",
    "billing_error",
    "billing_hard_limit_reached",
    "billing_not_active",
    "credit_balance_too_low",
    "exceeded_current_quota_error",
    "insufficient_balance",
    "insufficient_credits",
    "quota_exceeded",
];
const CONTEXT: &[&str] = &[
    "context_length_exceeded",
    "context_window_exceeded",
    "exceed_context_size_error",
    "model_context_window_exceeded",
    "string_above_max_length",
];
const OVERLOADED: &[&str] = &[
    "overloaded_error",
    "overloaded",
    "engine_overloaded",
    "engine_overloaded_error",
    "service_unavailable",
    "unavailable",
];
const RATE_LIMIT: &[&str] = &[
    "rate_limit",
    "rate_limit_error",
    "rate_limit_exceeded",
    "rate_limited",
    "rate_limit_reached_error",
    "resource_exhausted",
    "throttlingexception",
    "throttling_error",
    "too_many_requests",
];
const AUTH: &[&str] = &[
    "authentication_error",
    "forbidden",
    "invalid_api_key",
    "invalid_authentication_error",
    "permission_denied",
    "permission_denied_error",
    "permission_error",
    "unauthenticated",
    "unauthorized",
];
const NOT_FOUND: &[&str] = &["model_not_found", "not_found", "not_found_error", "notfounderror"];
const TIMEOUT: &[&str] = &["deadline_exceeded", "gateway_timeout", "request_timeout", "timeout", "timeout_error"];
const SERVER: &[&str] =
    &["api_error", "internal_error", "internal_server_error", "internalservererror", "server_error"];
const REQUEST: &[&str] = &["badrequesterror", "invalid_request", "invalid_request_error", "request_too_large"];

// Words for a request that does not fit, as providers without a code for it say them. Looked for only where the status
// does not already say something else: a rate limit may well speak of input tokens.
const CONTEXT_WORDS: &[&str] = &[
    "context length",
    "context size",
    "context window",
    "context limit",
    "maximum context",
    "prompt is too long",
    "input is too long",
    "maximum prompt length",
    "exceeds the maximum number of tokens",
    "reduce the length of the messages",
];
const QUOTA_WORDS: &[&str] = &["credit balance is too low"];

impl Complaint {
    /// Reads the body of a response with an error status.
    pub(super) fn from_response(status: u16, body: &[u8]) -> Self {
        let mut complaint = match serde_json::from_slice::<Value>(body) {
            Ok(value) => Self::from_value(&value),
            Err(_) => Self::default(),
        };
        complaint.statuses[0] = Some(status);
        if complaint.message.is_empty() {
            complaint.message = plain_words(body);
        }
        complaint
    }

    /// Reads an error object: `{"error": …}`, the inside of one, or just words.
    pub(super) fn from_value(value: &Value) -> Self {
        let mut complaint = Self::default();
        complaint.read(value, 0);
        complaint
    }

    fn read(&mut self, value: &Value, depth: u8) {
        match value {
            Value::String(words) => self.add_words(words),
            // Some gateways wrap the object in an array.
            Value::Array(items) if depth < 4 => {
                if let Some(first) = items.first() {
                    self.read(first, depth + 1);
                }
            }
            Value::Object(object) => {
                for key in ["code", "type", "status"] {
                    match object.get(key) {
                        Some(Value::String(code)) => match code.trim().parse::<u16>() {
                            Ok(status) => self.statuses[1] = Some(status),
                            Err(_) => self.codes.push(code.to_lowercase()),
                        },
                        Some(Value::Number(number)) => {
                            self.statuses[1] = number.as_u64().and_then(|n| n.try_into().ok()).or(self.statuses[1]);
                        }
                        _ => {}
                    }
                }
                for key in ["message", "detail", "error_description"] {
                    match object.get(key) {
                        Some(Value::String(words)) => self.add_words(words),
                        Some(inner @ (Value::Object(_) | Value::Array(_))) if depth < 4 => self.read(inner, depth + 1),
                        _ => {}
                    }
                }
                // OpenRouter puts the upstream's words here.
                if let Some(Value::String(raw)) = object.get("metadata").and_then(|metadata| metadata.get("raw")) {
                    self.add_words(raw);
                }
                for key in ["error", "errors"] {
                    match object.get(key) {
                        Some(inner @ (Value::Object(_) | Value::Array(_) | Value::String(_))) if depth < 4 => {
                            self.read(inner, depth + 1);
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn add_words(&mut self, words: &str) {
        let words = words.trim();
        if words.is_empty() || self.message.contains(words) {
            return;
        }
        if !self.message.is_empty() {
            self.message.push_str(": ");
        }
        self.message.push_str(&shorten(words, 600));
    }

    fn has_code(&self, list: &[&str]) -> bool {
        self.codes.iter().any(|code| list.contains(&code.as_str()))
    }

    fn has_status(&self, fits: impl Fn(u16) -> bool) -> bool {
        self.statuses.iter().flatten().any(|status| fits(*status))
    }

    fn says(&self, words: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        words.iter().any(|word| message.contains(word))
    }

    /// The class: the most telling sign wins, and an error without any is the server's.
    pub(super) fn class(&self) -> ErrorClass {
        // A status that means something of its own; then words about tokens are about that.
        let settled = self.has_status(|status| matches!(status, 401 | 403 | 404 | 429 | 529))
            || self.has_code(RATE_LIMIT)
            || self.has_code(OVERLOADED);
        if self.has_code(QUOTA) || self.has_status(|status| status == 402) || (!settled && self.says(QUOTA_WORDS)) {
            ErrorClass::Quota
        } else if self.has_code(CONTEXT) || (!settled && self.says(CONTEXT_WORDS)) {
            ErrorClass::ContextLength
        } else if self.has_code(OVERLOADED) || self.has_status(|status| matches!(status, 503 | 529)) {
            ErrorClass::Overloaded
        } else if self.has_code(RATE_LIMIT) || self.has_status(|status| status == 429) {
            ErrorClass::RateLimit
        } else if self.has_code(AUTH) || self.has_status(|status| matches!(status, 401 | 403)) {
            ErrorClass::Auth
        } else if self.has_code(NOT_FOUND) || self.has_status(|status| status == 404) {
            ErrorClass::NotFound
        } else if self.has_code(TIMEOUT) || self.has_status(|status| matches!(status, 408 | 504)) {
            ErrorClass::Timeout
        } else if self.has_code(SERVER) || self.has_status(|status| (500..600).contains(&status)) {
            ErrorClass::ServerError
        } else if self.has_code(REQUEST) || self.has_status(|status| (300..500).contains(&status)) {
            ErrorClass::BadRequest
        } else {
            ErrorClass::ServerError
        }
    }

    /// The failure that this makes.
    pub(super) fn into_error(self) -> ModelError {
        let class = self.class();
        let status = self.statuses[0];
        let said = match (self.message.is_empty(), self.codes.first()) {
            (false, _) => self.message,
            (true, Some(code)) => code.clone(),
            (true, None) => class.name().replace('_', " "),
        };
        let message = match status {
            Some(status) => format!("The provider answered {status}: {said}"),
            None => format!("The provider reported an error: {said}"),
        };
        ModelError { status, ..ModelError::new(class, message) }
    }
}

/// How long the provider asks to wait: `retry-after-ms`, then `retry-after` in seconds or as a date.
///
/// A date in the past means now; something that cannot be read means nothing.
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    if let Some(ms) = text("retry-after-ms").and_then(number) {
        return Duration::try_from_secs_f64(ms / 1000.0).ok();
    }
    let value = text("retry-after")?;
    if let Some(seconds) = number(value) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or(Duration::ZERO))
}

/// The start of a body that is not JSON, as one line; of a page, its title or heading.
pub(super) fn plain_words(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(4096)]);
    let words = if text.trim_start().starts_with('<') { visible(&text) } else { text.into_owned() };
    shorten(&words.split_whitespace().collect::<Vec<_>>().join(" "), 300)
}

fn visible(html: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in html.chars() {
        match c {
            '<' => {
                inside = true;
                out.push(' ');
            }
            '>' => inside = false,
            c if !inside => out.push(c),
            _ => {}
        }
    }
    out
}

fn shorten(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn class(status: u16, body: &Value) -> ErrorClass {
        Complaint::from_response(status, body.to_string().as_bytes()).class()
    }

    #[test]
    fn the_most_telling_sign_wins() {
        let cases = [
            (429, json!({"error": {"code": "insufficient_quota"}}), ErrorClass::Quota),
            (429, json!({"error": "INSUFFICIENT QUOTA for this minute"}), ErrorClass::RateLimit),
            (400, json!({"error": {"message": "Your credit balance is too low to use the API"}}), ErrorClass::Quota),
            (400, json!({"error": {"message": "prompt is too long: 9 tokens > 8"}}), ErrorClass::ContextLength),
            (
                500,
                json!({"error": {"message": "the request exceeds the available context size"}}),
                ErrorClass::ContextLength,
            ),
            (429, json!({"error": {"message": "context window requests are limited"}}), ErrorClass::RateLimit),
            (400, json!({"error": {"type": "overloaded_error"}}), ErrorClass::Overloaded),
            (503, json!({}), ErrorClass::Overloaded),
            (529, json!({}), ErrorClass::Overloaded),
            (502, json!({"error": {"code": 429}}), ErrorClass::RateLimit),
            (502, json!({"error": {"code": "429"}}), ErrorClass::RateLimit),
            (403, json!({"detail": "no"}), ErrorClass::Auth),
            (400, json!({"error": {"code": "model_not_found"}}), ErrorClass::NotFound),
            (408, json!({}), ErrorClass::Timeout),
            (504, json!({}), ErrorClass::Timeout),
            (500, json!([{"error": {"status": "RESOURCE_EXHAUSTED"}}]), ErrorClass::RateLimit),
            (422, json!({"detail": [{"msg": "field required"}]}), ErrorClass::BadRequest),
            (307, json!({}), ErrorClass::BadRequest),
        ];
        for (status, body, expected) in cases {
            assert_eq!(class(status, &body), expected, "{status} {body}");
        }
        assert_eq!(Complaint::from_value(&json!({"message": "hm"})).class(), ErrorClass::ServerError);
    }

    #[test]
    fn the_message_carries_what_was_said() {
        let error = Complaint::from_response(502, b"<html><h1>502 Bad\n Gateway</h1></html>").into_error();
        assert_eq!(error.message, "The provider answered 502: 502 Bad Gateway");
        let raw =
            json!({"error": {"message": "Provider returned error", "code": 500, "metadata": {"raw": "out of memory"}}});
        assert_eq!(
            Complaint::from_value(&raw).into_error().message,
            "The provider reported an error: Provider returned error: out of memory"
        );
    }

    #[test]
    fn waits_are_read_in_every_form() {
        let now = httpdate::parse_http_date("Thu, 01 Jan 2026 00:00:10 GMT").unwrap();
        let cases = [
            (vec![("retry-after", "12")], Some(12_000)),
            (vec![("retry-after", "0.5")], Some(500)),
            (vec![("retry-after", "12"), ("retry-after-ms", "250")], Some(250)),
            (vec![("retry-after", "12"), ("retry-after-ms", "soon")], Some(12_000)),
            (vec![("retry-after", "Thu, 01 Jan 2026 00:00:40 GMT")], Some(30_000)),
            (vec![("retry-after", "Thu, 01 Jan 2026 00:00:00 GMT")], Some(0)),
            (vec![("retry-after", "soon")], None),
            (vec![("retry-after", "-3")], None),
            (vec![("retry-after", "inf")], None),
            (vec![("retry-after", "1e300")], None),
            (vec![], None),
        ];
        for (pairs, expected) in cases {
            let headers: HeaderMap = pairs
                .iter()
                .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
                .collect::<HeaderMap>();
            assert_eq!(retry_after(&headers, now).map(|wait| wait.as_millis()), expected, "{pairs:?}");
        }
    }
}
