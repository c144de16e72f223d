//! What makes a finding the same finding after the lines around it have moved.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use super::paths::relative;
use super::{Diagnostic, Report};

/// A fingerprint a finding, in order.
///
/// It is made of the file, the code, the words and the text under the place, and not of the line. Findings that have all
/// of these in common are told apart by counting.
pub(super) fn fingerprints(report: &Report<'_>) -> Vec<String> {
    let mut seen: HashMap<String, u32> = HashMap::new();
    let of = |finding: &Diagnostic| {
        let (path, text) = finding.span.map_or_else(Default::default, |span| {
            (relative(report.sources.path(span.source), report.base), report.sources.slice(span))
        });
        let base = [path.as_str(), finding.code.as_str(), finding.message.as_str(), text].join("\0");
        let count = seen.entry(base.clone()).or_default();
        *count += 1;
        data_encoding::HEXLOWER.encode(&Sha256::digest(format!("{base}\0{count}"))[..16])
    };
    report.findings.iter().map(of).collect()
}
