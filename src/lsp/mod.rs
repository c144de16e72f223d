//! What an editor asks while somebody writes: a language server over standard input and output.
//!
//! It answers from the same library and the same checker as every other command. Buffers that are not saved stand before
//! their files, and a document that cannot be read at the moment is answered from the last one that could.

mod analysis;
mod buffers;
mod context;
mod index;
mod locate;
mod position;
mod protocol;
mod request;
mod schema_at;
mod server;
mod transport;
mod uri;

use std::io::{BufRead, Write};

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The client said `shutdown` and then `exit`.
    Proper,
    /// The client went away, or said `exit` alone.
    Abrupt,
}

/// Speaks the Language Server Protocol until the client leaves.
///
/// # Errors
/// When the client does not take what is written to it.
pub fn serve(input: impl BufRead + Send + 'static, output: &mut dyn Write) -> std::io::Result<End> {
    server::Server::new(output).run(transport::incoming(input))
}
