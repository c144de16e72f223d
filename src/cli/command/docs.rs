//! `docs`: a page in Markdown for each loop.

use std::path::{Path, PathBuf};

use crate::cli::error::{CliError, CliResult, code};
use crate::cli::{Context, library};
use crate::guide::{MADE, page};
use crate::load::Library;

/// Print a page in Markdown for a loop, made from its own descriptions.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                  loopwright docs log_analyze > log_analyze.md\n  \
                  loopwright docs --write docs/loops\n  \
                  loopwright docs --check docs/loops\n\n\
                  Without a name, all loops of the workspace are meant.")]
pub(in crate::cli) struct Args {
    /// The loop: its name, or the path of its document
    #[arg(value_name = "LOOP")]
    loop_word: Option<String>,
    /// Write the pages into a folder instead, one file a loop
    #[arg(long, value_name = "DIR", conflicts_with = "check")]
    write: Option<PathBuf>,
    /// Compare a folder with the pages instead; exit with 1 when something differs
    #[arg(long, value_name = "DIR")]
    check: Option<PathBuf>,
}

pub(in crate::cli) fn run(args: &Args, context: &Context) -> CliResult {
    let (library, names) = match &args.loop_word {
        Some(word) => {
            let (library, name) = library::open_loop(context, word)?;
            (library, vec![name])
        }
        None => {
            let library = library::open(context, None)?;
            let names = own_loops(&library);
            (library, names)
        }
    };
    if names.is_empty() {
        return Err(CliError::usage("There are no loops here").hint("name one, such as: loopwright docs default"));
    }
    let pages: Vec<(String, String)> =
        names.iter().filter_map(|name| Some((file_name(name)?, page(&library, name)?))).collect();
    if let Some(folder) = &args.write {
        write(folder, &pages)
            .map_err(|error| CliError::failed(format!("Cannot write pages into {}: {error}", folder.display())))?;
        context.output.note(&format!("wrote {} into {}", counted(pages.len()), folder.display()));
        return Ok(code::SUCCESS);
    }
    if let Some(folder) = &args.check {
        let differences = differences(folder, &pages, args.loop_word.is_none());
        if differences.is_empty() {
            context.output.note(&format!("the {} in {} fit the loops", counted(pages.len()), folder.display()));
            return Ok(code::SUCCESS);
        }
        let folder = folder.display();
        return Err(CliError::failed(format!("The pages in {folder} differ:\n  {}", differences.join("\n  ")))
            .hint(format!("write them with: loopwright docs --write {folder}")));
    }
    let text: Vec<String> = pages.into_iter().map(|(_, text)| text).collect();
    context.output.data(&context.output.for_people(&text.join("\n")))?;
    Ok(code::SUCCESS)
}

/// The loops of the workspace; those that are part of the program only where there are no others.
fn own_loops(library: &Library) -> Vec<String> {
    let mut names: Vec<String> =
        library.loops.iter().filter(|(_, loaded)| !loaded.shipped).map(|(name, _)| name.clone()).collect();
    names.sort();
    names
}

/// The page's file. A name that is no plain word gives none: it must not lead out of the folder.
fn file_name(name: &str) -> Option<String> {
    let plain = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')) && !name.starts_with('.');
    plain.then(|| format!("{name}.md"))
}

fn write(folder: &Path, pages: &[(String, String)]) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    pages.iter().try_for_each(|(file, text)| std::fs::write(folder.join(file), text))
}

/// How a folder differs from the pages; with `all`, also pages of loops that are gone.
fn differences(folder: &Path, pages: &[(String, String)], all: bool) -> Vec<String> {
    let mut found = Vec::new();
    for (file, text) in pages {
        match std::fs::read_to_string(folder.join(file)) {
            Ok(known) if known == *text => {}
            Ok(known) => {
                let line = known.lines().zip(text.lines()).take_while(|(one, other)| one == other).count() + 1;
                found.push(format!("{file}: differs from line {line} on"));
            }
            Err(_) => found.push(format!("{file}: is missing")),
        }
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().filter(|_| all);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let made = std::fs::read_to_string(entry.path()).is_ok_and(|text| text.starts_with(MADE));
        if made && !pages.iter().any(|(file, _)| *file == name) {
            found.push(format!("{name}: there is no such loop any more"));
        }
    }
    found.sort();
    found
}

fn counted(n: usize) -> String {
    format!("{n} page{}", if n == 1 { "" } else { "s" })
}
