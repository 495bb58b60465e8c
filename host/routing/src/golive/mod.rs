//! The go-live check: whether a partner meets what an intent's contract asks for before real users reach it (spec 2,
//! "Go-live requirements"; the contract declares them, see [`Requirement`](intent_gateway_domain::contract::Requirement)).
//!
//! Sample requests, which people choose, are searched with at this one partner, exactly as a user's would be. What
//! can be seen in the answers is judged here; the rest people look into and confirm. Whether the partner has all
//! tools is the probe's business, and whether it may go live on a passed check is the connection's.
//!
//! What the samples bring to light stays in the report, with the rule that each option broke and by what: nothing of it
//! is recorded against the partner. What would be a strike with live traffic fails the check.

mod sample;
mod tally;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::reference::ReferenceSealer;
use crate::search::{SearchError, Searcher, ShownRankings};
use intent_gateway_domain::clock::{Clock, Timestamp};
use intent_gateway_domain::contract::Need;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::ContractFault;
use intent_gateway_domain::error_text::ErrorText;
use intent_gateway_domain::forbidden::FORBIDDEN_FIELD;
use intent_gateway_domain::golive::{
    Confirmation, GoLiveCheck, GoLiveError, GoLiveItem, GoLiveReport, ItemState, NO_FORBIDDEN_FIELDS, NO_STRIKES,
    PLATFORM_CODES, SAMPLES_ANSWERED, SAMPLES_MAX, SampleResult, check_confirmations,
};
use intent_gateway_domain::limits::REQUEST_BODY_MAX_BYTES;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{Contract, Contracts, PartnerCalls, PartnerDirectory, Selection};
use intent_gateway_domain::secret::Secret;
use intent_gateway_outbound::Outbound;
use sample::{Found, ListeningCalls, Sample};
use tally::Tally;
pub use tally::find_p95;

/// Wait for each sample of a test: several times the slowest target of any search, and with every sample at its end still
/// within the time of one admin call.
pub const SAMPLE_TIMEOUT: Duration = Duration::from_secs(10);

/// Runs checks over the ports.
pub struct GoLiveRunner {
    /// How partners are called.
    pub calls: Arc<dyn PartnerCalls>,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// Wait for each call. All samples together take at most [`SAMPLES_MAX`] times as long.
    pub timeout: Duration,
}

impl GoLiveCheck for GoLiveRunner {
    fn run<'a>(
        &'a self,
        partner: Arc<Partner>,
        contract: Arc<dyn Contract>,
        requests: &'a [String],
        confirmed: &'a [Confirmation],
    ) -> BoxFuture<'a, Result<GoLiveReport, GoLiveError>> {
        Box::pin(self.check(partner, contract, requests, confirmed))
    }
}

impl GoLiveRunner {
    async fn check(
        &self,
        partner: Arc<Partner>,
        contract: Arc<dyn Contract>,
        requests: &[String],
        confirmed: &[Confirmation],
    ) -> Result<GoLiveReport, GoLiveError> {
        let descriptor = contract.descriptor();
        check_samples(requests)?;
        check_confirmations(confirmed, |code| {
            let requirement = descriptor.go_live.iter().find(|requirement| requirement.code == code);
            requirement.map_or_else(
                || PLATFORM_CODES.contains(&code).then_some(false),
                |one| Some(one.check.is_for_people(&descriptor.search.tool)),
            )
        })?;
        let now = self.clock.now();
        let found = Arc::new(Found::default());
        let calls = Arc::new(ListeningCalls { calls: self.calls.clone(), sent: ErrorText::default() });
        let searcher = self.searcher(&partner, &contract, &found, calls.clone());
        let mut tallies: Vec<_> = descriptor.go_live.iter().map(|one| Tally::of(one, descriptor)).collect();
        let (mut samples, mut listed) = (Vec::new(), 0);
        let (mut forbidden, mut strikes) = (0, BTreeMap::new());
        for (sample, request) in (1..).zip(requests) {
            let id = format!("go-live-{}-{sample}", now.as_ms());
            let outcome = searcher.search(descriptor.intent.as_str(), request, id).await;
            let outcome = outcome.map_err(|failed| unfit(failed.error, sample))?;
            let seen = Sample::of(request, &outcome, found.take(), calls.sent.take());
            forbidden += seen.breaches.get(FORBIDDEN_FIELD).copied().unwrap_or(0);
            for (code, count) in &seen.strikes {
                *strikes.entry(code.clone()).or_default() += count;
            }
            tallies.iter_mut().for_each(|tally| tally.observe(&seen));
            let result = seen.result(outcome.request_id, listed);
            listed += result.found.len();
            samples.push(result);
        }
        let mut items = vec![judge_answered(&samples), unforbidden(forbidden), without_strikes(&strikes)];
        items.extend(descriptor.go_live.iter().zip(tallies).map(|(requirement, tally)| {
            let (state, detail) = tally.finish();
            GoLiveItem { code: requirement.code.clone(), text: requirement.text.clone(), state, detail }
        }));
        let mut report = GoLiveReport {
            partner: partner.id.clone(),
            intent: descriptor.intent.as_str().to_owned(),
            contract_version: descriptor.version.to_string(),
            contract_digest: contract.digest(),
            at_ms: now,
            samples,
            items,
        };
        report.confirm(confirmed)?;
        Ok(report)
    }

    /// A search that knows this contract and this partner alone.
    fn searcher(
        &self,
        partner: &Arc<Partner>,
        contract: &Arc<dyn Contract>,
        found: &Arc<Found>,
        calls: Arc<ListeningCalls>,
    ) -> Searcher {
        Searcher {
            contracts: Arc::new(OneContract(contract.clone())),
            directory: Arc::new(OnePartner(partner.clone())),
            outbound: Arc::new(Outbound::plain(calls, self.clock.clone())),
            journal: found.clone(),
            clock: self.clock.clone(),
            // Nobody ever sees a reference of these searches, so its key protects nothing.
            references: ReferenceSealer::new(&Secret::new("go-live check")),
            timeout: self.timeout,
            // Nothing is booked out of these searches.
            shown_rankings: ShownRankings::new(0),
            past_orders: None,
            rollouts: None,
        }
    }
}

fn check_samples(requests: &[String]) -> Result<(), GoLiveError> {
    if requests.is_empty() || requests.len() > SAMPLES_MAX {
        return Err(GoLiveError::SampleCount(requests.len()));
    }
    let mut numbered = (1..).zip(requests);
    match numbered.find(|(_, request)| request.len() > REQUEST_BODY_MAX_BYTES) {
        Some((sample, request)) => Err(GoLiveError::SampleTooLarge { sample, bytes: request.len() }),
        None => Ok(()),
    }
}

fn unfit(error: SearchError, sample: usize) -> GoLiveError {
    match error {
        SearchError::Refused(refusal) => GoLiveError::SampleRefused { sample, refusal },
        SearchError::Contract(fault) => GoLiveError::Contract { sample, fault },
        // Only preparing a search can be refused here, and that calls nobody.
        SearchError::Overloaded { wait_ms } => {
            GoLiveError::Contract { sample, fault: ContractFault::Busy(wait_ms.unwrap_or_default()) }
        }
        // Its one contract is at hand, and is never stale.
        SearchError::Stale => GoLiveError::Contract { sample, fault: ContractFault::Busy(0) },
        SearchError::InvalidIntent(intent) => {
            let fault = ContractFault::InvalidOutput(format!("it does not serve its own intent `{intent}`"));
            GoLiveError::Contract { sample, fault }
        }
    }
}

fn judge_answered(samples: &[SampleResult]) -> GoLiveItem {
    let failures: Vec<_> = (1..)
        .zip(samples)
        .filter_map(|(number, sample)| sample.failure.as_ref().map(|code| format!("sample {number}: {code}")))
        .collect();
    let count = format!("{} of {} samples were answered", samples.len() - failures.len(), samples.len());
    GoLiveItem {
        code: SAMPLES_ANSWERED.to_owned(),
        text: "The partner gives a usable answer to every sample request.".to_owned(),
        state: state(failures.is_empty()),
        detail: if failures.is_empty() { count } else { format!("{count} ({})", failures.join(", ")) },
    }
}

fn unforbidden(found: usize) -> GoLiveItem {
    GoLiveItem {
        code: NO_FORBIDDEN_FIELDS.to_owned(),
        text: "No answer carries a field that the platform or the intent forbids.".to_owned(),
        state: state(found == 0),
        detail: if found == 0 { "none was found".to_owned() } else { format!("{found} found") },
    }
}

/// A partner that breaks such a rule would be suspended by its third request; the check is where to learn of it.
fn without_strikes(strikes: &BTreeMap<String, usize>) -> GoLiveItem {
    let counts: Vec<_> = strikes.iter().map(|(code, count)| format!("{code}: {count}")).collect();
    GoLiveItem {
        code: NO_STRIKES.to_owned(),
        text: "No answer breaks a rule that counts towards suspension with live traffic.".to_owned(),
        state: state(strikes.is_empty()),
        detail: if counts.is_empty() { "none was found".to_owned() } else { counts.join(", ") },
    }
}

fn state(holds: bool) -> ItemState {
    if holds { ItemState::Passed } else { ItemState::Failed }
}

/// A catalogue of one contract.
pub struct OneContract(pub Arc<dyn Contract>);

impl Contracts for OneContract {
    fn live(&self, intent: &str) -> Option<Arc<dyn Contract>> {
        (self.0.descriptor().intent.as_str() == intent).then(|| self.0.clone())
    }

    fn find_loaded(&self, digest: Digest) -> Option<Arc<dyn Contract>> {
        (self.0.digest() == digest).then(|| self.0.clone())
    }

    fn all(&self) -> Vec<Arc<dyn Contract>> {
        vec![self.0.clone()]
    }

    fn select_by_cues(&self, _: &str) -> Vec<Arc<dyn Contract>> {
        self.all()
    }
}

/// A directory of one partner, which is called whatever its area and hours: people choose the samples for it.
struct OnePartner(Arc<Partner>);

impl PartnerDirectory for OnePartner {
    fn select(&self, _: &str, _: &Need, _: Timestamp) -> Selection {
        Selection { chosen: vec![self.0.clone()], ..Selection::default() }
    }

    fn all(&self) -> Vec<Arc<Partner>> {
        vec![self.0.clone()]
    }
}
