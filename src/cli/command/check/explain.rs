//! `check --explain CODE` and `check --list-codes`: the pages of findings, without the documentation at hand.

use serde_json::{Value, json};

use super::output::Format;
use crate::cli::Context;
use crate::cli::error::{CliError, CliResult, code};
use crate::diag::codes::{self, CodeInfo};
use crate::diag::did_you_mean;

/// Prints the page of a code.
pub(super) fn explain(name: &str, format: Format, context: &Context) -> CliResult {
    // `error[unknown-key]` as it stands in the output is fine too.
    let name = name.rsplit_once('[').map_or(name, |(_, rest)| rest.trim_end_matches(']'));
    let Some(info) = codes::find(name) else {
        let error = CliError::usage(format!("There is no code `{name}`"));
        let names: Vec<&str> = codes::all().iter().map(|info| info.code.as_str()).collect();
        return Err(match did_you_mean(name, &names) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error.hint("`loopwright check --list-codes` lists them"),
        });
    };
    if as_json(format)? {
        context.output.json(&page(info))?;
    } else {
        context.output.data(&text(info))?;
    }
    Ok(code::SUCCESS)
}

/// Prints a line about each code.
pub(super) fn list(format: Format, context: &Context) -> CliResult {
    if as_json(format)? {
        let rows: Vec<Value> = codes::all().iter().map(row).collect();
        context.output.json(&rows)?;
        return Ok(code::SUCCESS);
    }
    let widest = codes::all().iter().map(|info| info.code.as_str().len()).max().unwrap_or_default();
    let lines = codes::all()
        .iter()
        .map(|info| format!("{:widest$}  {:7}  {}\n", info.code.as_str(), info.severity.as_str(), info.summary()));
    context.output.data(&lines.collect::<String>())?;
    Ok(code::SUCCESS)
}

fn as_json(format: Format) -> Result<bool, CliError> {
    match format {
        Format::Full | Format::Concise => Ok(false),
        Format::Json => Ok(true),
        _ => Err(CliError::usage("Codes are printed as text or with --format json")),
    }
}

fn row(info: &CodeInfo) -> Value {
    json!({
        "code": info.code,
        "severity": info.severity,
        "summary": info.summary(),
        "fixable": !info.page().fix.is_empty(),
        "adjustable": info.adjustable,
    })
}

fn page(info: &CodeInfo) -> Value {
    let page = info.page();
    json!({
        "code": info.code,
        "severity": info.severity,
        "summary": page.summary,
        "explanation": page.explanation,
        "adjustable": info.adjustable,
        "fix": Some(page.fix).filter(|fix| !fix.is_empty()),
        "bad": page.bad,
        "good": page.good,
    })
}

fn text(info: &CodeInfo) -> String {
    let page = info.page();
    let mut text = format!("{} ({})\n\n{}\n\n{}\n", info.code, info.severity.as_str(), page.summary, page.explanation);
    if !page.fix.is_empty() {
        text.push_str(&format!("\n`check --fix` repairs it: {}\n", page.fix));
    }
    text.push_str(match info.adjustable {
        true => "\nIts severity can be changed with `checks` in the workspace, and a comment can switch it off.\n",
        false => "\nIt keeps the document from being used, so its severity cannot be changed.\n",
    });
    for (title, files) in page.examples() {
        text.push_str(&format!("\n{title}:\n"));
        for file in files {
            let lines = file.text.lines().map(|line| format!("    {line}").trim_end().to_owned() + "\n");
            text.push_str(&format!("\n  {}\n\n{}", file.path, lines.collect::<String>()));
        }
    }
    text
}
