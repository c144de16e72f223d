//! What a step may touch: processes, files, network.

/// Files, processes and network of a workspace. Shared by all runs.
#[derive(Debug)]
pub struct Access {
    /// The workspace's folder.
    pub root: std::path::PathBuf,
}
