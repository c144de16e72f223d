//! What may be touched and what may not, against a real folder and real processes.

mod decide;
mod files;
mod network;
mod process;
mod protect;
