//! The prompt system: the library of files, kept fresh, and the prompts composed from it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use steersman_config::Finding;
use steersman_config::document::Text;

use crate::cache::Cache;
use crate::compose::{self, ComposeRequest};
use crate::error::PromptError;
use crate::folder::{Found, MAX_FILE_BYTES, Scan, Stamp, refuse_name};
use crate::library::Library;
use crate::part::{Kind, Origin};

/// Composes prompts from the files of a project, of the user, and those built in.
///
/// Each use looks whether a file has changed since it was read. A change that cannot be read is an
/// error until it is mended; whoever drives a run may go on with the prompt it has.
#[derive(Debug)]
pub struct PromptSystem {
    /// Folders of prompts, the weakest first.
    folders: Vec<Origin>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    library: Arc<Library>,
    stamps: Vec<(PathBuf, Stamp)>,
    cache: Cache,
}

impl PromptSystem {
    /// The prompts that hold for a project: those of the nearest `.steersman/prompts` in the
    /// project's folder or a parent up to the root of the repository, over the user's in
    /// `$XDG_CONFIG_HOME/steersman/prompts` (`~/.config` if that is not set), over the built-in
    /// ones.
    ///
    /// # Errors
    /// Everything that is wrong with the files.
    pub fn load(project: &Path) -> Result<Self, PromptError> {
        Self::load_with_home(project, steersman_config::config_home().as_deref())
    }

    /// As [`PromptSystem::load`], with the directory of user configuration given; `None` is none.
    ///
    /// # Errors
    /// As [`PromptSystem::load`].
    pub fn load_with_home(project: &Path, home: Option<&Path>) -> Result<Self, PromptError> {
        let of_project = |folder: &Path| folder.join(".steersman").join("prompts");
        let folders = steersman_config::folders(project);
        let nearest = folders.iter().map(|folder| of_project(folder)).find(|path| path.is_dir());
        let own = home.map(|home| Origin::User(home.join("steersman").join("prompts")));
        // A folder that is not there yet may be made while a run goes on.
        let nearest = nearest.unwrap_or_else(|| of_project(project));
        Self::of(own.into_iter().chain([Origin::Project(nearest)]).collect())
    }

    /// Only what is compiled in.
    #[must_use]
    pub fn built_in() -> Self {
        let state = State {
            library: Arc::new(Library::built_in()),
            stamps: Vec::new(),
            cache: Cache::default(),
        };
        Self { folders: Vec::new(), state: Mutex::new(state) }
    }

    /// Files that are given in memory, as kind, name and content, laid over the built-in ones; for
    /// programs that keep their prompts elsewhere.
    ///
    /// # Errors
    /// As [`PromptSystem::load`].
    pub fn with_files(files: &[(Kind, &str, &[u8])]) -> Result<Self, PromptError> {
        let (mut found, mut findings) = (Vec::new(), Vec::new());
        for (kind, name, content) in files {
            let shown = format!("{}/{name}{}", kind.folder(), kind.ending());
            let text = Text::from_bytes(&shown, content, MAX_FILE_BYTES, "a prompt");
            let refused = refuse_name(name).map(|what| Box::new(Finding::of_file(&shown, what)));
            match refused.map_or(text, Err) {
                Ok(text) => found.push(Found { kind: *kind, name: (*name).to_owned(), text }),
                Err(finding) => findings.push(*finding),
            }
        }
        let mut library = Library::built_in();
        findings.extend(library.add(found, &Origin::Project(PathBuf::new())));
        if findings.is_empty() {
            findings = library.check();
        }
        if !findings.is_empty() {
            return Err(PromptError::Bad(findings));
        }
        let system = Self::built_in();
        system.state.lock().unwrap_or_else(PoisonError::into_inner).library = Arc::new(library);
        Ok(system)
    }

    fn of(folders: Vec<Origin>) -> Result<Self, PromptError> {
        let (library, stamps) = read(&folders)?;
        let state = State { library: Arc::new(library), stamps, cache: Cache::default() };
        Ok(Self { folders, state: Mutex::new(state) })
    }

    /// The files that hold now.
    ///
    /// # Errors
    /// A file has changed, and is bad now.
    pub fn library(&self) -> Result<Arc<Library>, PromptError> {
        Ok(Arc::clone(&self.fresh()?.library))
    }

    /// The prompt that a request asks for. The same request gives the same text, as the same `Arc`
    /// while it is among the 64 used last and no file has changed.
    ///
    /// # Errors
    /// Names that are not known, a parameter without value, a prompt above
    /// [`MAX_PROMPT_BYTES`](crate::MAX_PROMPT_BYTES); and as [`PromptSystem::library`].
    pub fn compose(&self, request: &ComposeRequest<'_>) -> Result<Arc<str>, PromptError> {
        let mut state = self.fresh()?;
        let key = request.key();
        if let Some(prompt) = state.cache.find(&key) {
            return Ok(prompt);
        }
        let prompt: Arc<str> = compose::compose(&state.library, request)?.into();
        state.cache.put(key, Arc::clone(&prompt));
        Ok(prompt)
    }

    /// The state, read anew if a file has changed.
    fn fresh(&self) -> Result<MutexGuard<'_, State>, PromptError> {
        // A state is replaced as a whole: one that a panic left behind is sound.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.stamps.iter().any(|(path, stamp)| Stamp::of(path) != *stamp) {
            let (library, stamps) = read(&self.folders)?;
            *state = State { library: Arc::new(library), stamps, cache: Cache::default() };
        }
        Ok(state)
    }
}

type Stamps = Vec<(PathBuf, Stamp)>;

/// Reads every folder over the built-in files.
fn read(folders: &[Origin]) -> Result<(Library, Stamps), PromptError> {
    let mut library = Library::built_in();
    let (mut stamps, mut findings) = (Vec::new(), Vec::new());
    for origin in folders {
        let (Origin::Project(path) | Origin::User(path)) = origin else { continue };
        let mut scan = Scan::default();
        scan.read(path)?;
        findings.append(&mut scan.findings);
        findings.extend(library.add(scan.files, origin));
        stamps.append(&mut scan.stamps);
    }
    if findings.is_empty() {
        findings = library.check();
    }
    if findings.is_empty() { Ok((library, stamps)) } else { Err(PromptError::Bad(findings)) }
}
