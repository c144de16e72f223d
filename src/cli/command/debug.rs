//! `debug`: parts of the engine on their own. `debug extract` reads a model's reply as a loop would.

use std::sync::Arc;

use serde_json::{Value, json};

use super::run::cannot_start;
use crate::cli::error::{CliResult, code};
use crate::cli::output::Format;
use crate::cli::{Context, input, library};
use crate::engine::Engine;
use crate::reply::{Extracted, Finish, Rejection, extract};

/// Look into the engine's parts.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(subcommand)]
    part: Part,
}

#[derive(Debug, clap::Subcommand)]
enum Part {
    /// Read a model's reply from standard input and print the action that a loop would take from it
    Extract(Extract),
}

/// Read a model's reply from standard input and print the action that a loop would take from it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
                  echo '{\"@action\": \"finish\"}' | loopwright debug extract --loop default --nonce ab12\n\n\
                  Prints {\"action\", \"params\", \"tags\", \"repairs\"} or {\"error\", \"message\"}, and exits with 0 either way.")]
struct Extract {
    /// The loop whose actions the reply may name: a name or a path
    #[arg(long = "loop", value_name = "LOOP", default_value = library::DEFAULT_LOOP)]
    loop_word: String,
    /// The nonce that the reply's tags carry, as in <|FINAL_ANSWER_nonce|>
    #[arg(long)]
    nonce: String,
    /// Why the model stopped
    #[arg(long, value_enum, default_value_t)]
    finish: FinishWord,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
enum FinishWord {
    /// It had said everything
    #[default]
    Stop,
    /// It ran out of tokens
    Length,
    /// It called tools
    ToolCalls,
    /// The provider withheld the rest
    ContentFilter,
    /// The provider paused the turn
    Pause,
    /// A reason of the provider's own
    Other,
    /// Nothing is known
    #[value(alias = "null")]
    Unknown,
}

pub(in crate::cli) fn run(args: &Args, context: &Context) -> CliResult {
    match &args.part {
        Part::Extract(args) => run_extract(args, context),
    }
}

fn run_extract(args: &Extract, context: &Context) -> CliResult {
    let (library, name) = library::open_loop(context, &args.loop_word)?;
    let engine = Engine::builder(Arc::new(library)).build().map_err(|error| cannot_start(&error))?;
    let grammar = engine.grammar(&name, &args.nonce).map_err(|error| cannot_start(&error))?;
    let raw = input::stdin_bytes()?;
    let finish = match args.finish {
        FinishWord::Stop => Finish::Stop,
        FinishWord::Length => Finish::Length,
        FinishWord::ToolCalls => Finish::ToolCalls,
        FinishWord::ContentFilter | FinishWord::Pause | FinishWord::Other | FinishWord::Unknown => Finish::Unknown,
    };
    let result = extract(&String::from_utf8_lossy(&raw), finish, &grammar);
    match args.format {
        Format::Json => context.output.json(&as_json(&result))?,
        Format::Text => context.output.data(&as_text(&result))?,
    }
    Ok(code::SUCCESS)
}

fn as_json(result: &Result<Extracted, Rejection>) -> Value {
    match result {
        Ok(found) => json!({
            "action": found.action,
            "params": found.params,
            "tags": found.tags,
            "repairs": found.repairs,
            "identifier": found.identifier,
            "thought": found.thought,
            "warnings": found.warnings,
        }),
        Err(rejection) => json!({ "error": rejection.class.as_str(), "message": rejection.message }),
    }
}

fn as_text(result: &Result<Extracted, Rejection>) -> String {
    let found = match result {
        Ok(found) => found,
        Err(rejection) => return format!("no action ({}): {}\n", rejection.class.as_str(), rejection.message),
    };
    let mut text = format!("action: {}\n", found.action);
    for (name, value) in &found.params {
        text.push_str(&format!("  {name}: {value}\n"));
    }
    for (name, body) in &found.tags {
        text.push_str(&format!("tag {name}:\n{body}\n"));
    }
    for repair in &found.repairs {
        text.push_str(&format!("repaired {}: {}\n", repair.kind, repair.detail));
    }
    for warning in &found.warnings {
        text.push_str(&format!("warning: {warning}\n"));
    }
    text
}
