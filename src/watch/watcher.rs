//! The thread that waits for changes and asks for a look. Dropping it ends it, and the system's watches with it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::places::{Places, number};
use super::signs::{Sign, Signs};

/// How often the file system is asked though it told nothing: events get lost on network folders and in full queues.
const SLOW_LOOK: Duration = Duration::from_secs(2);

/// The same where the system gives no events at all, such as when all its watches are in use.
const SLOW_LOOK_ALONE: Duration = Duration::from_millis(500);

/// Every so many slow looks everything is read, for a change that the file system does not show.
const SLOW_LOOKS_PER_READING: u32 = 5;

/// New folders can bring new folders; after so many rounds the slow look finds the rest.
const MAX_ROUNDS: u32 = 8;

/// What a look says about the next one.
#[derive(Debug, Default)]
pub struct Next {
    /// Where changes can come from.
    pub places: Places,
    /// When to look again though nothing happens.
    pub again: Option<Duration>,
}

enum Message {
    Seen(notify::Result<Event>),
    /// Somebody else changed what is followed.
    Look,
    Stop,
}

/// A thread that looks whenever something may have changed.
#[derive(Debug)]
pub struct Watcher {
    messages: Sender<Message>,
    thread: Option<JoinHandle<()>>,
}

impl Watcher {
    /// Starts the thread. It looks once at once, and then whenever something happened to what matters.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(look: impl FnMut(Instant) -> Next + Send + 'static) -> std::io::Result<Self> {
        let (messages, inbox) = channel();
        let hints = messages.clone();
        let work = move || Watch::new(look, &inbox, hints).run();
        let thread = std::thread::Builder::new().name("loopwright-watch".to_owned()).spawn(work)?;
        Ok(Self { messages, thread: Some(thread) })
    }

    /// Asks for a look.
    pub fn look(&self) {
        // A thread that has ended looks no more.
        let _ = self.messages.send(Message::Look);
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.messages.send(Message::Stop);
        // A look that is going on takes some milliseconds. From inside of one there is nothing to wait for.
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != std::thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

/// The state of the thread.
struct Watch<'a, L> {
    look: L,
    inbox: &'a Receiver<Message>,
    signs: Signs,
    places: Places,
    /// The time of the look that was asked for in any case.
    again: Option<Instant>,
    /// What the slow look saw last.
    fingerprint: u64,
    system: Option<RecommendedWatcher>,
    /// Watched folders with what tells them from others that take their place.
    watched: HashMap<PathBuf, u64>,
}

impl<'a, L: FnMut(Instant) -> Next> Watch<'a, L> {
    fn new(look: L, inbox: &'a Receiver<Message>, hints: Sender<Message>) -> Self {
        let hint = move |event| {
            let _ = hints.send(Message::Seen(event));
        };
        Self {
            look,
            inbox,
            signs: Signs::default(),
            places: Places::default(),
            again: None,
            fingerprint: 0,
            // Without it the slow look remains.
            system: notify::recommended_watcher(hint).ok(),
            watched: HashMap::new(),
        }
    }

    fn run(mut self) {
        self.looks();
        let mut slow = Instant::now() + self.slow();
        let mut slow_looks = 0;
        loop {
            let now = Instant::now();
            let due = [self.signs.due(now), self.again, Some(slow)].into_iter().flatten().min().unwrap_or(slow);
            match self.inbox.recv_timeout(due.saturating_duration_since(now)) {
                // What has arrived meanwhile belongs to the same look.
                Ok(message) => {
                    if self.take(message) || self.drain() {
                        return;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = Instant::now();
            if now >= slow {
                slow = now + self.slow();
                slow_looks += 1;
                if slow_looks % SLOW_LOOKS_PER_READING == 0 || self.places.fingerprint() != self.fingerprint {
                    self.signs.note_unknown();
                }
            }
            let asked = self.again.is_some_and(|at| at <= now);
            if asked || self.signs.due(now).is_some_and(|at| at <= now) {
                self.looks();
            }
        }
    }

    fn drain(&mut self) -> bool {
        while let Ok(message) = self.inbox.try_recv() {
            if self.take(message) {
                return true;
            }
        }
        false
    }

    /// Takes a message; true for the last one.
    fn take(&mut self, message: Message) -> bool {
        match message {
            Message::Stop => return true,
            Message::Look => self.signs.note_unknown(),
            Message::Seen(Err(_)) => self.signs.note_unknown(),
            Message::Seen(Ok(event)) => self.note(&event),
        }
        false
    }

    fn note(&mut self, event: &Event) {
        if event.need_rescan() {
            return self.signs.note_unknown();
        }
        let Some(sign) = sign_of(event.kind) else { return };
        let now = Instant::now();
        for path in event.paths.iter().filter(|path| self.places.matter(path)) {
            if sign == Sign::Moved {
                // The system may have dropped its watch with the folder; what is there now is watched afresh.
                self.watched.remove(path);
            }
            self.signs.note(path, sign, now);
        }
    }

    /// Looks until no folder is new: what happened in it before it was watched would be missed.
    fn looks(&mut self) {
        for _ in 0..MAX_ROUNDS {
            self.signs.looked();
            let now = Instant::now();
            let next = (self.look)(now);
            self.again = next.again.map(|after| now + after);
            self.places = next.places;
            self.fingerprint = self.places.fingerprint();
            if !self.watch_folders() {
                return;
            }
        }
        self.signs.note_unknown();
    }

    /// Makes the system watch these folders and no others; whether one is new.
    fn watch_folders(&mut self) -> bool {
        let Some(system) = &mut self.system else { return false };
        let mut grown = false;
        let gone: Vec<PathBuf> =
            self.watched.keys().filter(|path| !self.places.folders().any(|kept| kept == *path)).cloned().collect();
        for path in gone {
            self.watched.remove(&path);
            let _ = system.unwatch(&path);
        }
        for folder in self.places.folders() {
            let Some(number) = number_of(folder) else { continue };
            if self.watched.get(folder) == Some(&number) {
                continue;
            }
            let _ = system.unwatch(folder);
            if system.watch(folder, RecursiveMode::NonRecursive).is_ok() {
                self.watched.insert(folder.to_owned(), number);
                grown = true;
            }
        }
        grown
    }

    fn slow(&self) -> Duration {
        let alone = self.watched.len() < self.places.folders().count();
        if alone { SLOW_LOOK_ALONE } else { SLOW_LOOK }
    }
}

fn number_of(folder: &Path) -> Option<u64> {
    std::fs::metadata(folder).ok().filter(std::fs::Metadata::is_dir).map(|meta| number(&meta))
}

/// What an event says; none for one that changes nothing, such as our own reading.
fn sign_of(kind: EventKind) -> Option<Sign> {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => Some(Sign::Closed),
        EventKind::Access(_) => None,
        EventKind::Create(CreateKind::File) | EventKind::Modify(ModifyKind::Data(_)) => Some(Sign::Written),
        EventKind::Modify(ModifyKind::Metadata(_)) => Some(Sign::Touched),
        EventKind::Create(_) | EventKind::Modify(ModifyKind::Name(_)) => Some(Sign::Moved),
        EventKind::Remove(_) => Some(Sign::Moved),
        EventKind::Any | EventKind::Modify(_) | EventKind::Other => Some(Sign::Written),
    }
}
