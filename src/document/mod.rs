//! Typed documents: loop, tool, forge, preset, workspace.
