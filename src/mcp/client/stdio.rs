//! Servers that are programs, spoken to over their standard input and output.

use rmcp::service::serve_client;

use super::{Client, Link, STDERR, words};
use crate::document::McpServerDoc;
use crate::mcp::secret;
use crate::policy::{Access, Program, Service};

pub(super) async fn connect(command: &[String], doc: &McpServerDoc, access: &Access) -> Result<Link, String> {
    let env = doc.env.iter().map(|(name, value)| Ok((name.clone(), secret::read(value, access.root())?)));
    let program = Program {
        argv: command.to_vec(),
        cwd: doc.cwd.as_ref().map(|cwd| cwd.value.clone()),
        env: env.collect::<Result<_, String>>()?,
        stdin: None,
        timeout: doc.start_timeout.0,
        max_output: STDERR,
    };
    let (mut service, stdin, stdout) = access.start(&program).map_err(|error| error.to_string())?;
    let client = Client::default();
    match serve_client(client.clone(), (stdout, stdin)).await {
        Ok(running) => Ok(Link::new(running, &client, Some(service))),
        Err(error) => {
            let end = how_it_ended(&mut service).await;
            Err(format!("{} (it {end})", words(&error)))
        }
    }
}

/// How a server ended, in words that go on after "it".
pub(super) async fn how_it_ended(service: &mut Service) -> String {
    let end = service.autopsy().await;
    let how = match (end.exit_code, end.signal) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "closed its output".to_owned(),
    };
    match end.stderr.trim() {
        "" => how,
        said => format!("{how}, and wrote: {said}"),
    }
}
