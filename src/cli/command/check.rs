//! `check`: every mistake in documents and templates, without running anything.

use std::path::{Path, PathBuf};

use crate::check::{self as checks, Options, Targets};
use crate::cli::error::{CliError, CliResult, code};
use crate::cli::{Context, input, library};
use crate::diag::{Diagnostics, Severity, SourceId, codes, render};
use crate::load::Library;

/// Check documents and templates.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                  loopwright check\n  \
                  loopwright check loops/triage.yaml --deny-warnings\n  \
                  loopwright check --format github loops prompts\n  \
                  loopwright check - --stdin-path loops/triage.yaml < draft.yaml\n\n\
                  Exits with 1 when there is an error (with --deny-warnings also for a warning), with 2 when a path does not exist.")]
pub(in crate::cli) struct Args {
    /// Documents, templates (*.j2) or folders; `-` is standard input [default: the whole workspace]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The path that standard input stands for, in findings and for what lies beside it
    #[arg(long, value_name = "PATH", default_value = "stdin.yaml")]
    stdin_path: PathBuf,
    /// How findings are printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Names that the templates among PATH may use, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    template_vars: Option<Vec<String>>,
    /// Exit with 1 for warnings too
    #[arg(long)]
    deny_warnings: bool,
}

/// How findings are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// With the lines and a mark under the exact place
    #[default]
    Full,
    /// One line each
    Concise,
    /// A JSON array
    Json,
    /// Annotations for GitHub Actions
    Github,
}

pub(in crate::cli) fn run(args: &Args, context: &Context) -> CliResult {
    let is_stdin = |path: &Path| path.as_os_str() == "-";
    for path in args.paths.iter().filter(|path| !is_stdin(path)) {
        if !path.exists() {
            return Err(CliError::usage(format!("Cannot check {}: there is no such file or folder", path.display())));
        }
    }
    let near = args.paths.first().map(|path| if is_stdin(path) { args.stdin_path.as_path() } else { path });
    let mut library = library::open(context, near)?;
    let mut found = Diagnostics::new();
    let mut documents: Vec<SourceId> = Vec::new();
    let mut checked = 0;
    for path in &args.paths {
        if is_stdin(path) {
            documents.push(library.add_text(&args.stdin_path, &input::stdin_bytes()?));
            continue;
        }
        if !is_template(path) {
            documents.extend(library.add_path(path));
        }
        for template in templates(path) {
            let names = args.template_vars.as_deref();
            let mut findings = checks::check_template(&mut library, &template, names.unwrap_or_default());
            if names.is_none() && path.is_dir() {
                // Which names it may use is said by the document that uses it, and is checked there.
                findings.retain(|finding| finding.code != codes::UNDEFINED_VARIABLE);
            }
            found.extend(findings);
            checked += 1;
        }
    }
    let options = Options { schemas: true };
    if args.paths.is_empty() {
        found.extend(checks::check(&mut library, Targets::All, options));
        checked += library.own_sources().len();
    } else if !documents.is_empty() {
        documents.sort();
        documents.dedup();
        checked += documents.len();
        found.extend(checks::check(&mut library, Targets::Files(&documents), options));
    }
    found.sort(&library.sources);
    report(args, context, &found, &library, checked)
}

fn report(args: &Args, context: &Context, found: &Diagnostics, library: &Library, checked: usize) -> CliResult {
    let (list, sources) = (found.as_slice(), &library.sources);
    let output = context.output;
    output.data(&match args.format {
        Format::Full => render::full(list, sources, output.data_color()),
        Format::Concise => render::concise(list, sources),
        Format::Json => render::json(list, sources),
        Format::Github => render::github(list, sources),
    })?;
    let (errors, warnings) = (found.count(Severity::Error), found.count(Severity::Warning));
    let others = match library.passed_over() {
        0 => String::new(),
        n => format!(" (not {n} other YAML and TOML files, which are no documents)"),
    };
    output.note(&format!("{}{others}", summary(checked, errors, warnings)));
    Ok(if errors > 0 || (args.deny_warnings && warnings > 0) { code::FAILED } else { code::SUCCESS })
}

fn summary(checked: usize, errors: usize, warnings: usize) -> String {
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    match (errors, warnings) {
        (0, 0) => format!("{} checked, nothing wrong", count(checked, "file")),
        _ => format!("{} checked: {}, {}", count(checked, "file"), count(errors, "error"), count(warnings, "warning")),
    }
}

fn is_template(path: &Path) -> bool {
    path.is_file() && path.extension().is_some_and(|end| ["j2", "jinja", "jinja2"].iter().any(|known| end == *known))
}

/// The path itself, or the templates below a folder.
fn templates(path: &Path) -> Vec<PathBuf> {
    if is_template(path) {
        return vec![path.to_owned()];
    }
    if !path.is_dir() {
        return Vec::new();
    }
    let walk = ignore::WalkBuilder::new(path).sort_by_file_path(Path::cmp).require_git(false).build();
    walk.flatten().map(ignore::DirEntry::into_path).filter(|path| is_template(path)).collect()
}
