//! Decompression, recognised by content.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

/// Largest window a Zstandard file may ask for: it has to be held in memory.
const MAX_WINDOW: u64 = 64 << 20;
/// Bytes read from the file at once.
const CHUNK: usize = 128 << 10;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Wraps a reader so that gzip (of one or more members) and Zstandard (of one or more frames) are
/// decompressed; anything else passes as it is.
pub(crate) fn inflate(source: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let mut source = BufReader::with_capacity(CHUNK, source);
    let head = peek(&mut source)?;
    if head.starts_with(GZIP) {
        return Ok(Box::new(MultiGzDecoder::new(source)));
    }
    if head.starts_with(ZSTD) || is_skippable(head) {
        return Ok(Box::new(Frames::Between(source)));
    }
    Ok(Box::new(source))
}

/// The first bytes; fewer than four only if the source is shorter, or a pipe that delivers them
/// one by one, which no compressor does.
fn peek(source: &mut BufReader<Box<dyn Read + Send>>) -> io::Result<&[u8]> {
    loop {
        match source.fill_buf() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
            Ok(_) => break,
        }
    }
    Ok(source.buffer())
}

fn is_skippable(head: &[u8]) -> bool {
    matches!(head, [low, 0x2a, 0x4d, 0x18, ..] if low & 0xf0 == 0x50)
}

type Source = BufReader<Box<dyn Read + Send>>;

/// The frames of a Zstandard file, one after the other.
enum Frames {
    Between(Source),
    Inside(Box<StreamingDecoder<Source, ruzstd::decoding::FrameDecoder>>),
    Done,
}

impl Read for Frames {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            match std::mem::replace(self, Self::Done) {
                Self::Done => return Ok(0),
                Self::Between(mut source) => {
                    let head = peek(&mut source)?;
                    if head.is_empty() {
                        return Ok(0);
                    }
                    if is_skippable(head) {
                        skip_frame(&mut source)?;
                        *self = Self::Between(source);
                        continue;
                    }
                    let decoder = StreamingDecoder::new_with_max_window_size(source, MAX_WINDOW)
                        .map_err(io::Error::other)?;
                    *self = Self::Inside(Box::new(decoder));
                }
                Self::Inside(mut decoder) => {
                    let read = decoder.read(out)?;
                    if read > 0 {
                        *self = Self::Inside(decoder);
                        return Ok(read);
                    }
                    *self = Self::Between(decoder.into_inner());
                }
            }
        }
    }
}

/// Skips a frame that holds no data: four bytes of magic, four of length, then that many.
fn skip_frame(source: &mut Source) -> io::Result<()> {
    let mut header = [0; 8];
    source.read_exact(&mut header)?;
    let [_, _, _, _, a, b, c, d] = header;
    let length = u64::from(u32::from_le_bytes([a, b, c, d]));
    let skipped = io::copy(&mut source.take(length), &mut io::sink())?;
    if skipped < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(())
}
