//! Text to a spanned tree: YAML and TOML become the same [`Node`], and a node becomes a type.

mod comments;
mod decode;
mod encoding;
mod node;
mod offsets;
mod toml;
mod wrappers;
mod yaml;

use std::path::Path;

pub use comments::comments;
pub use decode::{decode, decode_partial, decode_within};
pub use encoding::{add_source, read_text};
pub use node::{Entry, Node, Style, Value};
pub use offsets::Offsets;
pub use wrappers::{Raw, Spanned};
pub(crate) use yaml::is_old_boolean;

use crate::diag::{Diagnostic, Diagnostics, SourceId, Span, codes};

/// The largest document that is read.
pub const MAX_BYTES: usize = 1 << 20;
/// How deep maps and lists may be nested.
pub const MAX_DEPTH: usize = 64;
/// How many values a document may stand for after its aliases are expanded.
pub const MAX_NODES: usize = 250_000;

/// The notation of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// YAML 1.2, core schema, one document a file.
    Yaml,
    /// TOML 1.1.
    Toml,
}

impl Format {
    /// The notation that a file name ending stands for: `.yaml`, `.yml`, `.toml` and `.json`, which is YAML too.
    pub fn of_path(path: &Path) -> Option<Format> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "yaml" | "yml" | "json" => Some(Format::Yaml),
            "toml" => Some(Format::Toml),
            _ => None,
        }
    }
}

/// Reads a document. Everything that is wrong with it goes into `diagnostics`.
///
/// `text` must be what [`read_text`] gave, and `source` the id that it was added under. The result is
/// `None` when nothing usable could be read. It may be `Some` although errors were found (a duplicate
/// key, for example), so that a checker can go on and report what else is wrong.
pub fn parse(source: SourceId, text: &str, format: Format, diagnostics: &mut Diagnostics) -> Option<Node> {
    if text.len() > MAX_BYTES {
        diagnostics.push(
            Diagnostic::error(
                codes::FILE_TOO_LARGE,
                Span::new(source, 0, 0),
                format!("the document has {} bytes; the limit is {MAX_BYTES}", text.len()),
            )
            .help("put long texts into files of their own and refer to them"),
        );
        return None;
    }
    match format {
        Format::Yaml => yaml::parse(source, text, diagnostics),
        Format::Toml => toml::parse(source, text, diagnostics),
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod properties;
