//! Hostile bytes for `loopwright::fuzzing::tags`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| loopwright::fuzzing::tags(data));
