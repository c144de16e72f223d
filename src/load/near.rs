//! Files whose names are near to one that does not exist.

use std::path::Path;

use super::shipped::SHIPPED;
use crate::diag::did_you_mean;

/// The most names of a folder that are looked at.
const MAX_NAMES: usize = 1000;

/// The file that a person probably meant by `name`, written as `name` is: a relative path with `/` between.
pub(super) fn near_file(folders: &[&Path], name: &str) -> Option<String> {
    let (around, last) = name.rsplit_once('/').map_or(("", name), |(around, last)| (around, last));
    let joined = |name: &str| if around.is_empty() { name.to_owned() } else { format!("{around}/{name}") };
    folders.iter().find_map(|folder| {
        let names = names(&folder.join(around), false);
        if !names.is_empty() {
            return did_you_mean(last, &names).map(joined);
        }
        // The folder is misspelt.
        let (first, rest) = name.split_once('/')?;
        let known = self::names(folder, true);
        let near = did_you_mean(first, &known)?;
        folder.join(near).join(rest).is_file().then(|| format!("{near}/{rest}"))
    })
}

/// The shipped file that was probably meant.
pub(super) fn near_shipped(name: &str) -> Option<String> {
    did_you_mean(name, SHIPPED.iter().map(|(path, _)| *path)).map(str::to_owned)
}

/// The names in a folder: of its files, or of its folders.
fn names(folder: &Path, folders: bool) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().take(MAX_NAMES).flatten();
    let wanted = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir() == folders));
    let mut names: Vec<String> = wanted.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}
