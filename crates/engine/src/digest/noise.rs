//! What differs between two outputs that say the same: times, process ids, addresses.

/// A stretch of noise.
pub(super) struct Noise {
    /// Its length in bytes.
    pub(super) len: usize,
    /// The letter that stands for it in the digest.
    pub(super) stands_for: u8,
}

/// Starts of lines that clients add around a tool's output.
const LINES: &[&[u8]] =
    &[b"Chunk ID:", b"Wall time", b"Original token count:", b"Process Group PGID:"];

/// Elements that clients add inside a tool's output.
const ELEMENTS: &[(&[u8], &[u8])] =
    &[(b"<system-reminder>", b"</system-reminder>"), (b"<total_tokens>", b"</total_tokens>")];

/// Longest element that is skipped, in bytes.
const MAX_ELEMENT: usize = 4096;

/// The length of the line that begins here, if it is noise as a whole.
pub(super) fn line(rest: &[u8]) -> Option<usize> {
    if !matches!(rest[0], b'C' | b'W' | b'O' | b'P') {
        return None;
    }
    LINES
        .iter()
        .any(|start| rest.starts_with(start))
        .then(|| rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len()))
}

/// The length of the element that begins here, if it is noise.
pub(super) fn element(rest: &[u8]) -> Option<usize> {
    let (_, close) = ELEMENTS.iter().find(|(open, _)| rest.starts_with(open))?;
    let rest = &rest[..rest.len().min(MAX_ELEMENT)];
    rest.windows(close.len()).position(|window| window == *close).map(|at| at + close.len())
}

/// Whether a word announces noise.
pub(super) fn announces(word: &[u8]) -> bool {
    matches!(word, [b'p' | b'P' | b't' | b'T', ..])
        && matches!(word.len(), 3 | 4 | 7)
        && [&b"pid"[..], b"ppid", b"pgid", b"tid", b"tmp", b"process"]
            .iter()
            .any(|known| word.eq_ignore_ascii_case(known))
}

/// The noise that begins with the word at `at`, whose length is `len`.
pub(super) fn word(bytes: &[u8], at: usize, len: usize) -> Option<Noise> {
    let word = &bytes[at..at + len];
    if !word[0].is_ascii_digit() {
        return announced(bytes, at, len).or_else(|| hexadecimal(bytes, at, len));
    }
    if word.starts_with(b"0x") && len > 2 {
        return Some(Noise { len, stands_for: b'x' });
    }
    moment(bytes, at).or_else(|| duration(bytes, at)).or_else(|| hexadecimal(bytes, at, len))
}

/// A process id or temporary name after the word that announces it.
fn announced(bytes: &[u8], at: usize, len: usize) -> Option<Noise> {
    if !announces(&bytes[at..at + len]) {
        return None;
    }
    let rest = &bytes[at + len..];
    if bytes[at..at + len].eq_ignore_ascii_case(b"tmp") {
        let named = at > 0 && bytes[at - 1] == b'/' && rest.first() == Some(&b'/');
        let name = rest.iter().skip(1).take_while(|b| b.is_ascii_alphanumeric() || **b == b'_');
        let name = name.count();
        return (named && name > 0).then_some(Noise { len: len + 1 + name, stands_for: b'/' });
    }
    let gap = rest.iter().take(3).take_while(|b| b" :=(#".contains(b)).count();
    let digits = rest[gap..].iter().take_while(|b| b.is_ascii_digit()).count();
    (gap > 0 && digits > 0).then_some(Noise { len: len + gap + digits, stands_for: b'p' })
}

/// A UUID, or a long word that mixes hexadecimal digits and letters.
fn hexadecimal(bytes: &[u8], at: usize, len: usize) -> Option<Noise> {
    let rest = &bytes[at..];
    let dashes = [8, 13, 18, 23];
    let uuid = |(i, b): (usize, &u8)| {
        if dashes.contains(&i) { *b == b'-' } else { b.is_ascii_hexdigit() }
    };
    if len == 8 && rest.len() >= 36 && rest[..36].iter().enumerate().all(uuid) {
        return Some(Noise { len: 36, stands_for: b'u' });
    }
    let word = &rest[..len];
    let mixed = word.iter().any(u8::is_ascii_digit) && word.iter().any(u8::is_ascii_alphabetic);
    (len >= 12 && mixed && word.iter().all(u8::is_ascii_hexdigit))
        .then_some(Noise { len, stands_for: b'x' })
}

/// A moment: clock time with seconds, date with clock time, Unix time of this age.
fn moment(bytes: &[u8], at: usize) -> Option<Noise> {
    let rest = &bytes[at..];
    if let Some(len) = clock(rest) {
        return Some(Noise { len, stands_for: b't' });
    }
    let date =
        rest.len() > 11 && matches(&rest[..10], b"dddd-dd-dd") && matches!(rest[10], b'T' | b' ');
    if date && let Some(len) = clock(&rest[11..]) {
        return Some(Noise { len: 11 + len, stands_for: b't' });
    }
    let digits = rest.iter().take(14).take_while(|b| b.is_ascii_digit()).count();
    let ends = !rest.get(digits).is_some_and(u8::is_ascii_alphanumeric);
    let recent = rest[0] == b'1' && (b'4'..=b'9').contains(rest.get(1)?);
    ((digits == 10 || digits == 13) && ends && recent)
        .then_some(Noise { len: digits, stands_for: b't' })
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
fn duration(bytes: &[u8], at: usize) -> Option<Noise> {
    let rest = &bytes[at..];
    let mut len = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    if rest.get(len) == Some(&b'.') && rest.get(len + 1).is_some_and(u8::is_ascii_digit) {
        len += 1 + rest[len + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
    }
    if rest.get(len) == Some(&b' ') {
        len += 1;
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
    UNITS.contains(&unit).then_some(Noise { len: len + unit.len(), stands_for: b'd' })
}

/// Whether bytes have a shape in which `d` stands for a digit.
fn matches(bytes: &[u8], shape: &[u8]) -> bool {
    bytes.len() == shape.len()
        && bytes
            .iter()
            .zip(shape)
            .all(|(b, s)| if *s == b'd' { b.is_ascii_digit() } else { b == s })
}
