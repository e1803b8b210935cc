//! The requests under `tests/golden/received`: `NAME.FORMAT.json`.

use std::path::{Path, PathBuf};

use steersman_wire::{Edit, Format, Received};

pub(crate) struct Case {
    pub(crate) format: Format,
    pub(crate) path: PathBuf,
    pub(crate) body: Vec<u8>,
}

impl Case {
    pub(crate) fn received(&self) -> Received<'_> {
        self.format.receive(&self.body).unwrap()
    }

    pub(crate) fn name(&self) -> String {
        self.path.file_name().unwrap().to_string_lossy().into_owned()
    }
}

pub(crate) fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/received");
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let format = name.strip_suffix(".json").and_then(|name| name.split('.').nth(1));
        if let Some(format) = format.and_then(|format| format.parse().ok()) {
            cases.push(Case { format, body: std::fs::read(&path).unwrap(), path });
        }
    }
    assert!(cases.len() >= 11, "only {} requests found", cases.len());
    cases.sort_by(|a, b| a.path.cmp(&b.path));
    cases
}

pub(crate) fn say(at: usize) -> Edit<'static> {
    Edit::Say { at, text: "Look at \"tests\".\nNow." }
}
