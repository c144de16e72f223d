//! `explain`: the effective document, each value with the place that it comes from.

use serde_json::json;

use crate::cli::error::{CliError, CliResult, code};
use crate::cli::output::Format;
use crate::cli::{Context, library};
use crate::diag::{did_you_mean, list_words};
use crate::document::Kind;
use crate::engine::{Outline, outline};
use crate::explain::{self as explained, Defaults, Explained};

/// Print the effective document: what holds once presets, the workspace and the engine's defaults are merged.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                  loopwright explain log_analyze\n  \
                  loopwright explain log_analyze --only limits\n  \
                  loopwright explain loops/triage.yaml --no-defaults\n  \
                  loopwright explain preset/strict\n  \
                  loopwright explain workspace --format json\n\n\
                  The text is YAML. The comment behind a value says where it was written, or `default`,\n\
                  and which value of a preset it stands in front of.")]
pub(in crate::cli) struct Args {
    /// The document: a path, a loop's name, KIND/NAME such as preset/strict, or `workspace`
    #[arg(value_name = "DOCUMENT", default_value = library::DEFAULT_LOOP)]
    document: String,
    /// Only what lies under this path, such as limits or mechanisms.spin
    #[arg(long, value_name = "PATH")]
    only: Option<String>,
    /// Show also the defaults inside actions, steps and sections
    #[arg(long, conflicts_with = "no_defaults")]
    defaults: bool,
    /// Leave out what nobody wrote
    #[arg(long)]
    no_defaults: bool,
    /// How it is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(in crate::cli) fn run(args: &Args, context: &Context) -> CliResult {
    let (library, named) = library::open_document(context, &args.document)?;
    let defaults = match (args.defaults, args.no_defaults) {
        (true, _) => Defaults::All,
        (_, true) => Defaults::None,
        _ => Defaults::Settings,
    };
    let whole = match named.kind {
        Kind::Workspace => explained::explain_workspace(&library, defaults),
        kind => explained::explain(&library, kind, &named.name, defaults)
            .ok_or_else(|| CliError::usage(format!("There is no {} named `{}`", kind.name(), named.name)))?,
    };
    let added = (named.kind == Kind::Loop && args.only.is_none()).then(|| outline(&library, &named.name)).flatten();
    let shown = match &args.only {
        Some(path) => whole.only(path).map_err(|unknown| no_such_path(path, &unknown))?,
        None => whole,
    };
    let output = context.output;
    match args.format {
        Format::Json => output.json(&as_json(&shown, added.as_ref()))?,
        Format::Text => {
            let text = explained::text(&shown, output.data_color());
            let added = added.filter(|_| !args.no_defaults).map(|outline| engine_part(&outline)).unwrap_or_default();
            output.data(&format!("{text}{added}"))?;
        }
    }
    Ok(code::SUCCESS)
}

fn no_such_path(path: &str, unknown: &explained::Unknown) -> CliError {
    let error = CliError::usage(format!("--only {path}: there is no `{}`", unknown.key));
    match did_you_mean(&unknown.key, &unknown.known) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None if unknown.known.is_empty() => error.hint("what stands there is a single value"),
        None => error.hint(format!("there are {}", list_words(&unknown.known))),
    }
}

fn as_json(shown: &Explained, outline: Option<&Outline>) -> serde_json::Value {
    json!({
        "kind": shown.kind.name(),
        "name": shown.name,
        "file": shown.path,
        "values": shown.rows(),
        "engine": outline,
    })
}

/// What stands in no document: comments, so that the whole stays YAML.
fn engine_part(outline: &Outline) -> String {
    let (own, builtin): (Vec<_>, Vec<_>) = outline.actions.iter().partition(|action| !action.builtin);
    let names = |actions: &[&crate::engine::OutlineAction]| {
        actions.iter().map(|action| action.name.clone()).collect::<Vec<_>>()
    };
    let sections = outline.sections.iter().map(|section| format!("{} ({})", section.name, section.tier)).collect();
    let rows = [
        ("actions", names(&own)),
        ("built-in actions", names(&builtin)),
        ("tools", outline.tools.clone()),
        ("prompt sections", sections),
    ];
    let mut text = "\n# What the engine makes of it:\n".to_owned();
    for (what, names) in rows {
        let names = if names.is_empty() { vec!["none".to_owned()] } else { names };
        text.push_str(&wrapped(&format!("{what}:"), &names));
    }
    text
}

/// Names behind a heading, in comments of at most 100 columns.
fn wrapped(head: &str, names: &[String]) -> String {
    let mut text = String::new();
    let mut line = format!("#   {head:18}");
    for (at, name) in names.iter().enumerate() {
        let comma = if at + 1 < names.len() { "," } else { "" };
        if line.chars().count() + name.chars().count() > 97 {
            text.push_str(&format!("{line}\n"));
            line = format!("#   {:18}", "");
        }
        line.push_str(&format!(" {name}{comma}"));
    }
    text + &line + "\n"
}
