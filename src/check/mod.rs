//! Is it right? Documents in, all diagnostics out.
