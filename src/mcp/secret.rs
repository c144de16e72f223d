//! Values of variables and headers, secrets read from their places.

use std::path::Path;

use crate::document::{McpSecret, McpServerDoc, McpValue};

/// The value.
///
/// # Errors
/// The secret is not there; says where it was looked for and never what it is.
#[cfg(feature = "mcp")]
pub(super) fn read(value: &McpValue, root: &Path) -> Result<String, String> {
    match value {
        McpValue::Text(text) => Ok(text.clone()),
        McpValue::Secret { from, prefix } => Ok(format!("{prefix}{}", find(from, root)?)),
    }
}

fn find(secret: &McpSecret, root: &Path) -> Result<String, String> {
    let text = match secret {
        McpSecret::Env(name) => {
            std::env::var(name).map_err(|_| format!("the environment variable {name} is not set"))?
        }
        McpSecret::File(path) => std::fs::read_to_string(root.join(path))
            .map_err(|error| format!("the file {path} with a secret cannot be read: {error}"))?,
    };
    match (text.trim(), secret) {
        ("", McpSecret::Env(name)) => Err(format!("the environment variable {name} is empty")),
        ("", McpSecret::File(path)) => Err(format!("the file {path} with a secret is empty")),
        (text, _) => Ok(text.to_owned()),
    }
}

/// The secrets of a server that can be read: what must be masked.
pub(super) fn all<'a>(doc: &'a McpServerDoc, root: &'a Path) -> impl Iterator<Item = String> + 'a {
    doc.env.values().chain(doc.headers.values()).filter_map(move |value| match value {
        McpValue::Text(_) => None,
        McpValue::Secret { from, .. } => find(from, root).ok(),
    })
}
