//! Where runs come from, and what they are counted under.

use std::path::Path;

use serde::Serialize;

/// An input that runs come from.
#[derive(Debug)]
pub(crate) struct Source {
    /// Its path as given or found; `-` for standard input.
    pub(crate) name: String,
    /// The trace format.
    pub(crate) format: String,
}

impl Source {
    /// The folder the input lies in; the input itself if there is none.
    pub(crate) fn folder(&self) -> &str {
        let parent = Path::new(&self.name).parent().and_then(Path::to_str);
        parent.filter(|parent| !parent.is_empty()).unwrap_or(&self.name)
    }
}

/// What counts as one source of graded runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum GroupBy {
    /// Every input file.
    #[default]
    File,
    /// Every folder: for traces with one run per file.
    Folder,
    /// Every agent.
    Agent,
    /// Every model.
    Model,
}

impl GroupBy {
    /// The source a run belongs to.
    pub(crate) fn key<'a>(self, source: &'a Source, agent: &'a str, model: &'a str) -> &'a str {
        let name = match self {
            Self::File => &source.name,
            Self::Folder => source.folder(),
            Self::Agent => agent,
            Self::Model => model,
        };
        if name.is_empty() { "(unknown)" } else { name }
    }

    /// What one source is called.
    pub(crate) const fn noun(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Folder => "folder",
            Self::Agent => "agent",
            Self::Model => "model",
        }
    }

    /// The heading of a column of sources.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::File => "FILE",
            Self::Folder => "FOLDER",
            Self::Agent => "AGENT",
            Self::Model => "MODEL",
        }
    }

    /// Bytes of the folder that all sources lie in; 0 if there is none, or they are no paths.
    pub(crate) fn shared_folder<'a>(self, names: impl IntoIterator<Item = &'a str>) -> usize {
        let mut names = names.into_iter();
        let (Some(first), Self::File | Self::Folder) = (names.next(), self) else { return 0 };
        let shared = names.fold(first.len(), |shared, name| {
            let same = first.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
            shared.min(same)
        });
        first.as_bytes()[..shared].iter().rposition(|&it| it == b'/').map_or(0, |slash| slash + 1)
    }
}
