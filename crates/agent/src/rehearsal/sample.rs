//! The rehearsals that come with the program, and the folder one is played in.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::script::Script;

/// The built-in rehearsals by name.
const BUILT_IN: &[(&str, &str)] =
    &[("reactive-cells", include_str!("../../rehearsals/reactive-cells.yaml"))];

/// A rehearsal that comes with the program.
#[derive(Clone, Copy, Debug)]
pub struct Sample;

/// A rehearsal that cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    /// No rehearsal of this name comes with the program.
    #[error("there is no rehearsal {name:?}: {known}, or the path of a script")]
    Unknown {
        /// The name.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// A file of the project could not be written.
    #[error("the rehearsal's project cannot be written to {path}: {source}", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl Sample {
    /// The name of the rehearsal that is played when none is named.
    pub const DEFAULT: &str = "reactive-cells";

    /// The text of a built-in script.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn text(name: &str) -> Result<&'static str, SampleError> {
        let found = BUILT_IN.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| *text).ok_or_else(|| SampleError::Unknown {
            name: name.to_owned(),
            known: BUILT_IN.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", "),
        })
    }

    /// Writes the project of a script into a folder, which is made if it is not there.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn lay_out(script: &Script, folder: &Path) -> Result<(), SampleError> {
        let write = |path: &Path, text: &str| -> io::Result<()> {
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(path, text)
        };
        fs::create_dir_all(folder)
            .map_err(|source| SampleError::Write { path: folder.to_owned(), source })?;
        for (name, text) in &script.project {
            let path = folder.join(name);
            write(&path, text).map_err(|source| SampleError::Write { path, source })?;
        }
        Ok(())
    }
}
