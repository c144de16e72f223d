//! The middleware around one callable, as tower services: built once, shared by all its calls.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use serde_json::Value as Json;
use tokio_util::sync::CancellationToken;
use tower::{Layer, Service};

use super::failure::BoxError;
use super::middleware::{Recover, Run, wrap};
use crate::document::Middleware;

/// A boxed future.
pub(super) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a call gives.
pub type Outcome<T> = Result<T, BoxError>;

/// The work at the bottom of a stack. It may be done more than once, when a layer tries again.
pub trait Leaf<T>: Send + Sync {
    /// Does the work. Dropping the future stops it.
    fn run(&self) -> BoxFuture<'_, Outcome<T>>;
}

/// One call on its way through a stack: the request of its services.
pub struct Invocation<'a, T> {
    /// What is called.
    pub name: &'a str,
    /// The arguments, which fit the schema.
    pub arguments: &'a Json,
    /// Ends waits when the caller gives up.
    pub stop: &'a CancellationToken,
    /// The work.
    pub leaf: &'a dyn Leaf<T>,
}

impl<T> Clone for Invocation<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Invocation<'_, T> {}

/// A service without its type, for layers to be put around one another. Cheap to clone.
pub struct Link<T>(Arc<dyn AnyService<T>>);

impl<T> Clone for Link<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

trait AnyService<T>: Send + Sync {
    fn invoke<'a>(&self, invocation: Invocation<'a, T>) -> BoxFuture<'a, Outcome<T>>
    where
        T: 'a;
}

/// A service whose clones share what it counts, as tower's do.
struct Shared<S>(S);

impl<T, S> AnyService<T> for Shared<S>
where
    S: Clone + Send + Sync + 'static,
    S: for<'a> Service<Invocation<'a, T>, Response = T, Error = BoxError>,
    for<'a> <S as Service<Invocation<'a, T>>>::Future: Send + 'a,
{
    fn invoke<'a>(&self, invocation: Invocation<'a, T>) -> BoxFuture<'a, Outcome<T>>
    where
        T: 'a,
    {
        let mut service = self.0.clone();
        Box::pin(async move {
            poll_fn(|cx| Service::<Invocation<'a, T>>::poll_ready(&mut service, cx)).await?;
            service.call(invocation).await
        })
    }
}

impl<T: 'static> Link<T> {
    /// Takes the type off a service.
    pub fn new<S>(service: S) -> Self
    where
        S: Clone + Send + Sync + 'static,
        S: for<'a> Service<Invocation<'a, T>, Response = T, Error = BoxError>,
        for<'a> <S as Service<Invocation<'a, T>>>::Future: Send + 'a,
    {
        Self(Arc::new(Shared(service)))
    }

    /// Makes a call.
    pub(super) fn invoke<'a>(&self, invocation: Invocation<'a, T>) -> BoxFuture<'a, Outcome<T>> {
        self.0.invoke(invocation)
    }
}

impl<'a, T: 'static> Service<Invocation<'a, T>> for Link<T> {
    type Response = T;
    type Error = BoxError;
    type Future = BoxFuture<'a, Outcome<T>>;

    /// Each call waits for its own turn.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, invocation: Invocation<'a, T>) -> Self::Future {
        self.invoke(invocation)
    }
}

/// The layers around one callable. What they count (turns, calls, results) is shared by all its calls.
#[derive(Clone)]
pub struct Stack<T> {
    link: Link<T>,
}

impl<T: Clone + serde::Serialize + Send + Sync + 'static> Stack<T> {
    /// Puts these layers around the work, the first innermost. A panic is caught below them all, and once more around them.
    #[must_use]
    pub fn new(layers: &[Middleware]) -> Self {
        let work = Link::new(Recover::new(Link::new(Run)));
        let link = layers.iter().fold(work, wrap);
        Self { link: Link::new(Recover::new(link)) }
    }

    /// Puts a layer of tower's, or of your own, around all others.
    #[must_use]
    pub fn layer<L>(self, layer: &L) -> Self
    where
        L: Layer<Link<T>>,
        L::Service: Clone + Send + Sync + 'static,
        L::Service: for<'a> Service<Invocation<'a, T>, Response = T, Error = BoxError>,
        for<'a> <L::Service as Service<Invocation<'a, T>>>::Future: Send + 'a,
    {
        Self { link: Link::new(Recover::new(Link::new(layer.layer(self.link)))) }
    }

    /// Makes a call.
    ///
    /// # Errors
    /// A [`Failure`](super::Failure), or what the work gave of its own.
    pub async fn call(&self, invocation: Invocation<'_, T>) -> Outcome<T> {
        self.link.invoke(invocation).await
    }
}
