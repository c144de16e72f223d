//! What is wrong in a document, as data.
