//! What an entry or a state says.

use std::fmt;
use std::ops::Deref;

use serde::Serialize;
use serde_json::value::RawValue;

/// One JSON value without line breaks or space around it.
///
/// A text is only known to be one once the store has read it, which it does as it takes it. What a
/// program writes with [`Body::of`] is one already, and is not read again: a gateway's journal
/// takes kilobytes with every call of a model.
#[derive(Clone)]
pub struct Body {
    text: String,
    /// Whether the text is JSON for certain; it may still have line breaks or space around it.
    is_json: bool,
}

impl Body {
    /// The value as JSON.
    ///
    /// # Errors
    /// It cannot be written as JSON.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        Ok(Self::json(serde_json::to_string(value)?))
    }

    /// A text that is JSON for certain.
    pub(crate) fn json(text: String) -> Self {
        Self { text, is_json: true }
    }

    /// The text.
    #[must_use]
    pub fn into_string(self) -> String {
        self.text
    }

    /// # Errors
    /// Why the text is not exactly one JSON value in one line.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.is_json { check_line(&self.text) } else { check_json(&self.text) }
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Self { text, is_json: false }
    }
}

impl From<&str> for Body {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&RawValue> for Body {
    fn from(value: &RawValue) -> Self {
        Self::json(value.get().to_owned())
    }
}

impl Deref for Body {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

/// How the text came does not matter.
impl PartialEq for Body {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Body {}

/// # Errors
/// Why the text is not exactly one JSON value in one line.
pub(crate) fn check_json(text: &str) -> Result<(), String> {
    serde_json::from_str::<&RawValue>(text).map_err(|error| error.to_string())?;
    check_line(text)
}

/// # Errors
/// Why the JSON value in the text is not exactly one line.
fn check_line(text: &str) -> Result<(), String> {
    let bytes = text.as_bytes();
    let is_space = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_whitespace);
    if is_space(bytes.first()) || is_space(bytes.last()) {
        return Err("there is space around the value".to_owned());
    }
    if bytes.contains(&b'\n') || bytes.contains(&b'\r') {
        return Err("there is a line break between its parts".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_line_of_json_is_refused_however_it_came() {
        let check = |body: Body, expected: Result<(), &str>| match (body.check(), expected) {
            (Ok(()), Ok(())) => {}
            (Err(why), Err(expected)) => assert!(why.contains(expected), "{body:?}: {why}"),
            (found, _) => panic!("{body:?}: {found:?}"),
        };
        check("{} {}".into(), Err("trailing"));
        check("".into(), Err("EOF"));
        for (text, expected) in [
            ("{\"a\":[1, 2]}", Ok(())),
            (" {}", Err("space around")),
            ("{}\n", Err("space around")),
            ("[1,\n2]", Err("a line break")),
            ("[1,\r2]", Err("a line break")),
        ] {
            check(text.into(), expected);
            // Raw values are written as they stand.
            let raw: Box<RawValue> = serde_json::from_str(text.trim()).unwrap();
            let trimmed = text.trim() == text;
            check(Body::of(&raw).unwrap(), if trimmed { expected } else { Ok(()) });
        }
        check(Body::of("a\nb").unwrap(), Ok(()));
        assert_eq!(Body::of("a\nb").unwrap(), Body::from("\"a\\nb\""));
    }
}
