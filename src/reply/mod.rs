//! A model's reply to one action.
