//! YAML events to the tree.
use super::Node;
use crate::diag::{Diagnostics, SourceId};
pub(super) fn parse(_source: SourceId, _text: &str, _diagnostics: &mut Diagnostics) -> Option<Node> {
    None
}
