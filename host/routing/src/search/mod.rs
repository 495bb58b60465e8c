//! The main job: one search, from the orchestrator's body to ranked options.
//!
//! The contract version is pinned once; partners are called in parallel under one deadline; every payload is
//! scanned before the contract sees it; the contract ranks options under numbers that say nothing of their
//! origin. One partner's trouble is that partner's outcome and nobody else's.

mod asking;
mod error;
mod findings;
mod gathered;
mod history;
mod judging;
mod outcome;
mod pace;
mod pinning;
mod prepare;
mod price;
mod progressive;
mod ranking;
mod shown;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{join, join_all};

pub use self::error::SearchError;
pub use self::history::PastOrders;
pub(crate) use self::judging::{JudgedSearch, judge_answer};
pub use self::outcome::{
    DroppedChoice, NO_PARTNER_ANSWERED, PartnerOutcome, PartnerStatus, RankedChoice, SearchOutcome,
};
pub use self::pace::RANKINGS_MAX;
pub use self::pinning::Rollouts;
pub use self::progressive::{Snapshot, Snapshots};
pub use self::shown::ShownRankings;

use self::gathered::GatheredAnswers;
use self::prepare::PreparedSearch;
use crate::pinned::{PinnedContract, PinnedFailure};
use crate::reference::ReferenceSealer;
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::error::ContractFault;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{Contracts, Journal, PartnerDirectory};
use intent_gateway_domain::telemetry;
use intent_gateway_domain::trace::Trace;
use intent_gateway_domain::user::{Asker, Orchestrator};
use intent_gateway_outbound::Outbound;

/// Runs searches over the ports.
pub struct Searcher {
    /// The catalogue of intents.
    pub contracts: Arc<dyn Contracts>,
    /// Who may be called.
    pub directory: Arc<dyn PartnerDirectory>,
    /// How they are called.
    pub outbound: Arc<Outbound>,
    /// Where findings and receipts go.
    pub journal: Arc<dyn Journal>,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// Seals option references.
    pub references: ReferenceSealer,
    /// One deadline for all partners of a search.
    pub timeout: Duration,
    /// What searches have shown lately.
    pub shown_rankings: ShownRankings,
    /// Where it is read what users took before; none where rankings go without, as in a go-live test.
    pub past_orders: Option<PastOrders>,
    /// How users are told apart in rollouts; none where the live version serves everybody.
    pub rollouts: Option<Rollouts>,
}

/// Who searches where nobody has asked, as in a go-live test. No issuer has this name, so no token does.
const PLATFORM: &str = "the platform itself";

/// What is searched, and for whom.
#[derive(Clone, Debug)]
pub struct SearchRequest<'a> {
    pub intent: &'a str,
    /// The orchestrator's body, JSON text.
    pub body: &'a str,
    /// Who asks and for whom, to whom the references of the options are bound.
    pub asker: &'a Asker,
    /// Used when the body brings no `request_id`.
    pub fallback_request_id: String,
    /// What the calls to partners belong to.
    pub trace: Option<Arc<Trace>>,
}

impl Searcher {
    /// Runs one search of the platform's own. Nobody can book by its references. `fallback_request_id` is used when the body brings none.
    ///
    /// # Errors
    /// As [`search_for`](Self::search_for).
    pub async fn search(
        &self,
        intent: &str,
        body: &str,
        fallback_request_id: String,
    ) -> Result<SearchOutcome, PinnedFailure<SearchError>> {
        let asker = Asker::new(Orchestrator::new(PLATFORM, PLATFORM), None);
        self.search_for(SearchRequest { intent, body, asker: &asker, fallback_request_id, trace: None }).await
    }

    /// Runs one search.
    ///
    /// # Errors
    /// [`SearchError`] when there is no such intent, the request is refused, the contract fails, or the gateway has no place for
    /// any of the calls.
    pub async fn search_for(&self, request: SearchRequest<'_>) -> Result<SearchOutcome, PinnedFailure<SearchError>> {
        let (mut prepared, chosen) = self.begin(request).await?;
        let outcome = self.run(&mut prepared, chosen).await;
        count(&prepared.contract, outcome.as_ref());
        outcome.map_err(|error| PinnedFailure { contract: Some(prepared.contract), error })
    }

    async fn run(
        &self,
        prepared: &mut PreparedSearch,
        chosen: Vec<Arc<Partner>>,
    ) -> Result<SearchOutcome, SearchError> {
        let history = self.history(prepared, chosen.len());
        let answers = join_all(chosen.into_iter().map(|partner| self.ask(prepared, partner)));
        let (history, answers) = join(history, answers).await;
        let mut gathered = GatheredAnswers::default();
        for (place, answer) in answers.into_iter().enumerate() {
            gathered.add(place, answer, prepared.descriptor());
        }
        let payloads = gathered.payloads(prepared.descriptor().intent.as_str());
        let evaluation = self.evaluate_or_fall_back(prepared, &payloads, &history).await?;
        let until = gathered.bookable_until(prepared.context.now);
        let receipt = (!payloads.is_empty())
            .then(|| ranking::receipt(prepared, None, payloads, until, history, &evaluation, &BTreeMap::new()));
        let receipt_id = receipt.as_ref().map(|receipt| receipt.id.clone());
        if let Some(receipt) = receipt.map(Arc::new) {
            self.shown_rankings.hold(&receipt);
            self.journal.keep_shared(receipt, prepared.asker.user.as_ref());
        }
        let outcome = self.answer(prepared, &gathered, evaluation, receipt_id.as_deref(), true);
        gathered.require_place().map(|()| outcome)
    }
}

/// Counts a search by its outcome.
fn count(contract: &PinnedContract, outcome: Result<&SearchOutcome, &SearchError>) {
    let outcome = match outcome {
        Ok(outcome) if outcome.options.is_empty() => telemetry::Outcome::Empty,
        Ok(_) => telemetry::Outcome::Ok,
        Err(SearchError::InvalidIntent(_) | SearchError::Stale | SearchError::Refused(_)) => {
            telemetry::Outcome::Refused
        }
        Err(SearchError::Overloaded { .. } | SearchError::Contract(ContractFault::Busy(_))) => {
            telemetry::Outcome::Overloaded
        }
        Err(SearchError::Contract(_)) => telemetry::Outcome::Failed,
    };
    telemetry::search(contract.descriptor(), outcome);
}
