//! A partner's endpoint: registered, probed, tested, switched on, suspended, watched (spec 1, States and transitions).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::accounts::bounded_text;
use super::records::{Account, Connection, Manifests, Probed, ReviewSubject, Submission, Suspension};
use super::routing::{mappings, partner};
use super::{Onboarding, OnboardingError, Step};
use crate::audit::Actor;
use crate::connection::{ConnectionEvent, ConnectionState};
use crate::contract::Violation;
use crate::descriptors::{self, Drift, Expected, Pinned, ToolReport};
use crate::endpoint::Endpoint;
use crate::golive::{Confirmation, GoLiveError, GoLiveReport, GoLiveRunner};
use crate::id::{IntentId, PartnerId};
use crate::manifest::{self, Catalogue, Manifest, Status};
use crate::ports::Contract;
use crate::probe::{ProbeRecord, ProbeRequest};
use crate::store::{Change, List, Versioned, load, page};

/// Live connections that one look for due probes takes up.
const DUE_PROBES_MAX: u32 = 500;

/// Wait for each sample of a test: several times the slowest target of any search, and with every sample at its end still
/// within the time of one admin call.
const SAMPLE_TIMEOUT: Duration = Duration::from_secs(10);

/// What the team's test of a connection runs on.
#[derive(Clone, Debug)]
pub struct TestOrder {
    /// The intent tested.
    pub intent: IntentId,
    /// Sample requests, JSON text; each is run as a search against this partner alone. None at all only confirms
    /// items of the last report.
    pub requests: Vec<String>,
    /// Requirements that a person has looked at.
    pub confirmed: Vec<Confirmation>,
}

/// A connection that was switched on.
#[derive(Clone, Debug)]
pub struct SwitchOn {
    /// As it stands now.
    pub connection: Connection,
    /// Intents that requests are routed to.
    pub routed: BTreeSet<IntentId>,
}

impl Connection {
    /// Intents of an approved manifest that may be routed: their tools are pinned and unchanged since, and the team has
    /// tested them.
    pub fn routable<'a>(&'a self, approved: &'a Manifest) -> impl Iterator<Item = &'a IntentId> {
        let pinned = self.pinned.as_ref();
        approved.intents.iter().map(|entry| &entry.intent).filter(move |intent| {
            pinned.is_some_and(|pinned| pinned.holds(intent))
                && !self.quarantine.contains_key(*intent)
                && self.tests.get(*intent).is_some_and(GoLiveReport::passed)
        })
    }

    /// Takes the tools of some intents as the last probe saw them.
    ///
    /// # Errors
    /// `NO_PROBE` when the last probe did not pass: there is nothing sound to accept.
    pub(super) fn accept_drift(&mut self, intents: &BTreeSet<IntentId>) -> Result<(), OnboardingError> {
        let sound = self.probe.as_ref().filter(|probe| probe.passed).and_then(|probe| probe.tools.as_ref());
        let Some(report) = sound else {
            let message = "the last probe did not pass; probe again before the changed tools are accepted";
            return Err(OnboardingError::out_of_step("NO_PROBE", message));
        };
        self.pinned.get_or_insert_default().accept(&report.pinned(), intents);
        self.quarantine.retain(|intent, _| !intents.contains(intent));
        Ok(())
    }

    /// Forgets what was learnt of the endpoint.
    fn reset(&mut self) {
        self.probe = None;
        self.pinned = None;
        self.quarantine = BTreeMap::new();
        self.tests = BTreeMap::new();
        self.next_probe_at_ms = None;
    }
}

impl Onboarding {
    /// Registers where the partner is called. Another endpoint than before has to be probed and tested anew, and takes a
    /// live connection back into the sandbox.
    ///
    /// # Errors
    /// [`OnboardingError::Refused`] for an address that may not be called: plain HTTP, not public.
    pub async fn register_endpoint(
        &self,
        account: &PartnerId,
        endpoint: &Endpoint,
        actor: &Actor,
    ) -> Result<Connection, OnboardingError> {
        self.probe
            .admits(endpoint)
            .map_err(|refused| OnboardingError::invalid("/url", "INVALID_URL", refused.to_string()))?;
        self.retrying(async || {
            self.existing::<Account>(account.as_str(), "account").await?;
            let mut kept = match load::<Connection>(&*self.store, account.as_str()).await? {
                Some(kept) if kept.value.endpoint == *endpoint => return Ok(Step::Done(kept.value)),
                Some(mut kept) => {
                    kept.value.reset();
                    self.after(&mut kept.value, ConnectionEvent::Moved)?;
                    kept
                }
                None => Versioned::new(Connection {
                    account: account.clone(),
                    endpoint: endpoint.clone(),
                    state: ConnectionState::Sandbox,
                    since_ms: self.now(),
                    probe: None,
                    pinned: None,
                    quarantine: BTreeMap::new(),
                    tests: BTreeMap::new(),
                    suspension: None,
                    next_probe_at_ms: None,
                }),
            };
            kept.value.endpoint = endpoint.clone();
            let mut change = Change::default();
            change.put(&kept);
            let detail = json!({"endpoint": endpoint, "state": kept.value.state});
            change.audit.push(self.record(actor, "connection.registered", account, detail));
            self.commit(change, kept.value).await
        })
        .await
    }

    /// The connection of an account.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`] when no endpoint was registered.
    pub async fn connection(&self, account: &PartnerId) -> Result<Connection, OnboardingError> {
        Ok(self.existing::<Connection>(account.as_str(), "connection").await?.value)
    }

    /// Connections in order of their accounts.
    ///
    /// # Errors
    /// [`OnboardingError::Store`].
    pub async fn connections(&self, list: List<'_>) -> Result<Vec<Connection>, OnboardingError> {
        Ok(page::<Connection>(&*self.store, list).await?.into_iter().map(|kept| kept.value).collect())
    }

    /// Probes the partner (`initialize`, then `tools/list`, and no call), judges its tools and records all of it. A
    /// failed probe is an answer, not an error.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`] when no endpoint was registered; `ENDPOINT_CHANGED` when another one was registered
    /// while the probe ran.
    pub async fn probe(&self, account: &PartnerId, actor: &Actor) -> Result<Connection, OnboardingError> {
        let endpoint = self.connection(account).await?.endpoint;
        let manifest = self.current_manifest(account).await?;
        let mappings = manifest.as_ref().map(mappings).unwrap_or_default();
        let request = ProbeRequest {
            partner: account,
            endpoint: &endpoint,
            mappings: &mappings,
            contracts: &*self.contracts,
            bearer: None,
            now_ms: self.now(),
        };
        let record = self.probe.probe(request).await;
        let probed = self.judge(account, record, manifest.as_ref(), actor);
        self.retrying(async || {
            let mut kept = self.existing::<Connection>(account.as_str(), "connection").await?;
            if kept.value.endpoint != endpoint {
                let message = "another endpoint was registered while the probe ran; probe again";
                return Err(OnboardingError::out_of_step("ENDPOINT_CHANGED", message));
            }
            let mut change = Change::default();
            self.take_probe(&mut kept.value, probed.clone(), &mut change)?;
            change.put(&kept);
            let detail = json!({"passed": probed.passed, "state": kept.value.state});
            change.audit.push(self.record(actor, "connection.probed", account, detail));
            self.commit(change, kept.value).await
        })
        .await
    }

    /// The manifest that a probe and a test look at: the latest, for that is what goes live next.
    async fn current_manifest(&self, account: &PartnerId) -> Result<Option<Manifest>, OnboardingError> {
        let kept = load::<Manifests>(&*self.store, account.as_str()).await?;
        Ok(kept.map(|kept| kept.value.latest.manifest))
    }

    /// What is to be made of a probe: it passes when every step did and every listed intent has its tools.
    fn judge(&self, account: &PartnerId, record: ProbeRecord, manifest: Option<&Manifest>, actor: &Actor) -> Probed {
        let mut failures: Vec<Violation> = Vec::new();
        let mut tools = None;
        match &record.failure {
            Some(failure) => failures.push(Violation {
                pointer: String::new(),
                code: failure.code.clone(),
                message: failure.message.clone(),
            }),
            None => {
                let entries = manifest.iter().flat_map(|manifest| &manifest.intents);
                let contracts: Vec<_> =
                    entries.filter_map(|entry| self.contracts.live(entry.intent.as_str())).collect();
                let listed: Vec<_> = contracts.iter().map(|contract| contract.descriptor()).collect();
                let expected = Expected {
                    listed: &listed,
                    catalogue: &Catalogue::of(&*self.contracts),
                    completion_callback: &manifest::completion_callback(&self.settings.base_url, account),
                };
                let report = descriptors::judge(&record.tools, &expected);
                failures.extend(report.missing.iter().map(|(intent, tools)| lacking(intent, tools)));
                tools = Some(report);
            }
        }
        Probed { passed: failures.is_empty(), record, tools, failures, by: actor.clone() }
    }

    /// Puts a probe into the connection. Before going live, a probe that passed pins the tools; afterwards they are
    /// compared with what was pinned, and an intent whose tools have changed is quarantined for review.
    fn take_probe(
        &self,
        connection: &mut Connection,
        probed: Probed,
        change: &mut Change,
    ) -> Result<(), OnboardingError> {
        let event = if probed.passed { ConnectionEvent::ProbePassed } else { ConnectionEvent::ProbeFailed };
        let live = connection.state == ConnectionState::Live;
        self.after(connection, event)?;
        if let Some(report) = &probed.tools {
            let fresh = report.pinned();
            if live {
                self.compare(connection, &fresh, report, change)?;
            } else if probed.passed {
                // Tests ran against the tools as they were; other tools want other tests.
                if connection.pinned.as_ref().is_some_and(|pinned| *pinned != fresh) {
                    connection.tests.clear();
                }
                connection.pinned = Some(fresh);
            }
        }
        connection.probe = Some(probed);
        if connection.state == ConnectionState::Live {
            connection.next_probe_at_ms = Some(self.now() + self.settings.reprobe_interval_ms);
        }
        Ok(())
    }

    /// Compares the tools of a live connection with what was pinned.
    fn compare(
        &self,
        connection: &mut Connection,
        fresh: &Pinned,
        report: &ToolReport,
        change: &mut Change,
    ) -> Result<(), OnboardingError> {
        let pinned = connection.pinned.get_or_insert_default();
        let mut drifted: BTreeMap<IntentId, Vec<Drift>> = BTreeMap::new();
        for drift in pinned.drift(fresh).into_iter().filter(|drift| pinned.holds(&drift.intent)) {
            drifted.entry(drift.intent.clone()).or_default().push(drift);
        }
        // Intents that came later are new, not changed; they are routed once the team has tested them.
        let newer = fresh.intents().filter(|intent| !pinned.holds(intent) && !report.missing.contains_key(*intent));
        let newer: BTreeSet<IntentId> = newer.cloned().collect();
        pinned.accept(fresh, &newer);
        // Tools that were put back as they were are no reason to wait for anybody.
        let unseen = |(intent, drift): &(&IntentId, &Vec<Drift>)| connection.quarantine.get(*intent) != Some(*drift);
        let intents: BTreeSet<IntentId> = drifted.iter().filter(unseen).map(|(intent, _)| intent.clone()).collect();
        connection.quarantine = drifted;
        if intents.is_empty() {
            return Ok(());
        }
        let review = self.open_review(&connection.account, ReviewSubject::Drift { intents: intents.clone() })?;
        let detail = json!({"intents": intents, "review": review.id});
        change.audit.push(self.record(&Actor::gateway(), "connection.quarantined", &connection.account, detail));
        change.put(&Versioned::new(review));
        Ok(())
    }

    /// Runs an intent's go-live requirements against the partner and records the report.
    ///
    /// # Errors
    /// `NO_PROBE` before a probe passed; [`OnboardingError::NotFound`] when the latest manifest does not list the intent;
    /// [`OnboardingError::Refused`] when the contract refuses a sample request.
    pub async fn test(
        &self,
        account: &PartnerId,
        order: &TestOrder,
        actor: &Actor,
    ) -> Result<GoLiveReport, OnboardingError> {
        let connection = self.connection(account).await?;
        if !connection.probe.as_ref().is_some_and(|probe| probe.passed) {
            let message = "the last probe did not pass; a test needs tools that are known";
            return Err(OnboardingError::out_of_step("NO_PROBE", message));
        }
        if order.requests.is_empty() {
            return self.confirm_test(account, order, actor).await;
        }
        let manifest = self.current_manifest(account).await?.ok_or(OnboardingError::NotFound("manifest"))?;
        let contract: Arc<dyn Contract> =
            self.contracts.live(order.intent.as_str()).ok_or(OnboardingError::NotFound("intent"))?;
        let partner = partner(account, &connection.endpoint, &manifest, |intent| *intent == order.intent)
            .ok_or(OnboardingError::NotFound("listing of the intent in the manifest"))?;
        let runner = GoLiveRunner { calls: self.calls.clone(), clock: self.clock.clone(), timeout: SAMPLE_TIMEOUT };
        let report = runner.run(Arc::new(partner), contract, &order.requests, &order.confirmed).await?;
        self.retrying(async || {
            let mut kept = self.existing::<Connection>(account.as_str(), "connection").await?;
            if kept.value.pinned != connection.pinned || kept.value.endpoint != connection.endpoint {
                let message = "the tools or the endpoint changed while the test ran; test again";
                return Err(OnboardingError::out_of_step("ENDPOINT_CHANGED", message));
            }
            kept.value.tests.insert(order.intent.clone(), report.clone());
            let mut change = Change::default();
            change.put(&kept);
            let detail = json!({"intent": order.intent, "passed": report.passed()});
            change.audit.push(self.record(actor, "connection.tested", account, detail));
            self.commit(change, report.clone()).await
        })
        .await
    }

    /// Confirms items of the last report that wait for people.
    async fn confirm_test(
        &self,
        account: &PartnerId,
        order: &TestOrder,
        actor: &Actor,
    ) -> Result<GoLiveReport, OnboardingError> {
        self.retrying(async || {
            let mut kept = self.existing::<Connection>(account.as_str(), "connection").await?;
            let report =
                kept.value.tests.get_mut(&order.intent).ok_or(OnboardingError::NotFound("test of the intent"))?;
            report.confirm(&order.confirmed).map_err(GoLiveError::from)?;
            let report = report.clone();
            let codes: Vec<&str> = order.confirmed.iter().map(|confirmation| confirmation.code.as_str()).collect();
            let mut change = Change::default();
            change.put(&kept);
            let detail = json!({"intent": order.intent, "confirmed": codes, "passed": report.passed()});
            change.audit.push(self.record(actor, "connection.confirmed", account, detail));
            self.commit(change, report).await
        })
        .await
    }

    /// Switches a connection on: from then on, requests of users are routed to it.
    ///
    /// # Errors
    /// [`OnboardingError::NotReady`] with everything that is missing: an approved manifest, a probe that passed, a test
    /// that passed for each of its intents; [`OnboardingError::NotAllowed`] in another state than sandbox.
    pub async fn switch_on(&self, account: &PartnerId, actor: &Actor) -> Result<SwitchOn, OnboardingError> {
        self.retrying(async || {
            let mut kept = self.existing::<Connection>(account.as_str(), "connection").await?;
            self.after(&mut kept.value, ConnectionEvent::SwitchedOn)?;
            let manifests = load::<Manifests>(&*self.store, account.as_str()).await?;
            let approved = manifests.and_then(|kept| kept.value.approved);
            let routed = ready(&kept.value, approved.as_ref())?;
            kept.value.next_probe_at_ms = Some(self.now() + self.settings.reprobe_interval_ms);
            let mut change = Change::default();
            change.put(&kept);
            change.audit.push(self.record(actor, "connection.switched_on", account, json!({"intents": routed})));
            self.commit(change, SwitchOn { connection: kept.value, routed }).await
        })
        .await
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
        self.retrying(async || {
            let mut kept = self.existing::<Connection>(account.as_str(), "connection").await?;
            self.after(&mut kept.value, ConnectionEvent::Suspended)?;
            let owner = self.existing::<Account>(account.as_str(), "account").await?.value;
            kept.value.suspension = Some(Suspension { reason: reason.clone(), at_ms: self.now(), by: actor.clone() });
            kept.value.next_probe_at_ms = None;
            let mut change = Change::default();
            change.put(&kept);
            change.audit.push(self.record(actor, "connection.suspended", account, json!({"reason": reason})));
            let text = format!(
                "Hello {},\n\nyour connection was suspended; no requests are routed to it.\n\nReason:\n{reason}\n",
                owner.business_name
            );
            change.mail.push(self.outgoing(&owner.email, "Your connection was suspended", text)?);
            self.commit(change, kept.value).await
        })
        .await
    }

    /// Lifts a suspension: back to the sandbox, through probe, test and approval again.
    ///
    /// # Errors
    /// [`OnboardingError::NotAllowed`] when it is not suspended.
    pub async fn lift(&self, account: &PartnerId, reason: &str, actor: &Actor) -> Result<Connection, OnboardingError> {
        let reason = bounded_text("/reason", reason)?;
        self.retrying(async || {
            let mut kept = self.existing::<Connection>(account.as_str(), "connection").await?;
            self.after(&mut kept.value, ConnectionEvent::Lifted)?;
            kept.value.suspension = None;
            kept.value.reset();
            let mut change = Change::default();
            change.put(&kept);
            self.withdraw_approval(account, &mut change).await?;
            change.audit.push(self.record(actor, "connection.lifted", account, json!({"reason": reason})));
            self.commit(change, kept.value).await
        })
        .await
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

    /// Probes the live connections whose scheduled probe is due. Of several processes one takes each.
    ///
    /// # Errors
    /// [`OnboardingError::Store`]; what a single probe comes to is recorded with its connection.
    pub async fn probe_due(&self) -> Result<usize, OnboardingError> {
        let live = Some(ConnectionState::Live.as_str());
        let mut after: Option<String> = None;
        let mut probed = 0;
        loop {
            let list = List { status: live, after: after.as_deref(), limit: DUE_PROBES_MAX };
            let connections = page::<Connection>(&*self.store, list).await?;
            let Some(last) = connections.last() else { return Ok(probed) };
            after = Some(last.value.account.to_string());
            for mut kept in connections {
                let due = kept.value.next_probe_at_ms.is_some_and(|at| at <= self.now());
                if !due {
                    continue;
                }
                kept.value.next_probe_at_ms = Some(self.now() + self.settings.reprobe_interval_ms);
                let mut claim = Change::default();
                claim.put(&kept);
                let Step::Done(()) = self.commit(claim, ()).await? else { continue };
                probed += 1;
                let account = &kept.value.account;
                if let Err(error) = self.probe(account, &Actor::gateway()).await {
                    let error = crate::error::chain(&error);
                    tracing::warn!(partner = %account, %error, "the scheduled probe could not be recorded");
                }
            }
        }
    }

    /// Moves a connection along, if the event is allowed.
    fn after(&self, connection: &mut Connection, event: ConnectionEvent) -> Result<(), OnboardingError> {
        let next = connection.state.after(event)?;
        if next != connection.state {
            connection.state = next;
            connection.since_ms = self.now();
        }
        Ok(())
    }
}

fn lacking(intent: &IntentId, tools: &[String]) -> Violation {
    let message = format!("{intent}: the server lists no sound tool {}", tools.join(", "));
    Violation { pointer: String::new(), code: "TOOLS_MISSING".to_owned(), message }
}

/// The intents that go live, or everything that is missing.
fn ready(connection: &Connection, approved: Option<&Submission>) -> Result<BTreeSet<IntentId>, OnboardingError> {
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
    let routable: BTreeSet<IntentId> = connection.routable(&approved.manifest).cloned().collect();
    for entry in &approved.manifest.intents {
        let intent = &entry.intent;
        match connection.tests.get(intent) {
            None => lacks("TEST_NEEDED", format!("{intent}: the connection was not tested")),
            Some(report) if !report.passed() => {
                lacks("TEST_NEEDED", format!("{intent}: the last test did not pass"));
            }
            Some(_) if !routable.contains(intent) => {
                lacks("PROBE_NEEDED", format!("{intent}: its tools are not as they were last accepted"));
            }
            Some(_) => {}
        }
    }
    if missing.is_empty() { Ok(routable) } else { Err(OnboardingError::NotReady(missing)) }
}
