//! Looks at a partner's server, when asked and once a day (spec 1, States and transitions: probe).

use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::sync::Arc;

use serde_json::json;

use super::keeper::RecordKeeper;
use super::live::{LivePartners, mappings};
use super::records::{Account, Connection, Manifests, Probed, Review, ReviewStatus, ReviewSubject};
use super::{OnboardingError, Settings, mail_texts};
use crate::connection::{ConnectionEvent, ConnectionState};
use crate::descriptors::{self, Drift, Expected, PinnedTools, ToolReport, split_rewordings};
use crate::events::{EventData, Word};
use crate::manifest::{self, Catalogue, Manifest};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::partner_error::clean;
use intent_gateway_domain::ports::{Contracts, PartnerProbe};
use intent_gateway_domain::probe::{ProbeRecord, ProbeRequest};
use intent_gateway_domain::sign_in::SignInServer;
use intent_gateway_domain::steps::{Proposal, commit_unless_changed};
use intent_gateway_domain::store::{Change, Pages, Versioned, load};

/// Probes of partners' servers.
pub struct Probes {
    pub(crate) keeper: RecordKeeper,
    pub(crate) probe: Arc<dyn PartnerProbe>,
    pub(crate) contracts: Arc<dyn Contracts>,
    pub(crate) live: Arc<LivePartners>,
    pub(crate) settings: Settings,
}

impl Probes {
    /// Probes the partner (`initialize`, then `tools/list`, and no call), judges its tools and records all of it. A
    /// failed probe is an answer, not an error.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`] when no endpoint was registered; `ENDPOINT_CHANGED` when another one was registered
    /// while the probe ran.
    pub async fn run(&self, account: &PartnerId, actor: &Actor) -> Result<Connection, OnboardingError> {
        let Connection { endpoint, state, .. } =
            self.keeper.require::<Connection>(account.as_str(), "connection").await?.value;
        let manifest = self.probed_manifest(account, state).await?;
        let mappings = manifest.as_ref().map(mappings).unwrap_or_default();
        let request = ProbeRequest {
            partner: account,
            endpoint: &endpoint,
            mappings: &mappings,
            contracts: &*self.contracts,
            bearer: None,
            now: self.keeper.now(),
        };
        let record = self.probe.probe(request).await;
        let probed = self.judge(account, record, manifest.as_ref(), actor);
        let mut done = self
            .keeper
            .step(async || {
                let mut kept = self.keeper.require::<Connection>(account.as_str(), "connection").await?;
                if kept.value.endpoint != endpoint {
                    let message = "another endpoint was registered while the probe ran; probe again";
                    return Err(OnboardingError::out_of_step("ENDPOINT_CHANGED", message));
                }
                let mut change = Change::default();
                self.take_probe(&mut kept.value, probed.clone(), &mut change).await?;
                change.put(&kept);
                let detail = json!({"passed": probed.passed, "state": kept.value.state});
                change.audit.push(self.keeper.audit_entry(actor, "connection.probed", account, detail));
                Ok(Proposal::new(change, kept.value))
            })
            .await?;
        if done.sign_in.noted().is_some() {
            done = self.keeper.judge_sign_in(account, &self.live).await?;
        }
        self.live.apply_change().await;
        Ok(done)
    }

    /// The manifest that a probe looks at: the latest. For a live connection that is the one in force, with what the
    /// latest adds: an intent that the partner means to drop serves until that is decided.
    async fn probed_manifest(
        &self,
        account: &PartnerId,
        state: ConnectionState,
    ) -> Result<Option<Manifest>, OnboardingError> {
        let Some(kept) = load::<Manifests>(&*self.keeper.store, account.as_str()).await? else { return Ok(None) };
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
                failures.extend(report.missing.iter().map(|(intent, tools)| say_lacking(intent, tools)));
                tools = Some(report);
            }
        }
        Probed { passed: failures.is_empty(), record, tools, failures, by: actor.clone() }
    }

    /// Puts a probe into the connection. Before going live, a probe that passed pins the tools; afterwards they are
    /// compared with what was pinned, and an intent whose tools have changed is quarantined for review. A tool whose
    /// description alone is another is a note. Of a failed one before going live, the partner is told, unless it was told
    /// just that after the probe before.
    async fn take_probe(
        &self,
        connection: &mut Connection,
        mut probed: Probed,
        change: &mut Change,
    ) -> Result<(), OnboardingError> {
        let event = if probed.passed { ConnectionEvent::ProbePassed } else { ConnectionEvent::ProbeFailed };
        let live = connection.state == ConnectionState::Live;
        connection.advance(event, self.keeper.now())?;
        if let Some(report) = &probed.tools {
            let fresh = report.pin();
            if live {
                let reworded = self.compare(connection, &fresh, report, change).await?;
                probed.record.notes.extend(self.note_rewordings(connection, &reworded, change));
            } else if probed.passed {
                // Tests ran against the tools as they were; other tools want other tests, and other words do not.
                let drift = connection.pinned.as_ref().map(|pinned| pinned.drift(&fresh)).unwrap_or_default();
                if !split_rewordings(drift).1.is_empty() {
                    let reviews = connection.renewal_reviews();
                    connection.tests.clear();
                    connection.failed_retests.clear();
                    connection.confirmations.clear();
                    self.keeper.supersede_renewals(&reviews, connection, change).await?;
                }
                connection.pinned = Some(fresh);
                // Of one that is suspended, what had changed is now what is remembered.
                connection.quarantine.clear();
                self.keeper.supersede(connection.drift_review.take().as_deref(), change).await?;
            }
        }
        // One that could not be looked at says nothing of where its users sign in.
        if let Some(named) = probed.record.sign_in.clone().filter(|_| probed.passed) {
            self.keeper.note_sign_in(&mut connection.sign_in, &named, change).await?;
            probed.record.notes.extend(note_server(&named));
        }
        let told = connection.probe.as_ref().map(|before| before.failures.as_slice()).unwrap_or_default();
        if !live && !probed.passed && probed.failures != told {
            let owner = self.keeper.require::<Account>(connection.account.as_str(), "account").await?.value;
            let text = mail_texts::failed_probe(&owner.business_name, &probed.failures);
            let event = EventData::probe_failed(&probed.failures);
            self.keeper.tell(&owner, Word { subject: "A probe of your connection failed", text, event }, change)?;
        }
        connection.probe = Some(probed);
        connection.date_confirmations(&*self.contracts);
        if connection.state == ConnectionState::Live {
            connection.next_probe_at_ms = Some(self.keeper.now().plus_ms(self.settings.reprobe_interval_ms));
        }
        Ok(())
    }

    /// What the reviewer is told of tools that are reworded and otherwise as they were accepted. The audit log is told once.
    fn note_rewordings(&self, connection: &Connection, reworded: &[Drift], change: &mut Change) -> Vec<String> {
        let note = |drift: &Drift| {
            let Drift { intent, tool, .. } = drift;
            format!("{intent}: `{tool}` is described in other words than when it was accepted, and otherwise unchanged")
        };
        let notes: Vec<String> = reworded.iter().map(note).collect();
        let known = connection.probe.as_ref().map(|probe| probe.record.notes.as_slice()).unwrap_or_default();
        if notes.iter().any(|note| !known.contains(note)) {
            let tools: Vec<_> = reworded.iter().map(|drift| json!([drift.intent, drift.tool])).collect();
            let detail = json!({"tools": tools});
            let entry = self.keeper.audit_entry(&Actor::gateway(), "connection.reworded", &connection.account, detail);
            change.audit.push(entry);
        }
        notes
    }

    /// Compares the tools of a live connection with what was pinned: those that have changed put their intents into
    /// quarantine; those that are only reworded are returned.
    async fn compare(
        &self,
        connection: &mut Connection,
        fresh: &PinnedTools,
        report: &ToolReport,
        change: &mut Change,
    ) -> Result<Vec<Drift>, OnboardingError> {
        let pinned = connection.pinned.get_or_insert_default();
        pinned.refresh(fresh);
        let drift = pinned.drift(fresh).into_iter().filter(|drift| pinned.holds(&drift.intent)).collect();
        let (reworded, changed) = split_rewordings(drift);
        let mut drifted: BTreeMap<IntentId, Vec<Drift>> = BTreeMap::new();
        for drift in changed {
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
            Some(id) => Some(self.keeper.require::<Review>(id, "review").await?.value),
            None => None,
        };
        let needs_review = !connection.quarantine.is_empty()
            && last.is_none_or(|last| match last.status {
                ReviewStatus::Open => !last.is_of_drift(&connection.quarantine),
                ReviewStatus::Approved | ReviewStatus::Rejected | ReviewStatus::Superseded => !is_known,
            });
        if !connection.quarantine.is_empty() && !needs_review {
            return Ok(reworded);
        }
        // A review is of one state of the tools: approving it never takes another one.
        self.keeper.supersede(connection.drift_review.take().as_deref(), change).await?;
        if needs_review {
            self.review_drift(connection, change).await?;
        }
        Ok(reworded)
    }

    /// Opens the review of the tools that are in quarantine, and tells the partner.
    async fn review_drift(&self, connection: &mut Connection, change: &mut Change) -> Result<(), OnboardingError> {
        let drift = connection.quarantine.clone();
        let intents: BTreeSet<IntentId> = drift.keys().cloned().collect();
        let owner = self.keeper.require::<Account>(connection.account.as_str(), "account").await?.value;
        let subject = ReviewSubject::Drift { intents: intents.clone(), drift };
        let review = self.keeper.open_review(&connection.account, subject)?;
        let detail = json!({"intents": intents, "review": review.id});
        change.audit.push(self.keeper.audit_entry(
            &Actor::gateway(),
            "connection.quarantined",
            &connection.account,
            detail,
        ));
        let text = mail_texts::quarantine(&owner.business_name, &review.id, &connection.quarantine);
        let event = EventData::tools_drifted(&review.id, &connection.quarantine);
        self.keeper.tell(&owner, Word { subject: "Changed tools are out of service", text, event }, change)?;
        connection.drift_review = Some(review.id.clone());
        change.put(&Versioned::new(review));
        Ok(())
    }

    /// Probes the live connections whose scheduled probe is due. Of several processes one takes each.
    ///
    /// # Errors
    /// [`OnboardingError::Store`]; what a single probe comes to is recorded with its connection.
    pub async fn run_due(&self) -> Result<usize, OnboardingError> {
        let (mut probed, mut live) = (0, Pages::<Connection>::of(Some(ConnectionState::Live.as_str())));
        while let Some(connections) = live.next(&*self.keeper.store).await? {
            for mut kept in connections {
                let due = kept.value.next_probe_at_ms.is_some_and(|at| at <= self.keeper.now());
                if !due {
                    continue;
                }
                kept.value.next_probe_at_ms = Some(self.keeper.now().plus_ms(self.settings.reprobe_interval_ms));
                let mut claim = Change::default();
                claim.put(&kept);
                if !commit_unless_changed(&*self.keeper.store, claim).await? {
                    continue;
                }
                probed += 1;
                let account = &kept.value.account;
                if let Err(error) = self.run(account, &Actor::gateway()).await {
                    let error = intent_gateway_domain::error::chain(&error);
                    tracing::warn!(partner = %account, %error, "the scheduled probe could not be recorded");
                }
            }
        }
        Ok(probed)
    }
}

impl Review {
    /// Whether it is about just this drift.
    fn is_of_drift(&self, found: &BTreeMap<IntentId, Vec<Drift>>) -> bool {
        matches!(&self.subject, ReviewSubject::Drift { drift, .. } if drift == found)
    }
}

/// Tells whoever approves the partner where its users sign in: an issuer of its own may have endpoints of another one. Each
/// stands alone, so that a long one cuts none off.
fn note_server(named: &SignInServer) -> impl Iterator<Item = String> {
    let SignInServer { issuer, resource, origins } = named;
    let issuer = iter::once(format!("users sign in with the issuer {issuer}"));
    let resource = resource.iter().map(|resource| format!("users' tokens are for the resource {resource}"));
    let origins = origins.iter().map(|origin| format!("users' tokens come from {origin}"));
    issuer.chain(resource).chain(origins).map(|note| clean(&note))
}

fn say_lacking(intent: &IntentId, tools: &[String]) -> Violation {
    let message = format!("{intent}: the server lists no sound tool {}", tools.join(", "));
    Violation { pointer: String::new(), code: "TOOLS_MISSING".to_owned(), message }
}
