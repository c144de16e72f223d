//! Bytes to text: UTF-8 with or without a byte order mark, and clear words for anything else.

use crate::diag::{Diagnostic, SourceId, SourceMap, Span, codes};

/// The text of a document, without a byte order mark.
///
/// For anything that is not UTF-8, what could be read (broken bytes replaced) and the finding that says
/// where it breaks. Add that text to the [`SourceMap`] under `source`, so that the place can be shown.
pub fn read_text(source: SourceId, bytes: &[u8]) -> Result<String, (String, Diagnostic)> {
    if let Some((name, text)) = other_encoding(bytes) {
        let finding =
            Diagnostic::error(codes::ENCODING, Span::new(source, 0, 0), format!("the file is {name}, not UTF-8"))
                .help("save the file as UTF-8; in PowerShell, write it with `Out-File -Encoding utf8`");
        return Err((text, finding));
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) => {
            let at = error.valid_up_to();
            let text = String::from_utf8_lossy(bytes).into_owned();
            let start = u32::try_from(at).unwrap_or(u32::MAX);
            // The replacement character that stands for the broken bytes has three bytes.
            let span = Span::new(source, start, start.saturating_add(3));
            let byte = bytes.get(at).copied().unwrap_or_default();
            let finding = Diagnostic::error(
                codes::ENCODING,
                span,
                format!("the file is not UTF-8: byte 0x{byte:02X} is not valid here"),
            )
            .help("save the file as UTF-8; it is probably in Latin-1 or a Windows encoding");
            Err((text, finding))
        }
    }
}

/// The name and text of UTF-16 and UTF-32, known by their byte order marks or by the zero bytes of plain letters.
fn other_encoding(bytes: &[u8]) -> Option<(&'static str, String)> {
    let pairs = |skip: usize, read: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes[skip..].chunks_exact(2).map(|pair| read([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    match bytes {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => Some(("UTF-32", String::new())),
        [0xFF, 0xFE, ..] => Some(("UTF-16 (little-endian)", pairs(2, u16::from_le_bytes))),
        [0xFE, 0xFF, ..] => Some(("UTF-16 (big-endian)", pairs(2, u16::from_be_bytes))),
        [1..=0x7F, 0, 1..=0x7F, 0, ..] => Some(("UTF-16 (little-endian)", pairs(0, u16::from_le_bytes))),
        [0, 1..=0x7F, 0, 1..=0x7F, ..] => Some(("UTF-16 (big-endian)", pairs(0, u16::from_be_bytes))),
        _ => None,
    }
}

/// Reads a file's bytes into the source map: the id and, if it is UTF-8, the text was good.
pub fn add_source(
    sources: &mut SourceMap,
    path: impl Into<std::path::PathBuf>,
    bytes: &[u8],
    diagnostics: &mut crate::diag::Diagnostics,
) -> (SourceId, bool) {
    let next = SourceId(u32::try_from(sources.len()).unwrap_or(u32::MAX));
    match read_text(next, bytes) {
        Ok(text) => (sources.add(path, text), true),
        Err((text, finding)) => {
            diagnostics.push(finding);
            (sources.add(path, text), false)
        }
    }
}
