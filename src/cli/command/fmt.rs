//! `fmt`: documents in one layout.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::cli::error::{CliError, CliResult, code};
use crate::cli::output::Format;
use crate::cli::text_diff::unified;
use crate::cli::{Context, input, library};
use crate::formatting;
use crate::load::{Overlay, WORKSPACE_FILES, says_document_text};

/// Write documents in one layout: spaces, indentation, quotes; never what they say.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                  loopwright fmt\n  \
                  loopwright fmt --check loops\n  \
                  loopwright fmt --diff loops/triage.yaml\n  \
                  loopwright fmt - < draft.yaml\n\n\
                  Comments and the order of keys stay. A document that would say something else afterwards is left as it is.\n\
                  YAML only; docs/formatting.md says what formats TOML.\n\n\
                  Exits with 1 when --check finds a document that is not formatted, or when one cannot be formatted.")]
pub(in crate::cli) struct Args {
    /// Documents or folders; `-` is standard input, which is written to standard output
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,
    /// Write nothing; name the documents that are not formatted, and exit with 1 when there is one
    #[arg(long)]
    check: bool,
    /// Write nothing; show what would change
    #[arg(long)]
    diff: bool,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What came of a document.
#[derive(Debug, Serialize)]
struct Row {
    path: String,
    /// Whether its layout is another than the one it should have.
    changed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

pub(in crate::cli) fn run(args: &Args, context: &Context) -> CliResult {
    if args.paths.iter().any(|path| path.as_os_str() == "-") {
        return stdin(args, context);
    }
    let mut rows = Vec::new();
    let mut others = 0;
    for path in &args.paths {
        if !path.exists() {
            return Err(CliError::usage(format!("Cannot format {}: there is no such file or folder", path.display())));
        }
        for file in documents(path, &mut others, context) {
            rows.push(document(&file, args, context)?);
        }
    }
    let changed = rows.iter().filter(|row| row.changed).count();
    let refused = rows.iter().filter(|row| row.problem.is_some()).count();
    if args.format == Format::Json {
        context.output.json(&rows)?;
    } else {
        for row in &rows {
            if let Some(problem) = &row.problem {
                context.output.alarm(&format!(
                    "{}: left as it is: {}\n",
                    context.output.for_people(&row.path),
                    context.output.for_people(problem)
                ));
            }
            if row.changed && args.check && !args.diff {
                context.output.data(&format!("{}\n", context.output.for_people(&row.path)))?;
            }
        }
    }
    let verb = if args.check || args.diff { "to format" } else { "formatted" };
    let toml = if others > 0 { format!(", {others} TOML left alone (see docs/formatting.md)") } else { String::new() };
    context.output.note(&format!("{} read, {changed} {verb}{toml}", count(rows.len())));
    Ok(if refused > 0 || (args.check && changed > 0) { code::FAILED } else { code::SUCCESS })
}

fn count(documents: usize) -> String {
    format!("{documents} document{}", if documents == 1 { "" } else { "s" })
}

fn stdin(args: &Args, context: &Context) -> CliResult {
    if args.paths.len() > 1 {
        return Err(CliError::usage("`-` stands alone: it reads one document from standard input"));
    }
    let text = String::from_utf8(input::stdin_bytes()?).map_err(|_| CliError::usage("standard input is not UTF-8"))?;
    let formatted = formatting::yaml(&text).map_err(|why| CliError::failed(format!("Cannot format this: {why}")))?;
    let changed = formatted != text;
    match (args.diff, args.check) {
        (true, _) => context.output.data(&unified(Path::new("-"), &text, &formatted))?,
        (false, true) => {}
        (false, false) => context.output.data(&formatted)?,
    }
    Ok(if args.check && changed { code::FAILED } else { code::SUCCESS })
}

/// The file itself, or the documents below a folder: other YAML that lies there is none of ours.
fn documents(path: &Path, toml: &mut usize, context: &Context) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_owned()];
    }
    // Without a workspace that can be read, nothing is passed over.
    let library = library::open_with(context, Some(path), &Overlay::default()).ok();
    let exclude = library.map(|library| library.exclude());
    let passed_over = |file: &PathBuf| exclude.as_ref().is_some_and(|exclude| exclude.covers(file));
    let walk = ignore::WalkBuilder::new(path).sort_by_file_path(Path::cmp).require_git(false).build();
    let mut found = Vec::new();
    for file in walk.flatten().map(ignore::DirEntry::into_path).filter(|path| path.is_file() && !passed_over(path)) {
        let end = file.extension().and_then(|end| end.to_str()).unwrap_or_default().to_ascii_lowercase();
        if !["yaml", "yml", "toml"].contains(&end.as_str()) {
            continue;
        }
        let is_workspace = file.file_name().is_some_and(|name| WORKSPACE_FILES.iter().any(|known| name == *known));
        let text =
            || std::fs::read(&file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        let says = |text: &str| says_document_text(text) && !is_recorded(text);
        match is_workspace || says(&text()) {
            true if end == "toml" => *toml += 1,
            true => found.push(file),
            false => {}
        }
    }
    found
}

/// Whether a file holds replies for the `replay` provider, which the program writes and nobody reads for its layout.
fn is_recorded(text: &str) -> bool {
    let kinds = text.lines().filter_map(|line| line.strip_prefix("kind:"));
    kinds.map(str::trim).any(|kind| matches!(kind, "script" | "recording"))
}

fn document(path: &Path, args: &Args, context: &Context) -> Result<Row, CliError> {
    let row = |changed, problem| Row { path: path.display().to_string(), changed, problem };
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default().to_ascii_lowercase();
    if !["yaml", "yml"].contains(&end.as_str()) {
        return Ok(row(false, Some("only YAML documents are formatted; see docs/formatting.md".to_owned())));
    }
    let text = match std::fs::read(path).map(String::from_utf8) {
        Ok(Ok(text)) => text,
        Ok(Err(_)) => return Ok(row(false, Some("it is not UTF-8".to_owned()))),
        Err(error) => return Ok(row(false, Some(format!("it cannot be read: {error}")))),
    };
    let formatted = match formatting::yaml(&text) {
        Ok(formatted) => formatted,
        Err(why) => return Ok(row(false, Some(why.to_string()))),
    };
    let changed = formatted != text;
    if changed && args.diff {
        let diff = unified(path, &text, &formatted);
        context.output.data(&context.output.for_people(&diff))?;
    }
    if changed && !args.check && !args.diff {
        replace(path, &formatted)
            .map_err(|error| CliError::failed(format!("Cannot write {}: {error}", path.display())))?;
    }
    Ok(row(changed, None))
}

/// Writes a file whole or not at all: into a new one beside it, which then takes its name.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    // A link stays a link.
    let path = std::fs::canonicalize(path)?;
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".fmt");
    let draft = path.with_file_name(name);
    let permissions = std::fs::metadata(&path)?.permissions();
    let written = std::fs::write(&draft, text)
        .and_then(|()| std::fs::set_permissions(&draft, permissions))
        .and_then(|()| std::fs::rename(&draft, &path));
    if written.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
    written
}
