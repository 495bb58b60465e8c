//! The sessions of one person, for a page that shows and ends them.

use super::{Face, SessionError, Sessions, WebSession};
use crate::view::Moment;

/// A session in the list.
pub(crate) struct SessionRow {
    /// Names it; the browser holds something else.
    pub(crate) key: String,
    pub(crate) agent: String,
    pub(crate) opened: Moment,
    pub(crate) used: Moment,
    /// Whether it is the one that looks.
    pub(crate) is_this: bool,
}

impl Sessions {
    /// All that go on of whoever looks, the one that was used last first.
    pub(crate) async fn list(&self, own: &WebSession) -> Result<Vec<SessionRow>, SessionError> {
        let row = |session: WebSession| SessionRow {
            is_this: session.key == own.key,
            opened: Moment::of(session.opened_at_ms),
            used: Moment::of(session.used_at_ms),
            agent: session.agent,
            key: session.key,
        };
        Ok(self.of(own.face, &own.who).await?.into_iter().map(|session| row(session.value)).collect())
    }

    /// Ends all of one person's sessions.
    pub(crate) async fn end_all(&self, face: Face, who: &str) -> Result<(), SessionError> {
        for session in self.of(face, who).await? {
            self.end(face, who, &session.value.key).await?;
        }
        Ok(())
    }
}
