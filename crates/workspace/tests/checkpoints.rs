//! Checkpoints beside real git, in the states that real work trees are in.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::panic,
    reason = "a test"
)]

mod support;

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use steersman_workspace::{
    Change, CheckpointError, Checkpoints, CopyLimits, Kept, Storage, Uncovered, Workspace,
};
use support::{Place, fingerprint, git_in, try_git_in, users_state};

/// What an agent does to a tree.
fn disturb(place: &Place) {
    place.write("src/lib.rs", "changed\n");
    place.write("src/new/deep/file.rs", "new\n");
    place.write("crlf.txt", "a\nb\n");
    place.mode("script.sh", 0o644);
    place.write(".gitignore", "src/\n");
    fs::create_dir(place.path("empty new")).unwrap();
}

/// Takes a checkpoint, disturbs the tree, restores it, and compares everything.
fn check(place: &Place, checkpoints: &Checkpoints) {
    let tree = fingerprint(&place.root, &[".git"]);
    let state = users_state(&place.root);
    let taken = checkpoints.take("before").unwrap();
    assert_eq!(users_state(&place.root), state, "taking touched the user's state");
    disturb(place);
    let restored = checkpoints.restore(&taken).unwrap();
    assert!(restored.written.contains(&PathBuf::from("src/lib.rs")), "{restored:?}");
    assert_eq!(fingerprint(&place.root, &[".git"]), tree);
    assert_eq!(users_state(&place.root), state, "restoring touched the user's state");
    let again = checkpoints.restore(&taken).unwrap();
    assert_eq!((again.written.len(), again.removed.len(), again.permissions.len()), (0, 0, 0));
    let (done, said) = try_git_in(&place.root, &["fsck", "--full"]);
    assert!(done, "{said}");
}

#[test]
fn staged_unstaged_untracked_and_ignored_changes_survive() {
    let Some(place) = Place::with_git() else { return };
    place.write("staged.rs", "staged\n");
    place.git(&["add", "staged.rs"]);
    place.write("staged.rs", "staged, then changed\n");
    place.write("src/lib.rs", "one\nunstaged\n");
    place.write("untracked.txt", "untracked\n");
    place.write(".env", "SECRET=1\n");
    place.mode(".env", 0o600);
    place.write("run.log", "log\n");
    place.write("target/debug/out", "built\n");
    fs::create_dir_all(place.path("empty/folder")).unwrap();
    place.git(&["stash", "list"]);
    let checkpoints = place.checkpoints();
    assert!(matches!(checkpoints.storage(), Storage::Repository { .. }));
    check(&place, &checkpoints);
}

#[test]
fn ignored_files_are_brought_back_but_never_removed() {
    let Some(place) = Place::with_git() else { return };
    place.write(".env", "SECRET=1\n");
    place.write("target/out", "old\n");
    let checkpoints = place.checkpoints();
    let taken = checkpoints.take("").unwrap();
    place.write(".env", "SECRET=2\n");
    place.write("new.log", "new\n");
    place.write("target/out", "new\n");
    // The rules that hold are those of the checkpoint.
    fs::remove_file(place.path(".gitignore")).unwrap();
    checkpoints.restore(&taken).unwrap();
    assert_eq!(place.read(".env"), "SECRET=1\n");
    assert_eq!(place.read("new.log"), "new\n");
    assert_eq!(place.read("target/out"), "new\n");
}

#[test]
fn tracked_files_in_ignored_folders_are_covered() {
    let Some(place) = Place::with_git() else { return };
    place.write("target/kept.txt", "kept\n");
    place.git(&["add", "-f", "target/kept.txt"]);
    place.write("target/other.txt", "other\n");
    let checkpoints = place.checkpoints();
    let taken = checkpoints.take("").unwrap();
    place.write("target/kept.txt", "changed\n");
    place.write("target/other.txt", "changed\n");
    let restored = checkpoints.restore(&taken).unwrap();
    assert_eq!(restored.written, [PathBuf::from("target/kept.txt")]);
    assert_eq!(place.read("target/other.txt"), "changed\n");
}

#[test]
fn a_merge_in_progress_survives() {
    let Some(place) = Place::with_git() else { return };
    place.git(&["checkout", "-q", "-b", "other"]);
    place.write("src/lib.rs", "theirs\n");
    place.git(&["commit", "-qam", "theirs"]);
    place.git(&["checkout", "-q", "main"]);
    place.write("src/lib.rs", "ours\n");
    place.git(&["commit", "-qam", "ours"]);
    assert!(!try_git_in(&place.root, &["merge", "other"]).0);
    assert!(place.path(".git/MERGE_HEAD").exists());
    check(&place, &place.checkpoints());
    assert!(place.read("src/lib.rs").contains("<<<<<<<"));
}

#[test]
fn a_rebase_in_progress_survives() {
    let Some(place) = Place::with_git() else { return };
    place.git(&["checkout", "-q", "-b", "other"]);
    place.write("src/lib.rs", "theirs\n");
    place.git(&["commit", "-qam", "theirs"]);
    place.git(&["checkout", "-q", "main"]);
    place.write("src/lib.rs", "ours\n");
    place.git(&["commit", "-qam", "ours"]);
    assert!(!try_git_in(&place.root, &["rebase", "other"]).0);
    check(&place, &place.checkpoints());
    assert!(place.path(".git/rebase-merge").exists());
}

#[test]
fn a_submodule_and_a_nested_repository_survive() {
    let Some(place) = Place::with_git() else { return };
    let Some(other) = Place::with_git() else { return };
    let url = other.root.to_str().unwrap().to_owned();
    place.git(&["submodule", "add", "-q", &url, "module"]);
    place.git(&["commit", "-qm", "module"]);
    git_in(&place.root, &["clone", "-q", &url, "nested"]);
    let checkpoints = place.checkpoints();
    let module = users_state(&place.path("module"));
    let taken = checkpoints.take("").unwrap();
    place.write("module/src/lib.rs", "changed\n");
    place.write("nested/src/lib.rs", "changed\n");
    place.write("nested/new", "new\n");
    checkpoints.restore(&taken).unwrap();
    assert_eq!(place.read("module/src/lib.rs"), "one\ntwo\n");
    assert_eq!(place.read("nested/src/lib.rs"), "one\ntwo\n");
    assert!(!place.path("nested/new").exists());
    assert_eq!(users_state(&place.path("module")), module);
    check(&place, &checkpoints);
    // A repository made since keeps what is git's own, and the user is told.
    git_in(&place.root, &["clone", "-q", &url, "since"]);
    let restored = checkpoints.restore(&taken).unwrap();
    assert!(!place.path("since/src").exists());
    assert!(place.path("since/.git/HEAD").exists());
    assert!(restored.left.iter().any(|left| left.path == Path::new("since")), "{restored:?}");
}

#[test]
fn worktrees_shallow_and_sparse_checkouts_work() {
    let Some(place) = Place::with_git() else { return };
    place.git(&["worktree", "add", "-q", "../linked"]);
    let linked = Workspace::open(place.root.with_file_name("linked")).unwrap();
    let checkpoints = Checkpoints::open(&linked, "w", &place.private).unwrap();
    assert_eq!(checkpoints.storage().git_dir(), place.path(".git"));
    let state = users_state(linked.root());
    let taken = checkpoints.take("").unwrap();
    fs::write(linked.root().join("src/lib.rs"), "changed\n").unwrap();
    checkpoints.restore(&taken).unwrap();
    assert_eq!(users_state(linked.root()), state);

    let url = format!("file://{}", place.root.display());
    place.write("src/lib.rs", "three\n");
    place.git(&["commit", "-qam", "second"]);
    let shallow = Place::new();
    shallow.git(&["clone", "-q", "--depth", "1", &url, "."]);
    check(&shallow, &shallow.checkpoints());
    shallow.git(&["sparse-checkout", "set", "src"]);
    shallow.write("script.sh", "#!/bin/sh\n");
    shallow.write("crlf.txt", "");
    check(&shallow, &shallow.checkpoints());
}

#[test]
fn filters_and_hooks_have_no_say() {
    let Some(place) = Place::with_git() else { return };
    place.git(&["config", "core.autocrlf", "true"]);
    place.git(&["config", "filter.up.clean", "tr a-z A-Z"]);
    place.git(&["config", "filter.up.smudge", "touch ran; cat"]);
    place.write(".gitattributes", "*.txt filter=up text\n");
    let hook = "#!/bin/sh\ntouch ran\nexit 1\n";
    for name in ["pre-commit", "post-checkout", "reference-transaction"] {
        place.write(&format!(".git/hooks/{name}"), hook);
        place.mode(&format!(".git/hooks/{name}"), 0o755);
    }
    place.write("mixed.txt", "a\r\nb\nc\r\n");
    check(&place, &place.checkpoints());
    assert!(!place.path("ran").exists() && !place.path(".git/ran").exists());
}

#[test]
fn any_name_and_any_link_survive() {
    let place = Place::new();
    let outside = place.root.with_file_name("outside");
    fs::write(&outside, "outside\n").unwrap();
    place.link(outside.to_str().unwrap(), "out");
    place.link("../outside", "up");
    place.link("nowhere", "dangling");
    place.link(".", "itself");
    for name in [&b"not\xffutf8"[..], b"new\nline", b"-dash", b"git~1", b"100%25", b"a\\b", b"con "]
    {
        fs::write(place.root.join(Path::new(std::ffi::OsStr::from_bytes(name))), name).unwrap();
    }
    let odd = place.root.join(Path::new(std::ffi::OsStr::from_bytes(b"odd\xfe")));
    fs::set_permissions(place.root.join("git~1"), fs::Permissions::from_mode(0o400)).unwrap();
    fs::create_dir(&odd).unwrap();
    fs::set_permissions(&odd, fs::Permissions::from_mode(0o700)).unwrap();
    use std::os::unix::fs::PermissionsExt;
    let tree = fingerprint(&place.root, &[]);
    let checkpoints = place.checkpoints();
    let taken = checkpoints.take("odd\nlabel\0").unwrap();
    for entry in fs::read_dir(&place.root).unwrap() {
        let path = entry.unwrap().path();
        if path.symlink_metadata().unwrap().is_dir() {
            fs::remove_dir(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }
    checkpoints.restore(&taken).unwrap();
    assert_eq!(fingerprint(&place.root, &[]), tree);
    assert_eq!(fs::read_to_string(&outside).unwrap(), "outside\n");
    assert_eq!(place.checkpoints().list().unwrap(), [taken]);
}

#[test]
fn a_link_in_the_place_of_a_folder_is_not_followed() {
    let place = Place::new();
    place.write("folder/file", "inside\n");
    let checkpoints = place.checkpoints();
    let taken = checkpoints.take("").unwrap();
    let outside = place.root.with_file_name("elsewhere");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "outside\n").unwrap();
    fs::remove_dir_all(place.path("folder")).unwrap();
    place.link("../elsewhere", "folder");
    checkpoints.restore(&taken).unwrap();
    assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "outside\n");
    assert_eq!(place.read("folder/file"), "inside\n");
}

#[test]
fn files_and_folders_change_places() {
    let place = Place::new();
    place.write("a/b/c", "1");
    place.write("d", "2");
    place.link("d", "e");
    let tree = fingerprint(&place.root, &[]);
    let checkpoints = place.checkpoints();
    let taken = checkpoints.take("").unwrap();
    fs::remove_dir_all(place.path("a")).unwrap();
    place.write("a", "file now");
    fs::remove_file(place.path("d")).unwrap();
    place.write("d/x/y", "folder now");
    fs::remove_file(place.path("e")).unwrap();
    fs::create_dir(place.path("e")).unwrap();
    checkpoints.restore(&taken).unwrap();
    assert_eq!(fingerprint(&place.root, &[]), tree);
}

#[test]
fn ignored_files_in_the_way_are_not_removed() {
    let place = Place::new();
    place.write(".gitignore", "*.log\n");
    place.write("d", "file");
    place.write("other", "1");
    let checkpoints = place.checkpoints();
    let taken = checkpoints.take("").unwrap();
    fs::remove_file(place.path("d")).unwrap();
    place.write("d/x.log", "made since");
    place.write("other", "2");
    let Err(CheckpointError::Refused(refused)) = checkpoints.restore(&taken) else {
        panic!("it was not refused");
    };
    assert_eq!(refused[0].path, Path::new("d"));
    assert_eq!(place.read("other"), "2", "something was touched");
}

#[test]
fn what_is_not_covered_is_named_and_left_alone() {
    let place = Place::new();
    place.write("large", vec![b'x'; 2000]);
    place.write("small", "1");
    rustix::fs::mkfifoat(rustix::fs::CWD, place.path("pipe"), 0o644.into()).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(place.path("socket")).unwrap();
    let mut checkpoints = place.checkpoints();
    let mut limits = steersman_workspace::CheckpointLimits::default();
    limits.max_file_bytes = 1000;
    checkpoints.set_limits(limits);
    let taken = checkpoints.take("").unwrap();
    let why: Vec<_> = taken.skipped.iter().map(|skipped| skipped.why).collect();
    assert_eq!(why, [Uncovered::TooLarge, Uncovered::Special, Uncovered::Special]);
    place.write("large", vec![b'y'; 3000]);
    place.write("small", "2");
    place.write("large since", vec![b'z'; 3000]);
    let restored = checkpoints.restore(&taken).unwrap();
    assert_eq!(restored.left.len(), 3);
    assert_eq!(place.read("large"), "y".repeat(3000));
    assert!(place.path("pipe").exists());
    assert_eq!(place.read("small"), "1");
    assert!(!place.path("large since").exists());
}

#[test]
fn a_bare_or_broken_repository_is_left_alone() {
    let Some(place) = Place::with_git() else { return };
    let bare = place.root.with_file_name("bare");
    git_in(&place.root, &["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let before = fingerprint(&bare, &[]);
    let workspace = Workspace::open(&bare).unwrap();
    let checkpoints = Checkpoints::open(&workspace, "b", &place.private).unwrap();
    assert!(matches!(checkpoints.storage(), Storage::Private { .. }));
    let taken = checkpoints.take("").unwrap();
    fs::remove_file(bare.join("HEAD")).unwrap();
    checkpoints.restore(&taken).unwrap();
    assert_eq!(fingerprint(&bare, &[]), before);

    place.write(".git/config", "this is no config [");
    let checkpoints = place.checkpoints();
    assert!(matches!(checkpoints.storage(), Storage::Private { .. }));
    let taken = checkpoints.take("").unwrap();
    disturb(&place);
    checkpoints.restore(&taken).unwrap();
    assert_eq!(place.read("src/lib.rs"), "one\ntwo\n");
}

#[test]
fn a_folder_inside_a_repository_has_its_rules() {
    let Some(place) = Place::with_git() else { return };
    place.write("inner/file", "1");
    place.write("inner/x.log", "log");
    place.write("inner/target/out", "2");
    place.write(".git/info/exclude", "/inner/excluded\n");
    place.write("inner/excluded/x", "3");
    let inner = Workspace::open(place.path("inner")).unwrap();
    let checkpoints = Checkpoints::open(&inner, "i", &place.private).unwrap();
    assert!(matches!(checkpoints.storage(), Storage::Repository { .. }));
    let taken = checkpoints.take("").unwrap();
    // `/target/` is a rule for the repository's own; the log is ignored, and small.
    assert_eq!(taken.files, 3);
    place.write("inner/excluded/y", "4");
    place.write("inner/since", "5");
    place.write("beside", "6");
    let restored = checkpoints.restore(&taken).unwrap();
    assert_eq!(restored.removed, [PathBuf::from("since")]);
    assert!(place.path("inner/excluded/y").exists() && place.path("beside").exists());
    // A folder that the repository ignores is no part of it.
    place.write("target/work/file", "1");
    let ignored = Workspace::open(place.path("target/work")).unwrap();
    let checkpoints = Checkpoints::open(&ignored, "t", &place.private).unwrap();
    assert!(matches!(checkpoints.storage(), Storage::Private { .. }));
    assert_eq!(checkpoints.take("").unwrap().files, 1);
}

#[test]
fn differences_are_kept_and_sessions_forgotten() {
    let Some(place) = Place::with_git() else { return };
    let checkpoints = place.checkpoints();
    let a = checkpoints.take("a").unwrap();
    place.write("src/lib.rs", "one\n2\n");
    place.write("new", "new\n");
    fs::remove_file(place.path("crlf.txt")).unwrap();
    let b = checkpoints.take("b").unwrap();
    assert_eq!((a.number, b.number), (1, 2));
    let patch = checkpoints.diff(&a, &b, 100_000).unwrap();
    let files = [
        (PathBuf::from("crlf.txt"), Change::Removed),
        (PathBuf::from("new"), Change::Added),
        (PathBuf::from("src/lib.rs"), Change::Modified),
    ];
    assert_eq!((patch.files.as_slice(), patch.insertions, patch.deletions), (&files[..], 2, 3));
    let kept = checkpoints.keep("attempt-1", Kept::Patch(&patch)).unwrap();
    checkpoints.keep("best", Kept::Checkpoint(&b)).unwrap();
    checkpoints.restore(&a).unwrap();
    let text = place.git(&["cat-file", "-p", &kept]);
    let file = place.private.with_extension("patch");
    fs::write(&file, text).unwrap();
    place.git(&["apply", file.to_str().unwrap()]);
    assert_eq!(place.read("src/lib.rs"), "one\n2\n");
    let cut = checkpoints.diff(&a, &b, 60).unwrap();
    assert!(cut.cut && cut.text.ends_with("[the patch is longer than this]\n"), "{}", cut.text);
    assert_eq!(checkpoints.list().unwrap(), [a, b]);
    assert_eq!(checkpoints.forget().unwrap(), 4);
    assert_eq!(checkpoints.list().unwrap(), []);
    assert_eq!(place.git(&["for-each-ref", "refs/steersman"]), "");
    assert!(matches!(
        Checkpoints::open(&place.workspace(), "../x", &place.private),
        Err(CheckpointError::BadName { .. })
    ));
}

#[test]
fn objects_that_were_collected_are_written_again() {
    let Some(place) = Place::with_git() else { return };
    place.write("untracked", "1");
    let checkpoints = place.checkpoints();
    checkpoints.take("").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(120));
    checkpoints.take("").unwrap();
    place.git(&["update-ref", "-d", "refs/steersman/s1/1"]);
    place.git(&["update-ref", "-d", "refs/steersman/s1/2"]);
    place.git(&["gc", "-q", "--prune=now"]);
    let taken = checkpoints.take("").unwrap();
    place.git(&["fsck", "--full"]);
    place.write("untracked", "2");
    place.checkpoints().restore(&taken).unwrap();
    assert_eq!(place.read("untracked"), "1");
    place.git(&["update-ref", "-d", "refs/steersman/s1/1"]);
    place.git(&["gc", "-q", "--prune=now"]);
    let checkpoints = place.checkpoints();
    assert!(matches!(checkpoints.restore(&taken), Err(CheckpointError::Unknown { .. })));
}

#[test]
fn a_copy_goes_its_own_way_and_comes_back() {
    let Some(place) = Place::with_git() else { return };
    place.write("target/out", "built\n");
    place.link("out", "target/link");
    place.write("big.log", vec![0_u8; 2 << 20]);
    let checkpoints = place.checkpoints();
    let taken = checkpoints.take("").unwrap();
    let folder = place.root.with_file_name("attempt");
    let copied = checkpoints.copy_to(&taken, &folder, CopyLimits::default()).unwrap();
    assert_eq!((copied.ignored_files, copied.left_out.len()), (3, 0));
    assert_eq!(fingerprint(&folder, &[]), fingerprint(&place.root, &[".git"]));
    let copy = Workspace::open(&folder).unwrap();
    let beside = checkpoints.beside(&copy, "a").unwrap();
    fs::write(folder.join("src/lib.rs"), "better\n").unwrap();
    fs::write(folder.join("x.log"), "ignored\n").unwrap();
    let better = beside.take("better").unwrap();
    let restored = checkpoints.restore(&better).unwrap();
    assert!(restored.written.contains(&PathBuf::from("src/lib.rs")));
    assert_eq!(place.read("src/lib.rs"), "better\n");
    assert_eq!(checkpoints.list().unwrap(), std::slice::from_ref(&taken));
    let full = checkpoints.copy_to(&taken, &folder, CopyLimits::default());
    assert!(matches!(full, Err(CheckpointError::NotEmpty { .. })));
    assert_eq!(checkpoints.forget().unwrap(), 2);
}

#[test]
fn what_a_killed_process_left_behind_is_not_in_the_way() {
    for with_git in [true, false] {
        let place = if with_git { Place::with_git() } else { Some(Place::new()) };
        let Some(place) = place else { continue };
        let checkpoints = place.checkpoints();
        let git_dir = checkpoints.storage().git_dir().to_owned();
        let first = checkpoints.take("first").unwrap();
        let kept = checkpoints.keep("best", Kept::Checkpoint(&first)).unwrap();
        let refs = git_dir.join(&kept).parent().unwrap().parent().unwrap().to_owned();
        let left = [refs.join("2.lock"), git_dir.join(format!("{kept}.lock"))];
        for lock in &left {
            fs::write(lock, "").unwrap();
        }
        place.write("src/lib.rs", "changed\n");
        let second = checkpoints.take("second").unwrap();
        assert_eq!(checkpoints.keep("best", Kept::Checkpoint(&second)).unwrap(), kept);
        assert_eq!(checkpoints.list().unwrap(), [first, second]);
        assert!(left.iter().all(|lock| !lock.exists()), "{left:?}");
    }
    // A store that was being made.
    let place = Place::new();
    fs::create_dir_all(place.private.join("checkpoints.git/objects")).unwrap();
    place.checkpoints().take("").unwrap();
}

#[test]
fn permissions_bind_when_not_root() {
    let Some(place) = Place::with_git() else { return };
    if rustix::process::geteuid().is_root() {
        as_nobody("permissions_bind_when_not_root");
        return;
    }
    place.write("secret", "secret\n");
    place.mode("secret", 0);
    place.write("closed/file", "closed\n");
    place.mode("closed", 0);
    place.write("locked/file", "1\n");
    place.write("open/file", "open\n");
    place.mode("locked", 0o500);
    let checkpoints = place.checkpoints();
    let taken = checkpoints.take("").unwrap();
    let skipped: Vec<_> =
        taken.skipped.iter().map(|skipped| (&*skipped.path, skipped.why)).collect();
    assert_eq!(
        skipped,
        [
            (Path::new("closed"), Uncovered::Unreadable),
            (Path::new("secret"), Uncovered::Unreadable)
        ]
    );
    // A folder that may not be written is opened up, a folder that was shut is opened again.
    place.write("locked/file", "2\n");
    place.mode("locked", 0o700);
    place.write("locked/since", "\n");
    place.mode("locked", 0o500);
    place.mode("open", 0);
    place.write("src/lib.rs", "changed\n");
    place.mode("src/lib.rs", 0);
    let tree_of = |root: &Path| fingerprint(root, &[".git", "secret", "closed"]);
    checkpoints.restore(&taken).unwrap();
    let tree = tree_of(&place.root);
    assert_eq!(tree[Path::new("locked/file")].1, b"1\n");
    assert_eq!(tree[Path::new("locked")].0 & 0o777, 0o500);
    assert!(!place.path("locked/since").exists());
    assert_eq!(place.read("open/file"), "open\n");
    assert_eq!(place.read("src/lib.rs"), "one\ntwo\n");
    for path in ["secret", "closed", "locked"] {
        place.mode(path, 0o700);
    }
}

/// Runs a test of this program once more, as a user whom permissions bind.
fn as_nobody(test: &str) {
    let folder = tempfile::tempdir().unwrap();
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let program = folder.path().join("test");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let output = std::process::Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&program)
        .args(["--exact", test, "--nocapture"])
        .current_dir(folder.path())
        .env("TMPDIR", folder.path())
        .env("HOME", folder.path())
        .output();
    match output {
        Err(_) => eprintln!("skipped: this is root, and there is no setpriv to be someone else"),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && text.contains("1 passed"), "{text}{errors}");
        }
    }
}
