//! Looks at a partner's server, when asked and once a day, and tests it against what its intents demand (spec 1, States and
//! transitions: probe; spec 2, Limits: go-live requirements).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::json;

use super::records::{Connection, Manifests, Probed, Review, ReviewStatus, ReviewSubject};
use super::routing::{mappings, partner};
use super::{Onboarding, OnboardingError, Step};
use crate::connection::{ConnectionEvent, ConnectionState};
use crate::descriptors::{self, Drift, Expected, Pinned, ToolReport};
use crate::manifest::{self, Catalogue, Manifest};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::golive::{Confirmation, GoLiveError, GoLiveReport};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::ports::Contract;
use intent_gateway_domain::probe::{ProbeRecord, ProbeRequest};
use intent_gateway_domain::store::{Change, List, Versioned, load, page};

/// Live connections that one look for due probes takes up.
const DUE_PROBES_MAX: u32 = 500;

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

impl Onboarding {
    /// Probes the partner (`initialize`, then `tools/list`, and no call), judges its tools and records all of it. A
    /// failed probe is an answer, not an error.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`] when no endpoint was registered; `ENDPOINT_CHANGED` when another one was registered
    /// while the probe ran.
    pub async fn probe(&self, account: &PartnerId, actor: &Actor) -> Result<Connection, OnboardingError> {
        let Connection { endpoint, state, .. } = self.connection(account).await?;
        let manifest = self.probed_manifest(account, state).await?;
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
        let done = self
            .retrying(async || {
                let mut kept = self.existing::<Connection>(account.as_str(), "connection").await?;
                if kept.value.endpoint != endpoint {
                    let message = "another endpoint was registered while the probe ran; probe again";
                    return Err(OnboardingError::out_of_step("ENDPOINT_CHANGED", message));
                }
                let mut change = Change::default();
                self.take_probe(&mut kept.value, probed.clone(), &mut change).await?;
                change.put(&kept);
                let detail = json!({"passed": probed.passed, "state": kept.value.state});
                change.audit.push(self.record(actor, "connection.probed", account, detail));
                self.commit(change, kept.value).await
            })
            .await?;
        self.reroute().await;
        Ok(done)
    }

    /// The manifest that a test looks at: the latest, for that is what goes live next.
    async fn current_manifest(&self, account: &PartnerId) -> Result<Option<Manifest>, OnboardingError> {
        let kept = load::<Manifests>(&*self.store, account.as_str()).await?;
        Ok(kept.map(|kept| kept.value.latest.manifest))
    }

    /// The manifest that a probe looks at: the latest. For a live connection that is the one in force, with what the
    /// latest adds: an intent that the partner means to drop serves until that is decided.
    async fn probed_manifest(
        &self,
        account: &PartnerId,
        state: ConnectionState,
    ) -> Result<Option<Manifest>, OnboardingError> {
        let Some(kept) = load::<Manifests>(&*self.store, account.as_str()).await? else { return Ok(None) };
        let Manifests { latest, approved, .. } = kept.value;
        let Some(approved) = approved.filter(|_| state == ConnectionState::Live) else {
            return Ok(Some(latest.manifest));
        };
        let mut manifest = approved.manifest;
        let added = latest.manifest.intents.into_iter();
        let added: Vec<_> = added.filter(|entry| manifest.entry(entry.intent.as_str()).is_none()).collect();
        manifest.intents.extend(added);
        Ok(Some(manifest))
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
    async fn take_probe(
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
                self.compare(connection, &fresh, report, change).await?;
            } else if probed.passed {
                // Tests ran against the tools as they were; other tools want other tests.
                if connection.pinned.as_ref().is_some_and(|pinned| *pinned != fresh) {
                    connection.tests.clear();
                }
                connection.pinned = Some(fresh);
                // Of one that is suspended, what had changed is now what is remembered.
                connection.quarantine.clear();
                self.supersede(connection.drift_review.take().as_deref(), change).await?;
            }
        }
        connection.probe = Some(probed);
        if connection.state == ConnectionState::Live {
            connection.next_probe_at_ms = Some(self.now() + self.settings.reprobe_interval_ms);
        }
        Ok(())
    }

    /// Compares the tools of a live connection with what was pinned.
    async fn compare(
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
        let is_known = drifted.iter().all(|(intent, drift)| connection.quarantine.get(intent) == Some(drift));
        connection.quarantine = drifted;
        let last = match &connection.drift_review {
            Some(id) => Some(self.existing::<Review>(id, "review").await?.value),
            None => None,
        };
        let needs_review = !connection.quarantine.is_empty()
            && last.is_none_or(|last| match last.status {
                ReviewStatus::Open => !last.is_of_drift(&connection.quarantine),
                ReviewStatus::Approved | ReviewStatus::Rejected | ReviewStatus::Superseded => !is_known,
            });
        if !connection.quarantine.is_empty() && !needs_review {
            return Ok(());
        }
        // A review is of one state of the tools: approving it never takes another one.
        self.supersede(connection.drift_review.take().as_deref(), change).await?;
        if !needs_review {
            return Ok(());
        }
        let drift = connection.quarantine.clone();
        let intents: BTreeSet<IntentId> = drift.keys().cloned().collect();
        let subject = ReviewSubject::Drift { intents: intents.clone(), drift };
        let review = self.open_review(&connection.account, subject)?;
        let detail = json!({"intents": intents, "review": review.id});
        change.audit.push(self.record(&Actor::gateway(), "connection.quarantined", &connection.account, detail));
        connection.drift_review = Some(review.id.clone());
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
        let report = self.golive.run(Arc::new(partner), contract, &order.requests, &order.confirmed).await?;
        let done = self
            .retrying(async || {
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
            .await?;
        self.reroute().await;
        Ok(done)
    }

    /// Confirms items of the last report that wait for people.
    async fn confirm_test(
        &self,
        account: &PartnerId,
        order: &TestOrder,
        actor: &Actor,
    ) -> Result<GoLiveReport, OnboardingError> {
        let done = self
            .retrying(async || {
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
            .await?;
        self.reroute().await;
        Ok(done)
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
                    let error = intent_gateway_domain::error::chain(&error);
                    tracing::warn!(partner = %account, %error, "the scheduled probe could not be recorded");
                }
            }
        }
    }
}

impl Review {
    /// Whether it is about just this drift.
    fn is_of_drift(&self, found: &BTreeMap<IntentId, Vec<Drift>>) -> bool {
        matches!(&self.subject, ReviewSubject::Drift { drift, .. } if drift == found)
    }
}

fn lacking(intent: &IntentId, tools: &[String]) -> Violation {
    let message = format!("{intent}: the server lists no sound tool {}", tools.join(", "));
    Violation { pointer: String::new(), code: "TOOLS_MISSING".to_owned(), message }
}
