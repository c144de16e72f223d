//! `graph`: a loop as a picture.

use std::path::PathBuf;

use crate::cli::error::{CliError, CliResult, code};
use crate::cli::{Context, library};
use crate::graph::{self as graphs, graph};

/// Draw a loop: its actions, what they use, its hooks, its ends, and the loops that it leads to.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                  loopwright graph log_analyze\n  \
                  loopwright graph log_analyze -o log_analyze.svg\n  \
                  loopwright graph loops/triage.yaml --format dot | dot -Tpdf > triage.pdf\n\n\
                  Mermaid is what GitHub and GitLab draw in Markdown. SVG needs no other program.")]
pub(in crate::cli) struct Args {
    /// The loop: its name, or the path of its document
    #[arg(value_name = "LOOP", default_value = library::DEFAULT_LOOP)]
    loop_word: String,
    /// How it is drawn [default: what the ending of FILE says, else mermaid]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write it into a file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// How a graph is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A flow chart of Mermaid
    Mermaid,
    /// The language of Graphviz
    Dot,
    /// A picture
    Svg,
    /// Nodes and edges, for programs
    Json,
}

pub(in crate::cli) fn run(args: &Args, context: &Context) -> CliResult {
    let (library, name) = library::open_loop(context, &args.loop_word)?;
    let format = match (args.format, &args.output) {
        (Some(format), _) => format,
        (None, Some(file)) => of_ending(file)?,
        (None, None) => Format::Mermaid,
    };
    let graph = graph(&library, &name);
    let text = match format {
        Format::Mermaid => graphs::mermaid(&graph),
        Format::Dot => graphs::dot(&graph),
        Format::Svg => graphs::svg(&graph),
        Format::Json => {
            let text = serde_json::to_string_pretty(&graph).map_err(|error| CliError::failed(error.to_string()))?;
            text + "\n"
        }
    };
    match &args.output {
        None => context.output.data(&text)?,
        Some(file) => {
            std::fs::write(file, text)
                .map_err(|error| CliError::failed(format!("Cannot write {}: {error}", file.display())))?;
            context.output.note(&format!("wrote {}", file.display()));
        }
    }
    Ok(code::SUCCESS)
}

/// The format that a file's ending stands for; Mermaid for a file without one.
fn of_ending(file: &std::path::Path) -> Result<Format, CliError> {
    let Some(ending) = file.extension() else { return Ok(Format::Mermaid) };
    Ok(match ending.to_string_lossy().to_ascii_lowercase().as_str() {
        "mmd" | "mermaid" => Format::Mermaid,
        "dot" | "gv" => Format::Dot,
        "svg" => Format::Svg,
        "json" => Format::Json,
        other => {
            let words = format!("Cannot tell from `.{other}` how {} is to be drawn", file.display());
            return Err(CliError::usage(words).hint(
                "files end in .mmd, .dot, .svg or .json; or name the format: --format mermaid, dot, svg or json",
            ));
        }
    })
}
