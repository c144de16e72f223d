//! Compiling ahead, for tests: a run compiles a string when it first meets it, and keeps it.

use std::sync::Arc;

use minijinja::Value;

use super::builder::{TemplatesBuilder, is_inside};
use super::error::INSIDE;
use super::render::{Kind, OwnedKey, Templates, is_literal};
use super::{TemplateError, TemplateErrorKind, Use};

impl TemplatesBuilder {
    /// Compiles a string of a document.
    ///
    /// # Errors
    /// When it is not a template.
    pub fn add_string(&mut self, source: &str, used: Use) -> Result<(), TemplateError> {
        self.add(source, Kind::of(used))
    }

    /// Compiles an expression, as `when` has one.
    ///
    /// # Errors
    /// When it is not an expression.
    pub fn add_expr(&mut self, source: &str) -> Result<(), TemplateError> {
        self.add(source, Kind::Expr)
    }

    /// Adds a file under its workspace-relative name, written with `/`, and compiles it.
    ///
    /// # Errors
    /// When it is not a template, or its name leads out of the workspace.
    pub fn add_file(&mut self, name: &str, source: &str) -> Result<(), TemplateError> {
        if !is_inside(name) {
            return Err(TemplateError::outside(name));
        }
        self.templates.files.write().texts.insert(name.to_string(), Arc::from(source));
        for env in [&mut self.templates.prompts, &mut self.templates.steps] {
            env.remove_template(name);
        }
        self.templates.check_file(name)
    }

    fn add(&mut self, source: &str, kind: Kind) -> Result<(), TemplateError> {
        if !is_literal(source) || kind == Kind::Expr {
            let entry = self.templates.compile(source, kind)?;
            self.templates.known.insert(OwnedKey(kind, Arc::from(source)), Arc::new(entry));
        }
        Ok(())
    }
}

impl Templates {
    /// Compiles a file without rendering it.
    pub(super) fn check_file(&self, name: &str) -> Result<(), TemplateError> {
        let source = self.files.text(name).ok_or_else(|| TemplateError::not_found(name))?;
        match self.prompts.get_template(name) {
            Ok(_) => Ok(()),
            Err(e) => Err(self.explain_file(&e, name, &source, &Value::UNDEFINED)),
        }
    }
}

impl Kind {
    pub(super) fn of(used: Use) -> Self {
        match used {
            Use::Step => Self::Step,
            Use::Prompt => Self::Prompt,
        }
    }
}

impl TemplateError {
    pub(super) fn outside(name: &str) -> Self {
        let message = format!("Template file `{name}` lies outside the workspace");
        let mut error = Self::new(TemplateErrorKind::OutsideRoot, message);
        error.help = Some(INSIDE.into());
        error
    }
}
