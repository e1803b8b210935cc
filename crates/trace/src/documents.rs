//! Reads formats that are JSON documents, piece by piece.

use crate::extent::Extent;
use crate::feed::{Feed, Found, MAX_ELEMENT};
use crate::format::Format;
use crate::formats::session;
use crate::lines::{ends_early, plain, preview_object, read_object, take, too_long};
use crate::run::RunEnd;
use crate::session::Session;
use crate::writer::RunWriter;

/// Bytes at the beginning of a document that are looked at before its first event is pushed: what
/// a run's start needs (model, outcome) may stand behind the steps.
const PREVIEW: usize = 8 << 20;
/// A document of this size is looked at as a whole, so that many small ones cost no more than one
/// large one.
const SMALL: usize = 256 << 10;
/// Longest member of a document that is taken whole; a longer one is ignored.
const MAX_MEMBER: usize = 8 << 20;
/// Longest key of a document.
const MAX_KEY: usize = 64 << 10;

/// Whether a document could be followed to its end.
type Complete = bool;

/// Reads documents of which each is a run, or a list of runs.
pub(crate) fn read_documents(feed: &mut Feed, format: Format, stem: &str, out: &mut RunWriter<'_>) {
    let mut index = 0_u64;
    while let Some(token) = feed.peek_token() {
        if out.is_done() {
            return;
        }
        let line = feed.line();
        let complete = match token {
            b'{' => {
                let name = if index == 0 { stem.to_owned() } else { format!("{stem}:{line}") };
                index += 1;
                document(feed, &mut *session(format, &name), out)
            }
            b'[' => each_element(feed, out, |text, line, out| {
                let name = format!("{stem}:{index}");
                index += 1;
                read_object(text, format, &name, line, out);
            }),
            _ => {
                out.problem(line, "neither a JSON object nor a list; the rest is skipped");
                false
            }
        };
        if !complete {
            break;
        }
    }
    if let Some(what) = feed.take_error() {
        out.problem(feed.line(), ends_early(&what));
    }
}

/// Reads documents that together are the entries of one run.
pub(crate) fn read_entries(feed: &mut Feed, format: Format, stem: &str, out: &mut RunWriter<'_>) {
    let mut session = session(format, stem);
    let mut complete = true;
    while complete && !out.is_done() {
        complete = match feed.peek_token() {
            None => break,
            Some(b'[') => each_element(feed, out, |text, line, out| {
                take(&mut *session, text, line, out);
            }),
            Some(b'{') => one_element(feed, out, &mut |text, line, out| {
                take(&mut *session, text, line, out);
            }),
            Some(_) => {
                let what = "neither a JSON object nor a list; the rest is skipped";
                out.problem(feed.line(), what);
                false
            }
        };
    }
    let error = feed.take_error();
    session.finish(RunEnd { truncated: !complete || error.is_some(), ..RunEnd::default() }, out);
    if let Some(what) = error {
        out.problem(feed.line(), ends_early(&what));
    }
}

/// Reads the object at hand: its members first as far as they are near, then its elements.
fn document(feed: &mut Feed, session: &mut dyn Session, out: &mut RunWriter<'_>) -> Complete {
    preview(feed, session);
    feed.skip_byte();
    let complete = loop {
        if out.is_done() {
            return true;
        }
        match feed.peek_token() {
            None => {
                out.problem(feed.line(), "the document is cut off");
                break false;
            }
            Some(b'}') => {
                feed.skip_byte();
                break true;
            }
            Some(b',') => feed.skip_byte(),
            Some(b'"') => {
                if !member(feed, session, out) {
                    break false;
                }
            }
            Some(_) => {
                out.problem(feed.line(), "not valid JSON; the rest of the document is skipped");
                break false;
            }
        }
    };
    session.finish(RunEnd { truncated: !complete, ..RunEnd::default() }, out);
    complete
}

/// Shows a session the beginning of the document at hand: all of it if it is small.
fn preview(feed: &mut Feed, session: &mut dyn Session) {
    let mut head = feed.peek_up_to(SMALL);
    let mut len = Extent::default().feed(head);
    if len.is_none() {
        head = feed.peek_up_to(PREVIEW);
        len = Some(head.len());
    }
    let head = head.get(..len.unwrap_or(0)).unwrap_or(b"");
    let text = std::str::from_utf8(head)
        .or_else(|e| std::str::from_utf8(head.get(..e.valid_up_to()).unwrap_or(b"")));
    preview_object(text.unwrap_or(""), session);
}

/// Reads a member of the object at hand.
fn member(feed: &mut Feed, session: &mut dyn Session, out: &mut RunWriter<'_>) -> Complete {
    let line = feed.line();
    let key = match feed.find_value(MAX_KEY) {
        Found::Item(item) => {
            let key = plain(std::str::from_utf8(feed.bytes(item.clone())).unwrap_or(""));
            feed.consume(item);
            key
        }
        Found::TooLong => String::new(),
        Found::CutOff | Found::Nothing => {
            out.problem(line, "the document is cut off");
            return false;
        }
    };
    if feed.peek_token() != Some(b':') {
        out.problem(feed.line(), "not valid JSON: no value after a key; the rest is skipped");
        return false;
    }
    feed.skip_byte();
    if feed.peek_token() == Some(b'[') && session.wants_list(&key) {
        return each_element(feed, out, |text, line, out| {
            take(session, text, line, out);
        });
    }
    match feed.find_value(MAX_MEMBER) {
        Found::Item(item) => {
            if let Ok(text) = std::str::from_utf8(feed.bytes(item.clone())) {
                session.member(&key, text);
            }
            feed.consume(item);
            true
        }
        // Nothing a run needs is that long.
        Found::TooLong => true,
        Found::CutOff | Found::Nothing => {
            out.problem(feed.line(), "the document is cut off");
            false
        }
    }
}

/// Gives each element of the list at hand to `give`.
fn each_element(
    feed: &mut Feed,
    out: &mut RunWriter<'_>,
    mut give: impl FnMut(&str, u64, &mut RunWriter<'_>),
) -> Complete {
    feed.skip_byte();
    loop {
        if out.is_done() {
            return true;
        }
        match feed.peek_token() {
            None => {
                out.problem(feed.line(), "the list is cut off");
                return false;
            }
            Some(b']') => {
                feed.skip_byte();
                return true;
            }
            Some(b',') => feed.skip_byte(),
            Some(_) => {
                if !one_element(feed, out, &mut give) {
                    return false;
                }
            }
        }
    }
}

/// Gives the element at hand to `give`.
fn one_element(
    feed: &mut Feed,
    out: &mut RunWriter<'_>,
    give: &mut impl FnMut(&str, u64, &mut RunWriter<'_>),
) -> Complete {
    let line = feed.line();
    match feed.find_value(MAX_ELEMENT) {
        Found::Item(item) => {
            match std::str::from_utf8(feed.bytes(item.clone())) {
                Ok(text) => give(text, line, out),
                Err(e) => out.problem(line, format!("not UTF-8: {e}")),
            }
            feed.consume(item);
            true
        }
        Found::TooLong => {
            out.problem(line, too_long("element"));
            true
        }
        Found::CutOff | Found::Nothing => {
            out.problem(line, "the input ends inside an element");
            false
        }
    }
}
