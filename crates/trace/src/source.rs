//! What can be read: files, streams, and folders of events.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::memchr;

use crate::detect::{Layout, detect};
use crate::feed::Feed;
use crate::format::Format;
use crate::inflate::inflate;
use crate::sink::{Flow, RunSink};
use crate::units::{Progress, Units};

/// Bytes at the beginning of an input by which its format is told.
const HEAD: usize = 1 << 20;
/// A first line longer than this is read as a document, piece by piece: then it may be longer than
/// a line may.
const LONG_LINE: usize = 16 << 20;
/// Event files of one OpenHands conversation that are read.
const MAX_EVENT_FILES: usize = 1_000_000;

/// One input: a file, or the event files of one OpenHands conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    path: PathBuf,
    events: Vec<PathBuf>,
}

/// Why an input cannot be read at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file or folder could not be opened or read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The input.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A folder that is not one of OpenHands events.
    #[error("{}: is a folder without event-*.json files; give the files in it", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// The content is of no known format.
    #[error("{}: is {what}; known are {}", path.display(), known_formats())]
    Format {
        /// The input.
        path: PathBuf,
        /// What it is instead.
        what: &'static str,
    },
}

/// The known formats for a message.
fn known_formats() -> String {
    let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
    format!("{} (plain, gzip, or zstd)", names.join(", "))
}

impl Source {
    /// A file, or a folder of OpenHands events.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), events: Vec::new() }
    }

    /// The file, or the folder of events.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the input and tells its format.
    ///
    /// # Errors
    /// If it cannot be read, is empty or binary, or is of no known format.
    pub fn open(&self) -> Result<Units, OpenError> {
        if !self.events.is_empty() {
            return Ok(Units::of_events(&self.path, self.events.clone()));
        }
        let fail = |source| OpenError::Io { path: self.path.clone(), source };
        let metadata = std::fs::metadata(&self.path).map_err(fail)?;
        if metadata.is_dir() {
            let events = event_files(&self.path).map_err(fail)?;
            if events.is_empty() {
                return Err(OpenError::Folder { path: self.path.clone() });
            }
            return Ok(Units::of_events(&self.path, events));
        }
        let file = File::open(&self.path).map_err(fail)?;
        let total = metadata.is_file().then_some(metadata.len());
        units(&self.path, Box::new(file), total)
    }
}

/// Opens a file, or a folder of OpenHands events.
///
/// # Errors
/// If it cannot be read, is empty or binary, or is of no known format.
pub fn open(path: &Path) -> Result<Units, OpenError> {
    Source::new(path).open()
}

/// Opens a stream, such as standard input; `name` stands for it in messages.
///
/// # Errors
/// If it cannot be read, is empty or binary, or is of no known format.
pub fn open_reader(
    name: impl Into<PathBuf>,
    reader: impl Read + Send + 'static,
) -> Result<Units, OpenError> {
    units(&name.into(), Box::new(reader), None)
}

/// Reads an input in memory, on this thread.
///
/// # Errors
/// If it is empty or binary, or of no known format.
pub fn read_bytes(
    name: impl Into<PathBuf>,
    bytes: &[u8],
    sink: &mut dyn RunSink,
) -> Result<Flow, OpenError> {
    let mut units = units(&name.into(), Box::new(io::Cursor::new(bytes.to_vec())), None)?;
    while let Some(unit) = units.next_unit() {
        if unit.read(sink) == Flow::Break {
            return Ok(Flow::Break);
        }
    }
    Ok(Flow::Continue)
}

/// Groups files into inputs: the event files of one OpenHands conversation are one input, any
/// other file is one of its own. The order is that of first appearance.
pub fn group(paths: impl IntoIterator<Item = PathBuf>) -> Vec<Source> {
    let mut sources: Vec<Source> = Vec::new();
    let mut folders: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for path in paths {
        let Some(folder) =
            path.parent().filter(|folder| is_event(&path) && folder.ends_with("events"))
        else {
            sources.push(Source::new(path));
            continue;
        };
        let index = *folders.entry(folder.to_owned()).or_insert_with(|| {
            sources.push(Source::new(folder));
            sources.len() - 1
        });
        if let Some(source) = sources.get_mut(index) {
            source.events.push(path);
        }
    }
    for source in &mut sources {
        source.events.sort();
    }
    sources
}

/// Whether a file is named as an event of OpenHands.
fn is_event(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
    name.starts_with("event-") && name.ends_with(".json")
}

/// The event files of a folder, in order.
fn event_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)?.take(MAX_EVENT_FILES) {
        let path = entry?.path();
        if is_event(&path) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn units(
    path: &Path,
    reader: Box<dyn Read + Send>,
    total: Option<u64>,
) -> Result<Units, OpenError> {
    let fail = |source| OpenError::Io { path: path.to_owned(), source };
    let progress = Arc::new(AtomicU64::new(0));
    let counted = Counted { reader, read: Arc::clone(&progress) };
    let source = inflate(Box::new(counted)).map_err(fail)?;
    let mut feed = Feed::new(source);
    feed.skip_bom();
    let head = feed.peek_up_to(HEAD);
    let head_len = head.len();
    let is_all = head_len < HEAD;
    let found = detect(head, is_all);
    let (format, layout): (Format, Layout) = match found {
        Ok(found) => found,
        Err(what) => {
            // A compressed file that breaks off at once is no "empty" file.
            if let Some(error) = feed.take_error() {
                return Err(fail(io::Error::other(error)));
            }
            return Err(OpenError::Format { path: path.to_owned(), what });
        }
    };
    let layout = match layout {
        Layout::RunPerLine
            if is_open_line(feed.peek_up_to(HEAD), HEAD)
                && is_open_line(feed.peek_up_to(LONG_LINE), LONG_LINE) =>
        {
            Layout::Documents
        }
        layout => layout,
    };
    Ok(Units::of_feed(path, format, layout, feed, Progress { read: progress, total }))
}

/// Whether the first `size` bytes of an input are a line that goes on.
fn is_open_line(head: &[u8], size: usize) -> bool {
    head.len() >= size && memchr(b'\n', head).is_none()
}

/// Counts what is read from an input, before decompression.
struct Counted {
    reader: Box<dyn Read + Send>,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
