//! Names of skills: what the format allows, and what nobody may use.

use unicode_normalization::UnicodeNormalization as _;

/// The longest name, in characters.
const MAX_NAME: usize = 64;

/// A name as names are compared: without blanks around it, and in Unicode's normal form KC, since a disk may spell the same
/// letters in another way than an editor does.
#[must_use]
pub fn normal_name(name: &str) -> String {
    name.trim().nfkc().collect()
}

/// The name that stands for a folder's.
pub(super) fn folder_name(folder: &str) -> String {
    normal_name(folder)
}

/// What is wrong with a name so that it cannot be used at all.
pub(super) fn deceives(name: &str) -> Option<&'static str> {
    if name.contains(['/', '\\']) || matches!(name, "." | "..") {
        return Some("it could be taken for a path");
    }
    if name.chars().any(|c| c.is_control() || is_invisible(c)) {
        return Some("it has characters that cannot be seen or change the order of others");
    }
    None
}

/// Format characters: zero width, direction of writing, tags, interlinear notes.
fn is_invisible(c: char) -> bool {
    matches!(u32::from(c),
        0xAD | 0x600..=0x605 | 0x61C | 0x6DD | 0x70F | 0x180E | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F
        | 0xFEFF | 0xFFF9..=0xFFFB | 0xE0000..=0xE007F)
}

/// What the format does not allow in a name; none for a good one. Its length is looked at in [`is_too_long`].
pub(super) fn not_conforming(name: &str) -> Option<&'static str> {
    if name.to_lowercase() != name {
        return Some("it has upper-case letters");
    }
    if !name.chars().all(|c| c.is_alphanumeric() || c == '-') {
        return Some("it has other characters than letters, digits and hyphens");
    }
    if name.starts_with('-') || name.ends_with('-') {
        return Some("it has a hyphen at an end");
    }
    if name.contains("--") {
        return Some("it has two hyphens in a row");
    }
    None
}

/// Whether a name has too many characters; bytes do not count.
pub(super) fn is_too_long(name: &str) -> bool {
    name.chars().count() > MAX_NAME
}

/// A name like this one that the format allows, to be suggested.
pub(super) fn suggestion(name: &str) -> Option<String> {
    let lower = name.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let name: String = words.join("-").chars().take(MAX_NAME).collect();
    let name = name.trim_end_matches('-').to_owned();
    (!name.is_empty()).then_some(name)
}
