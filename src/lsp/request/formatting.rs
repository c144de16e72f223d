//! A whole document in one layout, as `fmt` writes it.

use super::View;
use crate::formatting::{self, Refusal};
use crate::lsp::protocol::{DocumentParams, Position, Range, TextEdit};
use crate::lsp::transport::{ErrorCode, Failure};
use crate::syntax::Format;

pub(super) fn answer(view: &View<'_>, params: DocumentParams) -> Result<Vec<TextEdit>, Failure> {
    let Some(asked) = view.asked(&params.text_document.uri) else { return Ok(Vec::new()) };
    let is_yaml = Format::of_path(&asked.buffer.path) == Some(Format::Yaml);
    if !is_yaml || asked.analysis.document(&asked.buffer.path).is_none() {
        return Ok(Vec::new());
    }
    match formatting::yaml(&asked.buffer.text) {
        Ok(text) if *text == *asked.buffer.text => Ok(Vec::new()),
        Ok(new_text) => {
            let end = asked.lines.position(asked.lines.text().len());
            Ok(vec![TextEdit { range: Range { start: Position::default(), end }, new_text }])
        }
        // The findings say so already, and many editors format whenever a file is saved.
        Err(Refusal::Unreadable(_)) => Ok(Vec::new()),
        Err(why) => Err(Failure::new(ErrorCode::RequestFailed, format!("left as it is: {why}"))),
    }
}
