//! The files of the workspace, as the rules see them.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::rust::{self, Token};

/// Folders that hold nothing written by hand.
const SKIPPED: &[&str] = &["target", "node_modules", "corpus", "artifacts", "dist"];
/// Hidden folders that do belong to the project.
const HIDDEN: &[&str] = &[".ci", ".cargo", ".github"];
/// Endings of the files whose text is read.
const TEXT: &[&str] = &["lock", "md", "rs", "sh", "toml", "yaml", "yml"];
/// Files above this size are data, whatever they are called. Bytes.
const MAX_TEXT: u64 = 1 << 20;

/// One text file.
pub(super) struct File {
    /// Path from the root, with `/`.
    pub(super) path: String,
    pub(super) text: String,
    tokens: OnceCell<Vec<Token>>,
}

impl File {
    fn new(path: String, text: String) -> Self {
        Self { path, text, tokens: OnceCell::new() }
    }

    pub(super) fn has_ending(&self, ending: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|found| found == ending)
    }

    /// Whether everything in it is test code.
    pub(super) fn is_test(&self) -> bool {
        let parts = || self.path.split('/');
        self.path.ends_with("/tests.rs") || parts().any(|part| part == "tests" || part == "benches")
    }

    /// Lines with their numbers, from 1.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.split('\n').enumerate().map(|(at, line)| (at + 1, line))
    }

    /// The tokens of Rust source; none if it is not valid Rust, which the compiler reports.
    pub(super) fn tokens(&self) -> &[Token] {
        self.tokens.get_or_init(|| rust::lex(&self.text, self.is_test()).unwrap_or_default())
    }
}

/// Shows the help that the `steersman` command gives after these words.
type Help = dyn Fn(&[&str]) -> Result<String, String>;

/// The files of the workspace.
pub(super) struct Tree {
    files: Vec<File>,
    /// Every file and folder, those without text included.
    paths: BTreeSet<String>,
    help: Box<Help>,
}

impl Tree {
    /// Reads the workspace at `root`.
    ///
    /// # Errors
    /// A folder or file could not be read.
    pub(super) fn read(root: &Path) -> io::Result<Self> {
        let at = root.to_path_buf();
        let help = move |words: &[&str]| run_help(&at, words);
        let mut tree = Self { files: Vec::new(), paths: BTreeSet::new(), help: Box::new(help) };
        let mut folders = vec![root.to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder)? {
                let entry = entry?;
                let name = entry.file_name().to_string_lossy().into_owned();
                let kind = entry.file_type()?;
                if kind.is_dir() && !is_project_folder(&name) {
                    continue;
                }
                let path = relative(root, &entry.path());
                if kind.is_dir() {
                    folders.push(entry.path());
                } else if is_text(&path) && entry.metadata()?.len() <= MAX_TEXT {
                    let text = String::from_utf8_lossy(&std::fs::read(entry.path())?).into_owned();
                    tree.files.push(File::new(path.clone(), text));
                }
                tree.paths.insert(path);
            }
        }
        tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(tree)
    }

    /// A tree for tests: files by path and text; the only verb is `replay`, with `--policy`.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let mut paths = BTreeSet::new();
        for (path, _) in files {
            paths.extend(Path::new(path).ancestors().map(|part| part.display().to_string()));
        }
        let files = files.iter().map(|(path, text)| File::new((*path).into(), (*text).into()));
        let help = |words: &[&str]| match words {
            ["replay", ..] => Ok("--policy FILE".to_owned()),
            _ => Err(format!("no verb {words:?}")),
        };
        Self { files: files.collect(), paths, help: Box::new(help) }
    }

    /// Every text file, by path. Recorded data is not among them.
    pub(super) fn files(&self) -> &[File] {
        &self.files
    }

    /// Every text file with this ending.
    pub(super) fn with_ending(&self, ending: &str) -> impl Iterator<Item = &File> {
        self.files.iter().filter(move |file| file.has_ending(ending))
    }

    pub(super) fn find(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Paths of all files and folders.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    /// Whether a file or folder is there.
    pub(super) fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        path.is_empty() || self.paths.contains(path)
    }

    /// The help that the `steersman` command gives after these words, or why there is none.
    pub(super) fn help(&self, words: &[&str]) -> Result<String, String> {
        (self.help)(words)
    }
}

fn is_project_folder(name: &str) -> bool {
    if name.starts_with('.') { HIDDEN.contains(&name) } else { !SKIPPED.contains(&name) }
}

/// Whether the text is ours to check: recorded data is not, nor is what has no known ending.
fn is_text(path: &str) -> bool {
    let scripts = ["test", ".ci/run"];
    let known = Path::new(path).extension().and_then(|ending| ending.to_str());
    let data = path.split('/').any(|part| part == "testdata" || part == "golden");
    !data && (scripts.contains(&path) || known.is_some_and(|ending| TEXT.contains(&ending)))
}

fn relative(root: &Path, path: &Path) -> String {
    let path: PathBuf = path.strip_prefix(root).unwrap_or(path).into();
    path.to_string_lossy().replace('\\', "/")
}

/// Runs what a reader of the README runs, so that a second binary or a renamed verb is noticed.
fn run_help(root: &Path, words: &[&str]) -> Result<String, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["run", "--quiet", "--"])
        .args(words)
        .arg("--help")
        .current_dir(root)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(shown);
    }
    let error = String::from_utf8_lossy(&output.stderr);
    Err(error.lines().next().unwrap_or("no output").to_owned())
}
