//! The places in a text where parameters go: `{{{name}}}`.

use std::borrow::Cow;
use std::ops::Range;

/// Longest name of a parameter. Bytes.
const MAX_NAME: usize = 64;

/// A place where a parameter goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// Bytes in the text, braces included.
    pub(crate) at: Range<usize>,
    /// The parameter's name.
    pub(crate) name: String,
}

/// Why `{{{` is no place for a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadSlot {
    /// Bytes in the text.
    pub(crate) at: Range<usize>,
    /// What is wrong.
    pub(crate) what: String,
}

/// The slots in a part of a text, in order.
///
/// # Errors
/// Every `{{{` that is not closed in its line, or that holds no name.
pub(crate) fn find(text: &str, part: Range<usize>) -> Result<Vec<Slot>, Vec<BadSlot>> {
    let (mut slots, mut bad) = (Vec::new(), Vec::new());
    let mut from = part.start;
    while let Some(open) = text.get(from..part.end).and_then(|rest| rest.find("{{{")) {
        let open = from + open;
        let inside = open + 3;
        let line = text[inside..part.end].split('\n').next().unwrap_or("");
        let Some(length) = line.find("}}}") else {
            let what = "`{{{` is not closed by `}}}` in its line".to_owned();
            bad.push(BadSlot { at: open..inside, what });
            from = inside;
            continue;
        };
        let end = inside + length + 3;
        let name = line[..length].trim();
        if is_name(name) {
            slots.push(Slot { at: open..end, name: name.to_owned() });
        } else {
            let what = "not a parameter: a name is letters, digits and `_`".to_owned();
            bad.push(BadSlot { at: open..end, what });
        }
        from = end;
    }
    if bad.is_empty() { Ok(slots) } else { Err(bad) }
}

/// Whether a text can be the name of a parameter.
pub(crate) fn is_name(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty() && name.len() <= MAX_NAME && name.bytes().all(letter)
}

/// Puts values into a text in one pass: what was put in is not looked at again. `value` says what
/// goes into a slot.
///
/// # Errors
/// The first error of `value`.
pub(crate) fn fill<'v, E>(
    into: &mut String,
    (text, part): (&str, Range<usize>),
    slots: &[Slot],
    value: impl Fn(&Slot) -> Result<Cow<'v, str>, E>,
) -> Result<(), E> {
    let mut from = part.start;
    for slot in slots {
        into.push_str(&text[from..slot.at.start]);
        into.push_str(&value(slot)?);
        from = slot.at.end;
    }
    into.push_str(&text[from..part.end]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{fill, find};

    fn filled(text: &str) -> Result<String, Vec<String>> {
        let slots = find(text, 0..text.len()).map_err(|bad| {
            bad.into_iter().map(|bad| text[bad.at].to_owned()).collect::<Vec<_>>()
        })?;
        let mut into = String::new();
        let value = |slot: &super::Slot| match slot.name.as_str() {
            "a" => Ok("1".into()),
            "b" => Ok("{{{a}}}".into()),
            name => Err(vec![name.to_owned()]),
        };
        fill(&mut into, (text, 0..text.len()), &slots, value)?;
        Ok(into)
    }

    #[test]
    fn slots_are_filled_once() {
        let cases: [(&str, Result<&str, &[&str]>); 11] = [
            ("", Ok("")),
            ("no slot", Ok("no slot")),
            ("{{{a}}}", Ok("1")),
            ("x{{{ a }}}y{{{b}}}z", Ok("x1y{{{a}}}z")),
            ("{a} {{a}}", Ok("{a} {{a}}")),
            ("{{{c}}}", Err(&["c"])),
            ("{{{a", Err(&["{{{"])),
            ("{{{a\n}}}", Err(&["{{{"])),
            ("{{{}}} {{{a b}}}", Err(&["{{{}}}", "{{{a b}}}"])),
            ("ä{{{a}}}ö", Ok("ä1ö")),
            ("}}} {{{a}}}}", Ok("}}} 1}")),
        ];
        for (text, expected) in cases {
            let expected = expected
                .map(str::to_owned)
                .map_err(|names| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
            assert_eq!(filled(text), expected, "{text}");
        }
    }
}
