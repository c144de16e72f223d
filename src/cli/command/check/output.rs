//! Where the findings of a check go: standard output, and files in other formats.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::{Args, Checked};
use crate::cli::Context;
use crate::cli::error::{CliError, CliResult, code};
use crate::diag::render::{self, Color, Report};
use crate::diag::{Severity, did_you_mean, list_words};

/// How findings are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// With the lines and a mark under the exact place
    #[default]
    Full,
    /// One line each
    Concise,
    /// A JSON array
    Json,
    /// Annotations for GitHub Actions
    Github,
    /// A Code Quality report for GitLab
    Gitlab,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// A JUnit report: a test case a file
    Junit,
}

impl Format {
    fn render(self, report: &Report<'_>, color: Color) -> String {
        let (found, sources) = (report.findings, report.sources);
        match self {
            Format::Full => render::full(found, sources, color),
            Format::Concise => render::concise(found, sources),
            Format::Json => render::json(found, sources),
            Format::Github => render::github(found, sources),
            Format::Gitlab => render::gitlab(report),
            Format::Sarif => render::sarif(report),
            Format::Junit => render::junit(report),
        }
    }
}

/// A file that gets the findings in a format: `FORMAT=FILE`.
#[derive(Debug, Clone)]
pub(super) struct Target {
    format: Format,
    file: PathBuf,
}

impl Target {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let names: Vec<String> = Format::value_variants()
            .iter()
            .filter_map(|format| format.to_possible_value().map(|value| value.get_name().to_owned()))
            .collect();
        let Some((format, file)) = text.split_once('=').filter(|(_, file)| !file.is_empty()) else {
            return Err("write FORMAT=FILE, such as sarif=findings.sarif".to_owned());
        };
        let format = Format::from_str(format, false).map_err(|_| match did_you_mean(format, &names) {
            Some(near) => format!("there is no format `{format}`; did you mean `{near}`?"),
            None => format!("there is no format `{format}`; the formats are {}", list_words(&names)),
        })?;
        Ok(Self { format, file: PathBuf::from(file) })
    }
}

/// Prints the findings, writes the files that were asked for, and gives the exit code.
pub(super) fn print(args: &Args, context: &Context, checked: &Checked) -> CliResult {
    let base = std::env::current_dir().unwrap_or_default();
    let report = Report {
        findings: checked.found.as_slice(),
        sources: &checked.library.sources,
        files: &checked.files,
        base: &base,
        deny_warnings: args.deny_warnings,
    };
    for Target { format, file } in &args.output {
        write(file, &format.render(&report, Color::Plain))?;
    }
    let output = context.output;
    output.data(&args.format.render(&report, output.data_color()))?;
    output.note(&summary(checked));
    Ok(exit_code(args, checked))
}

/// Says to a person what was found, where standard output has another use; gives the exit code.
pub(super) fn note(args: &Args, context: &Context, checked: &Checked) -> u8 {
    context.output.note_block(&render::concise(checked.found.as_slice(), &checked.library.sources));
    context.output.note(&summary(checked));
    exit_code(args, checked)
}

/// The exit code of a check.
pub(super) fn exit_code(args: &Args, checked: &Checked) -> u8 {
    let warnings = args.deny_warnings && checked.found.count(Severity::Warning) > 0;
    if checked.found.has_errors() || warnings { code::FAILED } else { code::SUCCESS }
}

fn write(file: &Path, text: &str) -> Result<(), CliError> {
    std::fs::write(file, text).map_err(|error| CliError::usage(format!("Cannot write {}: {error}", file.display())))
}

fn summary(checked: &Checked) -> String {
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let files = count(checked.files.len(), "file");
    let (errors, warnings) = (checked.found.count(Severity::Error), checked.found.count(Severity::Warning));
    let others = match checked.library.passed_over() {
        0 => String::new(),
        n => format!(" (not {n} other YAML and TOML files, which are no documents)"),
    };
    match (errors, warnings) {
        (0, 0) => format!("{files} checked, nothing wrong{others}"),
        _ => format!("{files} checked: {}, {}{others}", count(errors, "error"), count(warnings, "warning")),
    }
}
