//! Events to what a person sees.
