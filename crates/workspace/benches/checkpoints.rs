//! What checkpoints cost in a tree of 5,000 files.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use steersman_workspace::{Checkpoint, Checkpoints, Workspace};

fn main() {
    divan::main();
}

struct Tree {
    _folder: tempfile::TempDir,
    root: PathBuf,
    workspace: Workspace,
    private: PathBuf,
}

/// 5,000 files of 4 KiB in 250 folders.
fn tree() -> Option<Tree> {
    let folder = tempfile::tempdir().ok()?;
    let root = folder.path().join("tree");
    for number in 0..5_000 {
        let path = root.join(format!("{}/{}", number % 250 / 10, number % 250));
        fs::create_dir_all(&path).ok()?;
        fs::write(path.join(number.to_string()), format!("{number}\n").repeat(800)).ok()?;
    }
    // Files that have just been written are read again, for their times say too little.
    std::thread::sleep(Duration::from_millis(200));
    let workspace = Workspace::open(&root).ok()?;
    let private = folder.path().join("private");
    Some(Tree { _folder: folder, root, workspace, private })
}

fn open(tree: &Tree) -> Option<(Checkpoints, Checkpoint)> {
    let checkpoints = Checkpoints::open(&tree.workspace, "bench", &tree.private).ok()?;
    let taken = checkpoints.take("first").ok()?;
    Some((checkpoints, taken))
}

#[divan::bench(sample_count = 20)]
fn take_unchanged(bencher: divan::Bencher<'_, '_>) {
    let Some(tree) = tree() else { return };
    let Some((checkpoints, _)) = open(&tree) else { return };
    bencher.bench_local(|| checkpoints.take("again"));
}

#[divan::bench(sample_count = 10)]
fn take_in_a_new_process(bencher: divan::Bencher<'_, '_>) {
    let Some(tree) = tree() else { return };
    let Some(_) = open(&tree) else { return };
    bencher.bench_local(|| open(&tree));
}

#[divan::bench(sample_count = 20)]
fn take_with_ten_changed(bencher: divan::Bencher<'_, '_>) {
    let Some(tree) = tree() else { return };
    let Some((checkpoints, _)) = open(&tree) else { return };
    let mut round = 0;
    bencher
        .with_inputs(|| {
            round += 1;
            for number in 0..10 {
                let _ =
                    fs::write(tree.root.join(format!("0/{number}/{number}")), round.to_string());
            }
        })
        .bench_local_values(|()| checkpoints.take("again"));
}

#[divan::bench(sample_count = 20)]
fn restore_ten_changed(bencher: divan::Bencher<'_, '_>) {
    let Some(tree) = tree() else { return };
    let Some((checkpoints, taken)) = open(&tree) else { return };
    bencher
        .with_inputs(|| {
            for number in 0..10 {
                let _ = fs::write(tree.root.join(format!("0/{number}/{number}")), "changed");
            }
        })
        .bench_local_values(|()| checkpoints.restore(&taken));
}

#[divan::bench(sample_count = 5)]
fn restore_everything(bencher: divan::Bencher<'_, '_>) {
    let Some(tree) = tree() else { return };
    let Some((checkpoints, taken)) = open(&tree) else { return };
    bencher
        .with_inputs(|| {
            let _ = fs::remove_dir_all(&tree.root);
            let _ = fs::create_dir_all(&tree.root);
        })
        .bench_local_values(|()| {
            // The folder that was open is gone with the rest.
            let workspace = Workspace::open(&tree.root).ok()?;
            let here = checkpoints.beside(&workspace, "again").ok()?;
            here.restore(&taken).ok()
        });
}
