//! Every place where the thing under the cursor is named.

use super::View;
use super::definition::under;
use crate::lsp::protocol::{Location, ReferenceParams};
use crate::lsp::transport::Failure;

pub(super) fn answer(view: &View<'_>, params: ReferenceParams) -> Result<Vec<Location>, Failure> {
    let Some(asked) = view.asked(&params.text_document.uri) else { return Ok(Vec::new()) };
    let offset = asked.offset(params.position);
    let symbols: Vec<_> = under(&asked, offset).into_iter().map(|occurrence| &occurrence.symbol).collect();
    let mut found: Vec<Location> = Vec::new();
    for occurrence in asked.analysis.index.all.iter().filter(|known| symbols.contains(&&known.symbol)) {
        if occurrence.is_declaration && !params.context.include_declaration {
            continue;
        }
        if let Some(location) = view.location(asked.analysis, occurrence.span)
            && !found.contains(&location)
        {
            found.push(location);
        }
    }
    Ok(found)
}
