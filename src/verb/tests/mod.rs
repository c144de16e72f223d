//! Verbs against a small context: a real state, real templates, real files and programs, and a host that only answers.

mod compute;
mod files;
mod http;
mod run;
mod state_and_user;
mod support;
mod tools;
