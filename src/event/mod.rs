//! What happened in a run, as data: one ordered stream of typed events.
//!
//! Everything a person or a program sees of a run is drawn from these types: the terminal view,
//! `--events FILE`, `--format json`, and later reports. The JSON Schema in `schemas/event.schema.json`
//! is generated from them.

mod capability;
mod mechanism;
mod parts;
mod reason;
mod reload;
mod secrets;
mod stream;
mod types;
mod verification;

pub use capability::*;
pub use mechanism::*;
pub use parts::*;
pub use reason::ExitReason;
pub use reload::{ReloadFinding, ReloadStatus};
pub use secrets::Secrets;
pub use stream::{EventStream, Subscriber};
pub use types::*;
pub use verification::*;
