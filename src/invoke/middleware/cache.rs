//! `cache`: the same arguments give the same result for a while, without the work. Failures are not kept.

use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexMap;
use serde_json::Value as Json;
use tokio::time::Instant;
use tower::Layer;

use super::service;
use crate::document::CacheSettings;
use crate::invoke::stack::Link;

/// Keeps results for a while.
pub(super) struct CacheLayer {
    settings: CacheSettings,
}

impl CacheLayer {
    pub(super) fn new(settings: &CacheSettings) -> Self {
        Self { settings: settings.clone() }
    }
}

impl<T> Layer<Link<T>> for CacheLayer {
    type Service = Cache<T>;

    fn layer(&self, inner: Link<T>) -> Cache<T> {
        Cache { inner, settings: self.settings.clone(), kept: Arc::default() }
    }
}

/// Results by their arguments, each with the time until which it holds, the oldest first.
type Kept<T> = IndexMap<String, (Instant, T)>;

pub(super) struct Cache<T> {
    inner: Link<T>,
    settings: CacheSettings,
    kept: Arc<Mutex<Kept<T>>>,
}

impl<T> Clone for Cache<T> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), settings: self.settings.clone(), kept: Arc::clone(&self.kept) }
    }
}

impl<T: Clone> Cache<T> {
    fn find(&self, key: &str) -> Option<T> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(key).filter(|(until, _)| Instant::now() < *until).map(|(_, value)| value.clone())
    }

    fn keep(&self, key: String, value: T) {
        let now = Instant::now();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|known, (until, _)| now < *until && *known != key);
        while kept.len() >= self.settings.size.max(1) as usize {
            kept.shift_remove_index(0);
        }
        kept.insert(key, (now + self.settings.ttl.0, value));
    }
}

service!(Cache, |this, invocation| {
    let key = key(invocation.name, invocation.arguments);
    if let Some(value) = this.find(&key) {
        return Ok(value);
    }
    let value = this.inner.invoke(invocation).await?;
    this.keep(key, value.clone());
    Ok(value)
});

/// A call as a text that does not depend on the order in which a model wrote the arguments.
fn key(name: &str, arguments: &Json) -> String {
    fn sorted(value: &Json) -> Json {
        match value {
            Json::Object(map) => {
                let mut entries: Vec<(&String, &Json)> = map.iter().collect();
                entries.sort_by_key(|(name, _)| *name);
                entries.into_iter().map(|(name, value)| (name.clone(), sorted(value))).collect()
            }
            Json::Array(items) => items.iter().map(sorted).collect(),
            other => other.clone(),
        }
    }
    format!("{name} {}", sorted(arguments))
}
