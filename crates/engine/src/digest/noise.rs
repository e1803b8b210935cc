//! What differs between two outputs that say the same: times, process ids, addresses.

/// A stretch of noise.
pub(super) struct Noise {
    /// Where it begins.
    pub(super) start: usize,
    /// Its length in bytes.
    pub(super) len: usize,
    /// The byte that stands for it in the digest.
    pub(super) stands_for: u8,
}

/// Starts of lines that clients add around a tool's output.
const LINES: &[&[u8]] =
    &[b"Chunk ID:", b"Wall time", b"Original token count:", b"Process Group PGID:"];

/// Elements that clients add inside a tool's output.
const ELEMENTS: &[(&[u8], &[u8])] =
    &[(b"<system-reminder>", b"</system-reminder>"), (b"<total_tokens>", b"</total_tokens>")];

/// Where temporary files are.
const TEMPORARY: &[u8] = b"/tmp/";

/// Words before the number of a process.
const ANNOUNCING: &[&[u8]] = &[b"pid", b"ppid", b"pgid", b"tid", b"process"];

/// Longest element that is skipped, in bytes.
const MAX_ELEMENT: usize = 4096;

/// The length of the line that begins here, if it is noise as a whole.
pub(super) fn line(rest: &[u8]) -> Option<usize> {
    if !matches!(rest.first(), Some(b'C' | b'W' | b'O' | b'P')) {
        return None;
    }
    LINES
        .iter()
        .any(|start| rest.starts_with(start))
        .then(|| rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len()))
}

/// Whether `/` or `<` is no noise, by the byte that follows it; most are none.
#[inline]
pub(super) const fn is_plain(stop: u8, next: Option<&u8>) -> bool {
    match stop {
        b'/' => !matches!(next, Some(b't')),
        b'<' => !matches!(next, Some(b's' | b't')),
        _ => false,
    }
}

/// The noise around a digit, `/` or `<` at a position, or else where to look on. Nothing before
/// `from` belongs to it.
pub(super) fn at(bytes: &[u8], from: usize, at: usize) -> Result<Noise, usize> {
    let rest = &bytes[at..];
    match rest[0] {
        b'/' => temporary(rest).map(|len| Noise { start: at, len, stands_for: b'/' }),
        b'<' => element(rest).map(|len| Noise { start: at, len, stands_for: b'<' }),
        _ => return number(bytes, from, at),
    }
    .ok_or(at + 1)
}

/// The length of a path of temporary files that begins here, up to the end of the random name.
fn temporary(rest: &[u8]) -> Option<usize> {
    let name = rest.strip_prefix(TEMPORARY)?;
    let len = name.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    (len > 0).then_some(TEMPORARY.len() + len)
}

/// The length of the element that begins here, if it is noise.
fn element(rest: &[u8]) -> Option<usize> {
    let (_, close) = ELEMENTS.iter().find(|(open, _)| rest.starts_with(open))?;
    let rest = &rest[..rest.len().min(MAX_ELEMENT)];
    memchr::memmem::find(rest, close).map(|at| at + close.len())
}

/// The bytes of words: letters, digits, `_` and everything beyond ASCII.
static IN_WORD: [bool; 256] = {
    let mut in_word = [false; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        in_word[at] = byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        at += 1;
    }
    in_word
};

/// The noise in the word around a digit, or else where that word ends.
fn number(bytes: &[u8], from: usize, at: usize) -> Result<Noise, usize> {
    let in_word = |byte: &u8| IN_WORD[usize::from(*byte)];
    if let Some(before) = bytes[from..at].last().filter(|byte| in_word(byte))
        && !before.is_ascii_hexdigit()
    {
        // No part of a hexadecimal number, which is the only noise that begins before a digit.
        return Err(at + bytes[at..].iter().take_while(|byte| in_word(byte)).count());
    }
    let before = bytes[from..at].iter().rev().take_while(|byte| in_word(byte)).count();
    let after = bytes[at..].iter().take_while(|byte| in_word(byte)).count();
    let (start, len) = (at - before, before + after);
    let rest = &bytes[start..];
    let found = if before > 0 {
        hexadecimal(rest, len)
    } else if len > 2 && rest.starts_with(b"0x") {
        Some((len, b'x'))
    } else {
        let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        moment(rest, digits)
            .or_else(|| duration(rest, digits))
            .or_else(|| hexadecimal(rest, len))
            .or_else(|| process(&bytes[..start], digits))
    };
    found.map(|(len, stands_for)| Noise { start, len, stands_for }).ok_or(start + len)
}

/// A process id right behind the word that announces it: `pid 12`, `PGID: 12`.
fn process(before: &[u8], digits: usize) -> Option<(usize, u8)> {
    let gap = before.iter().rev().take(3).take_while(|b| b" :=(#".contains(b)).count();
    let before = &before[..before.len() - gap];
    if gap == 0 || !matches!(before.last(), Some(b'd' | b'D' | b's' | b'S')) {
        return None;
    }
    let letters = before.iter().rev().take(8).take_while(|b| b.is_ascii_alphabetic()).count();
    let word = &before[before.len() - letters..];
    let announced = ANNOUNCING.iter().any(|known| word.eq_ignore_ascii_case(known));
    announced.then_some((digits, b'p'))
}

/// A UUID, or a long word that mixes hexadecimal digits and letters.
fn hexadecimal(rest: &[u8], len: usize) -> Option<(usize, u8)> {
    if len != 8 && len < 12 {
        return None;
    }
    let dashes = [8, 13, 18, 23];
    let uuid = |(i, b): (usize, &u8)| {
        if dashes.contains(&i) { *b == b'-' } else { b.is_ascii_hexdigit() }
    };
    if len == 8 && rest.len() >= 36 && rest[..36].iter().enumerate().all(uuid) {
        return Some((36, b'u'));
    }
    let word = &rest[..len];
    let mixed = word.iter().any(u8::is_ascii_digit) && word.iter().any(u8::is_ascii_alphabetic);
    (len >= 12 && mixed && word.iter().all(u8::is_ascii_hexdigit)).then_some((len, b'x'))
}

/// A moment: clock time with seconds, date with clock time, Unix time of this age.
fn moment(rest: &[u8], digits: usize) -> Option<(usize, u8)> {
    let len = match digits {
        2 => clock(rest)?,
        4 if rest.len() > 11
            && matches(&rest[..10], b"dddd-dd-dd")
            && matches!(rest[10], b'T' | b' ') =>
        {
            11 + clock(&rest[11..])?
        }
        10 | 13 => {
            let ends = !rest.get(digits).is_some_and(u8::is_ascii_alphanumeric);
            (ends && rest[0] == b'1' && (b'4'..=b'9').contains(&rest[1])).then_some(digits)?
        }
        _ => return None,
    };
    Some((len, b't'))
}

/// The length of a clock time with seconds: `12:34:56`, fraction and zone included.
fn clock(rest: &[u8]) -> Option<usize> {
    if rest.len() < 8 || !matches(&rest[..8], b"dd:dd:dd") {
        return None;
    }
    let mut len = 8;
    if matches!(rest.get(len), Some(b'.' | b','))
        && rest.get(len + 1).is_some_and(u8::is_ascii_digit)
    {
        len += 1 + rest[len + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
    }
    if rest.get(len) == Some(&b'Z') {
        len += 1;
    }
    Some(len)
}

/// A number with a unit of time.
fn duration(rest: &[u8], digits: usize) -> Option<(usize, u8)> {
    let mut len = digits;
    if rest.get(len) == Some(&b'.') && rest.get(len + 1).is_some_and(u8::is_ascii_digit) {
        len += 1 + rest[len + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
    }
    if rest.get(len) == Some(&b' ') {
        len += 1;
    }
    if !matches!(rest.get(len), Some(b's' | b'm' | b'u' | b'n' | 0xc2)) {
        return None;
    }
    let unit = &rest[len..];
    let letters = unit.iter().take(9).take_while(|b| b.is_ascii_alphabetic() || **b >= 0x80);
    let unit = &unit[..letters.count()];
    const UNITS: &[&[u8]] = &[
        b"s",
        b"ms",
        b"us",
        b"ns",
        "µs".as_bytes(),
        b"sec",
        b"secs",
        b"second",
        b"seconds",
        b"millis",
        b"minutes",
    ];
    UNITS.contains(&unit).then_some((len + unit.len(), b'd'))
}

/// Whether bytes have a shape in which `d` stands for a digit.
fn matches(bytes: &[u8], shape: &[u8]) -> bool {
    bytes.len() == shape.len()
        && bytes
            .iter()
            .zip(shape)
            .all(|(b, s)| if *s == b'd' { b.is_ascii_digit() } else { b == s })
}
