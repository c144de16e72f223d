//! The command line: arguments, which command runs, and what each kind of error means for the exit code.

mod asker;
mod command;
mod error;
mod input;
mod interrupt;
mod library;
mod output;
mod revision;
mod text_diff;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use command::{
    caps, check, debug, diff, docs, explain, fmt, graph, init, lsp, mcp, model, new, render, run, schema, skills, tune,
    watch,
};
use error::CliError;
use output::Output;

/// Runs agent loops that are written as configuration.
#[derive(Debug, Parser)]
#[command(
    name = "loopwright",
    version,
    max_term_width = 100,
    after_help = "Examples:\n  \
                  loopwright init my-loops && cd my-loops\n  \
                  loopwright check .\n  \
                  loopwright run hello --input \"Who are you?\"\n\n\
                  Exit codes: 0 success, 1 the thing checked or run failed, 2 usage or configuration error, 130 cancelled."
)]
struct Arguments {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Flags that every command takes.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Everywhere")]
struct Global {
    /// The workspace's folder [default: the nearest one upward that has loopwright.yaml, else this one]
    #[arg(long, value_name = "DIR", global = true)]
    workspace: Option<PathBuf>,
    /// Print only what was asked for: no progress, no notes
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Print more: prompts, state, every step
    #[arg(short, long, global = true)]
    verbose: bool,
    /// Print without colours (as does the environment variable NO_COLOR)
    #[arg(long, global = true)]
    no_color: bool,
}

/// What a command needs besides its own arguments.
struct Context {
    output: Output,
    workspace: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// See what loops could use, and search it
    Caps(caps::Args),
    /// Check documents and templates: every mistake with file, line, column and what to write
    Check(check::Args),
    /// Look into the engine's parts
    Debug(debug::Args),
    /// Say what changed between two versions of a loop, in terms of behaviour
    Diff(diff::Args),
    /// Print a page in Markdown for a loop, from its own descriptions
    Docs(docs::Args),
    /// Print the effective document: each value with the place that it comes from
    Explain(explain::Args),
    /// Write documents in one layout: spaces, indentation, quotes; never what they say
    Fmt(fmt::Args),
    /// Draw a loop: actions, hooks, ends, and the loops that it leads to
    Graph(graph::Args),
    /// Make a workspace that passes `check` and runs
    Init(init::Args),
    /// Help an editor: a language server over standard input and output
    Lsp(lsp::Args),
    /// Start the workspace's MCP servers to see their tools, or to call one
    Mcp(mcp::Args),
    /// Try a model
    Model(model::Args),
    /// Start a new document
    New(new::Args),
    /// Print the exact prompt of a loop's first turn, without calling a model
    Render(render::Args),
    /// Run a loop on an input
    Run(run::Args),
    /// Print the JSON Schemas of documents and events
    Schema(schema::Args),
    /// List, show and validate skills
    Skills(skills::Args),
    /// Try thresholds on what was recorded, without a model
    Tune(tune::Args),
    /// Check a loop at each change of its files, and show what the change does
    Watch(watch::Args),
}

/// Runs the command that the process was started with; gives its exit code.
#[must_use]
pub fn command_line() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version come this way too, and go to standard output.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(error::code::USAGE));
        }
    };
    let Arguments { global, command } = arguments;
    let output = Output::new(global.quiet, global.verbose, global.no_color);
    let context = Context { output, workspace: global.workspace };
    let result = match command {
        Command::Caps(args) => caps::run(&args, &context),
        Command::Check(args) => check::run(&args, &context),
        Command::Debug(args) => debug::run(&args, &context),
        Command::Diff(args) => diff::run(&args, &context),
        Command::Docs(args) => docs::run(&args, &context),
        Command::Explain(args) => explain::run(&args, &context),
        Command::Fmt(args) => fmt::run(&args, &context),
        Command::Graph(args) => graph::run(&args, &context),
        Command::Init(args) => init::run(&args, &context),
        Command::Lsp(args) => lsp::run(&args, &context),
        Command::Mcp(args) => mcp::run(&args, &context),
        Command::Model(args) => model::run(&args, &context),
        Command::New(args) => new::run(&args, &context),
        Command::Render(args) => render::run(&args, &context),
        Command::Run(args) => run::run(&args, &context),
        Command::Schema(args) => schema::run(&args, &context),
        Command::Skills(args) => skills::run(&args, &context),
        Command::Tune(args) => tune::run(&args, &context),
        Command::Watch(args) => watch::run(&args, &context),
    };
    let code = result.unwrap_or_else(|error| {
        output.error(&error);
        error.exit_code()
    });
    ExitCode::from(code)
}

/// A runtime for the commands that wait for something.
fn runtime() -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::failed(format!("Cannot start: {error}")))
}
