//! Files to a library of documents.
