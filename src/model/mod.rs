//! Requests to streamed replies: providers, retries, cost.
