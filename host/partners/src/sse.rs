//! An incremental reader of `text/event-stream` (WHATWG HTML, 9.2), with a bound on the size of an event.

use std::time::Duration;

/// Longest `retry` that is taken over; servers may ask for hours.
const RETRY_MAX: Duration = Duration::from_secs(5);
/// Longest event identifier that is kept, bytes: it travels back in a header.
const ID_MAX_BYTES: usize = 1_024;

/// One event is larger than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event is larger than {0} bytes")]
pub(crate) struct EventTooLarge(pub(crate) usize);

/// Reads events from a body that arrives in pieces.
#[derive(Debug)]
pub(crate) struct EventReader {
    event_max_bytes: usize,
    /// The line that is not complete yet.
    line: Vec<u8>,
    /// The `data` of the event so far; `None` until its first `data` line.
    data: Option<Vec<u8>>,
    /// The last line ended with CR, so a LF that follows belongs to it.
    after_carriage_return: bool,
    at_start: bool,
    /// The identifier of the event that is not complete yet; it counts once the event has been seen whole.
    pending_id: Option<String>,
    last_id: Option<String>,
    retry: Option<Duration>,
}

impl EventReader {
    pub(crate) fn new(event_max_bytes: usize) -> Self {
        Self {
            event_max_bytes,
            line: Vec::new(),
            data: None,
            after_carriage_return: false,
            at_start: true,
            pending_id: None,
            last_id: None,
            retry: None,
        }
    }

    /// Starts over with another body of the same stream: what was incomplete is forgotten.
    pub(crate) fn restart(&mut self) {
        let Self { last_id, retry, .. } = std::mem::replace(self, Self::new(self.event_max_bytes));
        self.pending_id.clone_from(&last_id);
        self.last_id = last_id;
        self.retry = retry;
    }

    /// The identifier that a resumed stream starts after, if the server gave any.
    pub(crate) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// How long the server asks to wait before a stream is resumed.
    pub(crate) fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Takes bytes from the front of `piece` until an event with data is complete, and returns that data. `None`
    /// means that the piece is used up.
    pub(crate) fn next_event(&mut self, piece: &mut &[u8]) -> Result<Option<Vec<u8>>, EventTooLarge> {
        while !piece.is_empty() {
            if std::mem::take(&mut self.after_carriage_return) && piece[0] == b'\n' {
                *piece = &piece[1..];
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', piece) else {
                self.extend_line(piece)?;
                *piece = &[];
                break;
            };
            let (rest, terminator) = (&piece[..end], piece[end]);
            self.extend_line(rest)?;
            *piece = &piece[end + 1..];
            self.after_carriage_return = terminator == b'\r';
            if let Some(data) = self.end_line() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    fn extend_line(&mut self, bytes: &[u8]) -> Result<(), EventTooLarge> {
        let size = self.line.len() + bytes.len() + self.data.as_ref().map_or(0, Vec::len);
        if size > self.event_max_bytes {
            return Err(EventTooLarge(self.event_max_bytes));
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    /// Interprets the line that is complete now; returns the data of an event that it ends.
    fn end_line(&mut self) -> Option<Vec<u8>> {
        let mut line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.at_start) && line.starts_with(b"\xEF\xBB\xBF") {
            line.drain(..3);
        }
        if line.is_empty() {
            self.last_id.clone_from(&self.pending_id);
            return self.data.take();
        }
        let colon = memchr::memchr(b':', &line).unwrap_or(line.len());
        let mut value_at = (colon + 1).min(line.len());
        if line.get(value_at) == Some(&b' ') {
            value_at += 1;
        }
        match &line[..colon] {
            b"data" => match &mut self.data {
                // The usual event has one long line: keep its buffer.
                None => {
                    line.drain(..value_at);
                    self.data = Some(line);
                }
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(&line[value_at..]);
                }
            },
            b"id" => {
                let id = std::str::from_utf8(&line[value_at..]).ok();
                if let Some(id) = id.filter(|id| id.len() <= ID_MAX_BYTES && !id.contains('\0')) {
                    self.pending_id = (!id.is_empty()).then(|| id.to_owned());
                }
            }
            b"retry" => {
                let text = std::str::from_utf8(&line[value_at..]).unwrap_or_default();
                // Digits alone; of those, only too many are refused, and they ask for longer than the bound.
                if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
                    self.retry = Some(text.parse().map_or(RETRY_MAX, Duration::from_millis).min(RETRY_MAX));
                }
            }
            // Comments, event names and unknown fields: MCP gives them no meaning.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(reader: &mut EventReader, pieces: &[&[u8]]) -> Result<Vec<String>, EventTooLarge> {
        let mut found = Vec::new();
        for piece in pieces {
            let mut rest = *piece;
            while let Some(data) = reader.next_event(&mut rest)? {
                found.push(String::from_utf8(data).expect("UTF-8"));
            }
        }
        Ok(found)
    }

    #[test]
    fn reads_events_however_they_are_cut() {
        let stream = "\u{FEFF}: hello\n\nevent: message\nid: 7\nretry: 250\ndata: {\"a\":1}\n\ndata\ndata:x\r\ndata:  y\r\n\
                      \r\nid:\rdata: z\r\rdata: never ended";
        for size in 1..stream.len() {
            let pieces: Vec<&[u8]> = stream.as_bytes().chunks(size).collect();
            let mut reader = EventReader::new(1_000);
            assert_eq!(events(&mut reader, &pieces), Ok(vec!["{\"a\":1}".into(), "\nx\n y".into(), "z".into()]));
            assert_eq!(reader.retry(), Some(Duration::from_millis(250)));
            assert_eq!(reader.last_id(), None, "an empty identifier resets it");
        }
    }

    #[test]
    fn keeps_the_identifier_and_bounds_the_wait() {
        let mut reader = EventReader::new(1_000);
        let found = events(&mut reader, &[b"id: a\nretry: 99999999\n\nid: b\0\n\nretry: soon\n\n"]);
        assert_eq!(found, Ok(vec![]));
        assert_eq!(reader.last_id(), Some("a"));
        assert_eq!(reader.retry(), Some(RETRY_MAX));
        for (written, wait) in
            [("+5", None), ("", None), ("0", Some(Duration::ZERO)), (&"9".repeat(30), Some(RETRY_MAX))]
        {
            let mut reader = EventReader::new(1_000);
            assert_eq!(events(&mut reader, &[format!("retry: {written}\n").as_bytes()]), Ok(vec![]));
            assert_eq!(reader.retry(), wait, "{written}");
        }
        // An event that was cut off does not count, or it would be missing from the resumed stream.
        assert_eq!(events(&mut reader, &[b"id: b\ndata: cut"]), Ok(vec![]));
        assert_eq!(reader.last_id(), Some("a"));
        reader.restart();
        assert_eq!(events(&mut reader, &[b" off\n\ndata: whole\n\n"]), Ok(vec!["whole".into()]));
        assert_eq!(reader.last_id(), Some("a"));
    }

    #[test]
    fn bounds_an_event() {
        let mut reader = EventReader::new(16);
        assert_eq!(events(&mut reader, &[b"data: 123456789", b"01234567"]), Err(EventTooLarge(16)));
        let mut reader = EventReader::new(16);
        assert_eq!(events(&mut reader, &[b"data: 123\ndata: 456\ndata: 789\ndata: 012\n"]), Err(EventTooLarge(16)));
        // The bound holds for each event, not for the stream.
        let mut reader = EventReader::new(16);
        assert_eq!(events(&mut reader, &[b"data: 123456\n\n", b"data: 123456\n\n"]).map(|found| found.len()), Ok(2));
    }
}
