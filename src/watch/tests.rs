//! Following real files: looks at every state that editors and other programs leave, and the thread that is told of them.

use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use super::follow::steady;
use super::judge::SETTLE;
use super::scan::Scan;
use super::*;
use crate::event::ReloadStatus;
use crate::load::Library;

const LOOP: &str = "\
name: work
description: Answers.
extends: preset/calm
prompt: { instruction: { file: prompts/work.md.j2 } }
tools: [shout]
";

const FILES: [(&str, &str); 5] = [
    ("loopwright.yaml", "kind: workspace\n"),
    ("loops/work.yaml", LOOP),
    ("loops/calm.yaml", "kind: preset\nname: calm\ndescription: Little.\nlimits: { max_iterations: 4 }\n"),
    (
        "loops/shout.yaml",
        "kind: tool\nname: shout\ndescription: Shouts.\nparams: { type: object, properties: { text: { type: string } } }\n\
         do: [{ result: \"{{ params.text | upper }}\" }]\n",
    ),
    ("prompts/work.md.j2", "Answer.\n{% include \"prompts/tone.md.j2\" %}\n"),
];

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        FILES.iter().for_each(|(name, text)| folder.write(name, text));
        folder.write("prompts/tone.md.j2", "Be kind.\n");
        folder
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        std::fs::write(self.path(name), text).unwrap();
    }

    fn library(&self) -> Library {
        Library::open(self.0.path()).0
    }

    fn follower(&self) -> Follower {
        Follower::in_use(&self.library(), "work")
    }
}

/// A look by somebody who waits for nothing: what became of the change and which files it names.
fn look(follower: &mut Follower) -> Option<(ReloadStatus, Vec<String>)> {
    let look = follower.look(Instant::now(), Patience::None, |_, _| Ok(()));
    look.change.map(|change| {
        let names = change.files.iter().map(|file| Path::new(file).file_name().unwrap().to_string_lossy().into_owned());
        (change.status, names.collect())
    })
}

fn applied(files: &[&str]) -> Option<(ReloadStatus, Vec<String>)> {
    Some((ReloadStatus::Applied, files.iter().map(|file| (*file).to_owned()).collect()))
}

fn refused(files: &[&str]) -> Option<(ReloadStatus, Vec<String>)> {
    applied(files).map(|(_, files)| (ReloadStatus::Refused, files))
}

#[test]
fn every_file_that_the_loop_uses_makes_a_version_and_no_other_does() {
    let folder = Folder::new();
    let mut follower = folder.follower();
    assert_eq!(look(&mut follower), None, "nothing was saved");
    for (file, text) in FILES.iter().skip(1).chain(&[("prompts/tone.md.j2", "Be brief.\n")]) {
        folder.write(file, &format!("{text}\n"));
        let name = Path::new(file).file_name().unwrap().to_str().unwrap();
        assert_eq!(look(&mut follower), applied(&[name]));
        assert_eq!(look(&mut follower), None, "{file} is applied once");
    }
    folder.write("loops/other.yaml", "name: other\ndescription: x\nprompt: { instruction: [");
    folder.write("prompts/unused.md.j2", "{{ broken");
    assert_eq!(look(&mut follower), None, "a file that the loop does not use is none of its business");
}

#[test]
fn a_mistake_in_any_file_is_refused_once_and_recovers() {
    let folder = Folder::new();
    let mut follower = folder.follower();
    let broken = [
        ("loops/work.yaml", "name: work\nprompt: { instruction: [\n"),
        ("loops/work.yaml", "name: renamed\ndescription: x\nprompt: { instruction: x }\n"),
        ("loops/calm.yaml", "kind: preset\nname: calm\nlimits: { max_iterations: -1 }\n"),
        ("loops/shout.yaml", "kind: tool\nname: [\n"),
        ("prompts/work.md.j2", "{{ nobody_knows }}"),
        ("prompts/tone.md.j2", "{% if %}"),
        ("loopwright.yaml", "kind: workspace\nvers: {}\n"),
    ];
    for (file, text) in broken {
        let name = Path::new(file).file_name().unwrap().to_str().unwrap();
        let good = std::fs::read_to_string(folder.path(file)).unwrap();
        folder.write(file, text);
        assert_eq!(look(&mut follower), refused(&[name]), "{file}: {text}");
        assert_eq!(look(&mut follower), None, "told once");
        folder.write(file, &good);
        assert_eq!(look(&mut follower).map(|(status, _)| status), Some(ReloadStatus::Restored), "{file}");
    }
    folder.write("prompts/tone.md.j2", "{% if %}");
    assert_eq!(look(&mut follower), refused(&["tone.md.j2"]));
    folder.write("prompts/tone.md.j2", "Be brief.\n");
    assert_eq!(look(&mut follower), applied(&["tone.md.j2"]), "mended into something new");
}

#[test]
fn a_deleted_file_is_refused_also_where_the_program_has_one_of_its_name() {
    let folder = Folder::new();
    let text = crate::load::shipped("loops/default.yaml").unwrap();
    folder.write("loops/default.yaml", text);
    let mut follower = Follower::in_use(&folder.library(), "default");
    std::fs::remove_file(folder.path("loops/default.yaml")).unwrap();
    assert_eq!(look(&mut follower).map(|(status, _)| status), Some(ReloadStatus::Refused));
    folder.write("loops/default.yaml", text);
    assert_eq!(look(&mut follower).map(|(status, _)| status), Some(ReloadStatus::Restored));
    std::fs::remove_file(folder.path("loopwright.yaml")).unwrap();
    assert_eq!(look(&mut follower).map(|(status, _)| status), Some(ReloadStatus::Refused), "its policy would be gone");
}

#[test]
fn a_half_written_file_is_never_offered() {
    let folder = Folder::new();
    let mut follower = folder.follower();
    let start = Instant::now();
    let at = |follower: &mut Follower, ms: u64| {
        let look = follower.look(start + Duration::from_millis(ms), Patience::Settle, |_, _| Ok(()));
        (look.change.map(|change| change.status), look.again)
    };
    folder.write("prompts/work.md.j2", "");
    assert_eq!(at(&mut follower, 0), (None, Some(SETTLE)), "empty: most likely being written");
    folder.write("prompts/work.md.j2", "Answer {{ in");
    assert_eq!(at(&mut follower, 20), (None, Some(SETTLE)));
    folder.write("prompts/work.md.j2", "Answer {{ input }}.\n");
    assert_eq!(at(&mut follower, 30), (Some(ReloadStatus::Applied), None), "whole: at once");
    std::fs::remove_file(folder.path("loops/work.yaml")).unwrap();
    assert_eq!(at(&mut follower, 40), (None, Some(SETTLE)));
    folder.write("loops/work.yaml", LOOP);
    assert_eq!(at(&mut follower, 50), (None, None), "deleted and made again is no change");
    folder.write("loops/work.yaml", "name: work\nprompt: [\n");
    assert_eq!(at(&mut follower, 60), (None, Some(SETTLE)));
    assert_eq!(at(&mut follower, 160), (Some(ReloadStatus::Refused), None), "it stays broken");
}

#[test]
fn a_loop_whose_document_is_gone_is_still_named() {
    let folder = Folder::new();
    for target in [Target::Name("work".to_owned()), Target::File(folder.path("loops/work.yaml"))] {
        let mut follower = Follower::new(folder.library(), target);
        assert_eq!(look(&mut follower).map(|(status, _)| status), Some(ReloadStatus::Loaded));
        std::fs::remove_file(folder.path("loops/work.yaml")).unwrap();
        let change = follower.look(Instant::now(), Patience::None, |_, _| Ok(())).change.unwrap();
        assert_eq!((change.status, change.name.as_deref()), (ReloadStatus::Refused, Some("work")));
        folder.write("loops/work.yaml", LOOP);
    }
}

#[test]
fn a_reading_that_falls_into_the_middle_of_a_change_is_not_used() {
    let folder = Folder::new();
    let library = folder.library();
    let follower = folder.follower();
    let (target, in_force) = (Target::Name("work".to_owned()), follower.contents().version());
    let saves =
        [("prompts/tone.md.j2", "Be brief.\n"), ("prompts/work.md.j2", "{% include \"prompts/tone.md.j2\" %}\n")];
    // The first reading sees one of two files that belong together, and the other only after it was read.
    folder.write(saves[1].0, saves[1].1);
    let mut readings = 0;
    let scan = steady(&in_force, |last| {
        let newest = last.map_or(&library, |scan| &scan.library);
        let scan = Scan::fresh(newest, &library, &target, follower.contents());
        if readings == 0 {
            folder.write(saves[0].0, saves[0].1);
        }
        readings += 1;
        scan
    });
    assert_eq!(readings, 3, "two readings agree");
    assert_eq!(scan.contents.version().to_string(), version_of(&folder), "both files are of the same moment");

    // Files that never come to rest are judged as they were read last, and a reading of what is in force is enough.
    let mut readings = 0;
    let restless = |_: Option<&Scan>| {
        readings += 1;
        folder.write("prompts/tone.md.j2", &format!("Be {readings}.\n"));
        Scan::fresh(&library, &library, &target, follower.contents())
    };
    let last = steady(&in_force, restless).contents.version().to_string();
    assert_eq!((readings, last), (5, version_of(&folder)));
    let mut readings = 0;
    steady(&scan.contents.version(), |_| {
        readings += 1;
        saves.iter().for_each(|(file, text)| folder.write(file, text));
        Scan::fresh(&library, &library, &target, follower.contents())
    });
    assert_eq!(readings, 1);
}

/// A watching thread over a folder, and what it reports.
struct Watched {
    changes: Receiver<(ReloadStatus, String)>,
    /// One message for each look that has ended.
    looks: Receiver<()>,
    watcher: Watcher,
}

impl Watched {
    fn new(mut follower: Follower) -> Self {
        let (send, changes) = channel();
        let (ready, is_ready) = channel();
        let watcher = Watcher::start(move |now| {
            let look = follower.look(now, Patience::Settle, |_, _| Ok(()));
            if let Some(change) = look.change {
                let _ = send.send((change.status, change.after.to_string()));
            }
            let _ = ready.send(());
            Next { places: look.places, again: look.again }
        });
        let watched = Self { changes, looks: is_ready, watcher: watcher.unwrap() };
        // The second look comes when all folders are watched.
        watched.looked();
        watched.looked();
        watched
    }

    /// Waits until a look has ended.
    fn looked(&self) {
        self.looks.recv_timeout(Duration::from_secs(60)).unwrap();
    }

    /// Waits until the newest version that was applied is this one; gives everything that was told until then.
    fn until(&self, version: &str) -> Vec<(ReloadStatus, String)> {
        let mut told = Vec::new();
        while !told.iter().any(|(_, after)| after == version) {
            told.push(
                self.changes.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("not seen: {told:?}")),
            );
        }
        told
    }

    fn is_silent(&self) {
        self.looks.try_iter().for_each(drop);
        // One look may be going on; the next one began after it was asked for.
        for _ in 0..2 {
            self.watcher.look();
            self.looked();
        }
        assert_eq!(self.changes.try_recv().ok(), None);
    }
}

fn version_of(folder: &Folder) -> String {
    folder.follower().contents().version().to_string()
}

#[test]
fn the_thread_sees_every_way_to_save() {
    let folder = Folder::new();
    let watched = Watched::new(folder.follower());
    let prompt = folder.path("prompts/work.md.j2");
    let once = |told: Vec<(ReloadStatus, String)>, what: &str| {
        assert_eq!(told.len(), 1, "{what}: {told:?}");
        assert_eq!(told[0].0, ReloadStatus::Applied, "{what}");
    };

    folder.write("prompts/new.tmp", "Answer quickly.\n");
    std::fs::rename(folder.path("prompts/new.tmp"), &prompt).unwrap();
    once(watched.until(&version_of(&folder)), "a new file moved into place");

    std::fs::rename(&prompt, folder.path("prompts/work.md.j2~")).unwrap();
    folder.write("prompts/work.md.j2", "Answer slowly.\n");
    once(watched.until(&version_of(&folder)), "the old one moved away, as vim does");

    std::fs::remove_file(&prompt).unwrap();
    folder.write("prompts/work.md.j2", "Answer well.\n");
    once(watched.until(&version_of(&folder)), "deleted and made again");

    let mut file = std::fs::File::create(&prompt).unwrap();
    std::io::Write::write_all(&mut file, b"Answer ").unwrap();
    std::io::Write::flush(&mut file).unwrap();
    std::io::Write::write_all(&mut file, b"{{ input }}\n").unwrap();
    drop(file);
    once(watched.until(&version_of(&folder)), "emptied and written in two steps");

    std::fs::remove_dir_all(folder.path("prompts")).unwrap();
    folder.write("prompts/work.md.j2", "Answer from a new folder.\n");
    once(watched.until(&version_of(&folder)), "the folder deleted and made again");
    folder.write("prompts/work.md.j2", "Answer from the new folder again.\n");
    once(watched.until(&version_of(&folder)), "the new folder is watched");

    folder.write("loops/deep/down/shout.yaml", &FILES[3].1.replace("Shouts", "Shouts loudly"));
    std::fs::remove_file(folder.path("loops/shout.yaml")).unwrap();
    watched.until(&version_of(&folder));
    folder.write("loops/deep/down/shout.yaml", &FILES[3].1.replace("Shouts", "Whispers"));
    once(watched.until(&version_of(&folder)), "a document in a folder that came later");
    watched.is_silent();
}

#[test]
fn a_hundred_saves_end_with_the_last_and_none_is_told_twice() {
    let folder = Folder::new();
    let watched = Watched::new(folder.follower());
    for n in 0..100 {
        folder.write("prompts/work.md.j2", &format!("Answer {n}.\n"));
    }
    let told = watched.until(&version_of(&folder));
    assert!(told.iter().all(|(status, _)| *status == ReloadStatus::Applied), "{told:?}");
    let mut versions: Vec<&String> = told.iter().map(|(_, version)| version).collect();
    versions.sort();
    versions.dedup();
    assert_eq!(versions.len(), told.len(), "a version was told twice: {told:?}");
    watched.is_silent();
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_swapped_by_its_link_is_one_change() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    // As Kubernetes mounts a ConfigMap: file → ..data/file, ..data → the folder of one version.
    for (version, text) in [("..v1", "Answer from one.\n"), ("..v2", "Answer from two.\n")] {
        folder.write(&format!("prompts/{version}/work.md.j2"), text);
    }
    symlink("..v1", folder.path("prompts/..data")).unwrap();
    std::fs::remove_file(folder.path("prompts/work.md.j2")).unwrap();
    symlink("..data/work.md.j2", folder.path("prompts/work.md.j2")).unwrap();
    let watched = Watched::new(folder.follower());
    symlink("..v2", folder.path("prompts/..new")).unwrap();
    std::fs::rename(folder.path("prompts/..new"), folder.path("prompts/..data")).unwrap();
    std::fs::remove_dir_all(folder.path("prompts/..v1")).unwrap();
    let told = watched.until(&version_of(&folder));
    assert_eq!(told.len(), 1, "{told:?}");
    watched.is_silent();
}

#[test]
fn nothing_is_left_of_a_watcher_that_is_dropped() {
    let folder = Folder::new();
    let mut follower = folder.follower();
    let alive = std::sync::Arc::new(());
    let held = std::sync::Arc::clone(&alive);
    let watcher = Watcher::start(move |now| {
        let _held = &held;
        let look = follower.look(now, Patience::Settle, |_, _| Ok(()));
        Next { places: look.places, again: look.again }
    });
    drop(watcher.unwrap());
    assert_eq!(std::sync::Arc::strong_count(&alive), 1, "the thread has ended, and what it held is gone");
}
