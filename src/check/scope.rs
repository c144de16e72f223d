//! Which names a template sees where it stands, and what is known of their values.

use std::sync::{Arc, LazyLock};

use indexmap::IndexMap;

use super::names::{FOR_LOOP, shape_of};
use super::shape::Shape;
use crate::diag::{did_you_mean, list_words};
use crate::document::{LoopDoc, Params, ToolDoc, WorkspaceDoc};
use crate::template::walk::{FOR_LOOP as FOR_LOOP_ROOT, Part, VariableUse, walk_expr};
use crate::template::{NAMES, Where, catalogued};

/// The names that every template of a loop or a tool sees, before anything is known of the document and the workspace.
static BASE: LazyLock<Scope> = LazyLock::new(|| {
    let rows = NAMES.iter().filter(|row| row.place == Where::Loop);
    Scope::of(rows.map(|row| (row.name.to_owned(), shape_of(row.name))))
});

/// The names that are visible somewhere. Cheap to clone: the names are shared until one is added.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    names: Arc<IndexMap<String, Shape>>,
    /// Ids of steps that run later in the same list: they get words of their own.
    pub(super) later_steps: Vec<String>,
    /// Attributes that need not be there.
    maybe: Vec<Uncertain>,
    /// A condition stands around the place, which may be about what need not be there.
    pub(super) guarded: bool,
}

/// An attribute that need not be there.
#[derive(Debug, Clone)]
struct Uncertain {
    root: &'static str,
    attribute: String,
    why: Maybe,
    /// The variables that decide it, where a condition does.
    depends: Vec<String>,
}

/// Why an attribute need not be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Maybe {
    /// The step has a condition, or goes on after a failure.
    Step,
    /// The parameter is not required.
    Param,
    /// The tag is not required.
    Tag,
}

impl Scope {
    fn of(names: impl Iterator<Item = (String, Shape)>) -> Self {
        Self { names: Arc::new(names.collect()), ..Self::default() }
    }

    /// Exactly these names, of which nothing else is known.
    pub(super) fn of_names(names: &[String]) -> Self {
        let names = names.iter().map(|name| (name.trim().to_owned(), Shape::Any)).filter(|(name, _)| !name.is_empty());
        Self::of(names)
    }

    /// Every name of the catalogue, for a template file that belongs to no document.
    pub(super) fn open() -> Self {
        let names = NAMES.iter().map(|row| {
            let shape = if row.name == "run" { shape_of(row.name) } else { Shape::Any };
            (row.name.to_owned(), shape)
        });
        Self::of(names)
    }

    /// What every template of a loop sees.
    pub(super) fn of_loop(document: &LoopDoc, workspace: &WorkspaceDoc) -> Self {
        let mut scope = Self::base(workspace);
        let state = document.state.iter().map(|(name, var)| {
            let declared = Shape::of_schema(&var.schema);
            // An object without declared properties may get any key later.
            (name.clone(), declared)
        });
        scope.set("state", Shape::map(state));
        let listed = document.env.iter().chain(&workspace.env);
        scope.set("env", Shape::map(listed.map(|name| (name.value.clone(), Shape::Scalar("a string")))));
        scope
    }

    /// What a tool's steps see. Its caller's state is not known.
    pub(super) fn of_tool(document: &ToolDoc, workspace: &WorkspaceDoc) -> Self {
        let mut scope = Self::base(workspace);
        scope.set("params", params(document.params.as_ref()));
        scope.set("here", shape_of("here"));
        scope.optional_params(document.params.as_ref());
        scope
    }

    /// What a forge's prompt sees.
    pub(super) fn of_forge(input: Option<&Params>, workspace: &WorkspaceDoc) -> Self {
        let mut scope = Self::base(workspace);
        scope.set("input", input.map_or(Shape::Any, |input| Shape::of_schema(&input.schema)));
        scope.set("schema", Shape::Any);
        scope
    }

    fn base(workspace: &WorkspaceDoc) -> Self {
        let mut scope = BASE.clone();
        let vars = Shape::of_value(&serde_json::Value::Object(workspace.vars.clone()));
        let text = Shape::Scalar("a string");
        scope.set("workspace", Shape::map([("name", text.clone()), ("root", text.clone()), ("vars", vars)]));
        scope.set("env", Shape::map(workspace.env.iter().map(|name| (name.value.clone(), text.clone()))));
        scope
    }

    /// The same with one name more.
    pub(super) fn with(mut self, name: &str, shape: Shape) -> Self {
        self.set(name, shape);
        self
    }

    pub(super) fn set(&mut self, name: &str, shape: Shape) {
        Arc::make_mut(&mut self.names).insert(name.to_owned(), shape);
    }

    /// Notes that a step ran: `result`, and `steps.<id>`.
    pub(super) fn step_ran(&mut self, id: Option<&str>, result: Shape) {
        if let (Some(id), Some(Shape::Map { keys, .. })) = (id, Arc::make_mut(&mut self.names).get_mut("steps")) {
            Arc::make_mut(keys).insert(id.to_owned(), result.clone());
            self.later_steps.retain(|later| later != id);
        }
        self.set("result", result);
    }

    /// Notes that an attribute need not be there.
    pub(super) fn maybe(&mut self, name: &'static str, attribute: &str, why: Maybe) {
        self.maybe.push(Uncertain { root: name, attribute: attribute.to_owned(), why, depends: Vec::new() });
    }

    /// Notes that a step need not have run; its condition may say why.
    pub(super) fn maybe_step(&mut self, id: &str, when: Option<&str>) {
        let depends =
            when.and_then(|when| walk_expr(when).ok()).map(|walk| dotted(&walk.variables)).unwrap_or_default();
        self.maybe.push(Uncertain { root: "steps", attribute: id.to_owned(), why: Maybe::Step, depends });
    }

    /// Notes what exists from here on, since a condition holds (or does not hold, as `truth` says).
    pub(super) fn learn(&mut self, condition: &str, truth: bool) {
        let Ok(walk) = walk_expr(condition) else { return };
        let names = |path: &Vec<Part>| path.iter().map(|part| part.name.clone()).collect::<Option<Vec<_>>>();
        let certain: Vec<Vec<String>> = walk.certain[usize::from(!truth)].iter().filter_map(names).collect();
        let exists = |one: &Uncertain| {
            certain
                .iter()
                .any(|path| matches!(path.as_slice(), [root, name, ..] if root == one.root && *name == one.attribute))
        };
        self.maybe.retain(|one| !exists(one));
    }

    /// Notes that the list ends early under a condition: what depends on the same values is taken to be there after it.
    pub(super) fn ended_under(&mut self, condition: &str) {
        self.learn(condition, false);
        let decided = walk_expr(condition).map(|walk| dotted(&walk.variables)).unwrap_or_default();
        self.maybe.retain(|one| !one.depends.iter().any(|name| decided.contains(name)));
    }

    /// Notes the parameters that a caller may leave out.
    pub(super) fn optional_params(&mut self, params: Option<&Params>) {
        let Some(schema) = params.map(|params| &params.schema) else { return };
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(serde_json::Value::as_str).collect();
        for name in schema["properties"].as_object().into_iter().flat_map(|map| map.keys()) {
            if !required.contains(&name.as_str()) {
                self.maybe("params", name, Maybe::Param);
            }
        }
    }

    /// Why an attribute need not be there, where no condition around the place may be about that.
    pub(super) fn why_maybe(&self, name: &str, attribute: &str) -> Option<Maybe> {
        let found = self.maybe.iter().find(|one| one.root == name && one.attribute == attribute);
        found.filter(|_| !self.guarded).map(|one| one.why)
    }

    /// Every name that is visible, with what is known of it.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, &Shape)> {
        self.names.iter().map(|(name, shape)| (name.as_str(), shape))
    }

    /// What is known of the value that a path names; none where it names nothing.
    pub(super) fn at(&self, path: &[Part]) -> Option<Shape> {
        let root = self.get(path.first()?.name.as_deref()?)?;
        let value = path.iter().skip(1).try_fold(root, |shape, part| match &part.name {
            Some(name) => shape.attribute(name).ok(),
            None => Some(shape.element()),
        });
        value.cloned()
    }

    pub(super) fn get(&self, name: &str) -> Option<&Shape> {
        if name == FOR_LOOP_ROOT { Some(&FOR_LOOP) } else { self.names.get(name) }
    }

    /// What to say about a name that is not visible.
    pub(super) fn help_for(&self, name: &str) -> String {
        if let Some(row) = catalogued(name) {
            return format!("`{name}` is known {}", row.place.words());
        }
        match did_you_mean(name, self.names.keys()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the names here are {}", list_words(self.names.keys())),
        }
    }
}

/// Paths as they are written, as far as their parts have names.
fn dotted(variables: &[VariableUse]) -> Vec<String> {
    let name = |used: &VariableUse| {
        let names: Vec<&str> = used.path.iter().map_while(|part| part.name.as_deref()).collect();
        names.join(".")
    };
    variables.iter().map(name).collect()
}

/// What is known of `params`.
pub(super) fn params(params: Option<&Params>) -> Shape {
    params.map_or_else(|| Shape::map::<String>([]), |params| Shape::of_schema(&params.schema))
}
