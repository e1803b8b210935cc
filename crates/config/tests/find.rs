//! Looking for the policy file that holds for a folder.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its files must fail")]

use std::fs;
use std::path::{Path, PathBuf};

use steersman_config::find_with_home;

/// A new folder for one test, outside of any repository.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("steersman-find-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("repo/src/deep")).unwrap();
    fs::create_dir_all(folder.join("home/steersman")).unwrap();
    folder
}

#[test]
fn files_are_found_nearest_first() {
    let folder = folder("nearest");
    let start = folder.join("repo/src/deep");
    // Each file in turn, what is found then, and whether the repository has its mark by then.
    let steps: [(&str, Option<&str>); 8] = [
        ("steersman.yaml", None),
        ("repo/steersman.yaml", None),
        ("home/steersman/steersman.yml", Some("home/steersman/steersman.yml")),
        ("home/steersman/steersman.yaml", Some("home/steersman/steersman.yaml")),
        ("repo/.git/HEAD", Some("repo/steersman.yaml")),
        ("repo/src/steersman.yml", Some("repo/src/steersman.yml")),
        ("repo/src/deep/steersman.yml", Some("repo/src/deep/steersman.yml")),
        ("repo/src/deep/steersman.yaml", Some("repo/src/deep/steersman.yaml")),
    ];
    for (file, expected) in steps {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "mode: shadow\n").unwrap();
        let found = find_with_home(&start, Some(&folder.join("home")));
        assert_eq!(found, expected.map(|path| folder.join(path)), "after {file}");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_folder_of_that_name_is_no_policy() {
    let folder = folder("folder");
    fs::create_dir_all(folder.join("repo/steersman.yaml")).unwrap();
    assert_eq!(find_with_home(&folder.join("repo"), None), None);
    assert_eq!(find_with_home(Path::new("/nowhere/at/all"), None), None);
    fs::remove_dir_all(folder).unwrap();
}
