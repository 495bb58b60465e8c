//! A partner's endpoint: registered, switched on, suspended, lifted out of suspension (spec 1, States and transitions).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::json;

use super::keeper::RecordKeeper;
use super::live::LivePartners;
use super::records::{Account, Connection, Manifests, ReviewSubject, Submission, Suspension};
use super::sessions::Requester;
use super::sign_in::ConnectionSignIn;
use super::text::bounded_text;
use super::undo::{Changed, Telling};
use super::{OnboardingError, Settings, mail_texts};
use crate::connection::{ConnectionEvent, ConnectionState, NotAllowed};
use crate::events::{EventData, Word};
use crate::manifest::{Manifest, Status};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::endpoint::Endpoint;
use intent_gateway_domain::findings::Finding;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::ports::PartnerProbe;
use intent_gateway_domain::steps::Proposal;
use intent_gateway_domain::store::{Change, List, Record as _, StatusCount, Versioned, load, page};

/// A connection that was switched on.
#[derive(Clone, Debug)]
pub struct SwitchOn {
    /// As it stands now.
    pub connection: Connection,
    /// Intents that requests are routed to.
    pub routed: BTreeSet<IntentId>,
}

impl Connection {
    /// Moves it along, if the event is allowed in its state.
    pub(super) fn advance(&mut self, event: ConnectionEvent, now: Timestamp) -> Result<(), NotAllowed> {
        let next = self.state.after(event)?;
        if next != self.state {
            self.state = next;
            self.since_ms = now;
        }
        if next == ConnectionState::Live {
            self.first_live_at_ms.get_or_insert(now);
        }
        Ok(())
    }

    /// Intents of an approved manifest that may be routed at a time: their tools are pinned and unchanged since, the team
    /// has tested them, and what people have confirmed holds.
    pub(crate) fn routable<'a>(&'a self, approved: &'a Manifest, now: Timestamp) -> impl Iterator<Item = &'a IntentId> {
        let pinned = self.pinned.as_ref();
        approved.intents.iter().map(|entry| &entry.intent).filter(move |intent| {
            pinned.is_some_and(|pinned| pinned.holds(intent))
                && !self.quarantine.contains_key(*intent)
                && self.is_tested(intent, now)
                && self.is_confirmed(intent, now)
        })
    }

    /// Takes the quarantined tools as the last probe saw them.
    ///
    /// # Errors
    /// `NO_PROBE` when the last probe did not pass: there is nothing sound to accept.
    pub(super) fn accept_drift(&mut self) -> Result<(), OnboardingError> {
        let sound = self.probe.as_ref().filter(|probe| probe.passed).and_then(|probe| probe.tools.as_ref());
        let Some(report) = sound else {
            let message = "the last probe did not pass; probe again before the changed tools are accepted";
            return Err(OnboardingError::out_of_step("NO_PROBE", message));
        };
        let intents: BTreeSet<IntentId> = std::mem::take(&mut self.quarantine).into_keys().collect();
        self.pinned.get_or_insert_default().accept(&report.pin(), &intents);
        Ok(())
    }

    /// Remembers what is served under an approval that is about to end.
    pub(super) fn remember_served(&mut self, approved: &Manifest) {
        let Some(pinned) = &self.pinned else { return };
        let served = approved.intents.iter().filter(|entry| pinned.holds(&entry.intent));
        self.served.extend(served.map(|entry| (entry.intent.clone(), entry.api_mapping.clone())));
    }

    /// The reviews of what was learnt of the endpoint.
    pub(crate) fn reviews(&self) -> BTreeSet<String> {
        let mut reviews = self.renewal_reviews();
        reviews.extend(self.drift_review.clone());
        reviews.extend(self.sign_in.review.clone());
        reviews
    }

    /// Forgets the reviews, which were superseded.
    pub(crate) fn forget_reviews(&mut self) {
        self.drift_review = None;
        self.sign_in.review = None;
        for held in self.confirmations.values_mut().flat_map(BTreeMap::values_mut) {
            held.review = None;
        }
    }

    /// Forgets what was learnt of the endpoint. Returns the reviews of it, which have nothing to decide any more.
    #[must_use = "an open review has to be superseded"]
    fn reset(&mut self) -> BTreeSet<String> {
        let reviews = self.reviews();
        self.drift_review = None;
        self.sign_in = ConnectionSignIn::default();
        self.probe = None;
        self.pinned = None;
        self.quarantine = BTreeMap::new();
        self.tests = BTreeMap::new();
        self.failed_retests = BTreeMap::new();
        self.confirmations = BTreeMap::new();
        self.next_probe_at_ms = None;
        reviews
    }
}

/// Partners' connections.
pub struct Connections {
    pub(crate) keeper: RecordKeeper,
    /// Says which addresses may be called.
    pub(crate) probe: Arc<dyn PartnerProbe>,
    pub(crate) live: Arc<LivePartners>,
    pub(crate) settings: Settings,
}

impl Connections {
    /// Registers where the partner is called. Another endpoint than before has to be probed and tested anew, and takes a
    /// live connection back into the sandbox; the owner is told by mail, of the first endpoint as well.
    ///
    /// # Errors
    /// [`OnboardingError::Refused`] for an address that may not be called: plain HTTP, not public;
    /// [`OnboardingError::SignInNeeded`] for another endpoint than before without a fresh sign-in.
    pub async fn register(
        &self,
        account: &PartnerId,
        endpoint: &Endpoint,
        by: &Requester,
    ) -> Result<Connection, OnboardingError> {
        self.probe
            .admits(endpoint)
            .map_err(|refused| OnboardingError::invalid("/url", "INVALID_URL", refused.to_string()))?;
        let done = self
            .keeper
            .step(async || {
                let mut owner = self.keeper.require::<Account>(account.as_str(), "account").await?;
                by.check_session(&owner.value)?;
                let before = load::<Connection>(&*self.keeper.store, account.as_str()).await?;
                if let Some(same) = before.as_ref().filter(|kept| kept.value.endpoint == *endpoint) {
                    return Ok(Proposal::nothing(same.value.clone()));
                }
                let (what, text) = match &before {
                    Some(kept) => {
                        by.check_proof(self.keeper.now())?;
                        let text = mail_texts::moved("endpoint", kept.value.endpoint.url(), endpoint.url());
                        (Changed::Endpoint { is_first: false }, text)
                    }
                    None => (Changed::Endpoint { is_first: true }, mail_texts::set("endpoint", endpoint.url())),
                };
                let mut change = Change::default();
                let telling = Telling { what, text, at: self.keeper.now(), by, base_url: &self.settings.base_url };
                self.keeper.tell_owner(&mut owner.value, telling, &mut change)?;
                change.put(&owner);
                let mut kept = match before {
                    Some(mut kept) => {
                        self.move_away(&mut kept.value, &mut change).await?;
                        kept
                    }
                    None => Versioned::new(Connection {
                        account: account.clone(),
                        endpoint: endpoint.clone(),
                        state: ConnectionState::Sandbox,
                        since_ms: self.keeper.now(),
                        first_live_at_ms: None,
                        probe: None,
                        pinned: None,
                        quarantine: BTreeMap::new(),
                        drift_review: None,
                        tests: BTreeMap::new(),
                        failed_retests: BTreeMap::new(),
                        confirmations: BTreeMap::new(),
                        served: BTreeMap::new(),
                        suspension: None,
                        pardoned_at_ms: None,
                        told_strikes: Vec::new(),
                        sign_in: ConnectionSignIn::default(),
                        next_probe_at_ms: None,
                        moved_from: None,
                    }),
                };
                kept.value.endpoint = endpoint.clone();
                change.put(&kept);
                let detail = json!({"endpoint": endpoint, "state": kept.value.state});
                change.audit.push(self.keeper.audit_entry(&by.actor, "connection.registered", account, detail));
                Ok(Proposal::new(change, kept.value))
            })
            .await?;
        self.live.apply_change().await;
        Ok(done)
    }

    /// Takes a connection off its endpoint, and remembers it as it was.
    async fn move_away(&self, connection: &mut Connection, change: &mut Change) -> Result<(), OnboardingError> {
        connection.remember_before_move(self.keeper.now());
        for review in connection.reset() {
            self.keeper.supersede(Some(&review), change).await?;
        }
        connection.served.clear();
        connection.advance(ConnectionEvent::Moved, self.keeper.now())?;
        Ok(())
    }

    /// The connection of an account.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`] when no endpoint was registered.
    pub async fn get(&self, account: &PartnerId) -> Result<Connection, OnboardingError> {
        Ok(self.keeper.require::<Connection>(account.as_str(), "connection").await?.value)
    }

    /// Connections in order of their accounts.
    ///
    /// # Errors
    /// [`OnboardingError::Store`].
    pub async fn list(&self, list: List<'_>) -> Result<Vec<Connection>, OnboardingError> {
        Ok(page::<Connection>(&*self.keeper.store, list).await?.into_iter().map(|kept| kept.value).collect())
    }

    /// How many connections are in each state, those of none included.
    ///
    /// # Errors
    /// [`OnboardingError::Store`].
    pub async fn count(&self) -> Result<BTreeMap<&'static str, u64>, OnboardingError> {
        let mut counts: BTreeMap<_, _> = ConnectionState::ALL.iter().map(|state| (state.as_str(), 0)).collect();
        for StatusCount { status, count } in self.keeper.store.count(Connection::KIND).await? {
            if let Some(place) = status.and_then(|state| counts.get_mut(state.as_str())) {
                *place = count;
            }
        }
        Ok(counts)
    }

    /// Switches a connection on: from then on, requests of users are routed to it.
    ///
    /// # Errors
    /// [`OnboardingError::NotReady`] with everything that is missing: an approved manifest, a probe that passed, a test
    /// that passed for each of its intents; [`OnboardingError::NotAllowed`] in another state than sandbox.
    pub async fn switch_on(&self, account: &PartnerId, actor: &Actor) -> Result<SwitchOn, OnboardingError> {
        let done = self
            .keeper
            .step(async || {
                let mut kept = self.keeper.require::<Connection>(account.as_str(), "connection").await?;
                kept.value.advance(ConnectionEvent::SwitchedOn, self.keeper.now())?;
                let manifests = load::<Manifests>(&*self.keeper.store, account.as_str()).await?;
                let approved = manifests.and_then(|kept| kept.value.approved);
                let routed = ready(&kept.value, approved.as_ref(), self.keeper.now())?;
                kept.value.next_probe_at_ms = Some(self.keeper.now().plus_ms(self.settings.reprobe_interval_ms));
                let mut change = Change::default();
                change.put(&kept);
                change.audit.push(self.keeper.audit_entry(
                    actor,
                    "connection.switched_on",
                    account,
                    json!({"intents": routed}),
                ));
                let owner = self.keeper.require::<Account>(account.as_str(), "account").await?.value;
                let text = mail_texts::live(&owner.business_name, routed.iter().cloned());
                let event = EventData::connection_changed(&kept.value, routed.iter().cloned(), None);
                self.keeper.tell(&owner, Word { subject: "Your connection is live", text, event }, &mut change)?;
                Ok(Proposal::new(change, SwitchOn { connection: kept.value, routed }))
            })
            .await?;
        self.live.apply_change().await;
        Ok(done)
    }

    /// Takes a live connection out.
    ///
    /// # Errors
    /// [`OnboardingError::NotAllowed`] when it is not live.
    pub async fn suspend(
        &self,
        account: &PartnerId,
        reason: &str,
        actor: &Actor,
    ) -> Result<Connection, OnboardingError> {
        let reason = bounded_text("/reason", reason)?;
        let done = self
            .keeper
            .step(async || {
                let mut kept = self.keeper.require::<Connection>(account.as_str(), "connection").await?;
                let mut change = Change::default();
                let why = Suspending { reason: reason.clone(), incidents: &[], base_url: &self.settings.base_url };
                self.keeper.suspend(&mut kept, why, actor, &mut change).await?;
                Ok(Proposal::new(change, kept.value))
            })
            .await?;
        self.live.apply_change().await;
        Ok(done)
    }

    /// Lifts a suspension: back to the sandbox, through probe, test and approval again.
    ///
    /// # Errors
    /// [`OnboardingError::NotAllowed`] when it is not suspended.
    pub async fn lift(&self, account: &PartnerId, reason: &str, actor: &Actor) -> Result<Connection, OnboardingError> {
        let reason = bounded_text("/reason", reason)?;
        let done = self
            .keeper
            .step(async || {
                let mut kept = self.keeper.require::<Connection>(account.as_str(), "connection").await?;
                kept.value.advance(ConnectionEvent::Lifted, self.keeper.now())?;
                kept.value.suspension = None;
                kept.value.pardoned_at_ms = Some(self.keeper.now());
                // What was before the suspension is not to come back by undoing a move.
                kept.value.moved_from = None;
                let manifests = load::<Manifests>(&*self.keeper.store, account.as_str()).await?;
                if let Some(approved) = manifests.and_then(|kept| kept.value.approved) {
                    kept.value.remember_served(&approved.manifest);
                }
                let mut change = Change::default();
                for review in kept.value.reset() {
                    self.keeper.supersede(Some(&review), &mut change).await?;
                }
                change.put(&kept);
                self.keeper.withdraw_approval(account, &mut change).await?;
                change.audit.push(self.keeper.audit_entry(
                    actor,
                    "connection.lifted",
                    account,
                    json!({"reason": reason}),
                ));
                let owner = self.keeper.require::<Account>(account.as_str(), "account").await?.value;
                let text = mail_texts::lifted(&owner.business_name, &reason);
                let event = EventData::connection_changed(&kept.value, std::iter::empty(), Some(reason.clone()));
                let word = Word { subject: "The suspension of your connection was lifted", text, event };
                self.keeper.tell(&owner, word, &mut change)?;
                Ok(Proposal::new(change, kept.value))
            })
            .await?;
        self.live.apply_change().await;
        Ok(done)
    }
}

/// Why a connection is suspended.
pub(super) struct Suspending<'a> {
    /// Told to the partner.
    pub(super) reason: String,
    /// The strikes that led to it, where they did.
    pub(super) incidents: &'a [Finding],
    /// Where the partner can look for more.
    pub(super) base_url: &'a str,
}

impl RecordKeeper {
    /// Suspends a connection within a change, which also tells the partner.
    pub(super) async fn suspend(
        &self,
        kept: &mut Versioned<Connection>,
        Suspending { reason, incidents, base_url }: Suspending<'_>,
        actor: &Actor,
        change: &mut Change,
    ) -> Result<(), OnboardingError> {
        kept.value.advance(ConnectionEvent::Suspended, self.now())?;
        let account = kept.value.account.clone();
        let owner = self.require::<Account>(account.as_str(), "account").await?.value;
        change.audit.push(self.audit_entry(actor, "connection.suspended", &account, json!({"reason": reason})));
        let text = mail_texts::suspension(&owner.business_name, &account, base_url, &reason, incidents);
        let event = EventData::ConnectionSuspended { reason: reason.clone() };
        self.tell(&owner, Word { subject: "Your connection was suspended", text, event }, change)?;
        kept.value.suspension = Some(Suspension { reason, at_ms: self.now(), by: actor.clone() });
        kept.value.next_probe_at_ms = None;
        change.put(kept);
        Ok(())
    }

    /// The manifest has to be approved again; unless a review of it is open anyway, one is opened.
    async fn withdraw_approval(&self, account: &PartnerId, change: &mut Change) -> Result<(), OnboardingError> {
        let Some(mut kept) = load::<Manifests>(&*self.store, account.as_str()).await? else { return Ok(()) };
        kept.value.approved = None;
        if kept.value.latest.status == Status::Approved {
            kept.value.latest.status = Status::PendingReview;
            let subject = ReviewSubject::Manifest { number: kept.value.latest.number };
            let review = self.open_review(account, subject)?;
            kept.value.review = Some(review.id.clone());
            change.put(&Versioned::new(review));
        }
        change.put(&kept);
        Ok(())
    }
}

/// The intents that go live, or everything that is missing.
fn ready(
    connection: &Connection,
    approved: Option<&Submission>,
    now: Timestamp,
) -> Result<BTreeSet<IntentId>, OnboardingError> {
    let mut missing = Vec::new();
    let mut lacks = |code: &str, message: String| {
        missing.push(Violation { pointer: String::new(), code: code.to_owned(), message });
    };
    if !connection.probe.as_ref().is_some_and(|probe| probe.passed) {
        lacks("PROBE_NEEDED", "the last probe did not pass, or there was none".to_owned());
    }
    let Some(approved) = approved else {
        lacks("APPROVAL_NEEDED", "no manifest is approved".to_owned());
        return Err(OnboardingError::NotReady(missing));
    };
    let routable: BTreeSet<IntentId> = connection.routable(&approved.manifest, now).cloned().collect();
    for entry in &approved.manifest.intents {
        let intent = &entry.intent;
        match connection.tests.get(intent) {
            None => lacks("TEST_NEEDED", format!("{intent}: the connection was not tested")),
            Some(report) if !report.passed() => {
                lacks("TEST_NEEDED", format!("{intent}: the last test did not pass"));
            }
            Some(_) if connection.has_ended(intent, now) => {
                let ended: Vec<&str> = connection.endings_of(intent, now).map(|(code, _)| code).collect();
                lacks("TEST_NEEDED", format!("{intent}: confirm anew what has ended, of {}", ended.join(", ")));
            }
            Some(_) if !routable.contains(intent) => {
                lacks("PROBE_NEEDED", format!("{intent}: its tools are not as they were last accepted"));
            }
            Some(_) => {}
        }
    }
    if missing.is_empty() { Ok(routable) } else { Err(OnboardingError::NotReady(missing)) }
}
