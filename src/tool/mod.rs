//! What the model may call: tools that a program brings, beside the tool documents.

use serde_json::Value;

use crate::document::Effect;
use std::future::Future;
use std::pin::Pin;

/// A tool written in Rust, for programs that embed the engine.
pub trait NativeTool: Send + Sync {
    /// Its name, which loops list under `tools`.
    fn name(&self) -> &str;
    /// What it does, for the model.
    fn description(&self) -> &str;
    /// JSON Schema of its parameters, an object.
    fn params(&self) -> Value;
    /// What a call does to the world. Default: it must not happen twice.
    fn effect(&self) -> Effect {
        Effect::AtMostOnce
    }
    /// Whether strangers wrote its schema. One that cannot be used then lets every call through, and the tool judges.
    fn foreign(&self) -> bool {
        false
    }
    /// Does the work. Dropping the future must stop it. An `Err` is told to the model.
    fn call<'a>(&'a self, params: Value) -> Pin<Box<dyn Future<Output = Result<Value, String>> + Send + 'a>>;
}
