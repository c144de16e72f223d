//! Hostile bytes for `loopwright::fuzzing::stream`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| loopwright::fuzzing::stream(data));
