//! Messages on a stream of bytes: a header with the length, then JSON-RPC. What is broken is reported and passed over.

use std::io::{self, BufRead, Read, Write};
use std::sync::mpsc;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// The longest message that is read: many times the largest document.
const MAX_BYTES: u64 = 64 << 20;
/// The longest line of a header.
const MAX_HEADER: u64 = 8 << 10;

/// What arrives from the client.
#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    Message(Message),
    /// Something that is no message, with the id if one could be told.
    Broken {
        id: Json,
        code: ErrorCode,
        problem: String,
    },
}

/// A message of the client: a request has an id, a notification has none, and a reply has no method.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Message {
    pub(super) id: Option<Json>,
    pub(super) method: Option<String>,
    pub(super) params: Json,
}

/// Why a request has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ErrorCode {
    Parse = -32700,
    InvalidRequest = -32600,
    MethodNotFound = -32601,
    InvalidParams = -32602,
    Internal = -32603,
    NotInitialized = -32002,
    Cancelled = -32800,
    RequestFailed = -32803,
}

/// Why a request has no result, in words.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) code: ErrorCode,
    pub(super) message: String,
}

impl Failure {
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// Reads messages on a thread of its own until the stream ends, so that the server can see what waits.
pub(super) fn incoming(mut input: impl BufRead + Send + 'static) -> mpsc::Receiver<Incoming> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        while let Ok(Some(message)) = read(&mut input) {
            let is_exit = matches!(&message, Incoming::Message(m) if m.method.as_deref() == Some("exit"));
            if sender.send(message).is_err() || is_exit {
                return;
            }
        }
    });
    receiver
}

/// The next message; none at the end of the stream.
fn read(input: &mut impl BufRead) -> io::Result<Option<Incoming>> {
    let broken = |problem: String| Some(Incoming::Broken { id: Json::Null, code: ErrorCode::Parse, problem });
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if input.take(MAX_HEADER).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end_matches(['\n', '\r']);
        if line.is_empty() {
            if length.is_some() {
                break;
            }
            continue;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse::<u64>().ok();
        }
    }
    let length = length.unwrap_or_default();
    if length > MAX_BYTES {
        io::copy(&mut input.take(length), &mut io::sink())?;
        return Ok(broken(format!("the message has {length} bytes; the limit is {MAX_BYTES}")));
    }
    let mut body = Vec::new();
    if input.take(length).read_to_end(&mut body)? as u64 != length {
        return Ok(None);
    }
    let json: Json = match serde_json::from_slice(&body) {
        Ok(json) => json,
        Err(error) => return Ok(broken(format!("the message is not JSON: {error}"))),
    };
    let id = json.get("id").cloned().unwrap_or_default();
    let has_id = matches!(id, Json::Null | Json::String(_) | Json::Number(_));
    Ok(Some(match Message::deserialize(json) {
        Ok(message) if has_id => Incoming::Message(message),
        Ok(_) => Incoming::Broken {
            id: Json::Null,
            code: ErrorCode::InvalidRequest,
            problem: "an id is a number or a text".to_owned(),
        },
        Err(error) => Incoming::Broken { id, code: ErrorCode::InvalidRequest, problem: error.to_string() },
    }))
}

#[derive(Serialize)]
struct Outgoing<'a, T> {
    jsonrpc: &'a str,
    #[serde(flatten)]
    body: T,
}

/// Writes a message.
pub(super) fn write(output: &mut dyn Write, body: &Json) -> io::Result<()> {
    let text = serde_json::to_string(&Outgoing { jsonrpc: "2.0", body })?;
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Vec<Incoming> {
        incoming(io::Cursor::new(bytes.to_vec())).into_iter().collect()
    }

    fn framed(text: &str) -> Vec<u8> {
        format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
    }

    #[test]
    fn what_is_broken_does_not_stop_what_follows() {
        let mut bytes = framed("{not json");
        bytes.extend(framed("[1, 2]"));
        bytes.extend(framed(r#"{"id": {}, "method": "x"}"#));
        bytes.extend(framed(r#"{"id": 4, "method": 5}"#));
        bytes.extend(b"Content-Type: x\r\ncontent-length:2\r\n\r\n{}");
        bytes.extend(framed(r#"{"id": "a", "method": "shutdown"}"#));
        let found = all(&bytes);
        let codes: Vec<_> = found
            .iter()
            .map(|message| match message {
                Incoming::Broken { code, .. } => Some(*code),
                Incoming::Message(_) => None,
            })
            .collect();
        let invalid = Some(ErrorCode::InvalidRequest);
        assert_eq!(codes, [Some(ErrorCode::Parse), invalid, invalid, invalid, None, None], "{found:?}");
        assert!(matches!(&found[5], Incoming::Message(m) if m.method.as_deref() == Some("shutdown")));
    }

    #[test]
    fn a_stream_that_breaks_off_ends_the_session() {
        assert_eq!(all(b""), []);
        assert_eq!(all(b"Content-Length: 50\r\n\r\n{}"), []);
        assert_eq!(all(b"Content-Le"), []);
        let far = all(b"Content-Length: 99999999999999999\r\n\r\n{}");
        assert!(matches!(far[..], [Incoming::Broken { .. }]), "{far:?}");
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..300)) {
            all(&bytes);
        }
    }
}
