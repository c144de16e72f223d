//! `skills`: list what was found, show one, validate against the format, read a resource.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cli::error::{CliError, CliResult, code};
use crate::cli::output::Format;
use crate::cli::{Context, library};
use crate::diag::{Severity, SourceMap, did_you_mean, list_words, render};
use crate::load::user_skill_roots;
use crate::skill::{Finding, Root, SkillEntry, SkillSet, list_resources, read_resource};

/// List, show and validate skills.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// List the skills of the workspace, or of other folders, the broken ones too
    List(List),
    /// Print a file of a skill, which must lie in the skill's folder
    Resource(Resource),
    /// Show a skill: what it says about itself, its instructions, its files
    Show(Show),
    /// Say whether skills keep every rule of the format
    Validate(Validate),
}

/// Where skills are looked for.
#[derive(Debug, clap::Args)]
struct Places {
    /// Look in this folder (or skill, or file) and not in the workspace's; may be given more than once, the first wins
    #[arg(long, value_name = "DIR")]
    root: Vec<PathBuf>,
    /// Look in the user's own folders too: ~/.agents/skills, ~/.claude/skills
    #[arg(long)]
    user: bool,
}

/// List the skills of the workspace, or of other folders, the broken ones too.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                  loopwright skills list\n  \
                  loopwright skills list --root .claude/skills --format json\n\n\
                  A skill that can be understood is loaded, and warnings say what other tools may refuse.\n\
                  Exits with 0 whatever is found.")]
struct List {
    #[command(flatten)]
    places: Places,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Show a skill: what it says about itself, its instructions, its files.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  loopwright skills show release-notes")]
struct Show {
    /// The skill's name
    name: String,
    #[command(flatten)]
    places: Places,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Say whether skills keep every rule of the format.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                  loopwright skills validate skills/release-notes\n  \
                  loopwright skills validate skills --format json\n\n\
                  Exits with 1 when a skill breaks a rule.")]
struct Validate {
    /// A skill's folder, its SKILL.md, or a folder of skills
    path: PathBuf,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Print a file of a skill, which must lie in the skill's folder.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  loopwright skills resource skills/release-notes references/style.md")]
struct Resource {
    /// The skill's folder
    skill_dir: PathBuf,
    /// The file, from there down
    path: String,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(in crate::cli) fn run(args: &Args, context: &Context) -> CliResult {
    match &args.what {
        What::List(args) => list(args, context),
        What::Resource(args) => resource(args, context),
        What::Show(args) => show(args, context),
        What::Validate(args) => validate(args, context),
    }
}

/// Skills with the texts of their files.
struct Read {
    set: SkillSet,
    sources: SourceMap,
}

fn load(places: &Places, context: &Context) -> Result<Read, CliError> {
    let mut roots: Vec<Root> = places.root.iter().map(Root::new).collect();
    if roots.is_empty() {
        roots = library::open(context, None)?.skill_roots();
    }
    if places.user {
        roots.extend(user_skill_roots());
    }
    Ok(load_from(&roots))
}

fn load_from(roots: &[Root]) -> Read {
    let mut sources = SourceMap::new();
    let set = SkillSet::load(roots, &|_| None, &mut sources);
    Read { set, sources }
}

fn list(args: &List, context: &Context) -> CliResult {
    let read = load(&args.places, context)?;
    match args.format {
        Format::Json => {
            let rows = read.set.entries().iter().map(|entry| loaded_row(entry, &read.sources));
            context.output.json(&rows.collect::<Vec<_>>())?;
        }
        Format::Text => {
            let mut text = String::new();
            for (entry, skill) in read.set.skills() {
                let about = one_line(&skill.description);
                text.push_str(&format!("{}  ({})\n    {about}\n", skill.name, entry.path.display()));
            }
            context.output.data(&context.output.for_people(&text))?;
            let found: Vec<_> = read.set.diagnostics().cloned().collect();
            context.output.note_block(&render::concise(&found, &read.sources));
            if read.set.entries().is_empty() {
                context.output.note("no skills here: a skill is a folder with a SKILL.md, as in skills/NAME/SKILL.md");
            }
        }
    }
    Ok(code::SUCCESS)
}

fn show(args: &Show, context: &Context) -> CliResult {
    let read = load(&args.places, context)?;
    let Some((entry, skill)) = read.set.get(&args.name).and_then(|entry| Some((entry, entry.skill.as_ref()?))) else {
        return Err(unknown(&args.name, &read));
    };
    let resources = list_resources(&entry.folder);
    match args.format {
        Format::Json => {
            let mut row = loaded_row(entry, &read.sources);
            row["body"] = json!(skill.instructions);
            row["resources"] = json!(resources);
            context.output.json(&row)?;
        }
        Format::Text => {
            let mut text = format!("{}\n{}\n\n", skill.name, one_line(&skill.description));
            let tools = skill.allowed_tools.as_ref().map(|tools| tools.join(" "));
            let facts = [
                ("path", Some(entry.path.display().to_string())),
                ("version", skill.version.clone()),
                ("license", skill.license.clone()),
                ("compatibility", skill.compatibility.clone()),
                ("allowed-tools", tools),
                ("invoke", skill.invoke.as_ref().map(|_| "yes".to_owned())),
                ("files", (!resources.is_empty()).then(|| resources.join(", "))),
            ];
            for (name, value) in facts.into_iter().filter_map(|(name, value)| Some((name, value?))) {
                text.push_str(&format!("{name}: {}\n", one_line(&value)));
            }
            text.push_str(&format!("\n{}\n", skill.instructions));
            context.output.data(&context.output.for_people(&text))?;
        }
    }
    Ok(code::SUCCESS)
}

fn unknown(name: &str, read: &Read) -> CliError {
    let names: Vec<String> = read.set.skills().into_iter().map(|(_, skill)| skill.name.clone()).collect();
    let error = CliError::usage(format!("There is no skill named `{name}`"));
    let broken = read.set.entries().iter().find(|entry| entry.skill.is_none() && entry.name.as_deref() == Some(name));
    if let Some(finding) = broken.and_then(SkillEntry::error) {
        let found = [finding.diagnostic.clone()];
        return error.hint(format!("it cannot be used: {}", render::concise(&found, &read.sources).trim_end()));
    }
    match did_you_mean(name, &names) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None if names.is_empty() => error.hint("no skills were found; `skills list` says where"),
        None => error.hint(format!("the skills here are {}", list_words(&names))),
    }
}

fn validate(args: &Validate, context: &Context) -> CliResult {
    let read = load_from(&[Root::new(&args.path)]);
    // Two skills of one name are a matter of where they are loaded, and no rule of the format.
    let entries = read.set.entries();
    let mut is_valid = !entries.is_empty();
    let mut rows = Vec::new();
    let mut found = Vec::new();
    for entry in entries {
        let broken: Vec<&Finding> = violations(entry);
        is_valid &= broken.is_empty();
        rows.push(strict_row(entry, &broken, &read.sources));
        found.extend(broken.iter().map(|finding| finding.diagnostic.clone()));
    }
    if entries.is_empty() {
        rows.push(nothing_there(&args.path));
    }
    for finding in &mut found {
        finding.severity = Severity::Error;
    }
    match args.format {
        Format::Json => context.output.json(&rows)?,
        Format::Text => {
            context.output.data(&context.output.for_people(&render::concise(&found, &read.sources)))?;
            match entries.len() {
                0 => context.output.note(&format!("{} has no SKILL.md", args.path.display())),
                n => context.output.note(&format!("{n} skills, {} mistakes", found.len())),
            }
        }
    }
    Ok(if is_valid { code::SUCCESS } else { code::FAILED })
}

fn violations(entry: &SkillEntry) -> Vec<&Finding> {
    entry.violations().filter(|finding| !finding.fault.is_about_others()).collect()
}

fn nothing_there(path: &Path) -> Value {
    let message = "there is no SKILL.md";
    json!({
        "name": null, "description": null, "ok": false, "error_class": "not_found", "warnings": [],
        "path": path, "errors": [{ "class": "not_found", "message": message }],
    })
}

/// A row of `list`: what loading says.
fn loaded_row(entry: &SkillEntry, sources: &SourceMap) -> Value {
    let mut row = common(entry);
    let findings = entry.findings.iter().filter(|finding| finding.level != crate::skill::Level::Strict);
    row["ok"] = json!(entry.skill.is_some());
    row["error_class"] = json!(entry.error().map(|finding| finding.fault.as_str()));
    row["warnings"] = json!(entry.warnings());
    row["findings"] = findings.map(|finding| in_words(finding, sources)).collect();
    row
}

/// A row of `validate`: what the format's rules say.
fn strict_row(entry: &SkillEntry, broken: &[&Finding], sources: &SourceMap) -> Value {
    let mut row = common(entry);
    let notes = entry.findings.iter().filter(|finding| !broken.contains(finding));
    row["ok"] = json!(broken.is_empty());
    row["error_class"] = json!(broken.first().map(|finding| finding.fault.as_str()));
    row["warnings"] = notes.map(|finding| finding.fault.as_str()).collect();
    row["errors"] = broken.iter().map(|finding| in_words(finding, sources)).collect();
    row
}

fn common(entry: &SkillEntry) -> Value {
    let mut row = json!({
        "name": entry.name,
        "description": entry.description,
        "ok": false,
        "error_class": null,
        "warnings": [],
        "path": entry.path,
    });
    if let Some(skill) = &entry.skill {
        row["license"] = json!(skill.license);
        row["compatibility"] = json!(skill.compatibility);
        row["metadata"] = json!(skill.metadata);
        row["allowed_tools"] = json!(skill.allowed_tools);
        row["version"] = json!(skill.version);
        row["input_schema"] = json!(skill.input_schema.as_ref().map(|schema| &schema.schema));
        row["invoke"] = json!(skill.invoke.is_some());
        row["extra_keys"] = json!(skill.extra);
    }
    row
}

fn in_words(finding: &Finding, sources: &SourceMap) -> Value {
    let place = finding.diagnostic.span.map(|span| sources.line_col(span).start);
    json!({
        "class": finding.fault.as_str(),
        "message": finding.diagnostic.message,
        "help": finding.diagnostic.help,
        "line": place.map(|at| at.line),
        "column": place.map(|at| at.column),
    })
}

fn resource(args: &Resource, context: &Context) -> CliResult {
    let result = read_resource(&args.skill_dir, &args.path);
    match (&result, args.format) {
        (Ok(text), Format::Json) => {
            context.output.json(&json!({ "ok": true, "error_class": null, "content": text }))?;
        }
        (Ok(text), Format::Text) => context.output.data(&context.output.for_people(text))?,
        (Err(error), Format::Json) => {
            let row = json!({ "ok": false, "error_class": error.class(), "message": error.to_string() });
            context.output.json(&row)?;
        }
        (Err(error), Format::Text) => return Err(CliError::failed(error.to_string())),
    }
    Ok(if result.is_ok() { code::SUCCESS } else { code::FAILED })
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
