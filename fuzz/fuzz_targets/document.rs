//! Hostile bytes for `loopwright::fuzzing::document`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| loopwright::fuzzing::document(data));
