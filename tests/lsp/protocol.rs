//! How a session begins and ends, and that nothing a client sends ends it otherwise.

use serde_json::{Value as Json, json};

use super::client::Client;

const LOOP: &str = "kind: loop\nname: a\nprompt:\n  instruction: Do it.\n";

fn workspace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("loopwright.yaml"), "kind: workspace\n").unwrap();
    std::fs::create_dir(folder.path().join("loops")).unwrap();
    std::fs::write(folder.path().join("loops/a.yaml"), LOOP).unwrap();
    folder
}

#[test]
fn a_session_follows_the_protocol_from_initialize_to_exit() {
    let folder = workspace();
    let mut client = Client::spawn(folder.path());
    let early = client.request("textDocument/hover", json!({}));
    assert_eq!(early["error"]["code"], -32002);
    let offer = json!({ "capabilities": { "general": { "positionEncodings": ["utf-16", "utf-8"] } } });
    let answer = client.request("initialize", offer);
    assert_eq!(answer["result"]["capabilities"]["positionEncoding"], "utf-8");
    assert_eq!(answer["result"]["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(client.request("initialize", json!({}))["error"]["code"], -32600);
    assert_eq!(client.request("shutdown", Json::Null)["result"], Json::Null);
    assert_eq!(client.request("textDocument/hover", json!({}))["error"]["code"], -32600);
    client.notify("exit", Json::Null);
    assert_eq!(client.wait(), Some(0));
}

#[test]
fn a_client_that_leaves_without_shutdown_gets_exit_code_one() {
    let folder = workspace();
    let mut client = Client::start(folder.path(), &[]);
    client.notify("exit", Json::Null);
    assert_eq!(client.wait(), Some(1));
    let client = Client::start(folder.path(), &[]);
    assert_eq!(client.wait(), Some(1));
}

#[test]
fn what_is_malformed_is_refused_and_the_session_goes_on() {
    let folder = workspace();
    let mut client = Client::start(folder.path(), &["utf-16"]);
    client.raw(b"Content-Length: 9\r\n\r\n{not json");
    assert_eq!(client.reply(&Json::Null)["error"]["code"], -32700);
    client.raw(b"Content-Length: 6\r\n\r\n[1, 2]");
    assert_eq!(client.reply(&Json::Null)["error"]["code"], -32600);
    assert_eq!(client.request("no/such", json!({}))["error"]["code"], -32601);
    assert_eq!(client.request("textDocument/hover", json!({ "textDocument": 3 }))["error"]["code"], -32602);
    assert_eq!(client.request("textDocument/hover", json!([]))["error"]["code"], -32602);
    client.notify("textDocument/didChange", json!({ "textDocument": { "uri": 4 } }));
    client.notify(
        "textDocument/didChange",
        json!({ "textDocument": { "uri": "file:///nowhere" }, "contentChanges": [] }),
    );
    client.notify("no/such", json!({}));
    client.send(&json!({ "jsonrpc": "2.0", "id": "x", "result": null }));
    let elsewhere = json!({ "textDocument": { "uri": "untitled:1" }, "position": { "line": 0, "character": 0 } });
    assert_eq!(client.request("textDocument/hover", elsewhere)["result"], Json::Null);
    client.open("loops/a.yaml", None);
    let far = json!({ "line": 4_000_000_000u32, "character": 4_000_000_000u32 });
    for method in ["hover", "definition", "completion"] {
        let params = json!({ "textDocument": { "uri": client.uri("loops/a.yaml") }, "position": far });
        let answer = client.request(&format!("textDocument/{method}"), params);
        assert!(answer["error"].is_null(), "{answer}");
    }
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn a_request_that_was_cancelled_while_it_waited_is_not_answered() {
    let folder = workspace();
    let mut client = Client::start(folder.path(), &[]);
    let frame = |message: Json| {
        let text = message.to_string();
        format!("Content-Length: {}\r\n\r\n{text}", text.len())
    };
    // In one piece, so that the second is there when the first is read.
    let at = json!({ "textDocument": { "uri": "file:///x" }, "position": { "line": 0, "character": 0 } });
    let mut bytes = frame(json!({ "id": 50, "method": "textDocument/hover", "params": at }));
    bytes += &frame(json!({ "id": 51, "method": "textDocument/hover", "params": at }));
    bytes += &frame(json!({ "method": "$/cancelRequest", "params": { "id": 51 } }));
    client.raw(bytes.as_bytes());
    assert_eq!(client.reply(&json!(50))["result"], Json::Null);
    let second = client.reply(&json!(51));
    // It may have been answered before the cancellation was read; never both, and never nothing.
    assert!(second["error"]["code"] == -32800 || second["result"] == Json::Null, "{second}");
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn findings_come_of_their_own_accord_also_for_files_that_are_not_open() {
    let folder = workspace();
    std::fs::write(folder.path().join("loops/b.yaml"), "kind: loop\nname: b\nprmpt: {}\n").unwrap();
    let mut client = Client::start(folder.path(), &[]);
    while !client.published.contains_key("loops/b.yaml") {
        client.next();
    }
    let shown = client.published["loops/b.yaml"].to_string();
    assert!(shown.contains("unknown-key") && shown.contains("did you mean `prompt`?"), "{shown}");
    let asked = client.asked.iter().map(|asked| asked["method"].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(asked, ["client/registerCapability"]);
    // Another program mends the file: the client tells, and the finding goes.
    std::fs::write(folder.path().join("loops/b.yaml"), LOOP.replace("name: a", "name: b")).unwrap();
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
    while client.published["loops/b.yaml"]["diagnostics"] != json!([]) {
        client.next();
    }
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn a_burst_of_changes_ends_with_the_findings_of_the_last_one() {
    let folder = workspace();
    let mut client = Client::start(folder.path(), &[]);
    client.open("loops/a.yaml", None);
    let mut before = "Do it.".to_owned();
    for round in 0..100 {
        let after = format!("\"{{{{ state.x{round} }}}}\"");
        client.edit("loops/a.yaml", &before, &after);
        before = after;
    }
    while !client.published.get("loops/a.yaml").is_some_and(|shown| shown["version"] == 101) {
        client.next();
    }
    let shown = client.published["loops/a.yaml"]["diagnostics"].to_string();
    assert!(shown.contains("no `x99`"), "{shown}");
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn large_and_binary_looking_documents_are_answered() {
    let folder = workspace();
    let mut client = Client::start(folder.path(), &[]);
    let large = format!("kind: loop\nname: big\nprompt: {{ instruction: x }}\nstate:\n{}", "  k: 1\n".repeat(200_000));
    for text in [large.as_str(), "\u{0}\u{1}\u{feff}\u{202e}: [", &"[".repeat(100_000), "a: &a [*a]", ""] {
        client.open("loops/big.yaml", Some(text));
        for method in ["hover", "completion", "definition", "documentSymbol"] {
            let at = json!({ "line": 3, "character": 2 });
            let params = json!({ "textDocument": { "uri": client.uri("loops/big.yaml") }, "position": at });
            let answer = client.request(&format!("textDocument/{method}"), params);
            assert!(answer["error"].is_null(), "{method}: {answer}");
        }
    }
    assert_eq!(client.stop(), Some(0));
}
