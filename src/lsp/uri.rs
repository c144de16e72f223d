//! `file:` addresses and paths.

use std::path::{Path, PathBuf};

/// The path of a `file:` address; none for any other.
pub(super) fn to_path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    // What stands before the path is a host; only this one can be meant.
    let path = &rest[rest.find('/')?..];
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match hex.filter(|_| *first == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    // `/C:/x` is `C:/x`.
    let is_drive = text.as_bytes().get(2) == Some(&b':') && cfg!(windows);
    Some(PathBuf::from(if is_drive { &text[1..] } else { &text }))
}

/// The address of an absolute path.
pub(super) fn of_path(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    let mut uri = String::from(if text.starts_with('/') { "file://" } else { "file:///" });
    for byte in text.bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => uri.push(byte.into()),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// The path that the file really has; for one that is not there yet, with its folder's real path.
pub(super) fn real(path: &Path) -> PathBuf {
    if let Ok(real) = std::fs::canonicalize(path) {
        return real;
    }
    let folder = path.parent().and_then(|folder| std::fs::canonicalize(folder).ok());
    match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn paths_and_addresses_stand_for_each_other() {
        for path in ["/a/b.yaml", "/with space/é%#?.yaml", "/日本/c+d.j2"] {
            assert_eq!(to_path(&of_path(Path::new(path))).as_deref(), Some(Path::new(path)));
        }
        assert_eq!(to_path("file:///a%3Ab").as_deref(), Some(Path::new("/a:b")));
        assert_eq!(to_path("file://host/a").as_deref(), Some(Path::new("/a")));
        for other in ["untitled:Untitled-1", "https://x/y", "file:", "file://", "file:///%ff", ""] {
            assert_eq!(to_path(other), None, "{other}");
        }
        assert_eq!(to_path("file:///a%2"), Some(PathBuf::from("/a%2")));
    }
}
