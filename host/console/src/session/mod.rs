//! Who is signed in at a page.
//!
//! The browser holds a random text in a cookie that no script reads. The store holds its mark, and sealed under the master key the
//! bearer token with which pages ask the API for this person. So a stolen store signs nobody in, and a session opens what its token
//! opens: it ends with it, and where the API refuses the token.
//!
//! A session ends when nobody has used it for [`IDLE_MAX_MS`](intent_gateway_domain::web_session::IDLE_MAX_MS), with its token, or when somebody ends it.

mod cookies;
mod list;
pub(crate) mod masked;

use std::sync::Arc;

use intent_gateway_domain::audit::AuditDraft;
use intent_gateway_domain::clock::{Clock, Timestamp};
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::steps::{commit_unless_changed, forget};
use intent_gateway_domain::store::{Change, Named, Store, StoreError, Versioned, load, named};
use intent_gateway_domain::vault::{Mark, NoEntropy, Vault, hex, random};
pub(crate) use intent_gateway_domain::web_session::{Face, WebSession};

pub(crate) use self::cookies::{cookie_of, end_cookie, session_cookie, under_way_cookie, under_way_of};
pub(crate) use self::list::SessionRow;

/// How long a session lasts at most, milliseconds: a working day.
pub(crate) const LIFE_MAX_MS: u64 = 12 * 60 * 60 * 1_000;
/// How often it is noted that a session is used, milliseconds: not with each page.
const NOTED_EVERY_MS: u64 = 60 * 1_000;
/// Sessions of one account at once; the one that was opened first ends where one more is opened.
const SESSIONS_MAX: usize = 20;
/// Sessions that are read to find those of one account.
const READ_MAX: u32 = 100;
/// Random bytes of what a browser holds.
const COOKIE_BYTES: usize = 32;
/// Characters of what a browser calls itself.
const AGENT_MAX_CHARS: usize = 200;
/// What a session's mark is made for.
const COOKIE_CONTEXT: &str = "web-session";
/// What the mark is made for by which a cookie is known for one of this gateway's own.
const OWN_CONTEXT: &str = "web-session-cookie";
/// What the mark of a session's forms is made for.
const FORM_CONTEXT: &str = "web-session-form";

/// A session could not be opened or read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    NoEntropy(#[from] NoEntropy),
}

/// Who signs in, where, and with which token.
pub(crate) struct NewSession<'a> {
    pub(crate) face: Face,
    /// As the records of the gateway name them: an account, a subject, or an issuer's subject.
    pub(crate) who: String,
    /// The bearer token for the API.
    pub(crate) token: &'a Secret,
    /// When the token is over.
    pub(crate) token_ends: Timestamp,
    /// What the browser calls itself.
    pub(crate) agent: &'a str,
    /// Tells the audit log of it, where the API has not.
    pub(crate) entered: Option<AuditDraft>,
}

/// A session that a browser has shown.
#[derive(Clone, Debug)]
pub(crate) struct OpenSession {
    pub(crate) record: WebSession,
    pub(crate) token: Secret,
    /// Stands in every form of its pages; whoever cannot read a page of this session cannot know it.
    pub(crate) form_token: Secret,
    /// The same as it is written into one page, and into no other alike.
    pub(crate) shown_form_token: Secret,
}

/// The sessions that the store has.
#[derive(Clone)]
pub(crate) struct Sessions {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) vault: Vault,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Sessions {
    /// Opens a session; gives what the browser is to hold.
    pub(crate) async fn open(&self, new: NewSession<'_>) -> Result<Secret, SessionError> {
        let NewSession { face, who, token, token_ends, agent, entered } = new;
        let held = self.make_cookie()?;
        let key = self.vault.mark(COOKIE_CONTEXT, held.expose()).as_str().to_owned();
        let now = self.clock.now();
        let record = WebSession {
            sealed: self.vault.seal(&WebSession::context(&key), token)?,
            key,
            face,
            who,
            opened_at_ms: now,
            used_at_ms: now,
            ends_at_ms: token_ends.min(now.plus_ms(LIFE_MAX_MS)),
            agent: agent.chars().filter(|c| !c.is_control()).take(AGENT_MAX_CHARS).collect(),
        };
        self.make_room(&record).await?;
        let mut change = Change::default();
        change.put(&Versioned::new(record));
        change.audit.extend(entered);
        self.store.commit(change).await?;
        Ok(held)
    }

    /// A random text, and the mark of it that only this gateway and those that share its keys can make.
    fn make_cookie(&self) -> Result<Secret, NoEntropy> {
        let text = hex(&random::<COOKIE_BYTES>(self.vault.entropy())?);
        let mark = self.vault.mark(OWN_CONTEXT, &text);
        Ok(Secret::new(format!("{text}.{}", mark.as_str())))
    }

    /// Whether a cookie was made here. What is made up costs the store nothing.
    fn is_own(&self, held: &Secret) -> bool {
        held.expose()
            .split_once('.')
            .is_some_and(|(text, mark)| self.vault.recognises(OWN_CONTEXT, &Mark::from_kept(mark.to_owned()), text))
    }

    /// The session of a cookie, if it goes on, which is used by that.
    pub(crate) async fn find(&self, face: Face, held: &Secret) -> Result<Option<OpenSession>, SessionError> {
        let Some((mut found, session)) = self.open_one(face, held).await? else { return Ok(None) };
        let now = self.clock.now();
        if now >= found.value.used_at_ms.plus_ms(NOTED_EVERY_MS) {
            found.value.used_at_ms = now;
            let mut change = Change::default();
            change.put(&found);
            // Where somebody else was faster it is noted already, or the session has just been ended.
            if !commit_unless_changed(&*self.store, change).await?
                && load::<WebSession>(&*self.store, &found.value.key).await?.is_none()
            {
                return Ok(None);
            }
        }
        Ok(Some(session))
    }

    /// The same for a page that asks of its own accord: a page that is left open keeps no session in use.
    pub(crate) async fn look(&self, face: Face, held: &Secret) -> Result<Option<OpenSession>, SessionError> {
        Ok(self.open_one(face, held).await?.map(|(_, session)| session))
    }

    /// Whether the session of a cookie still goes on.
    pub(crate) async fn goes_on(&self, face: Face, held: &Secret) -> Result<bool, SessionError> {
        let now = self.clock.now();
        for mark in self.vault.marks(COOKIE_CONTEXT, held.expose()) {
            if let Some(found) = load::<WebSession>(&*self.store, mark.as_str()).await? {
                return Ok(!found.value.is_over(now) && found.value.face == face);
            }
        }
        Ok(false)
    }

    async fn open_one(
        &self,
        face: Face,
        held: &Secret,
    ) -> Result<Option<(Versioned<WebSession>, OpenSession)>, SessionError> {
        if !self.is_own(held) {
            return Ok(None);
        }
        let now = self.clock.now();
        for mark in self.vault.marks(COOKIE_CONTEXT, held.expose()) {
            let Some(found) = load::<WebSession>(&*self.store, mark.as_str()).await? else { continue };
            let token = self.vault.open(&WebSession::context(&found.value.key), &found.value.sealed);
            let (Ok(token), false, true) = (token, found.value.is_over(now), found.value.face == face) else {
                return Ok(None);
            };
            let form_token = Secret::new(self.vault.mark(FORM_CONTEXT, held.expose()).as_str());
            let shown_form_token = masked::mask(&form_token, self.vault.entropy())?;
            let session = OpenSession { record: found.value.clone(), token, form_token, shown_form_token };
            return Ok(Some((found, session)));
        }
        Ok(None)
    }

    /// All sessions of one person that go on, the one that was used last first.
    pub(crate) async fn of(&self, face: Face, who: &str) -> Result<Vec<Versioned<WebSession>>, SessionError> {
        let name = WebSession::name(face, who);
        let found = named::<WebSession>(&*self.store, Named { name: &name, before: None, limit: READ_MAX }).await?;
        let now = self.clock.now();
        let mut found: Vec<_> = found.into_iter().filter(|session| !session.value.is_over(now)).collect();
        found.sort_by_key(|session| std::cmp::Reverse(session.value.used_at_ms));
        Ok(found)
    }

    /// Ends one of a person's sessions; false where there is none of that key.
    pub(crate) async fn end(&self, face: Face, who: &str, key: &str) -> Result<bool, SessionError> {
        let Some(found) = load::<WebSession>(&*self.store, key).await? else { return Ok(false) };
        let is_own = found.value.face == face && found.value.who == who;
        Ok(is_own && self.remove(key).await?)
    }

    /// Removes a session, whoever has just noted its use.
    async fn remove(&self, key: &str) -> Result<bool, SessionError> {
        while let Some(found) = load::<WebSession>(&*self.store, key).await? {
            if forget(&*self.store, &found).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn make_room(&self, new: &WebSession) -> Result<(), SessionError> {
        let own = self.of(new.face, &new.who).await?;
        for oldest in own.iter().skip(SESSIONS_MAX - 1) {
            forget(&*self.store, oldest).await?;
        }
        Ok(())
    }
}
