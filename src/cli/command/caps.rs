//! `caps`: what loops could use. `caps list` and `caps show` show it, `caps search` looks for some of it, `caps eval` measures the search.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::capability::evaluate::{Entry, Evaluation, Query, evaluate};
use crate::capability::search::{Idea, Ideas};
use crate::capability::{Capability, CapabilityKind, Language, Registry, result};
use crate::cli::error::{CliError, CliResult, code};
use crate::cli::output::Format;
use crate::cli::{Context, input, library};
use crate::diag::did_you_mean;
use crate::engine::capabilities;

/// See what loops could use, and search it.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Measure the search on a catalog and queries whose answers are known
    Eval(EvalArgs),
    /// List tools, forges, skills and focus modes
    List(ListArgs),
    /// Find what fits a need, without a model
    Search(SearchArgs),
    /// Print all that is known of a name
    Show(ShowArgs),
}

/// List tools, forges, skills and focus modes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                  loopwright caps list\n  \
                  loopwright caps list --type tool --format json")]
struct ListArgs {
    /// Only those of this type
    #[arg(long = "type", value_name = "TYPE", value_parser = kind)]
    kind: Option<CapabilityKind>,
    /// How the list is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Find what fits a need, without a model.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                  loopwright caps search \"look into a log file\"\n  \
                  loopwright caps search \"read a page\" --query \"download a file\" --limit 3 --format json\n\n\
                  Exits with 0 also when nothing fits.")]
struct SearchArgs {
    /// What is needed, in any words, or a name
    query: String,
    /// Another side of the same need; may be given several times
    #[arg(long = "query", value_name = "QUERY")]
    more: Vec<String>,
    /// The most hits
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// How the hits are printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Print all that is known of a name.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  loopwright caps show read_file")]
struct ShowArgs {
    /// The name of a tool, forge, skill or focus mode
    name: String,
    /// How it is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Measure the search on a catalog and queries whose answers are known.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
                  loopwright caps eval --catalog catalog.jsonl --queries queries.jsonl --without synonyms\n\n\
                  A line of the catalog is {\"name\": \"…\", \"description\": \"…\"}, a line of queries\n\
                  {\"query\": \"…\", \"relevant\": [\"NAME\", …]}. Other keys are left alone.\n\
                  docs/capabilities.md says what each idea is and what it brings.")]
struct EvalArgs {
    /// What is searched: a JSON object a line
    #[arg(long, value_name = "FILE")]
    catalog: String,
    /// What is searched for: a JSON object a line
    #[arg(long, value_name = "FILE")]
    queries: String,
    /// Leave an idea out of the ranking, to see what it brings; may be given several times
    #[arg(long, value_name = "IDEA", value_parser = idea)]
    without: Vec<Idea>,
    /// How the measures are printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(in crate::cli) fn run(args: &Args, context: &Context) -> CliResult {
    match &args.what {
        What::Eval(args) => run_eval(args, context),
        What::List(args) => run_list(args, context),
        What::Search(args) => run_search(args, context),
        What::Show(args) => run_show(args, context),
    }
}

fn kind(name: &str) -> Result<CapabilityKind, String> {
    let names = CapabilityKind::ALL.map(CapabilityKind::name).join(", ");
    CapabilityKind::of(name).ok_or_else(|| format!("write one of {names}"))
}

fn idea(name: &str) -> Result<Idea, String> {
    let names = Idea::ALL.map(Idea::name).join(", ");
    name.parse().map_err(|_| format!("write one of {names}"))
}

/// The capabilities of the workspace, and the language in which models are told about them.
fn open(context: &Context) -> Result<(Registry, Language), CliError> {
    let library = library::open(context, None)?;
    Ok((capabilities(&library), Language::of(library.workspace.doc.language.as_deref())))
}

fn run_list(args: &ListArgs, context: &Context) -> CliResult {
    let (registry, language) = open(context)?;
    for second in registry.duplicates() {
        context.output.note(&format!("a second {} is named `{}`; the first one holds", second.kind, second.name));
    }
    let listed: Vec<&Capability> =
        registry.all().iter().filter(|one| args.kind.is_none_or(|kind| kind == one.kind)).collect();
    match args.format {
        Format::Json => {
            let all: Vec<Value> = listed.iter().map(|one| as_json(one, language)).collect();
            context.output.json(&all)?;
        }
        Format::Text => {
            let rows = listed.iter().map(|one| row(one.kind, &one.name, &one.description));
            context.output.data(&context.output.for_people(&rows.collect::<String>()))?;
        }
    }
    Ok(code::SUCCESS)
}

fn as_json(capability: &Capability, language: Language) -> Value {
    json!({
        "name": capability.name,
        "type": capability.kind,
        "description": capability.description,
        "usage": capability.usage_hint(language),
    })
}

fn row(kind: CapabilityKind, name: &str, description: &str) -> String {
    let what = description.lines().next().unwrap_or_default();
    format!("{:<10}  {name:<28}  {what}", kind.name()).trim_end().to_owned() + "\n"
}

fn run_search(args: &SearchArgs, context: &Context) -> CliResult {
    let (registry, language) = open(context)?;
    let queries: Vec<&str> = [&args.query].into_iter().chain(&args.more).map(String::as_str).collect();
    let result = result(&registry.find(&queries, args.limit), &[], language);
    match args.format {
        Format::Json => context.output.json(&result)?,
        Format::Text if result.details.is_empty() => context.output.note("nothing fits"),
        Format::Text => {
            let rows = result.details.iter().map(|hit| row(hit.kind, &hit.name, &hit.description));
            context.output.data(&context.output.for_people(&rows.collect::<String>()))?;
        }
    }
    Ok(code::SUCCESS)
}

fn run_show(args: &ShowArgs, context: &Context) -> CliResult {
    let (registry, language) = open(context)?;
    let found: Vec<&Capability> = registry.named(&args.name).collect();
    if found.is_empty() {
        let names = registry.all().iter().map(|one| one.name.as_str());
        let hint = match did_you_mean(&args.name, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`loopwright caps list` shows all names".to_owned(),
        };
        return Err(CliError::usage(format!("There is no capability named `{}`", args.name)).hint(hint));
    }
    match args.format {
        Format::Json => context.output.json(&found.iter().map(|one| as_json(one, language)).collect::<Vec<_>>())?,
        Format::Text => {
            let page = |one: &&Capability| {
                format!("{} {}\n{}\n[{}]\n", one.kind, one.name, one.description, one.usage_hint(language))
            };
            let pages: Vec<String> = found.iter().map(page).collect();
            context.output.data(&context.output.for_people(&pages.join("\n")))?;
        }
    }
    Ok(code::SUCCESS)
}

fn run_eval(args: &EvalArgs, context: &Context) -> CliResult {
    let catalog: Vec<Entry> = lines(&args.catalog)?;
    let queries: Vec<Query> = lines(&args.queries)?;
    let Evaluation { scores, indexing } = evaluate(&catalog, &queries, Ideas::without(&args.without));
    match args.format {
        Format::Json => context.output.json(&scores)?,
        Format::Text => {
            let text = format!(
                "{} queries over {} entries, which took {:.0?} to read\n\
                 recall@1 {:.3}  recall@5 {:.3}  recall@10 {:.3}  mrr@10 {:.3}  ndcg@10 {:.3}\n\
                 {} µs a query at the median, {} µs at the 99th percentile\n",
                scores.queries,
                catalog.len(),
                indexing,
                scores.recall_1,
                scores.recall_5,
                scores.recall_10,
                scores.mrr_10,
                scores.ndcg_10,
                scores.p50_us,
                scores.p99_us,
            );
            context.output.data(&text)?;
        }
    }
    Ok(code::SUCCESS)
}

/// A file with a JSON object a line.
fn lines<T: DeserializeOwned>(path: &str) -> Result<Vec<T>, CliError> {
    let mut read = input::Input::read(&format!("@{path}"));
    if let Err(error) = &mut read {
        // Here the file is named as it is, so how texts and files are told apart elsewhere is no help.
        error.hints.clear();
    }
    let text = read?.text;
    let filled = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    filled
        .map(|(at, line)| {
            serde_json::from_str(line).map_err(|error| {
                let column = error.column();
                let words = error.to_string();
                let words = words.split(" at line ").next().unwrap_or_default().to_owned();
                CliError::usage(format!("{path}:{}:{column}: {words}", at + 1))
                    .hint("see `loopwright caps eval --help` for the form of a line")
            })
        })
        .collect()
}
