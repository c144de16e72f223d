//! A client of the language server: it speaks the protocol over pipes and keeps what the server says of its own accord.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value as Json, json};

/// Longer than any answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

pub struct Client {
    process: Child,
    input: Option<ChildStdin>,
    output: Receiver<Json>,
    root: PathBuf,
    next_id: i64,
    /// Text and version of what is open, by path.
    pub open: BTreeMap<String, (String, i64)>,
    /// The last `publishDiagnostics` by path.
    pub published: BTreeMap<String, Json>,
    /// Requests of the server.
    pub asked: Vec<Json>,
}

impl Client {
    /// Starts a server for a workspace's folder; `encodings` is what the client offers.
    pub fn start(root: &Path, encodings: &[&str]) -> Self {
        let mut client = Self::spawn(root);
        let capabilities = json!({
            "general": { "positionEncodings": encodings },
            "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } }
        });
        let folders = json!([{ "uri": client.uri(""), "name": "w" }]);
        let params =
            json!({ "processId": null, "rootUri": null, "capabilities": capabilities, "workspaceFolders": folders });
        let answer = client.request("initialize", params);
        assert!(answer["result"]["capabilities"]["hoverProvider"] == true, "{answer}");
        client.notify("initialized", json!({}));
        client
    }

    /// Starts a server and says nothing yet.
    pub fn spawn(root: &Path) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_loopwright"))
            .arg("lsp")
            .current_dir(root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = process.stdin.take();
        let mut from = BufReader::new(process.stdout.take().unwrap());
        let (sender, output) = channel();
        std::thread::spawn(move || {
            while let Some(message) = read(&mut from) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let root = std::fs::canonicalize(root).unwrap();
        let (open, published) = (BTreeMap::new(), BTreeMap::new());
        Self { process, input, output, root, next_id: 0, open, published, asked: Vec::new() }
    }

    pub fn uri(&self, path: &str) -> String {
        let path = self.root.join(path);
        format!("file://{}", path.to_str().unwrap().trim_end_matches('/').replace(' ', "%20"))
    }

    /// The path of an address, from the workspace's folder.
    pub fn path(&self, uri: &str) -> String {
        let path = uri.strip_prefix("file://").unwrap().replace("%20", " ");
        Path::new(&path).strip_prefix(&self.root).unwrap().to_str().unwrap().to_owned()
    }

    pub fn raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    pub fn send(&mut self, message: &Json) {
        let text = message.to_string();
        self.raw(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    pub fn notify(&mut self, method: &str, params: Json) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request and waits for its reply; what comes before it is kept.
    pub fn request(&mut self, method: &str, params: Json) -> Json {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.reply(&json!(id))
    }

    pub fn reply(&mut self, id: &Json) -> Json {
        loop {
            let message = self.next();
            if message["id"] == *id && message["method"].is_null() {
                return message;
            }
        }
    }

    /// The next message of the server.
    pub fn next(&mut self) -> Json {
        let message = self.output.recv_timeout(PATIENCE).expect("the server says nothing");
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        if message["method"] == "textDocument/publishDiagnostics" {
            let path = self.path(message["params"]["uri"].as_str().unwrap());
            self.published.insert(path, message["params"].clone());
        } else if !message["method"].is_null() {
            self.asked.push(message.clone());
        }
        message
    }

    /// Opens a file with this text, or with the text that it has.
    pub fn open(&mut self, path: &str, text: Option<&str>) {
        let text = text.map_or_else(|| std::fs::read_to_string(self.root.join(path)).unwrap(), str::to_owned);
        let uri = self.uri(path);
        let item = json!({ "uri": uri, "languageId": "yaml", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": item }));
        self.open.insert(path.to_owned(), (text, 1));
    }

    /// Replaces a part of an open file, which must be there once.
    pub fn edit(&mut self, path: &str, old: &str, new: &str) {
        let (text, version) = self.open[path].clone();
        assert_eq!(text.matches(old).count(), 1, "{old:?} in\n{text}");
        let at = text.find(old).unwrap();
        let range = json!({ "start": position(&text, at), "end": position(&text, at + old.len()) });
        let document = json!({ "uri": self.uri(path), "version": version + 1 });
        let changes = json!([{ "range": range, "text": new }]);
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
        self.open.insert(path.to_owned(), (text.replace(old, new), version + 1));
    }

    /// Where `¦` stands in `mark`, a piece of the text that is there once.
    pub fn at(&self, path: &str, mark: &str) -> Json {
        let text = &self.open[path].0;
        let piece = mark.replacen('¦', "", 1);
        assert_eq!(text.matches(&piece).count(), 1, "{piece:?} in\n{text}");
        let offset = text.find(&piece).unwrap() + mark.find('¦').unwrap();
        json!({ "textDocument": { "uri": self.uri(path) }, "position": position(text, offset) })
    }

    /// Says goodbye properly; gives the exit code.
    pub fn stop(mut self) -> Option<i32> {
        let answer = self.request("shutdown", Json::Null);
        assert_eq!(answer["result"], Json::Null, "{answer}");
        self.notify("exit", Json::Null);
        self.wait()
    }

    /// Waits for the end of the process after its input is closed.
    pub fn wait(mut self) -> Option<i32> {
        drop(self.input.take());
        self.process.wait().unwrap().code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn read(from: &mut impl BufRead) -> Option<Json> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(": ") {
            Some(("Content-Length", value)) => length = value.parse().ok()?,
            _ if line == "\r\n" => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

/// A byte offset as the protocol counts: UTF-16 units.
pub fn position(text: &str, offset: usize) -> Json {
    let line = text[..offset].matches('\n').count();
    let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    json!({ "line": line, "character": text[start..offset].encode_utf16().count() })
}
