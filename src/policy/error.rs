//! Why something was not touched.

/// Something that a step wanted from the machine and did not get.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// A path that is none.
    #[error("`{path}` is no path: {problem}")]
    BadPath {
        /// As it was given.
        path: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A path outside the roots.
    #[error(
        "`{path}` lies outside the folders that this workspace may touch ({roots}); `paths.roots` of the workspace names them"
    )]
    Outside {
        /// As it was given.
        path: String,
        /// The folders.
        roots: String,
    },
    /// Something else than a file where a file is needed, or than a folder where a folder is.
    #[error("`{path}` is {found}, not {wanted}")]
    WrongKind {
        /// The path.
        path: String,
        /// What it is.
        found: &'static str,
        /// What was wanted.
        wanted: &'static str,
    },
    /// A pattern for file names that is none.
    #[error("`{pattern}` is no pattern for file names: {problem}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A file that judges the loop.
    #[error("`{path}` may not be changed: `protect` says that it judges this loop. Change what it judges instead")]
    Protected {
        /// The path.
        path: String,
    },
    /// The system refused.
    #[error("Cannot {doing} `{path}`: {source}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With what.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// No program of that name.
    #[error("There is no program `{program}` {place}")]
    NoProgram {
        /// As it was given.
        program: String,
        /// Where it was looked for.
        place: String,
    },
    /// An address that may not be reached, or none at all.
    #[error("{0}")]
    Network(String),
}

impl AccessError {
    pub(super) fn io(doing: &'static str, path: impl Into<String>, source: impl Into<std::io::Error>) -> Self {
        Self::Io { doing, path: path.into(), source: source.into() }
    }
}
