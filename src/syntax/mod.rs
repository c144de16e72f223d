//! Text to a spanned tree.
