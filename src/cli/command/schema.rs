//! `schema`: the JSON Schemas of documents and events.

use std::path::{Path, PathBuf};

use crate::cli::Context;
use crate::cli::error::{CliError, CliResult, code};
use crate::document::Kind;
use crate::schema::{self, SchemaKind};

/// Print the JSON Schema of a kind of document, or of an event.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                  loopwright schema loop > loop.schema.json\n  \
                  loopwright schema --write schemas\n  \
                  loopwright schema --check schemas\n  \
                  loopwright schema --write-reference docs/reference\n  \
                  loopwright schema --check-reference docs/reference\n\n\
                  An editor with a YAML language server uses them through the first line of a document:\n  \
                  # yaml-language-server: $schema=../schemas/loop.schema.json")]
pub(in crate::cli) struct Args {
    /// What to print the schema of
    #[arg(value_enum, default_value_t)]
    kind: Word,
    /// Write all schemas into a folder instead
    #[arg(long, value_name = "DIR", conflicts_with = "check")]
    write: Option<PathBuf>,
    /// Compare a folder with the schemas instead; exit with 1 when something differs
    #[arg(long, value_name = "DIR")]
    check: Option<PathBuf>,
    /// Write the reference pages, which are made from the same, into a folder instead
    #[arg(long, value_name = "DIR", conflicts_with_all = ["write", "check"])]
    write_reference: Option<PathBuf>,
    /// Compare a folder with the reference pages instead; exit with 1 when something differs
    #[arg(long, value_name = "DIR", conflicts_with_all = ["write", "check", "write_reference"])]
    check_reference: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Word {
    #[default]
    Loop,
    Tool,
    Forge,
    Preset,
    Workspace,
    Event,
    History,
}

impl Word {
    fn kind(self) -> SchemaKind {
        match self {
            Self::Loop => SchemaKind::Document(Kind::Loop),
            Self::Tool => SchemaKind::Document(Kind::Tool),
            Self::Forge => SchemaKind::Document(Kind::Forge),
            Self::Preset => SchemaKind::Document(Kind::Preset),
            Self::Workspace => SchemaKind::Document(Kind::Workspace),
            Self::Event => SchemaKind::Event,
            Self::History => SchemaKind::History,
        }
    }
}

pub(in crate::cli) fn run(args: &Args, context: &Context) -> CliResult {
    if let Some(folder) = &args.write {
        schema::write(folder)
            .map_err(|error| CliError::failed(format!("Cannot write schemas into {}: {error}", folder.display())))?;
        context.output.note(&format!("wrote the schemas into {}", folder.display()));
        return Ok(code::SUCCESS);
    }
    if let Some(folder) = &args.write_reference {
        schema::write_reference(folder)
            .map_err(|error| CliError::failed(format!("Cannot write pages into {}: {error}", folder.display())))?;
        context.output.note(&format!("wrote the reference into {}", folder.display()));
        return Ok(code::SUCCESS);
    }
    if let Some(folder) = &args.check {
        return same(context, "schemas", "--write", folder, &schema::check_drift(folder));
    }
    if let Some(folder) = &args.check_reference {
        return same(context, "pages", "--write-reference", folder, &schema::check_reference_drift(folder));
    }
    context.output.json(&schema::generate(args.kind.kind()))?;
    Ok(code::SUCCESS)
}

/// Says whether a folder holds what the program generates.
fn same(context: &Context, what: &str, write: &str, folder: &Path, differences: &[String]) -> CliResult {
    let folder = folder.display();
    if differences.is_empty() {
        context.output.note(&format!("the {what} in {folder} are what the program generates"));
        return Ok(code::SUCCESS);
    }
    Err(CliError::failed(format!("The {what} in {folder} differ:\n  {}", differences.join("\n  ")))
        .hint(format!("write them with: loopwright schema {write} {folder}")))
}
