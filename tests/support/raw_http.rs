//! A server on loopback that sends exactly the bytes it is told to, and remembers what it was asked.
//!
//! It speaks just enough HTTP for a client that posts a body with a length: real servers hide what is tried here, such as
//! a reset in the middle of a stream.

#![allow(dead_code, unreachable_pub, reason = "shared: no user needs all of it")]
#![allow(clippy::expect_used, reason = "a test ends here when its server cannot run")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// How a response ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ending {
    /// The body ends as it should; the connection stays open for the next request.
    #[default]
    Eof,
    /// The connection is reset in the middle of the body.
    Reset,
    /// Nothing more is sent and the connection stays open, until the client leaves.
    Stall,
}

/// One scripted response.
#[derive(Debug, Clone, Default)]
pub struct Response {
    /// The status; 0 means 200.
    pub status: u16,
    /// Headers besides those of the transfer.
    pub headers: Vec<(String, String)>,
    /// The body's pieces, each after its wait.
    pub chunks: Vec<(Duration, Vec<u8>)>,
    /// How it ends.
    pub ending: Ending,
    /// A wait before anything is sent.
    pub delay: Duration,
}

impl Response {
    /// A 200 with an event stream of these pieces.
    pub fn events<B: AsRef<[u8]>>(chunks: impl IntoIterator<Item = B>) -> Self {
        Self::status(200).header("content-type", "text/event-stream").body(chunks)
    }

    /// An empty response.
    pub fn status(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    /// With one more header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With more pieces.
    pub fn body<B: AsRef<[u8]>>(mut self, chunks: impl IntoIterator<Item = B>) -> Self {
        self.chunks.extend(chunks.into_iter().map(|chunk| (Duration::ZERO, chunk.as_ref().to_vec())));
        self
    }

    /// With a wait before every piece.
    pub fn paced(mut self, wait: Duration) -> Self {
        for (before, _) in &mut self.chunks {
            *before = wait;
        }
        self
    }

    /// With another ending.
    pub fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// The completion of a chat-completions stream that says `text`.
    pub fn says(text: &str) -> Self {
        let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        Self::events([
            format!(
                "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":null}}]}}\n\n"
            ),
            "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\
             \"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2}}\n\n"
                .to_owned(),
            "data: [DONE]\n\n".to_owned(),
        ])
    }
}

/// One request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// `POST /v1/chat/completions HTTP/1.1`.
    pub line: String,
    /// Header names in lower case, with values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// The connection's number, from 0.
    pub connection: usize,
}

impl Seen {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

type Answer = dyn Fn(usize, &Seen) -> Response + Send + Sync;

struct Shared {
    answer: Box<Answer>,
    seen: Mutex<Vec<Seen>>,
    /// Connections that the client closed while a response was under way.
    left: Mutex<usize>,
    stop: AtomicBool,
}

/// The server; dropping it stops it.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Server {
    /// Serves these responses in order, and the last one from then on.
    pub fn scripted(responses: Vec<Response>) -> Self {
        Self::answering(move |number, _| responses[number.min(responses.len() - 1)].clone())
    }

    /// Serves whatever the function says for the request with that number, counted from 0.
    pub fn answering(answer: impl Fn(usize, &Seen) -> Response + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let address = listener.local_addr().expect("address");
        let shared = Arc::new(Shared {
            answer: Box::new(answer),
            seen: Mutex::default(),
            left: Mutex::default(),
            stop: AtomicBool::new(false),
        });
        let state = Arc::clone(&shared);
        thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                if state.stop.load(Ordering::SeqCst) {
                    break;
                }
                if let Ok(stream) = stream {
                    let state = Arc::clone(&state);
                    thread::spawn(move || serve(stream, number, &state));
                }
            }
        });
        Self { address, shared }
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// `http://127.0.0.1:PORT/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().expect("seen").clone()
    }

    /// How often a client went away in the middle of a response.
    pub fn left(&self) -> usize {
        *self.shared.left.lock().expect("left")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        // Wakes the accepting thread.
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(mut stream: TcpStream, connection: usize, shared: &Shared) {
    let _ = stream.set_nodelay(true);
    let mut buffer = Vec::new();
    while let Some(seen) = read_request(&mut stream, &mut buffer, connection) {
        let number = {
            let mut all = shared.seen.lock().expect("seen");
            all.push(seen.clone());
            all.len() - 1
        };
        let response = (shared.answer)(number, &seen);
        if !respond(&mut stream, &response, shared) {
            return;
        }
    }
}

fn read_request(stream: &mut TcpStream, buffer: &mut Vec<u8>, connection: usize) -> Option<Seen> {
    let mut piece = [0; 16 << 10];
    let head_end = loop {
        if let Some(at) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return None,
            Ok(count) => buffer.extend_from_slice(&piece[..count]),
        }
    };
    let head = String::from_utf8_lossy(&buffer[..head_end]).into_owned();
    let mut lines = head.split("\r\n");
    let line = lines.next().unwrap_or_default().to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_lowercase(), value.trim().to_owned()))
        .collect();
    let length =
        headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, value)| value.parse().unwrap_or(0));
    buffer.drain(..head_end + 4);
    while buffer.len() < length {
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return None,
            Ok(count) => buffer.extend_from_slice(&piece[..count]),
        }
    }
    let body = buffer.drain(..length).collect();
    Some(Seen { line, headers, body, connection })
}

/// Sends one response; whether the connection goes on.
fn respond(stream: &mut TcpStream, response: &Response, shared: &Shared) -> bool {
    thread::sleep(response.delay);
    let status = if response.status == 0 { 200 } else { response.status };
    let mut head = format!("HTTP/1.1 {status} Scripted\r\ntransfer-encoding: chunked\r\n");
    for (name, value) in &response.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    if stream.write_all(head.as_bytes()).is_err() {
        return false;
    }
    for (wait, chunk) in &response.chunks {
        if !wait.is_zero() && client_left(stream, *wait, shared) {
            return false;
        }
        // An empty chunk would end the body.
        if chunk.is_empty() {
            continue;
        }
        let mut framed = format!("{:x}\r\n", chunk.len()).into_bytes();
        framed.extend_from_slice(chunk);
        framed.extend_from_slice(b"\r\n");
        if stream.write_all(&framed).and_then(|()| stream.flush()).is_err() {
            *shared.left.lock().expect("left") += 1;
            return false;
        }
    }
    match response.ending {
        Ending::Eof => stream.write_all(b"0\r\n\r\n").is_ok(),
        Ending::Reset => {
            // Long enough for what was sent to be read; a reset throws away what was not.
            thread::sleep(Duration::from_millis(50));
            reset(stream);
            false
        }
        Ending::Stall => {
            loop {
                if client_left(stream, Duration::from_secs(1), shared) || shared.stop.load(Ordering::SeqCst) {
                    break;
                }
            }
            false
        }
    }
}

/// Waits, and says whether the client closed the connection meanwhile.
fn client_left(stream: &mut TcpStream, wait: Duration, shared: &Shared) -> bool {
    let _ = stream.set_read_timeout(Some(wait));
    let gone = matches!(stream.peek(&mut [0]), Ok(0));
    let _ = stream.set_read_timeout(None);
    if gone {
        *shared.left.lock().expect("left") += 1;
    }
    gone
}

/// Closes the connection with a reset instead of an end: the standard library cannot, tokio can.
fn reset(stream: &TcpStream) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().expect("runtime");
    let _inside = runtime.enter();
    let stream = stream.try_clone().expect("clone");
    stream.set_nonblocking(true).expect("non-blocking");
    tokio::net::TcpStream::from_std(stream).and_then(|stream| stream.set_zero_linger()).expect("linger");
}
