//! What a step does: one file a verb, one line in [`VERBS`].
//!
//! A verb is a typed arguments struct that knows how to run. The schema, the reference page, "did you mean" and
//! dispatch come from the table.

mod call;
mod check_spin;
mod context;
mod control;
mod evidence;
mod feedback;
mod file;
mod http;
mod load_capability;
mod load_skill;
mod perceive;
mod reflect;
mod result;
mod run;
mod search;
mod search_capabilities;
mod set;
mod shape;
mod speak;
mod table;
mod timeline;
mod todo;
mod verify_goal;

#[cfg(test)]
mod tests;

pub use context::{
    ForgeCall, Host, LoadCall, LoopCall, Phase, ReflectCall, SearchCall, StepContext, StepFailure, ToolCallRequest,
};
pub use table::VERBS;

use std::future::Future;

use minijinja::Value;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;

use crate::diag::Diagnostics;
use crate::model::BoxFuture;
use crate::syntax::Node;

/// One verb: its arguments, with what they do.
pub trait Verb: DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// The word in documents.
    const NAME: &'static str;
    /// Where the reference lists it: `state`, `user`, `compute`, `capability`, `mechanism` or `control`.
    const GROUP: Group;
    /// Whether the work holds loops or tools that watch for cancellation themselves.
    const NESTS: bool = false;
    /// Whether the step's result is what the whole handler gives back.
    const GIVES: bool = false;

    /// Does the work; the value is the step's result.
    ///
    /// Cancel-safe: dropping the future stops the work and kills what it started.
    fn run(&self, cx: &StepContext<'_>) -> impl Future<Output = Result<Value, StepFailure>> + Send;

    /// Names in the arguments that must exist, for the checker.
    fn references(&self) -> Vec<Reference> {
        Vec::new()
    }
}

/// A group of verbs in the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// State and prompt.
    State,
    /// To the user.
    User,
    /// Compute.
    Compute,
    /// Capabilities.
    Capability,
    /// Mechanisms.
    Mechanism,
    /// Control.
    Control,
}

/// A name that a step refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// An action of this loop.
    Action(String),
    /// A tool.
    Tool(String),
    /// A forge.
    Forge(String),
    /// A loop.
    Loop(String),
    /// A skill.
    Skill(String),
    /// A state variable.
    State(String),
}

impl Reference {
    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Action(name)
            | Self::Tool(name)
            | Self::Forge(name)
            | Self::Loop(name)
            | Self::Skill(name)
            | Self::State(name) => name,
        }
    }
}

/// A decoded step, ready to run.
pub trait AnyStep: Send + Sync {
    /// See [`Verb::run`].
    fn run<'a>(&'a self, cx: &'a StepContext<'a>) -> BoxFuture<'a, Result<Value, StepFailure>>;
    /// See [`Verb::references`].
    fn references(&self) -> Vec<Reference>;
}

impl<V: Verb> AnyStep for V {
    fn run<'a>(&'a self, cx: &'a StepContext<'a>) -> BoxFuture<'a, Result<Value, StepFailure>> {
        Box::pin(Verb::run(self, cx))
    }

    fn references(&self) -> Vec<Reference> {
        Verb::references(self)
    }
}

/// A verb without its type, for the table.
pub trait AnyVerb: Send + Sync {
    /// The word in documents.
    fn name(&self) -> &'static str;
    /// The group in the reference.
    fn group(&self) -> Group;
    /// See [`Verb::NESTS`].
    fn nests(&self) -> bool;
    /// See [`Verb::GIVES`].
    fn gives(&self) -> bool;
    /// The arguments' schema.
    fn schema(&self, generator: &mut SchemaGenerator) -> Schema;
    /// Decodes arguments; what is wrong goes into `diagnostics`.
    fn decode(&self, args: &Node, diagnostics: &mut Diagnostics) -> Option<Box<dyn AnyStep>>;
}

/// Carries a verb's type into the table.
pub struct Entry<V>(pub std::marker::PhantomData<fn() -> V>);

impl<V: Verb> AnyVerb for Entry<V> {
    fn name(&self) -> &'static str {
        V::NAME
    }

    fn group(&self) -> Group {
        V::GROUP
    }

    fn nests(&self) -> bool {
        V::NESTS
    }

    fn gives(&self) -> bool {
        V::GIVES
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<V>()
    }

    fn decode(&self, args: &Node, diagnostics: &mut Diagnostics) -> Option<Box<dyn AnyStep>> {
        crate::syntax::decode::<V>(args, diagnostics).map(|verb| Box::new(verb) as Box<dyn AnyStep>)
    }
}

/// The verb of a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static dyn AnyVerb> {
    VERBS.iter().copied().find(|verb| verb.name() == name)
}
