//! `validate`: the result must fit a schema. Arguments always must, before anything else.

use std::sync::Arc;

use tower::Layer;

use super::service;
use crate::document::ValidateSettings;
use crate::invoke::failure::Failure;
use crate::invoke::stack::Link;
use crate::invoke::validate::ArgumentsValidator;

/// Validates results.
pub(super) struct ValidateLayer {
    result: Arc<ArgumentsValidator>,
}

impl ValidateLayer {
    pub(super) fn new(settings: &ValidateSettings) -> Self {
        Self { result: Arc::new(ArgumentsValidator::new(settings.result.schema.clone())) }
    }
}

impl<T> Layer<Link<T>> for ValidateLayer {
    type Service = Validate<T>;

    fn layer(&self, inner: Link<T>) -> Validate<T> {
        Validate { inner, result: Arc::clone(&self.result) }
    }
}

pub(super) struct Validate<T> {
    inner: Link<T>,
    result: Arc<ArgumentsValidator>,
}

impl<T> Clone for Validate<T> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), result: Arc::clone(&self.result) }
    }
}

service!(Validate, |this, invocation| {
    let value = this.inner.invoke(invocation).await?;
    let json = serde_json::to_value(&value).map_err(|error| Failure::InvalidResult(error.to_string()))?;
    this.result.check(&json).map_err(Failure::InvalidResult)?;
    Ok(value)
});
