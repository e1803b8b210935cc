//! Texts and lists within their bounds.

/// Most bytes of the beginning of a reply's text, of a note and of a task.
pub const MAX_TEXT: usize = 4 << 10;
/// Most bytes of what is said to an agent, and of an answer.
pub const MAX_SAID: usize = 8 << 10;
/// Most bytes of the beginning of a call's arguments.
pub const MAX_ARGUMENTS: usize = 1 << 10;
/// Most bytes of the beginning of what a call returned.
pub const MAX_EXCERPT: usize = 512;
/// Most bytes of the name of a tool.
pub const MAX_TOOL: usize = 128;
/// Most bytes of the name of a file or a test.
pub const MAX_NAME: usize = 200;

/// The beginning of a text, at most so many bytes; what is longer ends with `…`.
#[must_use]
pub fn beginning(text: &str, max: usize) -> String {
    const MORE: &str = "…";
    if text.len() <= max {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(max.saturating_sub(MORE.len()));
    format!("{}{MORE}", &text[..end])
}

/// Adds to a list that holds at most so many; false if there was no room.
pub(crate) fn push<T>(list: &mut Vec<T>, max: usize, item: T) -> bool {
    let has_room = list.len() < max;
    if has_room {
        list.push(item);
    }
    has_room
}

/// Adds to a list that holds at most so many; the first makes room.
pub(crate) fn push_latest<T>(list: &mut Vec<T>, max: usize, item: T) {
    if list.len() >= max.max(1) {
        list.remove(0);
    }
    list.push(item);
}
