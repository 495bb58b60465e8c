//! What the API tells by events, one by one.

use axum::body::Body;
use http_body_util::BodyExt as _;
use intent_gateway_api::sent_events::EventLines;

use crate::api::{ANSWER_MAX_BYTES, ApiError};

/// The events of an answer.
pub(crate) struct Events {
    body: Body,
    /// What has come and is not read yet.
    unread: Vec<u8>,
    lines: EventLines,
}

impl Events {
    pub(crate) fn of(body: Body) -> Self {
        Self { body, unread: Vec::new(), lines: EventLines::default() }
    }

    /// The name and the data of the next event; none after the last. One that is dropped while it waits loses nothing.
    pub(crate) async fn next(&mut self) -> Result<Option<(String, String)>, ApiError> {
        loop {
            while let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                let line = std::str::from_utf8(&line).map_err(|error| ApiError::Unreadable(error.into()))?;
                if let Some(event) = self.lines.take(line.trim_end_matches(['\n', '\r'])) {
                    return Ok(Some(event));
                }
            }
            if self.unread.len() + self.lines.held_bytes() > ANSWER_MAX_BYTES {
                return Err(ApiError::Unreadable("an event is larger than a page reads".into()));
            }
            let Some(frame) = self.body.frame().await else { return Ok(None) };
            let frame = frame.map_err(|error| ApiError::Unreadable(error.into()))?;
            if let Ok(more) = frame.into_data() {
                self.unread.extend_from_slice(&more);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use bytes::Bytes;
    use futures_util::stream;

    use super::*;

    #[test]
    fn events_are_read_however_they_are_cut() {
        let text = "retry: 1000\n\nevent: progress\ndata: {\"a\":\"\u{e9}\"}\n\n: still here\n\nevent: end\ndata: {}\n\nevent: cut";
        for size in [1, 2, 7, text.len()] {
            let pieces = text.as_bytes().chunks(size).map(|piece| Ok::<_, Infallible>(Bytes::copy_from_slice(piece)));
            let mut events = Events::of(Body::from_stream(stream::iter(pieces.collect::<Vec<_>>())));
            futures_executor::block_on(async {
                let mut next = async || events.next().await.expect("it can be read");
                assert_eq!(next().await, Some(("progress".to_owned(), "{\"a\":\"\u{e9}\"}".to_owned())), "{size}");
                assert_eq!(next().await, Some(("end".to_owned(), "{}".to_owned())), "{size}");
                assert_eq!(next().await, None, "{size}");
            });
        }
    }
}
