//! A way in for the fuzz targets (tests/fuzz), which call what reads partners' bytes without a connection. Behind the feature
//! `fuzzing`, which no release is built with.

use std::time::Duration;

use http::{HeaderMap, StatusCode};
use intent_gateway_domain::error::CallFailure;

pub use crate::oauth::fuzzing::{read_registration, read_server, read_token_answer};

/// Reads a stream of events out of pieces.
#[derive(Debug)]
pub struct EventReader(crate::sse::EventReader);

impl EventReader {
    /// With a bound on one event, bytes.
    #[must_use]
    pub fn new(event_max_bytes: usize) -> Self {
        Self(crate::sse::EventReader::new(event_max_bytes))
    }

    /// The data of the next event that the piece completes; none once the piece is used up.
    ///
    /// # Errors
    /// The bound, where an event is larger.
    pub fn next_event(&mut self, piece: &mut &[u8]) -> Result<Option<Vec<u8>>, usize> {
        self.0.next_event(piece).map_err(|crate::sse::EventTooLarge(max)| max)
    }

    /// The identifier that a resumed stream starts after.
    #[must_use]
    pub fn last_id(&self) -> Option<&str> {
        self.0.last_id()
    }

    /// How long the server asks to wait.
    #[must_use]
    pub fn retry(&self) -> Option<Duration> {
        self.0.retry()
    }
}

/// The failure that an answer of 401 or 403 stands for.
#[must_use]
pub fn read_challenge(status: StatusCode, headers: &HeaderMap) -> CallFailure {
    crate::challenge::auth_failure(status, headers)
}

/// What a challenge names: where the resource describes itself, and the scopes.
#[must_use]
pub fn read_parameters(challenge: &str) -> (Option<String>, Option<String>) {
    let crate::challenge::Parameters { resource_metadata, scope } = crate::challenge::parameters(challenge);
    (resource_metadata, scope)
}
