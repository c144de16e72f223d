//! Files below a folder, as a person sees them: without what `.gitignore` leaves out, without hidden ones.

use std::path::Path;

use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;

use super::{Access, AccessError, Inside};

impl Access {
    /// The regular files below a path in order of name; the path itself when it is a file. Symbolic links are not
    /// followed. `globs` narrow it down, those that begin with `!` leave out; they are relative to the path.
    ///
    /// # Errors
    /// A path that is not there, and a pattern that is none.
    pub fn walk(&self, path: &Inside, globs: &[String]) -> Result<impl Iterator<Item = Inside> + use<>, AccessError> {
        let start = path.full();
        start.metadata().map_err(|source| AccessError::io("read", path.shown(), source))?;
        let mut overrides = OverrideBuilder::new(&start);
        for glob in globs {
            overrides
                .add(glob)
                .map_err(|source| AccessError::Pattern { pattern: glob.clone(), problem: source.to_string() })?;
        }
        let overrides = overrides
            .build()
            .map_err(|source| AccessError::Pattern { pattern: globs.join(" "), problem: source.to_string() })?;
        let walk = WalkBuilder::new(&start)
            .overrides(overrides)
            .require_git(false)
            // What one machine ignores everywhere must not decide what a loop sees.
            .git_global(false)
            .sort_by_file_name(Ord::cmp)
            .build();
        let start = path.clone();
        Ok(walk.filter_map(Result::ok).filter_map(move |entry| {
            let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
            if is_file { start.below(entry.path()) } else { None }
        }))
    }
}

impl Inside {
    /// A path that a walk from this one came to.
    fn below(&self, full: &Path) -> Option<Inside> {
        let step = full.strip_prefix(self.full()).ok()?;
        if step.as_os_str().is_empty() {
            return Some(self.clone());
        }
        let shown = match self.shown.as_str() {
            "." => step.to_string_lossy().into_owned(),
            shown => format!("{shown}/{}", step.to_string_lossy()),
        };
        Some(Inside { base: self.base.clone(), rest: self.rest.join(step), shown })
    }
}
