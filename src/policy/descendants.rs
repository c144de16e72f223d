//! A child's whole family: its process group and, on Linux, what left the group.
//!
//! A program that starts a session of its own (`setsid`) leaves the group. Two ways lead to it: the parents that
//! `/proc` names, and a mark in the environment, which children inherit. Neither holds against a program that wants to
//! hide: it can clear its environment after its parent has ended. What must be held needs a sandbox around the engine.

use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, Signal, kill_process_group};

/// The variable that marks what a step started. A nested engine adds its own mark to the one that it found.
const MARK: &str = "LOOPWRIGHT_STEP";

/// A started child and everything that comes from it. Killed when dropped, unless it was let go.
#[derive(Debug)]
pub(super) struct Family {
    leader: Option<Pid>,
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "needs /proc"))]
    mark: String,
    ended: bool,
}

/// A mark for a child that is about to start: the variable and its value, and the part that is this child's alone.
pub(super) fn new_mark() -> (&'static str, String, String) {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let own = format!("<{}.{}>", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
    let inherited = std::env::var(MARK).unwrap_or_default();
    (MARK, format!("{inherited}{own}"), own)
}

impl Family {
    /// The family of a child that leads its own process group.
    pub(super) fn new(leader: Option<u32>, mark: String) -> Self {
        let leader = leader.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Self { leader, mark, ended: false }
    }

    /// Sends a signal to all of it.
    pub(super) fn signal(&self, signal: Signal) {
        let Some(leader) = self.leader else { return };
        // First who left the group: without its parents it is harder to find.
        #[cfg(target_os = "linux")]
        linux::signal_strays(leader, &self.mark, signal);
        // An error means that nobody is left.
        let _ = kill_process_group(leader, signal);
    }

    /// The leader has ended by itself: what it left in its group ends too, and who left the group may stay.
    pub(super) fn end(&mut self) {
        self.ended = true;
        if let Some(leader) = self.leader {
            // The id stays taken as long as the group has members, so it cannot be someone else's by now; with no
            // member left there is nobody to hit in the microseconds since.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        if !self.ended {
            self.signal(Signal::KILL);
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;

    use rustix::process::{Pid, Signal, kill_process};

    /// Rounds of looking: a process may start another while we look.
    const ROUNDS: usize = 4;

    /// Signals what comes from `leader` and is not in its group.
    pub(super) fn signal_strays(leader: Pid, mark: &str, signal: Signal) {
        let mut done: Vec<i32> = Vec::new();
        for _ in 0..ROUNDS {
            let strays = strays(leader.as_raw_nonzero().get(), mark);
            let fresh: Vec<i32> = strays.into_iter().filter(|pid| !done.contains(pid)).collect();
            if fresh.is_empty() {
                return;
            }
            for pid in &fresh {
                if let Some(pid) = Pid::from_raw(*pid) {
                    let _ = kill_process(pid, signal);
                }
            }
            done.extend(fresh);
        }
    }

    struct Process {
        pid: i32,
        parent: i32,
        group: i32,
    }

    fn strays(leader: i32, mark: &str) -> Vec<i32> {
        let all = processes();
        let mut family = vec![leader];
        // Each pass adds the children of who is known; the depth of a family bounds the passes.
        loop {
            let before = family.len();
            for process in &all {
                if family.contains(&process.parent) && !family.contains(&process.pid) {
                    family.push(process.pid);
                }
            }
            if family.len() == before {
                break;
            }
        }
        let own = i32::try_from(std::process::id()).unwrap_or_default();
        all.iter()
            .filter(|process| process.group != leader && process.pid != own)
            .filter(|process| family.contains(&process.pid) || carries(process.pid, mark))
            .map(|process| process.pid)
            .collect()
    }

    fn processes() -> Vec<Process> {
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
        pids.filter_map(process).collect()
    }

    fn process(pid: i32) -> Option<Process> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may hold anything, also parentheses: state, parent and group follow the last one.
        let mut fields = stat[stat.rfind(')')? + 1..].split_ascii_whitespace().skip(1);
        Some(Process { pid, parent: fields.next()?.parse().ok()?, group: fields.next()?.parse().ok()? })
    }

    fn carries(pid: i32, mark: &str) -> bool {
        let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else { return false };
        environment.split(|byte| *byte == 0).any(|variable| {
            variable
                .strip_prefix(super::MARK.as_bytes())
                .is_some_and(|value| memchr::memmem::find(value, mark.as_bytes()).is_some())
        })
    }
}
