//! Tests a partner's server against what its intents demand (spec 2, Limits: go-live requirements).

use std::sync::Arc;

use serde_json::json;

use super::OnboardingError;
use super::confirmations::begin_confirmations;
use super::keeper::RecordKeeper;
use super::live::{LivePartners, partner};
use super::records::{Connection, Manifests};
use crate::manifest::Manifest;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::contract::Descriptor;
use intent_gateway_domain::golive::{Confirmation, GoLiveCheck, GoLiveError, GoLiveReport};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::ports::{Contract, Contracts};
use intent_gateway_domain::steps::Proposal;
use intent_gateway_domain::store::{Change, load};

/// What the team's test of a connection runs on.
#[derive(Clone, Debug)]
pub struct TestOrder {
    /// The intent tested.
    pub intent: IntentId,
    /// Sample requests, JSON text; each is run as a search against this partner alone. None at all only confirms
    /// items of the last report.
    pub requests: Vec<String>,
    /// Requirements that a person has looked at; each confirmation holds from now on.
    pub confirmed: Vec<Confirmation>,
}

/// The platform team's tests of connections.
pub struct GoLiveTests {
    pub(crate) keeper: RecordKeeper,
    pub(crate) contracts: Arc<dyn Contracts>,
    pub(crate) golive: Arc<dyn GoLiveCheck>,
    pub(crate) live: Arc<LivePartners>,
    /// Where the platform team is told of confirmations that end.
    pub(crate) team_email: Option<String>,
}

impl GoLiveTests {
    /// Runs an intent's go-live requirements against the partner and records the report.
    ///
    /// # Errors
    /// `INVALID_INTENT` when no live contract has that name; `NO_PROBE` before a probe passed; [`OnboardingError::NotFound`] when the latest manifest does not list the intent;
    /// [`OnboardingError::Refused`] when the contract refuses a sample request.
    pub async fn run(
        &self,
        account: &PartnerId,
        order: &TestOrder,
        actor: &Actor,
    ) -> Result<GoLiveReport, OnboardingError> {
        let connection = self.keeper.require::<Connection>(account.as_str(), "connection").await?.value;
        let contract: Arc<dyn Contract> = self
            .contracts
            .live(order.intent.as_str())
            .ok_or_else(|| OnboardingError::unknown_intent("/intent", order.intent.as_str()))?;
        // What people confirm of a test that was made, they confirm whatever became of the server since.
        let only_confirms = order.requests.is_empty() && connection.tests.contains_key(&order.intent);
        if !only_confirms && !connection.probe.as_ref().is_some_and(|probe| probe.passed) {
            let message = "the last probe did not pass; a test needs tools that are known";
            return Err(OnboardingError::out_of_step("NO_PROBE", message));
        }
        if order.requests.is_empty() {
            return self.confirm_test(account, order, &*contract, actor).await;
        }
        let manifest = self.current_manifest(account).await?.ok_or(OnboardingError::NotFound("manifest"))?;
        let partner = partner(account, &connection.endpoint, &manifest, |intent| *intent == order.intent)
            .ok_or(OnboardingError::NotFound("listing of the intent in the manifest"))?;
        let report = self.golive.run(Arc::new(partner), contract.clone(), &order.requests, &order.confirmed).await?;
        let done = self
            .keeper
            .step(async || {
                let mut kept = self.keeper.require::<Connection>(account.as_str(), "connection").await?;
                if kept.value.pinned != connection.pinned || kept.value.endpoint != connection.endpoint {
                    let message = "the tools or the endpoint changed while the test ran; test again";
                    return Err(OnboardingError::out_of_step("ENDPOINT_CHANGED", message));
                }
                let mut change = Change::default();
                self.take_report(&mut kept.value, &order.intent, report.clone(), actor, &mut change).await?;
                self.take_word(&mut kept.value, order, (&report, contract.descriptor()), actor, &mut change).await?;
                change.put(&kept);
                let detail = json!({"intent": order.intent, "passed": report.passed()});
                change.audit.push(self.keeper.audit_entry(actor, "connection.tested", account, detail));
                Ok(Proposal::new(change, report.clone()))
            })
            .await?;
        self.live.apply_change().await;
        Ok(done)
    }

    /// Confirms items of the last report that wait for people, or confirms them anew.
    async fn confirm_test(
        &self,
        account: &PartnerId,
        order: &TestOrder,
        contract: &dyn Contract,
        actor: &Actor,
    ) -> Result<GoLiveReport, OnboardingError> {
        let done = self
            .keeper
            .step(async || {
                let mut kept = self.keeper.require::<Connection>(account.as_str(), "connection").await?;
                let report = kept.value.tests.get(&order.intent).cloned();
                let mut report = report.ok_or(OnboardingError::NotFound("test of the intent"))?;
                report.confirm(&order.confirmed).map_err(GoLiveError::from)?;
                let codes: Vec<&str> = order.confirmed.iter().map(|confirmation| confirmation.code.as_str()).collect();
                let mut change = Change::default();
                self.take_report(&mut kept.value, &order.intent, report.clone(), actor, &mut change).await?;
                self.take_word(&mut kept.value, order, (&report, contract.descriptor()), actor, &mut change).await?;
                change.put(&kept);
                let detail = json!({"intent": order.intent, "confirmed": codes, "passed": report.passed()});
                change.audit.push(self.keeper.audit_entry(actor, "connection.confirmed", account, detail));
                Ok(Proposal::new(change, report))
            })
            .await?;
        self.live.apply_change().await;
        Ok(done)
    }

    /// Keeps within a change what an order confirms, and closes the reviews that asked for it. Comes after the report: whether
    /// a failed one is given time depends on what was routed before.
    async fn take_word(
        &self,
        connection: &mut Connection,
        TestOrder { intent, confirmed, .. }: &TestOrder,
        (report, descriptor): (&GoLiveReport, &Descriptor),
        actor: &Actor,
        change: &mut Change,
    ) -> Result<(), OnboardingError> {
        let before = connection.renewal_reviews();
        connection.hold(intent, report, begin_confirmations(confirmed, descriptor, actor, self.keeper.now()));
        self.keeper.supersede_renewals(&before, connection, change).await
    }

    /// The manifest that a test looks at: the latest, for that is what goes live next.
    async fn current_manifest(&self, account: &PartnerId) -> Result<Option<Manifest>, OnboardingError> {
        let kept = load::<Manifests>(&*self.keeper.store, account.as_str()).await?;
        Ok(kept.map(|kept| kept.value.latest.manifest))
    }
}
