//! What is visible in one handler or hook beside the run's own state.

use std::sync::Arc;

use minijinja::Value;

/// The local names of a handler: the action's parameters and tags, results of its steps so far, loop items.
///
/// Cheap to clone; a clone does not see later changes, which is what parallel `for_each` items need.
#[derive(Debug, Clone, Default)]
pub struct Frame {
    inner: Arc<Names>,
}

#[derive(Debug, Clone, Default)]
struct Names {
    names: Vec<(Arc<str>, Value)>,
    steps: Vec<(Arc<str>, Value)>,
    given: Option<Value>,
}

impl Frame {
    /// A frame with these names.
    #[must_use]
    pub fn with(mut self, name: &str, value: Value) -> Self {
        self.set(name, value);
        self
    }

    /// Sets a name such as `params`, `item`, `result`.
    pub fn set(&mut self, name: &str, value: Value) {
        let names = &mut Arc::make_mut(&mut self.inner).names;
        match names.iter_mut().find(|(known, _)| &**known == name) {
            Some(slot) => slot.1 = value,
            None => names.push((Arc::from(name), value)),
        }
    }

    /// Notes a step's result: `result`, and `steps.<id>` when the step has an id.
    pub fn step_result(&mut self, id: Option<&str>, value: Value) {
        if let Some(id) = id {
            let steps = &mut Arc::make_mut(&mut self.inner).steps;
            match steps.iter_mut().find(|(known, _)| &**known == id) {
                Some(slot) => slot.1 = value.clone(),
                None => steps.push((Arc::from(id), value.clone())),
            }
        }
        self.set("result", value);
    }

    /// Sets what the handler gives back, whatever its last step gave.
    pub fn give(&mut self, value: Value) {
        Arc::make_mut(&mut self.inner).given = Some(value);
    }

    /// Whether a `result` step said what the handler gives back.
    #[must_use]
    pub fn has_given(&self) -> bool {
        self.inner.given.is_some()
    }

    /// What the handler gives back: what a `result` step said, else the last step's result.
    #[must_use]
    pub fn handler_result(&self) -> Option<Value> {
        self.inner.given.clone().or_else(|| self.get("result"))
    }

    /// A local name's value.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Value> {
        if name == "steps" {
            return Some(Value::from_object(Steps(Arc::clone(&self.inner))));
        }
        self.inner.names.iter().find(|(known, _)| &**known == name).map(|(_, value)| value.clone())
    }

    /// The local names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.inner.names.iter().map(|(name, _)| &**name)
    }
}

/// `steps` in templates.
#[derive(Debug)]
struct Steps(Arc<Names>);

impl minijinja::value::Object for Steps {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let key = key.as_str()?;
        self.0.steps.iter().find(|(id, _)| &**id == key).map(|(_, value)| value.clone())
    }

    fn enumerate(self: &Arc<Self>) -> minijinja::value::Enumerator {
        minijinja::value::Enumerator::Values(self.0.steps.iter().map(|(id, _)| Value::from(&**id)).collect())
    }
}
