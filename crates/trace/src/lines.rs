//! Reads formats that are made of lines.

use memchr::memchr;

use crate::extent::{elements, is_whole_object, members};
use crate::feed::{Batch, Feed, Found, MAX_ELEMENT};
use crate::format::Format;
use crate::formats::runs::read_run;
use crate::formats::session;
use crate::lenient::Str;
use crate::run::RunEnd;
use crate::session::Session;
use crate::writer::RunWriter;

/// Bytes at the beginning of a session that are looked at for what its first event needs.
const PREVIEW: usize = 1 << 20;
/// Lines, or elements of a list, that are looked at for it.
pub(crate) const PREVIEW_ELEMENTS: usize = 64;

/// Reads a batch of lines of which each is a run.
pub(crate) fn read_batch(batch: &Batch, format: Format, stem: &str, out: &mut RunWriter<'_>) {
    let mut number = batch.first_line;
    let mut rest = &*batch.bytes;
    while !rest.is_empty() && !out.is_done() {
        let end = memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let (line, after) = rest.split_at(end);
        rest = after;
        read_run_line(line, format, stem, number, out);
        number += 1;
    }
    if let Some(line) = batch.too_long {
        out.problem(line, too_long("line"));
    }
    if let Some((line, what)) = &batch.error {
        out.problem(*line, ends_early(what));
    }
}

fn read_run_line(line: &[u8], format: Format, stem: &str, number: u64, out: &mut RunWriter<'_>) {
    let text = match std::str::from_utf8(line) {
        Ok(text) => text.trim(),
        Err(e) => return out.problem(number, format!("not UTF-8: {e}")),
    };
    if !text.is_empty() {
        read_object(text, format, &format!("{stem}:{number}"), number, out);
    }
}

/// Reads an object in memory that is a whole run.
pub(crate) fn read_object(
    text: &str,
    format: Format,
    name: &str,
    line: u64,
    out: &mut RunWriter<'_>,
) {
    if format == Format::Runs {
        if let Err(e) = read_run(text, name, line, out) {
            out.problem(line, format!("run skipped: {}", why(&e)));
        }
        return;
    }
    if !is_whole_object(text) {
        return out.problem(line, "run skipped: not a complete JSON object");
    }
    let mut session = session(format, name);
    preview_object(text, &mut *session);
    for (key, value) in members(text) {
        if !value.starts_with('[') || !session.wants_list(&plain(key)) {
            continue;
        }
        for element in elements(value) {
            if out.is_done() {
                return;
            }
            take(&mut *session, element, line, out);
        }
    }
    session.finish(RunEnd::default(), out);
}

/// Shows a session the members of its object, and the first elements of the lists in it.
pub(crate) fn preview_object(text: &str, session: &mut dyn Session) {
    for (key, value) in members(text) {
        let key = plain(key);
        if value.starts_with('[') {
            for element in elements(value).take(PREVIEW_ELEMENTS) {
                session.preview(&key, element);
            }
        } else {
            session.member(&key, value);
        }
    }
}

/// A key without its quotes.
pub(crate) fn plain(key: &str) -> String {
    serde_json::from_str::<Str<'_>>(key).map_or(String::new(), |key| key.text().into_owned())
}

/// Gives an element to a session, or reports it. False if it was broken.
pub(crate) fn take(
    session: &mut dyn Session,
    json: &str,
    line: u64,
    out: &mut RunWriter<'_>,
) -> bool {
    match session.element(json, line, out) {
        Ok(()) => true,
        Err(e) => {
            out.problem(line, format!("skipped: {}", why(&e)));
            false
        }
    }
}

/// Why an element could not be parsed, without the parser's own line numbers and type names.
pub(crate) fn why(error: &serde_json::Error) -> String {
    match error.classify() {
        serde_json::error::Category::Eof => "the JSON is cut off".to_owned(),
        serde_json::error::Category::Data => "not a JSON object of the expected kind".to_owned(),
        _ => format!("not valid JSON at column {}", error.column()),
    }
}

/// Reads lines that together are one run.
pub(crate) fn read_session(feed: &mut Feed, format: Format, stem: &str, out: &mut RunWriter<'_>) {
    let mut session = session(format, stem);
    let head = feed.peek_up_to(PREVIEW);
    for line in head.split_inclusive(|&b| b == b'\n').take(PREVIEW_ELEMENTS) {
        if let (true, Ok(text)) = (line.ends_with(b"\n"), std::str::from_utf8(line)) {
            session.preview("", text);
        }
    }
    let mut truncated = false;
    while !out.is_done() {
        let line = feed.line();
        let item = match feed.find_line() {
            Found::Item(item) => item,
            Found::TooLong => {
                out.problem(line, too_long("line"));
                continue;
            }
            Found::CutOff | Found::Nothing => break,
        };
        match std::str::from_utf8(feed.bytes(item.clone())) {
            Ok(text) if text.trim().is_empty() => {}
            Ok(text) => truncated = !take(&mut *session, text.trim(), line, out),
            Err(e) => out.problem(line, format!("not UTF-8: {e}")),
        }
        feed.consume(item);
    }
    let error = feed.take_error();
    session.finish(RunEnd { truncated: truncated || error.is_some(), ..RunEnd::default() }, out);
    if let Some(what) = error {
        out.problem(feed.line(), ends_early(&what));
    }
}

/// What is said about an item beyond the limit.
pub(crate) fn too_long(item: &str) -> String {
    format!("{item} longer than {} MiB is skipped", MAX_ELEMENT >> 20)
}

/// What is said about an input that breaks off.
pub(crate) fn ends_early(what: &str) -> String {
    format!("the input ends early, what came before is kept: {what}")
}
