//! Streams of events that partners send (`text/event-stream`; WHATWG HTML, 9.2).
//!
//! The events are the same however the bytes were cut, and the same that a plain reading of the whole text gives.
//!
//! Input: the size of the first piece, less one; the size of those that follow, likewise; the stream.

use std::time::Duration;

use intent_gateway_partners::fuzzing::EventReader;

/// Small enough to be met by what an engine writes.
const EVENT_MAX_BYTES: usize = 512;

/// What a stream came to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    events: Vec<Vec<u8>>,
    /// Whether an event was too large; nothing is read after it.
    is_too_large: bool,
    last_id: Option<String>,
    retry: Option<Duration>,
}

/// Reads one stream in several ways.
///
/// # Panics
/// Where two of them differ.
pub(crate) fn run(data: &[u8]) {
    let [first, size, stream @ ..] = data else { return };
    let whole = read([stream]);
    let (head, rest) = stream.split_at(stream.len().min(usize::from(*first) + 1));
    assert_eq!(read(std::iter::once(head).chain(rest.chunks(usize::from(*size) + 1))), whole, "cut otherwise");
    assert_eq!(read(stream.chunks(1)), whole, "byte by byte");
    assert!(whole.events.iter().all(|event| event.len() <= EVENT_MAX_BYTES), "an event beyond the bound");
    assert!(whole.retry.is_none_or(|wait| wait <= Duration::from_secs(5)), "a wait beyond the bound");
    if !whole.is_too_large {
        assert_eq!(read_plainly(stream), whole, "read as the standard says");
    }
}

fn read<'s>(pieces: impl IntoIterator<Item = &'s [u8]>) -> Outcome {
    let mut reader = EventReader::new(EVENT_MAX_BYTES);
    let mut outcome = Outcome::default();
    'stream: for piece in pieces {
        let mut rest = piece;
        loop {
            let left = rest.len();
            match reader.next_event(&mut rest) {
                Ok(Some(event)) => outcome.events.push(event),
                Ok(None) => break,
                Err(_) => {
                    outcome.is_too_large = true;
                    break 'stream;
                }
            }
            assert!(rest.len() < left, "an event that took no byte");
        }
        assert!(rest.is_empty(), "a piece that was not used up");
    }
    outcome.last_id = reader.last_id().map(str::to_owned);
    outcome.retry = reader.retry();
    outcome
}

/// The same of the whole text at once.
fn read_plainly(stream: &[u8]) -> Outcome {
    let mut outcome = Outcome::default();
    let stream = stream.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(stream);
    let (mut data, mut id): (Option<Vec<u8>>, Option<String>) = (None, None);
    for line in end_lines(stream) {
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = colon.map_or((line, &b""[..]), |at| (&line[..at], &line[at + 1..]));
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match (line, field) {
            (b"", _) => {
                outcome.events.extend(data.take());
                outcome.last_id.clone_from(&id);
            }
            (_, b"data") => match &mut data {
                None => data = Some(value.to_vec()),
                Some(data) => data.extend(b"\n".iter().chain(value)),
            },
            (_, b"id") if value.len() <= 1_024 && !value.contains(&0) => {
                if let Ok(text) = std::str::from_utf8(value) {
                    id = Some(text.to_owned()).filter(|text| !text.is_empty());
                }
            }
            // "If the field value consists of only ASCII digits".
            (_, b"retry") if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let digits = std::str::from_utf8(value).expect("digits are text");
                let millis = digits.parse().unwrap_or(u64::MAX);
                outcome.retry = Some(Duration::from_millis(millis).min(Duration::from_secs(5)));
            }
            _ => {}
        }
    }
    outcome
}

/// The lines that have an end.
fn end_lines(stream: &[u8]) -> Vec<&[u8]> {
    let (mut lines, mut start, mut at) = (Vec::new(), 0, 0);
    while let Some(byte) = stream.get(at) {
        if matches!(byte, b'\n' | b'\r') {
            lines.push(&stream[start..at]);
            at += usize::from(stream[at..].starts_with(b"\r\n"));
            start = at + 1;
        }
        at += 1;
    }
    lines
}
