//! Restoring after anything that can happen to a tree, and after being killed.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::panic,
    reason = "a test"
)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use proptest::prelude::*;
use steersman_workspace::{Checkpoint, Checkpoints};
use support::{Place, fingerprint};

/// One thing that happens to a tree.
#[derive(Debug, Clone)]
enum Step {
    Write(usize, Vec<u8>),
    Remove(usize),
    Folder(usize),
    Link(usize, usize),
    Mode(usize, bool),
    Rename(usize, usize),
    Take,
}

/// Few names, so that files, folders and links come into each other's way.
const PATHS: [&str; 10] =
    ["a", "b", "a/b", "a/c", "b/a", "b/a/c", "a/b/c", "c", "c/\u{e4} x", "c/.hidden"];

fn step() -> impl Strategy<Value = Step> {
    let path = 0..PATHS.len();
    let content = prop::collection::vec(any::<u8>(), 0..20);
    prop_oneof![
        4 => (path.clone(), content).prop_map(|(path, content)| Step::Write(path, content)),
        2 => path.clone().prop_map(Step::Remove),
        2 => path.clone().prop_map(Step::Folder),
        2 => (path.clone(), path.clone()).prop_map(|(from, to)| Step::Link(from, to)),
        1 => (path.clone(), any::<bool>()).prop_map(|(path, on)| Step::Mode(path, on)),
        1 => (path.clone(), path).prop_map(|(from, to)| Step::Rename(from, to)),
        2 => Just(Step::Take),
    ]
}

fn remove(path: &Path) {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}

/// Does what can be done; a step may make no sense where it comes.
fn perform(place: &Place, step: &Step) {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let at = |path: &usize| place.path(PATHS[*path]);
    let clear = |path: &Path| {
        let _ = fs::create_dir_all(path.parent().unwrap());
        remove(path);
    };
    let _ = match step {
        Step::Write(path, content) => {
            clear(&at(path));
            fs::write(at(path), content)
        }
        Step::Remove(path) => {
            remove(&at(path));
            Ok(())
        }
        Step::Folder(path) => fs::create_dir_all(at(path)),
        Step::Link(path, target) => {
            clear(&at(path));
            symlink(PATHS[*target], at(path))
        }
        Step::Mode(path, on) => {
            let mode = if *on { 0o755 } else { 0o640 };
            match at(path).symlink_metadata() {
                Ok(metadata) if metadata.is_file() => {
                    fs::set_permissions(at(path), fs::Permissions::from_mode(mode))
                }
                _ => Ok(()),
            }
        }
        Step::Rename(from, to) => fs::rename(at(from), at(to)),
        Step::Take => Ok(()),
    };
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn any_tree_comes_back(
        steps in prop::collection::vec(step(), 1..40),
        order in prop::collection::vec(any::<prop::sample::Index>(), 1..8),
    ) {
        let place = Place::new();
        let checkpoints = place.checkpoints();
        let mut taken = vec![(checkpoints.take("start").unwrap(), fingerprint(&place.root, &[]))];
        for step in &steps {
            perform(&place, step);
            if matches!(step, Step::Take) {
                let checkpoint = checkpoints.take("").unwrap();
                taken.push((checkpoint, fingerprint(&place.root, &[])));
            }
        }
        for index in order {
            let (checkpoint, tree) = index.get(&taken);
            checkpoints.restore(checkpoint).unwrap();
            prop_assert_eq!(&fingerprint(&place.root, &[]), tree);
        }
        // Another process knows no more than what is stored.
        let (checkpoint, tree) = &taken[0];
        place.checkpoints().restore(checkpoint).unwrap();
        prop_assert_eq!(&fingerprint(&place.root, &[]), tree);
    }
}

/// Two states of many files.
fn two_states(place: &Place, checkpoints: &Checkpoints) -> (Checkpoint, Checkpoint) {
    let state = |which: usize| {
        for number in 0..300 {
            let folder = if number % 3 == which { "one" } else { "two" };
            place.write(&format!("{folder}{}/{number}", number % 7), which.to_string().repeat(500));
        }
        let taken = checkpoints.take("").unwrap();
        fs::remove_dir_all(&place.root).unwrap();
        fs::create_dir(&place.root).unwrap();
        taken
    };
    (state(0), state(1))
}

const TREE: &str = "TEST_RESTORED_TREE";

#[test]
fn a_killed_restore_is_finished_by_the_next() {
    if let Some(root) = std::env::var_os(TREE).map(PathBuf::from) {
        // The process that is killed: it goes to and fro.
        let workspace = steersman_workspace::Workspace::open(&root).unwrap();
        let private = root.with_file_name("private");
        let checkpoints = Checkpoints::open(&workspace, "s1", &private).unwrap();
        let taken = checkpoints.list().unwrap();
        loop {
            taken.iter().for_each(|taken| drop(checkpoints.restore(taken).unwrap()));
        }
    }
    let place = Place::new();
    let (one, two) = {
        let checkpoints = place.checkpoints();
        two_states(&place, &checkpoints)
    };
    let place_now = place.checkpoints();
    let trees = [&one, &two].map(|taken| {
        place_now.restore(taken).unwrap();
        fingerprint(&place.root, &[])
    });
    let mut between = 0;
    for round in 0..25_u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_killed_restore_is_finished_by_the_next"])
            .env(TREE, &place.root)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(30 + round * 7 % 60));
        child.kill().unwrap();
        child.wait().unwrap();
        let tree = fingerprint(&place.root, &[]);
        between += usize::from(!trees.contains(&tree));
        let (taken, tree) = if round % 2 == 0 { (&one, &trees[0]) } else { (&two, &trees[1]) };
        place.checkpoints().restore(taken).unwrap();
        assert_eq!(&fingerprint(&place.root, &[]), tree);
    }
    assert!(between > 0, "no restore was cut short, so nothing was tried");
}
