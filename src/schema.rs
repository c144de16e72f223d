//! Every JSON Schema, generated from the document types and the tables.
