//! What one run knows.
