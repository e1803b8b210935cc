//! A session as a text file: one line that says what it is, then one line per entry.

use std::io::{self, BufRead, Read, Write};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::entry::MAX_BODY_BYTES;
use crate::{Append, Body, Head, MAX_KIND_BYTES, NewEntry, SessionId, Store, StoreError};

const FORMAT: &str = "steersman-journal";
/// The version that is written; all up to it are read.
const VERSION: u32 = 1;
/// The most bytes of a line: a body, and room for what stands around it with every byte escaped.
const MAX_LINE_BYTES: usize = MAX_BODY_BYTES + 6 * MAX_KIND_BYTES + 256;
/// An import appends when it has read that many entries or bytes.
const CHUNK_ENTRIES: usize = 512;
const CHUNK_BYTES: usize = 4 << 20;
/// Entries that an export asks for at a time.
const PAGE: usize = 512;

/// Why a session was not written or read.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The store did not do its part.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file could not be written or read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file is not what it should be.
    #[error("line {line}: {what}")]
    Line {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it.
        what: String,
    },
}

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    format: String,
    version: u32,
    id: SessionId,
    created_ms: u64,
    last_seq: u64,
    head: Head,
}

/// Any other line.
#[derive(Debug, Serialize, Deserialize)]
struct Line<'a> {
    seq: u64,
    at_ms: u64,
    kind: String,
    #[serde(borrow)]
    body: &'a RawValue,
}

/// Writes a session as it stands, entries that come meanwhile left out, and gives the number of
/// entries. Leases, controls and timers are not part of it.
///
/// Writing blocks; memory is bounded by one page of entries, at most some 64 MiB of bodies.
///
/// # Errors
/// [`StoreError::Unknown`], and whatever the store or the writer reports.
pub async fn export(
    store: &dyn Store,
    id: &SessionId,
    out: &mut (dyn Write + Send),
) -> Result<u64, TransferError> {
    let unknown = || StoreError::Unknown { id: id.clone() };
    let session = store.session(id).await?.ok_or_else(unknown)?;
    let header = Header {
        format: FORMAT.to_owned(),
        version: VERSION,
        id: session.id,
        created_ms: session.created_ms,
        last_seq: session.last_seq,
        head: session.head,
    };
    write_line(out, &header)?;
    let mut seq = 0;
    while seq < header.last_seq {
        let left = usize::try_from(header.last_seq - seq).unwrap_or(PAGE);
        let page = store.read(id, seq, left.min(PAGE)).await?;
        // The session was deleted and made anew meanwhile.
        seq = page.last().ok_or_else(unknown)?.seq;
        for entry in &page {
            let body = serde_json::from_str(&entry.body).map_err(io::Error::from)?;
            let (seq, at_ms, kind) = (entry.seq, entry.at_ms, entry.kind.clone());
            write_line(out, &Line { seq, at_ms, kind, body })?;
        }
    }
    out.flush()?;
    Ok(seq)
}

fn write_line(out: &mut dyn Write, line: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    out.write_all(&text)
}

/// Reads a session that [`export`] has written, under its own name or another, and gives the name.
/// If anything is wrong with the file, nothing is kept.
///
/// Reading blocks; memory is bounded by the longest line.
///
/// # Errors
/// [`TransferError::Line`] with what is wrong; [`StoreError::Exists`].
pub async fn import(
    store: &dyn Store,
    rename: Option<SessionId>,
    input: &mut (dyn BufRead + Send),
) -> Result<SessionId, TransferError> {
    let mut lines = Lines { input, number: 0, text: Vec::new() };
    let header = lines.header()?;
    let id = rename.unwrap_or_else(|| header.id.clone());
    store.create(&id, header.head.clone(), header.created_ms).await?;
    match take_entries(store, &id, &header, &mut lines).await {
        Ok(()) => Ok(id),
        Err(error) => {
            // If this fails as well, the first error is the one that explains it.
            let _ = store.delete(&id).await;
            Err(error)
        }
    }
}

async fn take_entries(
    store: &dyn Store,
    id: &SessionId,
    header: &Header,
    lines: &mut Lines<'_>,
) -> Result<(), TransferError> {
    let mut seq = 0;
    loop {
        let chunk = lines.chunk(seq)?;
        if chunk.is_empty() {
            break;
        }
        seq = store.append(id, Append::new(seq, chunk)).await?;
    }
    if seq != header.last_seq {
        let what = format!("the file ends after entry {seq} of {}", header.last_seq);
        return Err(TransferError::Line { line: lines.number, what });
    }
    Ok(())
}

struct Lines<'a> {
    input: &'a mut (dyn BufRead + Send),
    /// Of the line in `text`, or the last one.
    number: u64,
    text: Vec<u8>,
}

impl Lines<'_> {
    fn fault(&self, what: impl ToString) -> TransferError {
        TransferError::Line { line: self.number.max(1), what: what.to_string() }
    }

    /// Reads the next line into `text`, or gives false at the end.
    fn advance(&mut self) -> Result<bool, TransferError> {
        self.text.clear();
        let bound = MAX_LINE_BYTES as u64 + 1;
        Read::take(&mut *self.input, bound).read_until(b'\n', &mut self.text)?;
        if self.text.last() == Some(&b'\n') {
            self.text.pop();
        }
        if self.text.len() > MAX_LINE_BYTES {
            self.number += 1;
            return Err(self.fault(format!("longer than {MAX_LINE_BYTES} bytes")));
        }
        let found = !self.text.is_empty();
        self.number += u64::from(found);
        Ok(found)
    }

    fn header(&mut self) -> Result<Header, TransferError> {
        #[derive(Deserialize)]
        struct Kind {
            format: String,
            version: u32,
        }
        if !self.advance()? {
            return Err(self.fault("the file is empty"));
        }
        let kind: Kind = serde_json::from_slice(&self.text)
            .map_err(|error| self.fault(format!("not the first line of a journal: {error}")))?;
        if kind.format != FORMAT {
            let shown: String = kind.format.chars().take(80).collect();
            return Err(self.fault(format!("the format is {shown:?}; it has to be {FORMAT:?}")));
        }
        if !(1..=VERSION).contains(&kind.version) {
            return Err(self.fault(format!(
                "version {} of the format; this program reads 1 to {VERSION}: update it",
                kind.version
            )));
        }
        serde_json::from_slice(&self.text).map_err(|error| self.fault(error))
    }

    /// The next entries after `seq`; none at the end.
    fn chunk(&mut self, mut seq: u64) -> Result<Vec<NewEntry>, TransferError> {
        let (mut entries, mut bytes) = (Vec::new(), 0);
        while entries.len() < CHUNK_ENTRIES && bytes < CHUNK_BYTES && self.advance()? {
            let line: Line<'_> =
                serde_json::from_slice(&self.text).map_err(|error| self.fault(error))?;
            seq += 1;
            if line.seq != seq {
                return Err(self.fault(format!("entry {} where {seq} follows", line.seq)));
            }
            let (at_ms, kind, body) = (line.at_ms, line.kind, Body::from(line.body));
            bytes += body.len();
            entries.push(NewEntry { at_ms, kind, body });
        }
        Ok(entries)
    }
}
