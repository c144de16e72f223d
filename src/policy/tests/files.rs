//! Paths inside and outside the roots.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::policy::Access;

/// A workspace `w` with a file, beside a folder `outside` with a secret.
fn workspace() -> (tempfile::TempDir, Access) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("w/sub")).unwrap();
    std::fs::create_dir(dir.path().join("outside")).unwrap();
    std::fs::write(dir.path().join("w/sub/a.txt"), "inside").unwrap();
    std::fs::write(dir.path().join("outside/secret"), "secret").unwrap();
    let access = Access::new(&dir.path().join("w"), &[".".into()], Vec::new());
    (dir, access)
}

fn read(access: &Access, path: &str) -> Result<String, String> {
    let inside = access.resolve(path).map_err(|e| e.to_string())?;
    access.read(&inside, 1000).map(|c| String::from_utf8(c.bytes).unwrap()).map_err(|e| e.to_string())
}

fn write(access: &Access, path: &str, text: &str) -> Result<String, String> {
    let inside = access.resolve(path).map_err(|e| e.to_string())?;
    access.write(&inside, text.as_bytes()).map(|()| inside.shown().to_owned()).map_err(|e| e.to_string())
}

#[test]
fn files_inside_are_read_however_they_are_named() {
    let (dir, access) = workspace();
    let absolute = dir.path().join("w/sub/a.txt");
    for path in ["sub/a.txt", "./sub/./a.txt", absolute.to_str().unwrap()] {
        assert_eq!(read(&access, path).as_deref(), Ok("inside"), "{path}");
    }
    symlink("sub/a.txt", dir.path().join("w/link")).unwrap();
    symlink(dir.path().join("w/sub"), dir.path().join("w/folder")).unwrap();
    assert_eq!(read(&access, "link").as_deref(), Ok("inside"));
    assert_eq!(read(&access, "folder/a.txt").as_deref(), Ok("inside"));
    assert_eq!(access.resolve("folder/a.txt").unwrap().shown(), "sub/a.txt");
}

#[test]
fn nothing_outside_is_read_or_written() {
    let (dir, access) = workspace();
    let w = dir.path().join("w");
    symlink("../outside/secret", w.join("loot")).unwrap();
    symlink(dir.path().join("outside"), w.join("dir")).unwrap();
    symlink("/", w.join("root")).unwrap();
    symlink("nowhere", w.join("dangling")).unwrap();
    symlink("../outside/new", w.join("escape")).unwrap();
    for path in [
        "../outside/secret",
        "sub/../../outside/secret",
        dir.path().join("outside/secret").to_str().unwrap(),
        "/etc/hostname",
        "loot",
        "dir/secret",
        "root/etc/hostname",
        "dangling",
        "escape",
        "dir/new/file",
        "sub",
        ".",
        "",
        "a\0b",
    ] {
        let result = read(&access, path);
        assert!(result.is_err(), "read {path}: {result:?}");
        let result = write(&access, path, "x");
        assert!(result.is_err(), "wrote {path}: {result:?}");
    }
    assert_eq!(std::fs::read_to_string(dir.path().join("outside/secret")).unwrap(), "secret");
    assert_eq!(std::fs::read_dir(dir.path().join("outside")).unwrap().count(), 1);
    let words = read(&access, "/etc/hostname").unwrap_err();
    assert!(words.contains("/etc/hostname") && words.contains("paths.roots"), "{words}");
}

#[test]
fn other_roots_are_open_by_absolute_path_and_the_workspace_is_closed_unless_named() {
    let (dir, _) = workspace();
    let access = Access::new(&dir.path().join("w"), &["sub".into(), dir.path().join("outside")], Vec::new());
    assert_eq!(read(&access, "sub/a.txt").as_deref(), Ok("inside"));
    assert_eq!(read(&access, dir.path().join("outside/secret").to_str().unwrap()).as_deref(), Ok("secret"));
    assert!(write(&access, "top.txt", "x").is_err());
}

#[test]
fn a_write_makes_folders_keeps_the_mode_and_leaves_no_temporary() {
    let (dir, access) = workspace();
    assert_eq!(write(&access, "x/y/z.txt", "one").as_deref(), Ok("x/y/z.txt"));
    let path = dir.path().join("w/x/y/z.txt");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o750)).unwrap();
    write(&access, "x/y/z.txt", "two").unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o750);
    assert_eq!(std::fs::read_dir(dir.path().join("w/x/y")).unwrap().count(), 1);
    // A link to a file inside stays a link.
    symlink("x/y/z.txt", dir.path().join("w/link")).unwrap();
    write(&access, "link", "three").unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "three");
    assert!(dir.path().join("w/link").is_symlink());
}

#[test]
fn a_write_that_fails_leaves_what_was_there() {
    // /dev/full is Linux's disk that is always full.
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    drop(full);
    let (_dir, access) = workspace();
    let device = Access::new(Path::new("/dev"), &[".".into()], Vec::new());
    let words = write(&device, "full", "x").unwrap_err();
    assert!(words.contains("a device"), "{words}");
    let words = write(&access, "sub/a.txt/b", "x").unwrap_err();
    assert!(words.contains("Not a directory"), "{words}");
    assert_eq!(read(&access, "sub/a.txt").as_deref(), Ok("inside"));
}

#[test]
fn a_pipe_is_refused_and_not_waited_for() {
    let (dir, access) = workspace();
    let made = std::process::Command::new("mkfifo").arg(dir.path().join("w/pipe")).status();
    if !made.is_ok_and(|status| status.success()) {
        return;
    }
    assert_eq!(read(&access, "pipe").unwrap_err(), "`pipe` is a pipe, not a file");
}

#[test]
fn a_long_file_is_read_up_to_the_limit() {
    let (_dir, access) = workspace();
    let inside = access.resolve("sub/a.txt").unwrap();
    let contents = access.read(&inside, 3).unwrap();
    assert_eq!((contents.bytes.as_slice(), contents.more), (b"ins".as_slice(), true));
    assert!(!access.read(&inside, 6).unwrap().more);
    access.append(&inside, b"!").unwrap();
    assert_eq!(read(&access, "sub/a.txt").as_deref(), Ok("inside!"));
}

/// A link that is swapped while files are read: no read may ever give what lies outside.
#[test]
fn a_swapped_link_gives_nothing_from_outside() {
    let (dir, access) = workspace();
    let (victim, spare) = (dir.path().join("w/victim"), dir.path().join("w/spare"));
    // The file can be read at all: on a crowded machine the swaps below may leave no gap for it.
    std::fs::write(&victim, "inside").unwrap();
    assert_eq!(read(&access, "victim").as_deref(), Ok("inside"));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let _ = symlink("../outside/secret", &spare);
                let _ = std::fs::rename(&spare, &victim);
                let _ = std::fs::write(&spare, "inside");
                let _ = std::fs::rename(&spare, &victim);
            }
        });
        for _ in 0..10_000 {
            if let Ok(text) = read(&access, "victim") {
                assert_ne!(text, "secret");
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
}
