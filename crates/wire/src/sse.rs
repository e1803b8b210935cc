//! Server-sent events, and lines of JSON, from chunks of any size.

use crate::WireError;

/// Longest line kept, in bytes: the last event of a Responses stream repeats the whole answer,
/// instructions and tools included.
pub(crate) const MAX_LINE: usize = 16 * 1024 * 1024;

/// Cuts bytes into events. An event is the data of a frame, or a line that is a JSON object.
#[derive(Debug, Default)]
pub(crate) struct Events {
    /// The line so far, where it spans chunks.
    line: Vec<u8>,
    /// The frame's data so far.
    data: Vec<u8>,
    /// The frame's name.
    name: String,
    /// Whether anything was read: a byte order mark may stand at the very beginning only.
    begun: bool,
    /// Whether the last byte was a carriage return, so that a line feed belongs to it.
    returned: bool,
}

impl Events {
    /// Takes in bytes and hands each whole event, its name and its data, to `each`.
    ///
    /// # Errors
    /// If a line or the data of a frame are longer than [`MAX_LINE`], and whatever `each` gives.
    pub(crate) fn push(
        &mut self,
        mut bytes: &[u8],
        each: &mut impl FnMut(&str, &[u8]) -> Result<(), WireError>,
    ) -> Result<(), WireError> {
        while let Some((&first, rest)) = bytes.split_first() {
            if std::mem::take(&mut self.returned) && first == b'\n' {
                bytes = rest;
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) else {
                return self.keep(bytes);
            };
            let (line, rest) = bytes.split_at(end);
            self.returned = rest[0] == b'\r';
            bytes = &rest[1..];
            if self.line.is_empty() {
                self.take(line, each)?;
            } else {
                self.keep(line)?;
                let line = std::mem::take(&mut self.line);
                let taken = self.take(&line, each);
                // The room of the line serves the next one.
                self.line = line;
                self.line.clear();
                taken?;
            }
        }
        Ok(())
    }

    /// Hands over what stands at the end without a line end.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub(crate) fn finish(
        &mut self,
        each: &mut impl FnMut(&str, &[u8]) -> Result<(), WireError>,
    ) -> Result<(), WireError> {
        let line = std::mem::take(&mut self.line);
        self.take(&line, each)?;
        self.take(b"", each)
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        bounded("a line of the stream", self.line.len() + bytes.len())?;
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn take(
        &mut self,
        line: &[u8],
        each: &mut impl FnMut(&str, &[u8]) -> Result<(), WireError>,
    ) -> Result<(), WireError> {
        let mark = if self.begun { None } else { line.strip_prefix(b"\xEF\xBB\xBF") };
        let line = mark.unwrap_or(line);
        self.begun = true;
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            let handed = if data.is_empty() { Ok(()) } else { each(&self.name, &data) };
            self.data = data;
            self.data.clear();
            self.name.clear();
            return handed;
        }
        if line.starts_with(b"{") {
            return each("", line);
        }
        let colon = memchr::memchr(b':', line);
        let (field, value) = line.split_at(colon.unwrap_or(line.len()));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if !self.data.is_empty() {
                    self.data.push(b'\n');
                }
                bounded("an event of the stream", self.data.len() + value.len())?;
                self.data.extend_from_slice(value);
            }
            b"event" => self.name = String::from_utf8_lossy(value).into_owned(),
            // Comments, ids, retry times, and fields nobody knows.
            _ => {}
        }
        Ok(())
    }
}

fn bounded(what: &'static str, len: usize) -> Result<(), WireError> {
    if len > MAX_LINE { Err(WireError::TooLong { what, limit: MAX_LINE }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(chunks: &[&[u8]]) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut each = |name: &str, data: &[u8]| {
            found.push((name.to_owned(), String::from_utf8_lossy(data).into_owned()));
            Ok(())
        };
        let mut events = Events::default();
        for chunk in chunks {
            events.push(chunk, &mut each).unwrap();
        }
        events.finish(&mut each).unwrap();
        found
    }

    #[test]
    fn frames_are_cut_however_they_come() {
        let text: &[u8] =
            b"\xEF\xBB\xBF: hello\r\n\r\nevent: a\r\ndata: 1\r\ndata:2\r\nid: 7\r\n\r\n\
            data\rdata: 3\r\r{\"x\": 1}\n\nretry: 5\nnonsense\ndata: last";
        let expected = [("a", "1\n2"), ("", "3"), ("", "{\"x\": 1}"), ("", "last")]
            .map(|(name, data)| (name.to_owned(), data.to_owned()));
        assert_eq!(events(&[text]), expected);
        let single: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(events(&single), expected);
        for at in 0..text.len() {
            let (front, back) = text.split_at(at);
            assert_eq!(events(&[front, back]), expected, "cut at {at}");
        }
    }

    #[test]
    fn a_line_is_bounded() {
        let chunk = vec![b'x'; MAX_LINE];
        let mut events = Events::default();
        let mut each = |_: &str, _: &[u8]| Ok(());
        events.push(&chunk, &mut each).unwrap();
        let error = events.push(b"y", &mut each).unwrap_err();
        assert_eq!(error.to_string(), "a line of the stream is longer than 16777216 bytes");
    }
}
