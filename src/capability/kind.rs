//! What people and models are told about each kind of capability.

use crate::event::CapabilityKind;

/// A heading over capabilities of this kind.
#[must_use]
pub const fn heading(kind: CapabilityKind, language: Language) -> &'static str {
    match (kind, language) {
        (CapabilityKind::Tool, Language::English) => "Tools",
        (CapabilityKind::Tool, Language::Chinese) => "工具",
        (CapabilityKind::Forge, Language::English) => "Forges",
        (CapabilityKind::Forge, Language::Chinese) => "蓝图",
        (CapabilityKind::Skill, Language::English) => "Skills",
        (CapabilityKind::Skill, Language::Chinese) => "技能",
        (CapabilityKind::FocusMode, Language::English) => "Focus modes",
        (CapabilityKind::FocusMode, Language::Chinese) => "专注模式",
    }
}

/// How a model gets to use a capability of this kind.
#[must_use]
pub const fn hint(kind: CapabilityKind, language: Language) -> &'static str {
    match (kind, language) {
        (CapabilityKind::Tool, Language::English) => "call it with `directly_call_tool` or `require_tool`",
        (CapabilityKind::Tool, Language::Chinese) => "用 `directly_call_tool` 或 `require_tool` 调用",
        (CapabilityKind::Forge, Language::English) => "run it with `require_ai_blueprint`",
        (CapabilityKind::Forge, Language::Chinese) => "用 `require_ai_blueprint` 执行",
        (CapabilityKind::Skill, Language::English) => "load it with `loading_skills`",
        (CapabilityKind::Skill, Language::Chinese) => "用 `loading_skills` 加载",
        (CapabilityKind::FocusMode, Language::English) => "enter it with `enter_focus_mode`",
        (CapabilityKind::FocusMode, Language::Chinese) => "用 `enter_focus_mode` 进入",
    }
}

/// The language of what a model is told about capabilities.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Language {
    /// `en`
    #[default]
    English,
    /// `zh`
    Chinese,
}

impl Language {
    /// The language that `language: zh` of a document means; English for any other.
    #[must_use]
    pub fn of(name: Option<&str>) -> Self {
        match name {
            Some("zh") => Language::Chinese,
            _ => Language::English,
        }
    }
}
