//! `check --cost`: what a run may take in the worst case.

use std::path::PathBuf;

use crate::check::cost::Preview;
use crate::cli::error::{CliError, CliResult, code};
use crate::cli::{Context, library};
use crate::document::Kind;
use crate::load::Library;

/// Prints the worst case of loops, which are named, or lie in files and folders; without any, of the workspace's own.
pub(super) fn run(paths: &[PathBuf], as_json: bool, context: &Context) -> CliResult {
    let mut previews = Vec::new();
    if paths.is_empty() {
        let library = library::open(context, None)?;
        let own = library.loops.iter().filter(|(_, loaded)| !loaded.shipped);
        previews.extend(own.filter_map(|(name, _)| Preview::of(&library, name)));
    }
    for path in paths {
        let (library, names) = named(path, context)?;
        previews.extend(names.iter().filter_map(|name| Preview::of(&library, name)));
    }
    if previews.is_empty() {
        return Err(CliError::usage("There is no loop here whose cost could be previewed".to_owned()));
    }
    let text = if as_json {
        let mut text = serde_json::to_string_pretty(&previews).unwrap_or_default();
        text.push('\n');
        text
    } else {
        let texts: Vec<String> = previews.iter().map(Preview::text).collect();
        context.output.for_people(&texts.join("\n"))
    };
    context.output.data(&text)?;
    Ok(code::SUCCESS)
}

fn named(path: &std::path::Path, context: &Context) -> Result<(Library, Vec<String>), CliError> {
    if path.is_dir() {
        let mut library = library::open(context, Some(path))?;
        let sources = library.add_path(path);
        let found = sources.into_iter().filter_map(|source| library.doc_ref(source));
        let names = found.filter(|found| found.kind == Kind::Loop).map(|found| found.name).collect();
        return Ok((library, names));
    }
    let (library, name) = library::open_loop(context, &path.to_string_lossy())?;
    Ok((library, vec![name]))
}
