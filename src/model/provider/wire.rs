//! What every provider that speaks HTTP has in common: a key, a place, one body out and one stream in.

use std::time::Duration;

use indexmap::IndexMap;
use serde_json::{Map, Value};

use crate::event::ReplySource;
use crate::model::extra::check_extra;
use crate::model::gather::Gather;
use crate::model::http::{Auth, Endpoint, Target};
use crate::model::refusal::explain;
use crate::model::request::fresh_id;
use crate::model::setup::{Key, KeySource, Wait};
use crate::model::stream::{Dialect, Reader};
use crate::model::{
    BoxFuture, BuildContext, EncodeCache, Model, ModelError, ModelInfo, ModelSetupError, Price, Protocol, Reply,
    Request, Sink,
};

/// A provider of that kind: how it writes a request and how it reads a reply.
pub(in crate::model) trait Wire: Send + Sync {
    /// Reads the frames of one reply.
    type Dialect: Dialect + Default;

    /// The shared part.
    fn line(&self) -> &Line;

    /// Writes the body, keeping head and transcript in the cache.
    fn encode(&self, request: &Request<'_>, cache: &mut EncodeCache) -> Vec<u8>;
}

/// The shared part of a model.
pub(in crate::model) struct Line {
    /// Tells encode caches whose bytes they hold.
    pub(super) id: u64,
    pub(super) info: ModelInfo,
    key: Key,
    endpoint: Endpoint,
}

/// What a [`Line`] is made from.
pub(super) struct Setup<'a> {
    pub(super) provider: &'static str,
    pub(super) model: &'a str,
    pub(super) protocol: Protocol,
    pub(super) context: Option<u32>,
    pub(super) price: Option<Price>,
    /// See [`ModelInfo`].
    pub(super) input_includes_cache: bool,
    pub(super) base_url: &'a str,
    /// What is added to the base URL.
    pub(super) path: &'a str,
    /// Where the key comes from, none for a server that wants none.
    pub(super) key: Option<&'a KeySource>,
    /// The header that the key travels in, and what stands before it there.
    pub(super) key_header: (&'static str, &'static str),
    pub(super) headers: &'a IndexMap<String, String>,
    /// The provider's own headers.
    pub(super) fixed: &'a [(&'static str, &'static str)],
    pub(super) idle_timeout: Duration,
    pub(super) connect_timeout: Duration,
    pub(super) extra: &'a Map<String, Value>,
}

impl Line {
    /// Checks what can be checked without a call.
    pub(super) fn new(setup: &Setup<'_>, context: &BuildContext) -> Result<Self, ModelSetupError> {
        check_extra(setup.extra)?;
        let info = ModelInfo {
            provider: setup.provider.to_owned(),
            model: setup.model.to_owned(),
            protocol: setup.protocol,
            context: setup.context,
            price: setup.price,
            source: ReplySource::Model,
            input_includes_cache: setup.input_includes_cache,
        };
        let key = Key::find(setup.key, &info.label(), context);
        let (header, prefix) = setup.key_header;
        let endpoint = Endpoint::new(&Target {
            base_url: setup.base_url,
            path: setup.path,
            headers: setup.headers,
            fixed: setup.fixed,
            auth: Auth { header, prefix, key: &key, label: &info.label() },
            idle_timeout: setup.idle_timeout,
            connect_timeout: setup.connect_timeout,
            context,
        })?;
        Ok(Self { id: fresh_id(), info, key, endpoint })
    }
}

impl<W: Wire> Model for W {
    fn info(&self) -> &ModelInfo {
        &self.line().info
    }

    fn ready(&self) -> Result<(), ModelSetupError> {
        self.line().endpoint.ready()
    }

    fn secrets(&self) -> Vec<String> {
        self.line().key.secrets()
    }

    fn call<'a>(
        &'a self,
        request: Request<'a>,
        cache: &'a mut EncodeCache,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        let line = self.line();
        let body = self.encode(&request, cache);
        let gather = Gather::new(sink, request.transcript.turns().len() + request.retry.len());
        let reader = Reader::new(W::Dialect::default(), gather);
        Box::pin(async move {
            line.endpoint.exchange(body, reader).await.map_err(|error| explain(error, line.info.protocol))
        })
    }
}

/// The default of `idle_timeout`.
pub(super) fn idle_timeout() -> Wait {
    Wait::secs(300)
}

/// The default of `connect_timeout`.
pub(super) fn connect_timeout() -> Wait {
    Wait::secs(10)
}
