//! The recorded answers under `tests/golden/answers`, a folder per format.

use std::path::{Path, PathBuf};

use steersman_wire::{Answer, Failure, Format, WireError};

/// A recorded answer.
pub(crate) struct Case {
    pub(crate) format: Format,
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
}

impl Case {
    pub(crate) fn is_stream(&self) -> bool {
        self.path.extension().is_some_and(|extension| extension != "json")
    }

    /// Reads it as a whole, or as a stream that comes in `chunks`.
    pub(crate) fn read(&self, chunk: usize) -> Result<Answer, WireError> {
        if !self.is_stream() {
            return self.format.answer(&self.bytes);
        }
        let mut reader = self.format.stream();
        for bytes in self.bytes.chunks(chunk) {
            reader.push(bytes)?;
        }
        reader.finish()
    }
}

pub(crate) fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Every recorded answer: `NAME.json` is one in one piece, `NAME.sse` and `NAME.jsonl` streams.
pub(crate) fn answers() -> Vec<Case> {
    let mut cases = Vec::new();
    for format in Format::ALL {
        for path in files(&golden().join("answers").join(format.name())) {
            if !path.to_string_lossy().ends_with(".answer.json") {
                let bytes = std::fs::read(&path).unwrap();
                cases.push(Case { format, path, bytes });
            }
        }
    }
    assert!(cases.len() >= 25, "only {} recorded answers found", cases.len());
    cases
}

/// What came of it, as text to compare.
pub(crate) fn shown(read: Result<Answer, WireError>) -> String {
    match read {
        Ok(answer) => serde_json::to_string_pretty(&answer).unwrap() + "\n",
        Err(error) => {
            let failure = Failure::of_answer(error, 200);
            let call = serde_json::to_string(&failure.call_failure()).unwrap();
            let partial = serde_json::to_string_pretty(&failure.partial).unwrap();
            format!("{failure}\n{:?}\n{call}\n{partial}\n", failure.kind)
        }
    }
}
