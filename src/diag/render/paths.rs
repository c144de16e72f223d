//! Paths as other programs want them: relative to the folder of the project, with `/`, and as URIs.

use std::path::{Component, Path};

/// The path from `base`, with `/`; as it is where it lies elsewhere.
pub(super) fn relative(path: &Path, base: &Path) -> String {
    let inside = path.strip_prefix(base).unwrap_or(path);
    let mut out = String::new();
    for part in inside.components() {
        match part {
            Component::CurDir => continue,
            Component::RootDir => {
                out.push('/');
                continue;
            }
            _ => {}
        }
        if !out.is_empty() && !out.ends_with('/') {
            out.push('/');
        }
        out.push_str(&part.as_os_str().to_string_lossy());
    }
    if out.is_empty() { ".".to_owned() } else { out }
}

/// The same as a URI reference (RFC 3986): relative, or `file://` for an absolute path.
pub(super) fn uri(path: &Path, base: &Path) -> String {
    let path = relative(path, base);
    let mut out = if path.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_where_they_lie_in_the_folder() {
        let base = Path::new("/home/a");
        for (path, plain, as_uri) in [
            ("/home/a/loops/x.yaml", "loops/x.yaml", "loops/x.yaml"),
            ("./loops/x.yaml", "loops/x.yaml", "loops/x.yaml"),
            ("/etc/x y.yaml", "/etc/x y.yaml", "file:///etc/x%20y.yaml"),
            ("../b/a:é.yaml", "../b/a:é.yaml", "../b/a%3A%C3%A9.yaml"),
            ("<shipped>/x.yaml", "<shipped>/x.yaml", "%3Cshipped%3E/x.yaml"),
            ("/home/a", ".", "."),
        ] {
            assert_eq!(relative(Path::new(path), base), plain);
            assert_eq!(uri(Path::new(path), base), as_uri);
        }
    }
}
