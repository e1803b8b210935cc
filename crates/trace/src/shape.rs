//! What the beginning of a JSON value looks like, read without needing its end.

/// Facts kept of one value.
const MAX_FACTS: usize = 2000;
/// Depth to which facts are kept.
const MAX_DEPTH: usize = 5;
/// Elements of a list that are looked at.
const MAX_ELEMENTS: usize = 4;
/// Longest scalar that is kept; nothing a format is told by is longer.
const MAX_SCALAR: usize = 64;

/// The paths and short scalars at the beginning of a JSON value.
///
/// Paths are written `.key` per object and `[]` per list: `.messages[].role`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shape {
    facts: Vec<(String, String)>,
    /// Bytes of the value, if it is complete.
    pub(crate) len: Option<usize>,
    /// Whether there was anything but JSON tokens.
    pub(crate) is_broken: bool,
}

impl Shape {
    /// Reads the value at the start of `bytes`.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut scan = Scan { bytes, at: 0, shape: Self::default() };
        let mut path = String::new();
        match scan.value(&mut path, 0) {
            Step::Done => scan.shape.len = Some(scan.at),
            Step::Broken => scan.shape.is_broken = true,
            Step::End => {}
        }
        scan.shape
    }

    /// Whether there is something at the path.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.facts.iter().any(|(p, _)| p == path)
    }

    /// Whether one of the scalars at the path is among `words`.
    pub(crate) fn is_one_of(&self, path: &str, words: &[&str]) -> bool {
        self.scalars(path).any(|scalar| words.contains(&scalar))
    }

    /// The short scalars at the path.
    pub(crate) fn scalars<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a str> {
        self.facts.iter().filter(move |(p, _)| p == path).map(|(_, scalar)| &**scalar)
    }

    /// The shape of a list's elements, as if they stood alone.
    pub(crate) fn element(&self) -> Self {
        let facts = self.facts.iter().filter_map(|(path, scalar)| {
            Some((path.strip_prefix("[]")?.to_owned(), scalar.clone()))
        });
        Self { facts: facts.collect(), len: self.len, is_broken: self.is_broken }
    }

    fn note(&mut self, path: &str, scalar: &[u8]) {
        if self.facts.len() < MAX_FACTS {
            let scalar = if scalar.len() <= MAX_SCALAR { scalar } else { b"" };
            self.facts.push((path.to_owned(), String::from_utf8_lossy(scalar).into_owned()));
        }
    }
}

/// How far a scan came.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Done,
    End,
    Broken,
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    shape: Shape,
}

impl Scan<'_> {
    fn token(&mut self) -> Option<u8> {
        while self.bytes.get(self.at)?.is_ascii_whitespace() {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    fn value(&mut self, path: &mut String, depth: usize) -> Step {
        let Some(token) = self.token() else { return Step::End };
        if depth > MAX_DEPTH {
            return self.skip();
        }
        match token {
            b'{' => {
                self.shape.note(path, b"{");
                self.object(path, depth)
            }
            b'[' => {
                self.shape.note(path, b"[");
                self.list(path, depth)
            }
            b'"' => {
                let start = self.at + 1;
                let step = self.skip();
                if step == Step::Done {
                    let text = self.bytes.get(start..self.at - 1).unwrap_or(b"");
                    self.shape.note(path, text);
                } else {
                    self.shape.note(path, b"");
                }
                step
            }
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
                let start = self.at;
                let step = self.skip();
                self.shape.note(path, self.bytes.get(start..self.at).unwrap_or(b""));
                step
            }
            _ => Step::Broken,
        }
    }

    /// Moves behind the value without looking into it.
    fn skip(&mut self) -> Step {
        let mut extent = crate::extent::Extent::default();
        let rest = self.bytes.get(self.at..).unwrap_or(b"");
        match extent.feed(rest) {
            Some(len) => {
                self.at += len;
                Step::Done
            }
            None => {
                self.at = self.bytes.len();
                if extent.ends_at_eof() { Step::Done } else { Step::End }
            }
        }
    }

    fn object(&mut self, path: &mut String, depth: usize) -> Step {
        self.at += 1;
        loop {
            match self.token() {
                None => return Step::End,
                Some(b'}') => {
                    self.at += 1;
                    return Step::Done;
                }
                Some(b',') => self.at += 1,
                Some(b'"') => {
                    let start = self.at + 1;
                    if self.skip() != Step::Done {
                        return Step::End;
                    }
                    let key = self.bytes.get(start..self.at - 1).unwrap_or(b"");
                    let key = if key.len() <= MAX_SCALAR { key } else { b"" };
                    match self.token() {
                        None => return Step::End,
                        Some(b':') => self.at += 1,
                        Some(_) => return Step::Broken,
                    }
                    let len = path.len();
                    path.push('.');
                    path.push_str(&String::from_utf8_lossy(key));
                    let step = self.value(path, depth + 1);
                    path.truncate(len);
                    if step != Step::Done {
                        return step;
                    }
                }
                Some(_) => return Step::Broken,
            }
        }
    }

    fn list(&mut self, path: &mut String, depth: usize) -> Step {
        self.at += 1;
        let mut count = 0;
        loop {
            match self.token() {
                None => return Step::End,
                Some(b']') => {
                    self.at += 1;
                    return Step::Done;
                }
                Some(b',') => self.at += 1,
                Some(_) => {
                    count += 1;
                    let len = path.len();
                    path.push_str("[]");
                    let step = if count <= MAX_ELEMENTS {
                        self.value(path, depth + 1)
                    } else {
                        self.skip()
                    };
                    path.truncate(len);
                    if step != Step::Done {
                        return step;
                    }
                }
            }
        }
    }
}
