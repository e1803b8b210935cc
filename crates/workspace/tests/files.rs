//! Files: every path stays inside, and answers tell a model what to do next.

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
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use proptest::prelude::*;
use steersman_workspace::{
    EditFile, ListFiles, ReadFile, SearchFiles, Workspace, WorkspaceError, WriteFile,
};
use support::Place;

fn read(path: &str) -> ReadFile {
    ReadFile { path: path.into(), first_line: None, lines: None, numbered: false }
}

fn write(path: &str) -> WriteFile {
    WriteFile { path: path.into(), content: "written\n".into() }
}

fn edit(path: &str, old: &str, new: &str) -> EditFile {
    EditFile { path: path.into(), old: old.into(), new: new.into(), replace_all: false }
}

fn search(value: serde_json::Value) -> SearchFiles {
    serde_json::from_value(value).unwrap()
}

/// A tree with links of every kind, and a file outside.
fn tangled() -> Place {
    let place = Place::new();
    place.write("file", "inside\n");
    place.write("folder/file", "deeper\n");
    fs::write(place.root.with_file_name("secret"), "secret\n").unwrap();
    fs::create_dir(place.root.with_file_name("tree2")).unwrap();
    fs::write(place.root.with_file_name("tree2").join("file"), "secret\n").unwrap();
    place.link("../secret", "out");
    place.link(place.root.with_file_name("secret").to_str().unwrap(), "absolute out");
    place.link("..", "folder/up");
    place.link("../..", "folder/out");
    place.link("folder", "inner");
    place.link(place.path("folder").to_str().unwrap(), "absolute inner");
    place.link("loop", "loop");
    place.link("nowhere/x", "dangling");
    place.link("made later", "dangling in");
    place.link("../tree/file", "out and in");
    place.write(".git/config", "config\n");
    place
}

#[test]
fn paths_stay_inside() {
    let place = tangled();
    let root = place.root.to_str().unwrap();
    let long = "x/".repeat(3000);
    let name = "x".repeat(300);
    let beside = format!("{root}2/file");
    let absolute = format!("{root}/file");
    let up = format!("{root}/../secret");
    let cases: &[(&str, &str)] = &[
        ("file", "inside"),
        ("./folder/../file", "inside"),
        ("folder//file", "deeper"),
        (&absolute, "inside"),
        ("inner/file", "deeper"),
        ("absolute inner/file", "deeper"),
        ("folder/up/file", "inside"),
        ("inner/../file", "inside"),
        ("../secret", "`../secret` is outside the workspace"),
        ("..", "`..` is outside the workspace"),
        ("folder/../../secret", "is outside the workspace"),
        ("/etc/passwd", "`/etc/passwd` is outside the workspace"),
        (&beside, "is outside the workspace"),
        (&up, "is outside the workspace"),
        ("out", "`out` is outside the workspace"),
        ("absolute out", "is outside the workspace"),
        ("folder/out/secret", "is outside the workspace"),
        ("out and in", "is outside the workspace"),
        ("file/x", "`file` is not a folder"),
        ("file/", "`file/` is not a folder"),
        ("folder", "`folder` is a folder"),
        (".", "`.` is a folder"),
        ("", "it is empty"),
        ("a\0b", "it holds a NUL byte"),
        (&long, "longer than 4,096 bytes"),
        (&name, "longer than 255 bytes"),
        ("missing", "`missing` does not exist"),
        ("missing/../file", "`missing/../file` does not exist"),
        ("loop", "`loop` goes through too many symlinks"),
        ("dangling", "`dangling` does not exist"),
    ];
    let workspace = place.workspace();
    for (path, expected) in cases {
        let told = match workspace.read(&read(path)) {
            Ok(reading) => reading.text,
            Err(error) => error.to_string(),
        };
        assert!(told.contains(expected), "{path:?}: {told}");
        assert!(!told.contains("secret\n"), "{path:?}");
    }
}

#[test]
fn writes_stay_inside() {
    let place = tangled();
    let root = place.root.to_str().unwrap();
    let absolute = format!("{root}/new absolute");
    let cases: &[(&str, &str)] = &[
        ("new/deep/file", "created `new/deep/file`"),
        (&absolute, "created `new absolute`"),
        ("file", "replaced `file`"),
        ("file", "unchanged"),
        ("inner/file", "replaced `folder/file`"),
        ("dangling in", "created `made later`"),
        ("dangling", "created `nowhere/x`"),
        ("../escaped", "is outside the workspace"),
        ("out", "is outside the workspace"),
        ("folder/out/escaped", "is outside the workspace"),
        ("folder/out/tree/file", "is outside the workspace"),
        ("folder", "is a folder"),
        ("another/", "is a folder"),
        (".git/config", "belongs to git itself"),
        (".git/hooks/pre-commit", "belongs to git itself"),
        (".GIT/config", "belongs to git itself"),
        ("sub/.git/config", "belongs to git itself"),
        ("inner/../.git/config", "belongs to git itself"),
        (".git", "belongs to git itself"),
    ];
    let workspace = place.workspace();
    for (path, expected) in cases {
        let told = match workspace.write(&write(path)) {
            Ok(written) => written.text,
            Err(error) => error.to_string(),
        };
        assert!(told.contains(expected), "{path:?}: {told}");
    }
    assert_eq!(place.read(".git/config"), "config\n");
    assert!(!place.path(".git/hooks").exists() && !place.path(".GIT").exists());
    let outside = place.root.parent().unwrap();
    let mut names: Vec<_> =
        fs::read_dir(outside).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["secret", "tree", "tree2"]);
    assert_eq!(fs::read_to_string(outside.join("secret")).unwrap(), "secret\n");
}

proptest! {
    #[test]
    fn no_path_leads_outside(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "..", ".", "", "folder", "file", "inner", "absolute inner", "out", "absolute out",
                "up", "tree", "secret", "tree2", "dangling", "loop", "new", "/",
            ]),
            0..8,
        ),
    ) {
        let place = tangled();
        let workspace = place.workspace();
        let path = parts.join("/");
        if let Ok(reading) = workspace.read(&read(&path)) {
            prop_assert!(!reading.text.contains("secret"), "{}", path);
        }
        let _ = workspace.write(&write(&path));
        let _ = workspace.list(&ListFiles { path, ..ListFiles::default() });
        let outside = place.root.parent().unwrap();
        prop_assert_eq!(fs::read_dir(outside).unwrap().count(), 3);
        for file in ["secret", "tree2/file"] {
            prop_assert_eq!(fs::read_to_string(outside.join(file)).unwrap(), "secret\n");
        }
    }
}

#[test]
fn a_link_that_changes_meanwhile_leads_nowhere() {
    let place = tangled();
    let workspace = place.workspace();
    let secret = place.root.with_file_name("secret");
    place.link("folder", "swapped");
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let swapping = scope.spawn(|| {
            use std::sync::atomic::Ordering::Relaxed;
            let (link, other) = (place.path("swapped"), place.path("swapping"));
            let mut inside = true;
            while !done.load(Relaxed) {
                inside = !inside;
                let target = if inside { "folder" } else { "../tree2" };
                std::os::unix::fs::symlink(target, &other).unwrap();
                fs::rename(&other, &link).unwrap();
            }
        });
        for _ in 0..3_000 {
            if let Ok(reading) = workspace.read(&read("swapped/file")) {
                assert!(!reading.text.contains("secret"));
            }
            let _ = workspace.write(&write("swapped/new"));
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        swapping.join().unwrap();
    });
    assert!(!place.root.with_file_name("tree2").join("new").exists());
    assert_eq!(fs::read_to_string(secret).unwrap(), "secret\n");
}

#[test]
fn special_files_are_refused() {
    let place = Place::new();
    rustix::fs::mkfifoat(rustix::fs::CWD, place.path("pipe"), 0o644.into()).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(place.path("socket")).unwrap();
    place.link("/dev/zero", "zero");
    let workspace = place.workspace();
    for (path, expected) in
        [("pipe", "is a pipe"), ("socket", "is a socket"), ("zero", "is outside")]
    {
        let told = workspace.read(&read(path)).unwrap_err().to_string();
        assert!(told.contains(expected), "{told}");
        let told = workspace.write(&write(path)).unwrap_err().to_string();
        assert!(told.contains(expected), "{told}");
    }
    assert_eq!(workspace.search(&search(serde_json::json!({"pattern": "x"}))).unwrap().matches, 0);
}

#[test]
fn reading_says_what_there_is() {
    let place = Place::new();
    let lines: String = (1..=3000).map(|number| format!("line {number}\n")).collect();
    place.write("lines", lines);
    place.write("empty", "");
    place.write("crlf", "\u{feff}a\r\nb");
    place.write("latin1", b"caf\xe9\n");
    place.write("binary", b"\x7fELF\0\0");
    place.write("long", "x".repeat(5000));
    let workspace = place.workspace();
    let check = |wanted: ReadFile, expected: (u64, u64, Option<u64>, &str)| {
        let got = workspace.read(&wanted).unwrap();
        assert!(got.text.ends_with(expected.3), "{}", got.text);
        assert_eq!(
            (got.first_line, got.last_line, got.total_lines),
            (expected.0, expected.1, expected.2)
        );
    };
    let part = |first, count| ReadFile {
        first_line: Some(first),
        lines: Some(count),
        numbered: true,
        ..read("lines")
    };
    let more = "line 1000\n[lines 1 to 1000 of 3000; read on with first_line 1001]\n";
    check(read("lines"), (1, 1000, Some(3000), more));
    check(part(2999, 9), (2999, 3000, Some(3000), "  2999\tline 2999\n  3000\tline 3000\n"));
    check(part(9999, 9), (9999, 9998, Some(3000), "[the file has only 3000 lines]\n"));
    check(read("empty"), (1, 0, Some(0), "[the file is empty]\n"));
    check(read("crlf"), (1, 2, Some(2), "a\nb\n"));
    let lossy = "caf\u{fffd}\n[bytes that are not UTF-8 are shown as \u{fffd}]\n";
    check(read("latin1"), (1, 1, Some(1), lossy));
    check(read("binary"), (1, 0, None, "[binary file of 6 bytes]\n"));
    check(read("long"), (1, 1, Some(1), "xxx [3000 more bytes in this line]\n"));
    assert!(matches!(workspace.read(&part(0, 1)), Err(WorkspaceError::Argument { .. })));
}

#[test]
fn edits_are_exact() {
    let place = Place::new();
    place.write("a.rs", "fn one() {}\nfn two() {}\nfn two() {}\n");
    place.write("crlf", b"\xef\xbb\xbfa\r\nb\r\nc\r\n");
    place.write("latin1", b"caf\xe9 one\n");
    place.mode("a.rs", 0o750);
    let workspace = place.workspace();
    let refused = |wanted: EditFile| workspace.edit(&wanted).unwrap_err().to_string();
    let told = refused(edit("a.rs", "fn two() {}", "x"));
    assert!(told.contains("in `a.rs` 2 times, at lines 2, 3"), "{told}");
    let told = refused(edit("a.rs", "fn  one() { }\n", "x"));
    assert!(told.contains("The nearest lines:\n     1\tfn one() {}\n"), "{told}");
    assert!(refused(edit("a.rs", "", "x")).contains("old: it is empty"));
    assert!(refused(edit("a.rs", "x", "x")).contains("nothing would change"));
    let done = workspace.edit(&edit("a.rs", "one", "three")).unwrap();
    assert_eq!((done.replaced, done.first_line), (1, 1));
    assert!(done.text.starts_with("replaced in `a.rs` at line 1:\n     1\tfn three() {}\n"));
    let all = EditFile { replace_all: true, ..edit("a.rs", "two", "2") };
    assert_eq!(workspace.edit(&all).unwrap().replaced, 2);
    assert_eq!(place.read("a.rs"), "fn three() {}\nfn 2() {}\nfn 2() {}\n");
    assert_eq!(place.path("a.rs").metadata().unwrap().permissions().mode() & 0o777, 0o750);
    workspace.edit(&edit("crlf", "a\nb\n", "a\nnew\n")).unwrap();
    workspace.edit(&edit("crlf", "c", "c\nd")).unwrap();
    let expected = b"\xef\xbb\xbfa\r\nnew\r\nc\r\nd\r\n";
    assert_eq!(fs::read(place.path("crlf")).unwrap(), expected);
    workspace.edit(&edit("latin1", "one", "two")).unwrap();
    assert_eq!(fs::read(place.path("latin1")).unwrap(), b"caf\xe9 two\n");
}

#[test]
fn listing_and_searching_honour_ignore_rules() {
    let place = Place::new();
    place.write(".gitignore", "target/\n");
    place.write("target/out.rs", "needle\n");
    place.write("src/a.rs", "one\nNeedle here\ntwo\n");
    place.write("src/deep/b.txt", "needle\n");
    place.write(".github/c", "needle.\n");
    place.write(".git/HEAD", "needle\n");
    place.write("binary", b"needle\0");
    place.link("src", "link");
    fs::write(place.root.join(Path::new(std::ffi::OsStr::from_bytes(b"x\xff"))), "needle").unwrap();
    let workspace = place.workspace();
    let listed = workspace.list(&ListFiles::default()).unwrap();
    let expected = ".github/\n.github/c\n.gitignore\nbinary\nlink (symlink)\nsrc/\nsrc/a.rs\n\
                    src/deep/\nx\u{fffd}\n";
    assert_eq!(listed.text, expected);
    let few = ListFiles { max_entries: 2, ..ListFiles::default() };
    assert!(
        workspace
            .list(&few)
            .unwrap()
            .text
            .ends_with("[more than 2 entries; list a folder inside to see more]\n")
    );
    let inside = ListFiles { path: "target".into(), ignored: true, ..ListFiles::default() };
    assert_eq!(workspace.list(&inside).unwrap().text, "target/out.rs\n");

    let check = |wanted: serde_json::Value, expected: &str| {
        assert_eq!(workspace.search(&search(wanted.clone())).unwrap().text, expected, "{wanted}");
    };
    let all = ".github/c:1:needle.\nsrc/a.rs:2:Needle here\nsrc/deep/b.txt:1:needle\nx\u{fffd}:1:needle\n";
    check(serde_json::json!({"pattern": "needle"}), all);
    check(serde_json::json!({"pattern": "Needle"}), "src/a.rs:2:Needle here\n");
    check(serde_json::json!({"pattern": "needle.", "literal": true}), ".github/c:1:needle.\n");
    check(serde_json::json!({"pattern": "needle", "glob": "*.txt"}), "src/deep/b.txt:1:needle\n");
    check(
        serde_json::json!({"pattern": "Needle", "path": "src/a.rs", "context": 1}),
        "src/a.rs-1-one\nsrc/a.rs:2:Needle here\nsrc/a.rs-3-two\n",
    );
    check(serde_json::json!({"pattern": "nothing"}), "[no matches]\n");
    let few = search(serde_json::json!({"pattern": "needle", "max_matches": 2}));
    let few = workspace.search(&few).unwrap();
    assert!(
        few.more && few.matches == 2 && few.text.ends_with("narrow the pattern, path or glob]\n")
    );
    for (wanted, expected) in [
        (serde_json::json!({"pattern": "("}), "for plain text, set literal"),
        (serde_json::json!({"pattern": ""}), "pattern: it is empty"),
        (serde_json::json!({"pattern": "x", "glob": "{"}), "glob: "),
        (serde_json::json!({"pattern": "x", "path": "../x"}), "is outside the workspace"),
    ] {
        let told = workspace.search(&search(wanted)).unwrap_err().to_string();
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn a_workspace_stays_where_it_was_opened() {
    let place = Place::new();
    place.write("file", "inside\n");
    let link = place.root.with_file_name("link");
    std::os::unix::fs::symlink(&place.root, &link).unwrap();
    let workspace = Workspace::open(&link).unwrap();
    let given = link.join("file");
    assert_eq!(workspace.read(&read(given.to_str().unwrap())).unwrap().text, "inside\n");
    assert!(Workspace::open(place.path("missing")).is_err());
    assert!(Workspace::open(place.path("file")).is_err());
}
