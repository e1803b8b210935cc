//! The parts of an input that can be read independently.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::detect::Layout;
use crate::documents::{read_documents, read_entries};
use crate::feed::{Batch, Feed, MAX_ELEMENT};
use crate::format::Format;
use crate::formats::session;
use crate::lines::{read_batch, read_session, take, too_long};
use crate::run::RunEnd;
use crate::sink::{Flow, RunSink};
use crate::writer::RunWriter;

/// Bytes of lines in one unit, about; a longer line is a unit of its own. What is read is judged
/// while a processor's cache still holds it.
const BATCH: usize = 512 << 10;

/// Bytes of the input that were read so far.
pub(crate) struct Progress {
    pub(crate) read: Arc<AtomicU64>,
    pub(crate) total: Option<u64>,
}

/// An opened input, cut into [`Unit`]s on demand.
///
/// Memory: at most one unit is held here; a unit holds about 512 KiB of lines, or one line of at
/// most 64 MiB, or a stream that is read piece by piece.
pub struct Units {
    path: PathBuf,
    format: Format,
    layout: Layout,
    body: Option<Body>,
    progress: Progress,
}

enum Body {
    Lines(Batch),
    Stream(Feed),
    Events(Vec<PathBuf>),
}

/// A part of an input that can be read on any thread.
///
/// The runs of an input come in the order of its units.
pub struct Unit {
    path: PathBuf,
    format: Format,
    layout: Layout,
    body: Body,
}

impl Units {
    pub(crate) fn of_feed(
        path: &Path,
        format: Format,
        layout: Layout,
        feed: Feed,
        progress: Progress,
    ) -> Self {
        Self { path: path.to_owned(), format, layout, body: Some(Body::Stream(feed)), progress }
    }

    pub(crate) fn of_events(folder: &Path, files: Vec<PathBuf>) -> Self {
        Self {
            path: folder.to_owned(),
            format: Format::OpenHands,
            layout: Layout::Entries,
            body: Some(Body::Events(files)),
            progress: Progress { read: Arc::default(), total: None },
        }
    }

    /// The format the content has.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Bytes read of the input, before decompression. Grows also while a unit is read.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.progress.read.load(Ordering::Relaxed)
    }

    /// Bytes of the input, before decompression; `None` if unknown (a pipe, a folder).
    #[must_use]
    pub fn total_bytes(&self) -> Option<u64> {
        self.progress.total
    }

    /// The next unit; `None` when the input is through.
    pub fn next_unit(&mut self) -> Option<Unit> {
        let body = match (self.body.take()?, self.layout) {
            (Body::Stream(mut feed), Layout::RunPerLine) => {
                let batch = feed.take_batch(BATCH)?;
                self.body = Some(Body::Stream(feed));
                Body::Lines(batch)
            }
            (body, _) => body,
        };
        let (format, layout) = (self.format, self.layout);
        Some(Unit { path: self.path.clone(), format, layout, body })
    }
}

impl Unit {
    /// Pushes the unit's runs and problems into `sink`.
    ///
    /// Gives [`Flow::Break`] if the sink wanted no more; the unit is given up then.
    pub fn read(self, sink: &mut dyn RunSink) -> Flow {
        let mut out = RunWriter::new(&self.path, sink);
        let stem = stem(&self.path);
        let may_be_blank = matches!(self.body, Body::Lines(_));
        match self.body {
            Body::Lines(batch) => read_batch(&batch, self.format, &stem, &mut out),
            Body::Events(files) => read_events(&files, &self.path, &mut out),
            Body::Stream(mut feed) => match self.layout {
                Layout::RunPerLine | Layout::RunOverLines => {
                    read_session(&mut feed, self.format, &stem, &mut out);
                }
                Layout::Documents => read_documents(&mut feed, self.format, &stem, &mut out),
                Layout::Entries => read_entries(&mut feed, self.format, &stem, &mut out),
            },
        }
        if !may_be_blank && out.runs() == 0 && !out.is_done() {
            out.problem(0, format!("a {} without a single message", self.format));
        }
        out.finish();
        out.flow()
    }
}

/// Reads the event files of one conversation.
fn read_events(files: &[PathBuf], folder: &Path, out: &mut RunWriter<'_>) {
    let conversation = if folder.ends_with("events") { folder.parent() } else { Some(folder) };
    let mut session = session(Format::OpenHands, &stem(conversation.unwrap_or(folder)));
    for file in files {
        if out.is_done() {
            return;
        }
        out.rename(file);
        match read_file(file) {
            Ok(text) => {
                take(&mut *session, text.trim(), 0, out);
            }
            Err(what) => out.problem(0, what),
        }
    }
    out.rename(folder);
    session.finish(RunEnd::default(), out);
}

/// Reads a small file; one beyond [`MAX_ELEMENT`] is refused.
fn read_file(path: &Path) -> Result<String, String> {
    use std::io::Read;
    let file = std::fs::File::open(path).map_err(|e| e.to_string())?;
    let mut text = String::new();
    let read = file.take(MAX_ELEMENT as u64 + 1).read_to_string(&mut text);
    match read {
        Ok(len) if len > MAX_ELEMENT => Err(too_long("event")),
        Ok(_) => Ok(text),
        Err(e) => Err(e.to_string()),
    }
}

/// The name of an input without folders and the endings that say nothing.
fn stem(path: &Path) -> String {
    const ENDINGS: [&str; 8] =
        [".gz", ".zst", ".jsonl", ".ndjson", ".json", ".traj", ".messages", ".log"];
    let name = path.file_name().map_or_else(|| "-".into(), |name| name.to_string_lossy());
    let mut stem = &*name;
    while let Some(shorter) =
        ENDINGS.iter().find_map(|end| stem.strip_suffix(end)).filter(|shorter| !shorter.is_empty())
    {
        stem = shorter;
    }
    stem.to_owned()
}

impl fmt::Debug for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Units")
            .field("path", &self.path)
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unit")
            .field("path", &self.path)
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}
