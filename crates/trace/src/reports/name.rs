//! Test names that stay the same from run to run.

use std::borrow::Cow;

use super::count::is_duration;

/// Frees a name from what changes between runs of the same test: durations in brackets at its end
/// (`(0.03s)`, `[12 ms]`) and memory addresses (`0x7f54c6ec` becomes `0x`).
pub(super) fn stable(name: &str) -> Cow<'_, str> {
    let mut name = name.trim();
    while let Some(shorter) = without_duration(name) {
        name = shorter;
    }
    without_addresses(name)
}

fn without_duration(name: &str) -> Option<&str> {
    let (inner, open) = match name.as_bytes().last()? {
        b')' => (&name[..name.len() - 1], '('),
        b']' => (&name[..name.len() - 1], '['),
        _ => return None,
    };
    let (before, span) = inner.rsplit_once(open)?;
    is_duration(span).then(|| before.trim_end())
}

fn without_addresses(name: &str) -> Cow<'_, str> {
    /// Shorter ones are numbers somebody wrote, not addresses.
    const MIN_DIGITS: usize = 6;
    if !name.contains("0x") {
        return Cow::Borrowed(name);
    }
    let mut parts = name.split("0x");
    let mut stable = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_hexdigit).count();
        stable.push_str("0x");
        stable.push_str(if digits >= MIN_DIGITS { &part[digits..] } else { part });
    }
    Cow::Owned(stable)
}
