//! Arguments, output, exit codes.
