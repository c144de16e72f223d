//! `render`: the exact prompt of a loop's first turn, without calling a model.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::run::{Task, cannot_start};
use crate::cli::Context;
use crate::cli::error::{CliError, CliResult, code};
use crate::cli::output::Format;
use crate::cli::revision::{self, Revision};
use crate::engine::{Engine, RenderedPrompt};

/// Print the exact prompt of a loop's first turn, without calling a model.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                  loopwright render log_analyze --input @examples/auth.log\n  \
                  loopwright render triage --input \"a mail\" --format json | jq -r .system\n  \
                  loopwright render triage --input \"a mail\" --diff before.json\n  \
                  loopwright render loops/triage.yaml --input \"a mail\" --diff HEAD:loops/triage.yaml\n  \
                  loopwright render log_analyze --input @examples/auth.log --iterations 2..5\n\n\
                  `init` hooks do not run, since they may do real work. Token counts are\n\
                  the model's own where its vocabulary is known, and estimates elsewhere.")]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    task: Task,
    /// How the prompt is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Show what changed since an earlier version instead, and what that does to the prompt cache: another document, one
    /// at a revision of git (REVISION:PATH), or what an earlier `render --format json` wrote
    #[arg(long, value_name = "VERSION")]
    diff: Option<String>,
    /// Show what changed in the prompt from one iteration of a run to another instead. The run is made, up to the later of
    /// the two and with all that its steps do, while a script or a recording answers
    #[arg(long, value_name = "A..B", conflicts_with = "diff", value_parser = super::render_iterations::Pair::parse)]
    iterations: Option<super::render_iterations::Pair>,
}

pub(in crate::cli) fn run(args: &Args, context: &Context) -> CliResult {
    let (library, request) = args.task.prepare(context)?;
    let builder = args.task.models(Engine::builder(Arc::new(library)));
    if let Some(pair) = args.iterations {
        let difference = super::render_iterations::compare(pair, builder, request)?;
        return print(args, context, &difference);
    }
    let engine = builder.build().map_err(|error| cannot_start(&error))?;
    let prompt = engine.render(&request).map_err(|error| cannot_start(&error))?;
    let output = context.output;
    if let Some(file) = &args.diff {
        let difference = match is_document(file) {
            true => super::render_diff::compare_prompts(&earlier(args, context, file, &request.input)?, &prompt),
            false => super::render_diff::compare(Path::new(file), &prompt)?,
        };
        return print(args, context, &difference);
    }
    match args.format {
        Format::Json => output.json(&as_json(&prompt))?,
        Format::Text => output.data(&output.for_people(&as_text(&prompt)))?,
    }
    Ok(code::SUCCESS)
}

fn print(args: &Args, context: &Context, difference: &super::render_diff::Difference) -> CliResult {
    let output = context.output;
    match args.format {
        Format::Json => output.json(difference)?,
        Format::Text => output.data(&output.for_people(&difference.text()))?,
    }
    Ok(code::SUCCESS)
}

/// Whether a version is a document, rather than a prompt that was written down.
fn is_document(version: &str) -> bool {
    revision::split(version).is_some() || [".yaml", ".yml", ".toml"].iter().any(|end| version.ends_with(end))
}

/// The same task's prompt, as another document gives it.
fn earlier(args: &Args, context: &Context, version: &str, input: &str) -> Result<RenderedPrompt, CliError> {
    // The copy must live until the prompt is there.
    let (copy, document) = match revision::split(version) {
        Some((name, path)) => {
            let copy = Revision::open(name)?;
            let document = copy.path(path);
            (Some(copy), document.to_string_lossy().into_owned())
        }
        None => (None, version.to_owned()),
    };
    // The document's own workspace counts: `--workspace` names the one of the new version.
    let workspace = context.workspace.clone().filter(|_| copy.is_none());
    let context = Context { output: context.output, workspace };
    let (library, mut request) = args.task.prepare_as(&context, &document)?;
    // Standard input can be read only once.
    input.clone_into(&mut request.input);
    let engine = args.task.models(Engine::builder(Arc::new(library))).build().map_err(|error| cannot_start(&error))?;
    engine.render(&request).map_err(|error| cannot_start(&error))
}

fn as_json(prompt: &RenderedPrompt) -> serde_json::Value {
    let tools: Vec<_> = prompt
        .tools
        .iter()
        .map(|tool| json!({ "name": tool.name, "description": tool.description, "params": tool.params }))
        .collect();
    json!({
        "model": prompt.model,
        "system": prompt.system,
        "user": prompt.user,
        "nonce": prompt.nonce,
        "tools": tools,
        "sections": prompt.sections,
        "bytes": prompt.system.len() + prompt.user.len(),
        "tokens": tokens(prompt),
        "estimated": prompt.estimated,
    })
}

fn as_text(prompt: &RenderedPrompt) -> String {
    let mut text = format!("=== system ===\n{}\n=== user ===\n{}\n", prompt.system, prompt.user);
    for tool in &prompt.tools {
        text.push_str(&format!("\n=== tool {} ===\n{}\n{}\n", tool.name, tool.description, tool.params));
    }
    text.push_str("\n=== sections ===\n");
    let wide = prompt.sections.iter().map(|section| section.name.len()).max().unwrap_or(0).max(7);
    let head = if prompt.estimated { "tokens (about)" } else { "tokens" };
    text.push_str(&format!("{:wide$}  {:13}  {:>8}  {head:>8}\n", "section", "tier", "bytes"));
    for section in &prompt.sections {
        let (name, tier) = (&section.name, &section.tier);
        text.push_str(&format!("{name:wide$}  {tier:13}  {:>8}  {:>8}\n", section.bytes, section.tokens));
    }
    let bytes: usize = prompt.sections.iter().map(|section| section.bytes).sum();
    if prompt.tools_tokens > 0 {
        text.push_str(&format!("{:wide$}  {:13}  {:>8}  {:>8}\n", "tools", "", "", prompt.tools_tokens));
    }
    let tokens = tokens(prompt);
    text.push_str(&format!("{:wide$}  {:13}  {bytes:>8}  {tokens:>8}\n", "all", ""));
    text
}

fn tokens(prompt: &RenderedPrompt) -> usize {
    prompt.sections.iter().map(|section| section.tokens).sum::<usize>() + prompt.tools_tokens
}
