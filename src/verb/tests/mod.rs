//! Verbs against a small context: a real state, real templates, and a host that only answers.

mod state_and_user;
mod support;
