//! Who is signed in at a page, as it is kept.
//!
//! Not here: cookies, signing in, and what a session opens, which the pages know.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::reseal::SealedRecord;
use crate::steps::forget_all;
use crate::store::{Kind, Record, Store, StoreError};
use crate::vault::Sealed;

/// How long a session lasts that nobody uses, milliseconds: an hour.
pub const IDLE_MAX_MS: u64 = 60 * 60 * 1_000;

/// The two faces of the gateway. A session of one is none of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Face {
    /// The platform team's console.
    Team,
    /// A partner's dashboard.
    Partner,
}

impl Face {
    /// The path where its pages begin.
    #[must_use]
    pub fn home(self) -> &'static str {
        match self {
            Self::Team => "/console",
            Self::Partner => "/dashboard",
        }
    }
}

/// Somebody who is signed in at a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebSession {
    /// Mark of what the browser holds.
    pub key: String,
    pub face: Face,
    /// Whose it is: a partner's account, or a person of the team as the audit log names them.
    pub who: String,
    pub opened_at_ms: Timestamp,
    /// When it was used last, to the minute.
    pub used_at_ms: Timestamp,
    /// It ends then, used or not.
    pub ends_at_ms: Timestamp,
    /// What the browser calls itself.
    pub agent: String,
    /// The bearer token for the API, sealed for [`context`](Self::context).
    pub sealed: Sealed,
}

impl WebSession {
    /// What the token of a session is sealed for.
    #[must_use]
    pub fn context(key: &str) -> String {
        format!("web-session/{key}")
    }

    /// The name under which all sessions of one person are found.
    #[must_use]
    pub fn name(face: Face, who: &str) -> String {
        match face {
            Face::Team => format!("team/{who}"),
            Face::Partner => format!("partner/{who}"),
        }
    }

    /// Whether it has ended.
    #[must_use]
    pub fn is_over(&self, now: Timestamp) -> bool {
        now >= self.ends_at_ms || now >= self.used_at_ms.plus_ms(IDLE_MAX_MS)
    }
}

impl Record for WebSession {
    const KIND: Kind = Kind::WebSessions;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn names(&self) -> Vec<String> {
        vec![Self::name(self.face, &self.who)]
    }
}

impl SealedRecord for WebSession {
    fn sealed(&mut self) -> Vec<(String, &mut Sealed)> {
        vec![(Self::context(&self.key), &mut self.sealed)]
    }
}

/// Forgets sessions that are over; how many there were.
///
/// # Errors
/// [`StoreError`]; what was forgotten until then stays so.
pub async fn forget_sessions(store: &dyn Store, now: Timestamp) -> Result<u64, StoreError> {
    forget_all::<WebSession>(store, |session| session.is_over(now)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_ends_unused_or_with_its_time() {
        let at = Timestamp::from_ms;
        let session = WebSession {
            key: "k".to_owned(),
            face: Face::Partner,
            who: "ptr_1".to_owned(),
            opened_at_ms: at(0),
            used_at_ms: at(1_000),
            ends_at_ms: at(2 * IDLE_MAX_MS),
            agent: String::new(),
            sealed: Sealed::from_text(String::new()),
        };
        assert!(!session.is_over(at(IDLE_MAX_MS + 999)));
        assert!(session.is_over(at(IDLE_MAX_MS + 1_000)));
        let used = WebSession { used_at_ms: at(2 * IDLE_MAX_MS - 1), ..session };
        assert!(!used.is_over(at(2 * IDLE_MAX_MS - 1)) && used.is_over(at(2 * IDLE_MAX_MS)));
        assert_eq!(used.names(), ["partner/ptr_1"]);
    }
}
