//! The reference pages.

/// Every page: file name and text.
#[must_use]
pub fn pages() -> Vec<(String, String)> {
    Vec::new()
}
