//! Work that was handed over, and somebody who does not want to wait for it.
#![cfg(unix)]

use std::time::Duration;

use serde_json::json;

use super::Folder;
use super::run::Background;
use crate::raw_http::{Ending, Response, Server};

const LOOP: &str = "name: work\nprompt: { instruction: Do it. }\nforges: [brief]\n";
const FORGE: &str = "kind: forge\nname: brief\ndescription: Short.\nprompt: x\noutput: { short: string! }\n";

#[test]
fn an_interrupt_reaches_work_that_was_handed_over() {
    let action = json!({ "choices": [{ "index": 0, "finish_reason": "stop",
        "delta": { "content": r#"{"@action": "require_ai_blueprint", "name": "brief"}"# } }] });
    let server = Server::scripted(vec![
        Response::events([format!("data: {action}\n\n"), "data: [DONE]\n\n".to_owned()]),
        Response::events(["data: \n\n"]).ending(Ending::Stall),
    ]);
    let folder = Folder::new(&[("loops/work.yaml", LOOP), ("loops/forges/brief.yaml", FORGE)]);
    let model = json!({ "provider": "openai", "model": "m", "base_url": server.base_url() });
    let workspace = json!({ "kind": "workspace", "models": { "m-small": model }, "tiers": { "main": "m-small" } });
    folder.write("loopwright.yaml", workspace.to_string());
    let run = Background::running("work", folder);
    run.wait_for("\"purpose\":\"forge\"");
    run.interrupt();
    let (done, folder, took) = run.end();
    let done = done.exits(130);
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert!(done.stderr.contains("brief takes the work over"), "{done:?}");
    let log = folder.read("run.ndjson");
    let finished = log.find("\"status\":\"stopped\"").expect("the forge is over");
    assert!(log.find("\"event\":\"run_finished\"").is_some_and(|end| end > finished), "{log}");
}
