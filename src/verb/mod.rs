//! What a step does: one file a verb.
