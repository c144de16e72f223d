//! What the model may call: tool documents, built-in tools, native tools.
