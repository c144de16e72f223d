//! minijinja: the environment, string rules, expressions.
