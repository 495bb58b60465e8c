//! Telling the owner of an account what has changed of the secrets and addresses that it is entered or reached by, and
//! taking such a change back.
//!
//! The mail brings a code that is good once and for [`UNDO_TTL_MS`], without a sign-in: whoever reads the mailbox of the
//! account is its owner. What is undone is undone with everything of its kind that came after it, and every session ends.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::accounts::partner;
use super::keeper::RecordKeeper;
use super::live::LivePartners;
use super::records::{Account, Connection, Credentials};
use super::sessions::Requester;
use super::sign_in::ConnectionSignIn;
use super::{OnboardingError, mail_texts};
use crate::connection::ConnectionState;
use crate::events::{EventData, Word};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::endpoint::Endpoint;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::signing_keys::{SigningKeys, Webhook};
use intent_gateway_domain::steps::Proposal;
use intent_gateway_domain::store::{Change, Versioned};
use intent_gateway_domain::vault::{Mark, hex, random};

/// How long a change can be undone, milliseconds.
pub const UNDO_TTL_MS: u64 = 3 * 24 * 60 * 60 * 1_000;
/// Changes of one account that can be undone; of more, the oldest goes.
const UNDO_KEPT_MAX: usize = 16;
/// Random bytes of a code.
const CODE_BYTES: usize = 32;

/// What has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub(crate) enum Changed {
    /// The `client_secret` was replaced.
    ClientSecret,
    /// The webhook's key was replaced, and with it perhaps the address.
    Webhook {
        /// The address before; empty where there was none, so that a gateway of the release before can read it.
        previous_url: String,
    },
    /// The endpoint is another one.
    Endpoint {
        /// Whether there was none before.
        #[serde(default)]
        is_first: bool,
    },
}

impl Changed {
    /// As the records and the answer name it.
    fn as_str(&self) -> &'static str {
        match self {
            Self::ClientSecret => "client_secret",
            Self::Webhook { .. } => "webhook",
            Self::Endpoint { .. } => "endpoint",
        }
    }
}

/// A change that can be undone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Undoable {
    /// Recognises the code that was mailed.
    mark: Mark,
    what: Changed,
    /// When it was made, milliseconds since the epoch.
    at_ms: Timestamp,
    until_ms: Timestamp,
}

/// A connection as it was before its endpoint moved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MovedFrom {
    connection: Box<Connection>,
    until_ms: Timestamp,
}

impl MovedFrom {
    /// Where its users signed in then.
    pub(crate) fn sign_in(&self) -> &ConnectionSignIn {
        &self.connection.sign_in
    }
}

/// A change that the owner is told of.
pub(crate) struct Telling<'a> {
    pub(crate) what: Changed,
    /// What has happened, as the mail says it: one sentence.
    pub(crate) text: String,
    /// When: what it brought is not older.
    pub(crate) at: Timestamp,
    pub(crate) by: &'a Requester,
    /// `{base_url}` of the platform.
    pub(crate) base_url: &'a str,
}

impl RecordKeeper {
    /// Tells the owner of a change within that change, with a code that undoes it. The account is to be written by the
    /// caller.
    pub(crate) fn tell_owner(
        &self,
        owner: &mut Account,
        telling: Telling<'_>,
        change: &mut Change,
    ) -> Result<(), OnboardingError> {
        let Telling { what, text, at, by, base_url } = telling;
        let now = self.now();
        let code = format!("undo_{}", hex(&random::<CODE_BYTES>(self.vault.entropy())?));
        let mark = self.vault.mark(&undo_context(&owner.id), &code);
        let owner_sees = what.as_str().to_owned();
        let until_ms = now.plus_ms(UNDO_TTL_MS);
        owner.undoable.retain(|kept| now < kept.until_ms);
        if owner.undoable.len() >= UNDO_KEPT_MAX {
            owner.undoable.remove(0);
        }
        owner.undoable.push(Undoable { mark, what, at_ms: at, until_ms });
        let notice = mail_texts::ChangeNotice { text: &text, by, base_url, code: &code, until: until_ms };
        let mail = mail_texts::changed(&owner.business_name, &owner.id, &notice);
        let event = EventData::AccountChanged { what: owner_sees };
        self.tell(owner, Word { subject: "Your account was changed", text: mail, event }, change)
    }
}

impl Connection {
    /// Remembers itself before it moves, so that the move can be undone. What was remembered stays where nothing was
    /// accepted since: a second move does not make the first one stay.
    pub(crate) fn remember_before_move(&mut self, now: Timestamp) {
        let undoable = self.moved_from.as_ref().is_some_and(|moved| now < moved.until_ms);
        if undoable && self.state != ConnectionState::Live {
            return;
        }
        self.moved_from = None;
        self.moved_from = Some(MovedFrom { connection: Box::new(self.clone()), until_ms: now.plus_ms(UNDO_TTL_MS) });
    }

    /// The connection as it was before it moved, to be probed at once.
    ///
    /// # Errors
    /// `UNDO_TOO_LATE` when the platform team has decided on it since: a suspension is not shaken off by undoing a move.
    fn move_back(&mut self, now: Timestamp) -> Result<(), OnboardingError> {
        let suspended = |connection: &Self| connection.state == ConnectionState::Suspended;
        let before = self.moved_from.take().filter(|moved| suspended(&moved.connection) || !suspended(self));
        let MovedFrom { connection, .. } = before.ok_or_else(too_late)?;
        let now_held = std::mem::replace(self, *connection);
        // What was learnt of the partner meanwhile stays learnt, and the reviews were superseded by the move.
        self.pardoned_at_ms = now_held.pardoned_at_ms;
        self.told_strikes = now_held.told_strikes;
        // Whoever was live owes commission, wherever it was reached then.
        self.first_live_at_ms = [self.first_live_at_ms, now_held.first_live_at_ms].into_iter().flatten().min();
        self.forget_reviews();
        if self.state == ConnectionState::Live {
            self.next_probe_at_ms = Some(now);
        }
        Ok(())
    }

    /// Whether it may be forgotten, as if no endpoint had been registered.
    ///
    /// # Errors
    /// `UNDO_TOO_LATE` once it was live: whoever was live owes commission, and must not pass for somebody who never was.
    fn check_forgettable(&self) -> Result<(), OnboardingError> {
        if self.first_live_at_ms.is_none() { Ok(()) } else { Err(too_late()) }
    }
}

/// The platform team has decided on the connection since it changed.
fn too_late() -> OnboardingError {
    let message = "the platform team has decided on the connection since; register the endpoint again";
    OnboardingError::out_of_step("UNDO_TOO_LATE", message)
}

/// What was undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    pub account: PartnerId,
    /// `client_secret`, `webhook` or `endpoint`.
    pub what: &'static str,
    /// The endpoint that is called again, where that is what was undone.
    pub endpoint: Option<Endpoint>,
}

/// Takes changes back.
pub struct Undoing {
    pub(crate) keeper: RecordKeeper,
    /// What completion reports are verified with.
    pub(crate) keys: Arc<dyn SigningKeys>,
    pub(crate) live: Arc<LivePartners>,
}

impl Undoing {
    /// Takes back the change that a mailed code belongs to, with all of its kind that came after it, and ends every
    /// session of the account.
    ///
    /// # Errors
    /// [`OnboardingError::NotAccepted`] for a code that is wrong, used or too old, and for an unknown account: all alike.
    /// `UNDO_TOO_LATE` for a move when the platform team has suspended the partner since, and for the first endpoint once it was
    /// live.
    pub async fn undo(&self, account: &str, code: &str, network: &str) -> Result<Undone, OnboardingError> {
        let account = PartnerId::parse(account).map_err(|_| OnboardingError::NotAccepted)?;
        let undone = self.keeper.step(async || self.take_back(&account, code, network).await).await?;
        match undone.what {
            "webhook" => {
                if let Err(error) = self.keys.refresh().await {
                    tracing::warn!(error = %chain(&error), "a change of a signing key is in force a moment later");
                }
            }
            "endpoint" => self.live.apply_change().await,
            _ => {}
        }
        Ok(undone)
    }

    async fn take_back(
        &self,
        account: &PartnerId,
        code: &str,
        network: &str,
    ) -> Result<Proposal<Undone>, OnboardingError> {
        let (keeper, now) = (&self.keeper, self.keeper.now());
        let mut owner = keeper.find::<Account>(account.as_str()).await?.ok_or(OnboardingError::NotAccepted)?;
        let context = undo_context(account);
        let mut found = owner.value.undoable.iter().filter(|kept| now < kept.until_ms);
        let found = found.find(|kept| keeper.vault.recognises(&context, &kept.mark, code)).cloned();
        let Undoable { what, at_ms, .. } = found.ok_or(OnboardingError::NotAccepted)?;
        let mut change = Change::default();
        let mut endpoint = None;
        match &what {
            Changed::ClientSecret => {
                let mut kept = keeper.require::<Credentials>(account.as_str(), "credentials").await?;
                let secrets = &mut kept.value.secrets;
                secrets.retain(|secret| {
                    secret.issued_at_ms < at_ms && secret.not_after_ms.is_none_or(|until| now < until)
                });
                if let Some(current) = secrets.first_mut() {
                    current.not_after_ms = None;
                }
                change.put(&kept);
            }
            // The first one goes with its keys: whoever was shown them signs nothing any more.
            Changed::Webhook { previous_url } if previous_url.is_empty() => {
                change.delete(&keeper.require::<Webhook>(account.as_str(), "webhook").await?);
            }
            Changed::Webhook { previous_url } => {
                let mut kept = keeper.require::<Webhook>(account.as_str(), "webhook").await?;
                let Webhook { url, keys, events, .. } = &mut kept.value;
                url.clone_from(previous_url);
                // With a secret of whoever did it, events could be forged at the address of before.
                for keys in [keys, &mut events.secrets] {
                    keys.retain(|key| key.not_before_ms < at_ms && key.not_after_ms.is_none_or(|until| now < until));
                    if let Some(current) = keys.first_mut() {
                        current.not_after_ms = None;
                    }
                }
                (events.since_ms, events.stopped) = (Some(now), None);
                change.put(&kept);
            }
            Changed::Endpoint { is_first } => {
                let mut kept: Versioned<Connection> = keeper.require(account.as_str(), "connection").await?;
                for review in kept.value.reviews() {
                    keeper.supersede(Some(&review), &mut change).await?;
                }
                if *is_first {
                    kept.value.check_forgettable()?;
                    change.delete(&kept);
                } else {
                    kept.value.move_back(now)?;
                    endpoint = Some(kept.value.endpoint.clone());
                    change.put(&kept);
                }
            }
        }
        let kind = what.as_str();
        owner.value.undoable.retain(|kept| kept.what.as_str() != kind || kept.at_ms < at_ms);
        owner.value.evict(None, now);
        change.put(&owner);
        let actor = Actor { from: Some(network.to_owned()).filter(|from| !from.is_empty()), ..partner(account) };
        let detail = json!({"undone": what, "made_at_ms": at_ms, "endpoint": endpoint});
        change.audit.push(keeper.audit_entry(&actor, "account.change_undone", account, detail));
        Ok(Proposal::new(change, Undone { account: account.clone(), what: kind, endpoint }))
    }
}

/// What a code of an account is marked for.
fn undo_context(account: &PartnerId) -> String {
    format!("undo/{account}")
}
