//! A stream of any provider, cut in two ways, for the fuzzer.

use super::gather::Gather;
use super::provider::dialect_for_tests;
use super::stream::{End, Flow, Reader};
use super::{ErrorClass, ModelError, NoSink, PROVIDERS, Reply};

/// Reads the bytes whole and in pieces of `step`, with every provider's decoder.
///
/// # Panics
/// When the two differ.
pub fn fuzz_stream(bytes: &[u8], step: usize) {
    for provider in PROVIDERS.iter().filter(|provider| dialect_for_tests(provider.name()).is_some()) {
        let whole = read(provider.name(), bytes.chunks(bytes.len().max(1)));
        let pieces = read(provider.name(), bytes.chunks(step.max(1)));
        assert_eq!(whole, pieces, "{} read differently in pieces of {step}", provider.name());
    }
}

/// What must not depend on the cuts: of a failure, everything but its words, which may quote what had arrived.
type Outcome = Result<Reply, (ErrorClass, String, String)>;

fn read<'a>(provider: &str, chunks: impl Iterator<Item = &'a [u8]>) -> Option<Outcome> {
    let failed = |error: ModelError| (error.class, error.partial_text, error.partial_reasoning);
    let mut sink = NoSink;
    let mut reader = Reader::new(dialect_for_tests(provider)?, Gather::new(&mut sink, 0));
    for chunk in chunks {
        match reader.push(chunk) {
            Ok(Flow::More) => {}
            Ok(Flow::Done) => return Some(reader.end(&End::Closed).map_err(failed)),
            Err(error) => return Some(Err(failed(reader.fail(error)))),
        }
    }
    Some(reader.end(&End::Closed).map_err(failed))
}
