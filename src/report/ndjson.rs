//! The event stream as text: one JSON object a line, each line written out before the next event happens.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Trouble, Writer};
use crate::event::{Envelope, Subscriber};

/// Writes every event to a file or to standard output.
pub struct Ndjson {
    out: Mutex<Writer>,
    trouble: Arc<Trouble>,
}

impl Ndjson {
    /// Writes to `out`; the first failure goes to `trouble`, and nothing is written after it.
    pub fn new(out: Writer, trouble: Arc<Trouble>) -> Self {
        Self { out: Mutex::new(out), trouble }
    }
}

impl Subscriber for Ndjson {
    fn on_event(&self, event: &Envelope) {
        if self.trouble.happened() {
            return;
        }
        let written = serde_json::to_vec(event).map_err(std::io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
            // A whole line at once and flushed: a reader that follows the file never waits for a half event.
            out.write_all(&line)?;
            out.flush()
        });
        if let Err(error) = written {
            self.trouble.note(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::event::{Event, EventStream, RunId};

    /// Takes `room` bytes and then is full.
    struct Disk {
        room: usize,
        taken: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let mut taken = self.taken.lock().unwrap();
            if taken.len() + bytes.len() > self.room {
                return Err(std::io::ErrorKind::StorageFull.into());
            }
            taken.extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn each_event_is_a_line_and_a_full_disk_stops_the_run_once() {
        let taken = Arc::new(Mutex::new(Vec::new()));
        let stops = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&stops);
        let trouble = Arc::new(Trouble::new(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
        }));
        let disk = Disk { room: 200, taken: Arc::clone(&taken) };
        let report = Arc::new(Ndjson::new(Box::new(disk), Arc::clone(&trouble)));
        let stream = EventStream::new(RunId("r1".into()), vec![report], crate::event::Secrets::default());
        for n in 0..9 {
            stream.emit(Event::Status { text: format!("step {n}\nnext line") });
        }
        let text = String::from_utf8(taken.lock().unwrap().clone()).unwrap();
        let lines: Vec<Envelope> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(text.ends_with('\n') && !lines.is_empty());
        assert_eq!(lines[0].event, Event::Status { text: "step 0\nnext line".into() });
        assert_eq!(stops.load(Ordering::SeqCst), 1, "told once");
        assert_eq!(trouble.take().unwrap().kind(), std::io::ErrorKind::StorageFull);
    }
}
