//! `check`: every mistake in documents and templates, without running anything.

mod cost;
mod explain;
mod fix;
mod output;
mod select;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::check::{self as checks, Options, Targets};
use crate::cli::error::{CliError, CliResult, code};
use crate::cli::{Context, input, library};
use crate::diag::{Diagnostics, SourceId, codes};
use crate::load::Library;
use fix::Drafts;
use output::{Format, Target};
use select::{Chosen, is_template};

/// Check documents and templates.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                  loopwright check\n  \
                  loopwright check loops/triage.yaml --deny-warnings\n  \
                  loopwright check --format github --output sarif=findings.sarif loops prompts\n  \
                  loopwright check 'loops/**/*.yaml'\n  \
                  loopwright check - --stdin-path loops/triage.yaml < draft.yaml\n  \
                  loopwright check --fix --diff\n  \
                  loopwright check --cost triage\n  \
                  loopwright check --explain unknown-key\n\n\
                  Exits with 1 when there is an error (with --deny-warnings also for a warning), with 2 when a path does not exist.\n\
                  --fix --diff exits with 1 when something would change.")]
pub(in crate::cli) struct Args {
    /// Documents, templates (*.j2), folders or patterns such as 'loops/**/*.yaml'; `-` is standard input [default: the whole workspace]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The path that standard input stands for, in findings and for what lies beside it
    #[arg(long, value_name = "PATH", default_value = "stdin.yaml")]
    stdin_path: PathBuf,
    /// How findings are printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Also write them to a file, in this format; may be given several times
    #[arg(long, value_name = "FORMAT=FILE", value_parser = Target::parse)]
    output: Vec<Target>,
    /// Names that the templates among PATH may use, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    template_vars: Option<Vec<String>>,
    /// Exit with 1 for warnings too
    #[arg(long)]
    deny_warnings: bool,
    /// Repair what surely means something else than it says, and check again; `--explain CODE` says what is repaired
    #[arg(long)]
    fix: bool,
    /// With --fix: print what would change, and change nothing
    #[arg(long, requires = "fix")]
    diff: bool,
    /// Say what a finding's code means, with examples, and check nothing
    #[arg(long, value_name = "CODE", conflicts_with_all = ["paths", "list_codes", "output", "fix"])]
    explain: Option<String>,
    /// Show what a run may take at most in calls, tokens and money; PATH may also be the name of a loop
    #[arg(long, conflicts_with_all = ["output", "fix", "explain", "list_codes"])]
    cost: bool,
    /// List all codes, and check nothing
    #[arg(long, conflicts_with_all = ["paths", "output", "fix"])]
    list_codes: bool,
}

pub(in crate::cli) fn run(args: &Args, context: &Context) -> CliResult {
    if let Some(name) = &args.explain {
        return explain::explain(name, args.format, context);
    }
    if args.list_codes {
        return explain::list(args.format, context);
    }
    if args.cost {
        return cost::run(&args.paths, matches!(args.format, Format::Json), context);
    }
    let chosen = select::choose(&args.paths)?;
    let stdin = if chosen.contains(&Chosen::Stdin) { Some(input::stdin_bytes()?) } else { None };
    let look = |drafts: &Drafts| check(args, context, &chosen, stdin.as_deref(), drafts);
    if !args.fix {
        let checked = look(&Drafts::new())?;
        let code = output::print(args, context, &checked);
        // The process ends now. To take a thousand documents apart first would cost a noticeable part of the time.
        std::mem::forget(checked);
        return code;
    }
    let (checked, fixed) = fix::fix(look)?;
    if args.diff {
        // A line beside a repaired one may hold a secret.
        context.output.data(&checked.library.sources.masked(fixed.diff()))?;
        context.output.note_block(&fixed.summary("Would fix"));
        context.output.note_block(&fix::held_back(&checked));
        return Ok(if fixed.is_empty() { output::exit_code(args, &checked) } else { code::FAILED });
    }
    if let Some(bytes) = &stdin {
        let text =
            fixed.text(&args.stdin_path).map_or_else(|| String::from_utf8_lossy(bytes).into_owned(), str::to_owned);
        context.output.data(&text)?;
        return Ok(output::note(args, context, &checked));
    }
    fixed.write()?;
    context.output.note_block(&fixed.summary("Fixed"));
    context.output.note_block(&fix::held_back(&checked));
    output::print(args, context, &checked)
}

/// One look at everything that was chosen.
struct Checked {
    library: Library,
    found: Diagnostics,
    /// What was checked, sorted.
    files: Vec<PathBuf>,
    /// The documents among it.
    documents: Vec<SourceId>,
}

impl Checked {
    /// Whether this is a document that was checked, and may be edited.
    fn is_own(&self, source: SourceId) -> bool {
        self.documents.contains(&source)
    }
}

/// Checks what was chosen, with drafts in place of the files of their paths.
fn check(
    args: &Args,
    context: &Context,
    chosen: &[Chosen],
    stdin: Option<&[u8]>,
    drafts: &Drafts,
) -> Result<Checked, CliError> {
    let near = chosen.first().map(|chosen| match chosen {
        Chosen::Stdin => args.stdin_path.as_path(),
        Chosen::Path(path) => path,
    });
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let overlay = drafts.iter().map(|(path, text)| (real(path), Arc::from(text.as_str()))).collect();
    let mut library = library::open_with(context, near, &overlay)?;
    let mut found = Diagnostics::new();
    let mut documents: Vec<SourceId> = Vec::new();
    let mut files: Vec<PathBuf> = Vec::new();
    for chosen in chosen {
        let path = match chosen {
            Chosen::Path(path) => path,
            Chosen::Stdin => {
                let draft = drafts.get(&args.stdin_path).map(String::as_bytes);
                documents.push(library.add_text(&args.stdin_path, draft.or(stdin).unwrap_or_default()));
                continue;
            }
        };
        if !is_template(path) {
            documents.extend(library.add_path(path));
        }
        let exclude = library.exclude();
        let passed_over = |template: &PathBuf| path.is_dir() && exclude.covers(template);
        for template in select::templates(path).into_iter().filter(|template| !passed_over(template)) {
            found.extend(check_template(args, &mut library, path, &template));
            files.push(template);
        }
    }
    let options = Options { schemas: true };
    if chosen.is_empty() {
        documents = library.own_sources();
        found.extend(checks::check(&mut library, Targets::All, options));
    } else if !documents.is_empty() {
        documents.sort();
        documents.dedup();
        found.extend(checks::check(&mut library, Targets::Files(&documents), options));
    }
    files.extend(documents.iter().map(|source| library.sources.path(*source).to_owned()));
    files.sort();
    files.dedup();
    found.sort(&library.sources);
    Ok(Checked { library, found, files, documents })
}

/// What is found in a template that was named, or that lies in a folder that was.
fn check_template(args: &Args, library: &mut Library, named: &Path, template: &Path) -> Diagnostics {
    let names = args.template_vars.as_deref();
    let mut found = checks::check_template(library, template, names.unwrap_or_default());
    if names.is_none() && named.is_dir() {
        // Which names it may use is said by the document that uses it, and is checked there.
        found.retain(|finding| finding.code != codes::UNDEFINED_VARIABLE);
    }
    found
}
