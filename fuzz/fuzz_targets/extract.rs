//! Hostile bytes for `loopwright::fuzzing::extract`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| loopwright::fuzzing::extract(data));
