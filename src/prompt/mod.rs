//! Sections to the bytes of a request.
