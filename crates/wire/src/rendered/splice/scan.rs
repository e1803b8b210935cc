//! Where events of a stream end, as bytes.

/// The search for the end of one event, which may go on when more bytes have come.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Where the current line begins.
    line: usize,
    /// How far the bytes are known.
    at: usize,
}

impl Scan {
    /// The length of the event that `bytes` begin with, its blank line included; `None` if it is
    /// not whole, and then the next call must have the same bytes with more behind them.
    ///
    /// A line that is a JSON object is an event of its own. A carriage return at the end waits for
    /// the next byte, because a line feed would belong to it.
    pub(super) fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        loop {
            let rest = bytes.get(self.at..)?;
            let Some(found) = memchr::memchr2(b'\n', b'\r', rest) else {
                self.at = bytes.len();
                return None;
            };
            let end = self.at + found;
            let next = match (bytes[end], bytes.get(end + 1)) {
                (b'\n', _) => end + 1,
                (_, Some(b'\n')) => end + 2,
                (_, Some(_)) => end + 1,
                (_, None) => {
                    self.at = end;
                    return None;
                }
            };
            if end == self.line || (self.line == 0 && bytes[0] == b'{') {
                *self = Self::default();
                return Some(next);
            }
            (self.line, self.at) = (next, next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_end_with_a_blank_line_or_are_objects_by_line() {
        let cases: [(&str, &[usize]); 8] = [
            ("data: 1\n\ndata: 2\n\nx", &[9, 9]),
            ("data: 1\r\n\r\ndata: 2\r\n\r\n", &[11, 11]),
            ("data: 1\r\rdata: 2\r\r", &[9]),
            ("\n\n{\"a\": 1}\n{}\n", &[1, 1, 9, 3]),
            ("event: a\ndata: {\ndata: }\n\n", &[26]),
            ("data: 1\n{}\n\n", &[12]),
            ("data: 1\r", &[]),
            ("", &[]),
        ];
        for (text, expected) in cases {
            let mut rest = text.as_bytes();
            let mut found = Vec::new();
            let mut scan = Scan::default();
            while let Some(len) = scan.end(rest) {
                found.push(len);
                rest = &rest[len..];
            }
            assert_eq!(found, expected, "{text:?}");
            // The same, byte by byte.
            let (mut again, mut from) = (Vec::new(), 0);
            let mut scan = Scan::default();
            for to in 1..=text.len() {
                while let Some(len) = scan.end(&text.as_bytes()[from..to]) {
                    again.push(len);
                    from += len;
                }
            }
            assert_eq!(again, expected, "{text:?} byte by byte");
        }
    }
}
