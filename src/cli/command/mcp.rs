//! `mcp`: the workspace's MCP servers, started to see their tools or to call one of them.

use std::future::Future;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::cli::error::{CliError, CliResult, code};
use crate::cli::output::Format;
use crate::cli::{Context, input, interrupt, library, runtime};
use crate::diag::{did_you_mean, list_words};
use crate::event::{Envelope, Event, EventStream, RunId, Secrets, Subscriber, ToolServerStatus};
use crate::load::Library;
use crate::mcp::{Lease, McpTool, Servers};
use crate::policy::Access;
use crate::tool::NativeTool;

/// Start the workspace's MCP servers to see their tools, or to call one.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Start the servers and print their tools
    List(List),
    /// Call a tool once and print its result
    Call(Call),
}

/// Start the servers and print their tools.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                  loopwright mcp list\n  \
                  loopwright mcp list files --format json\n\n\
                  With --format json the schemas of the parameters are printed too.\n\
                  Exits with 1 when a server did not start.")]
struct List {
    /// One server of the workspace [default: all]
    server: Option<String>,
    /// How the tools are printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Call a tool once and print its result.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                  loopwright mcp call files read_file '{\"path\": \"README.md\"}'\n  \
                  loopwright mcp call files mcp_files_list_directory @params.json --format json\n\n\
                  The workspace's policy is for what models do: it is not asked here.\n\
                  Exits with 1 when the tool failed.")]
struct Call {
    /// The server, as the workspace names it
    server: String,
    /// The tool, as the server or a loop names it
    tool: String,
    /// Its parameters as a JSON object: in place, @FILE, or - for standard input
    #[arg(default_value = "{}")]
    params: String,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(in crate::cli) fn run(args: &Args, context: &Context) -> CliResult {
    match &args.what {
        What::List(args) => list(args, context),
        What::Call(args) => call(args, context),
    }
}

/// The servers of a workspace, and what was said of them.
struct Session {
    servers: Arc<Servers>,
    lease: Lease,
    told: Arc<Told>,
    secrets: Secrets,
}

/// Keeps the last word on each server.
#[derive(Default)]
struct Told(Mutex<Vec<(String, ToolServerStatus, Vec<String>)>>);

impl Subscriber for Told {
    fn on_event(&self, envelope: &Envelope) {
        if let Event::ToolServer { server, status, problems, .. } = &envelope.event {
            let mut told = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            told.push((server.clone(), *status, problems.clone()));
        }
    }
}

impl Told {
    fn problems(&self, server: &str) -> Vec<String> {
        let told = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        told.iter().filter(|(name, ..)| name == server).flat_map(|(.., problems)| problems.clone()).collect()
    }
}

impl Session {
    fn open(context: &Context) -> Result<Self, CliError> {
        let mut library = library::open(context, None)?;
        library::require_sound_workspace(&mut library, context.output)?;
        let servers = Arc::new(servers_of(&library));
        let told = Arc::new(Told::default());
        let secrets = Secrets::default();
        secrets.add(servers.secrets(&library.root));
        let subscribers: Vec<Arc<dyn Subscriber>> = vec![told.clone()];
        let lease = servers.lease(&EventStream::new(RunId("mcp".to_owned()), subscribers, secrets.clone()));
        if servers.is_empty() {
            return Err(CliError::usage("The workspace declares no MCP servers").hint(
                "declare one in loopwright.yaml, such as mcp: { files: { command: [npx, -y, \"@modelcontextprotocol/server-filesystem\", \".\"] } }",
            ));
        }
        Ok(Self { servers, lease, told, secrets })
    }

    fn require(&self, server: &str) -> Result<(), CliError> {
        let known: Vec<&str> = self.servers.names().collect();
        if known.contains(&server) {
            return Ok(());
        }
        let error = CliError::usage(format!("The workspace has no MCP server `{server}`"));
        Err(match did_you_mean(server, &known) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error.hint(format!("it has {}", list_words(&known))),
        })
    }

    fn tools(&self, server: &str) -> Vec<McpTool> {
        self.servers.tools().into_iter().filter(|tool| tool.server() == server).collect()
    }
}

fn servers_of(library: &Library) -> Servers {
    let workspace = &library.workspace.doc;
    let roots: Vec<_> = workspace.paths.roots.iter().map(|root| root.as_str().into()).collect();
    Servers::new(&workspace.mcp, &Access::new(&library.root, &roots, workspace.policy.clone()))
}

/// The work, unless Ctrl-C comes first: dropping it ends the servers' processes.
fn until_interrupted<T>(work: impl Future<Output = T>) -> Result<Option<T>, CliError> {
    Ok(runtime()?.block_on(async {
        let mut signals = interrupt::Signals::new();
        tokio::select! {
            biased;
            () = signals.next() => None,
            done = work => Some(done),
        }
    }))
}

fn list(args: &List, context: &Context) -> CliResult {
    let session = Session::open(context)?;
    if let Some(server) = &args.server {
        session.require(server)?;
    }
    let wanted: Vec<String> = match &args.server {
        Some(server) => vec![server.clone()],
        None => session.servers.names().map(str::to_owned).collect(),
    };
    let work = async {
        let started = wanted.iter().map(|server| async { session.lease.start(std::slice::from_ref(server)).await });
        let started = futures_util::future::join_all(started).await;
        session.lease.close().await;
        started
    };
    let Some(started) = until_interrupted(work)? else { return Ok(code::CANCELLED) };
    let all: Vec<Value> =
        wanted.iter().zip(&started).map(|(server, started)| as_json(&session, server, started)).collect();
    match args.format {
        Format::Json => context.output.json(&all)?,
        Format::Text => all.iter().try_for_each(|server| print(server, context))?,
    }
    Ok(if started.iter().all(Result::is_ok) { code::SUCCESS } else { code::FAILED })
}

fn as_json(session: &Session, server: &str, started: &Result<(), String>) -> Value {
    let tool = |tool: McpTool| {
        let listed = tool.listed();
        json!({
            "name": listed.name,
            "remote_name": listed.remote,
            "description": listed.description,
            "params": listed.params,
            "effect": listed.effect,
        })
    };
    let (tools, problems) = match started {
        Ok(()) => (session.tools(server).into_iter().map(tool).collect(), session.told.problems(server)),
        Err(_) => (Vec::new(), Vec::new()),
    };
    let error = started.as_ref().err().map(|words| session.secrets.mask(words).into_owned());
    json!({ "server": server, "ok": started.is_ok(), "error": error, "problems": problems, "tools": tools })
}

fn print(server: &Value, context: &Context) -> Result<(), CliError> {
    let output = context.output;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if let Some(error) = server["error"].as_str() {
        output.error(&CliError::failed(error));
        return Ok(());
    }
    let tools = server["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut lines = format!("{} ({})\n", text(&server["server"]), count(tools.len()));
    for tool in tools {
        let description = text(&tool["description"]);
        let first: String = description.lines().next().unwrap_or_default().chars().take(100).collect();
        lines.push_str(format!("  {}  {first}", text(&tool["name"])).trim_end());
        lines.push('\n');
    }
    for problem in server["problems"].as_array().into_iter().flatten() {
        output.note(&format!("{}: {}", text(&server["server"]), text(problem)));
    }
    output.data(&output.for_people(&lines))
}

fn count(tools: usize) -> String {
    if tools == 1 { "1 tool".to_owned() } else { format!("{tools} tools") }
}

fn call(args: &Call, context: &Context) -> CliResult {
    let params = input::Input::read(&args.params)?.text;
    let params: Value = match serde_json::from_str(&params) {
        Ok(params @ Value::Object(_)) => params,
        Ok(_) => {
            return Err(CliError::usage("The parameters are no JSON object").hint("write them as {\"name\": value}"));
        }
        Err(error) => return Err(CliError::usage(format!("The parameters are no JSON: {error}"))),
    };
    let session = Session::open(context)?;
    session.require(&args.server)?;
    let work = async {
        let result = call_tool(&session, args, params).await;
        session.lease.close().await;
        result
    };
    let result = match until_interrupted(work)? {
        None => return Ok(code::CANCELLED),
        Some(result) => result?,
    };
    let mask = |words: &str| session.secrets.mask(words).into_owned();
    match (args.format, &result) {
        (Format::Json, Ok(value)) => context.output.json(&json!({ "is_error": false, "result": value }))?,
        (Format::Json, Err(words)) => context.output.json(&json!({ "is_error": true, "result": mask(words) }))?,
        (Format::Text, Ok(value)) => {
            let text = match value.as_str() {
                Some(text) => text.to_owned(),
                None => serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string()),
            };
            context.output.data(&context.output.for_people(&format!("{}\n", text.trim_end_matches('\n'))))?;
        }
        (Format::Text, Err(words)) => context.output.error(&CliError::failed(mask(words))),
    }
    Ok(if result.is_ok() { code::SUCCESS } else { code::FAILED })
}

/// The tool's result, or its failure's words.
///
/// # Errors
/// The server has no such tool, or did not start.
async fn call_tool(session: &Session, args: &Call, params: Value) -> Result<Result<Value, String>, CliError> {
    session
        .lease
        .start(std::slice::from_ref(&args.server))
        .await
        .map_err(|words| CliError::failed(session.secrets.mask(&words).into_owned()))?;
    let tools = session.tools(&args.server);
    let found = tools.iter().find(|tool| tool.listed().remote == args.tool || tool.listed().name == args.tool);
    let Some(tool) = found else {
        let known: Vec<&str> = tools.iter().map(|tool| tool.listed().remote.as_str()).collect();
        let error = CliError::usage(format!("MCP server `{}` has no tool `{}`", args.server, args.tool));
        return Err(match did_you_mean(&args.tool, &known) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None if known.is_empty() => error.hint("it has none"),
            None => error.hint(format!("it has {}", list_words(&known))),
        });
    };
    Ok(tool.call(params).await)
}
