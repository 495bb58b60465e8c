//! Which version of a contract a search is pinned to: the live one, or the candidate of a rollout for the users in its share. Where
//! the candidate fails, the live version takes its place as long as nobody has seen anything of it, so that a rollout costs nobody
//! an answer; the answer is wholly of one version all the same.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;

use super::prepare::PreparedSearch;
use super::{SearchError, SearchRequest, Searcher, count};
use crate::pinned::{PinnedContract, PinnedFailure};
use intent_gateway_domain::contract::{About, CallContext, Descriptor, Evaluation, PastOrder};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::ContractFault;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{Offer, RolloutWatch, Served};
use intent_gateway_domain::receipt::ReceiptPayload;
use intent_gateway_domain::share::{Place, Share};
use intent_gateway_domain::vault::Vault;

/// Context of the marks by which users are told apart. Not the rollout's: who was served by one candidate is by the next.
const SIDE: &str = "side of a rollout";

/// How users are told apart in rollouts, and who hears how candidates do.
pub struct Rollouts {
    pub vault: Vault,
    pub watch: Arc<dyn RolloutWatch>,
}

/// A search that a candidate serves.
#[derive(Clone)]
pub(super) struct OnTrial {
    /// The live version, which takes its place where it fails.
    live: PinnedContract,
    /// The orchestrator's body, and the context in which it was checked.
    body: Arc<str>,
    context: CallContext,
}

impl Rollouts {
    /// Whether a request is in a candidate's share. The same user is on the same side at all gateways, at all times; without a user,
    /// the same request is.
    fn takes(&self, share: Share, intent: &IntentId, request: &SearchRequest<'_>) -> bool {
        let who: Cow<'_, str> = match &request.asker.user {
            Some(user) => user.key().into(),
            None => request_id(request.body).unwrap_or_else(|| request.fallback_request_id.as_str().into()),
        };
        share.takes(Place::of_mark(&self.vault.mark(&format!("{SIDE} of {intent}"), &who)))
    }
}

/// The request's own identifier, where the body brings one.
fn request_id(body: &str) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Body<'a> {
        #[serde(borrow)]
        request_id: Cow<'a, str>,
    }
    Some(serde_json::from_str::<Body<'_>>(body).ok()?.request_id)
}

impl Searcher {
    /// Pins a search to a version, checks its request and chooses whom to ask. What fails here is counted.
    pub(super) async fn begin(
        &self,
        request: SearchRequest<'_>,
    ) -> Result<(PreparedSearch, Vec<Arc<Partner>>), PinnedFailure<SearchError>> {
        let (mut contract, mut live) = self.pin(&request)?;
        let mut prepared = self.prepare(&contract, &request).await;
        if let (Err(SearchError::Contract(fault)), Some(spare)) = (&prepared, &live)
            && fault.counts_against_version()
        {
            // Nobody was asked yet: the request is the live version's from here on.
            let again = self.prepare(spare, &request).await;
            if !matches!(again, Err(SearchError::Contract(_))) {
                self.tell(&contract, Served::InItsPlace(fault));
            }
            contract = spare.clone();
            (prepared, live) = (again, None);
        }
        match prepared {
            Ok((mut prepared, chosen)) => {
                prepared.trial = live.map(|live| OnTrial {
                    live,
                    body: request.body.into(),
                    context: CallContext { request_id: request.fallback_request_id, now: prepared.context.now },
                });
                Ok((prepared, chosen))
            }
            Err(error) => {
                count(&contract, Err(&error));
                Err(PinnedFailure { contract: Some(contract), error })
            }
        }
    }

    /// The version that serves a search to its end; with the live one where that is a candidate.
    fn pin(
        &self,
        request: &SearchRequest<'_>,
    ) -> Result<(PinnedContract, Option<PinnedContract>), PinnedFailure<SearchError>> {
        if self.contracts.is_stale() {
            return Err(PinnedFailure::without_contract(SearchError::Stale));
        }
        let unknown = || PinnedFailure::without_contract(SearchError::InvalidIntent(request.intent.to_owned()));
        let Offer { live, candidate } = self.contracts.offer(request.intent).ok_or_else(unknown)?;
        let takes = |share| {
            self.rollouts.as_ref().is_some_and(|rollouts| rollouts.takes(share, &live.descriptor().intent, request))
        };
        Ok(match candidate.filter(|(_, share)| takes(*share)) {
            Some((candidate, _)) => (PinnedContract(candidate), Some(PinnedContract(live))),
            None => (PinnedContract(live), None),
        })
    }

    /// Has the contract rank the options; where it is a candidate that fails, the live version ranks in its place, if it takes the
    /// request as the candidate has, and reads the answers alike.
    pub(super) async fn evaluate_or_fall_back(
        &self,
        search: &mut PreparedSearch,
        payloads: &[ReceiptPayload],
        history: &[PastOrder],
    ) -> Result<Evaluation, SearchError> {
        let outcome = self.evaluate(search, payloads, history).await;
        let Some(trial) = search.trial.take() else { return outcome };
        match outcome {
            Ok(evaluation) => {
                // Without an answer of a partner there was nothing to rank.
                if !payloads.is_empty() {
                    self.tell(&search.contract, Served::ByCandidate);
                }
                // A streamed search may rank again.
                search.trial = Some(trial);
                Ok(evaluation)
            }
            Err(SearchError::Contract(fault)) if fault.counts_against_version() => {
                self.fall_back(search, &trial, payloads, history, fault).await
            }
            error => error,
        }
    }

    async fn fall_back(
        &self,
        search: &mut PreparedSearch,
        trial: &OnTrial,
        payloads: &[ReceiptPayload],
        history: &[PastOrder],
        fault: ContractFault,
    ) -> Result<Evaluation, SearchError> {
        let candidate = search.contract.clone();
        let descriptor = trial.live.descriptor();
        let checked =
            trial.live.check_request(&trial.context, &descriptor.search.tool, &trial.body, About::default()).await;
        let is_alike = reads_alike(descriptor, candidate.descriptor())
            && checked.is_ok_and(|prepared| prepared.arguments.get() == search.arguments.get());
        if !is_alike {
            self.tell(&candidate, Served::NotAtAll(&fault));
            return Err(SearchError::Contract(fault));
        }
        search.contract = trial.live.clone();
        let evaluation = self.evaluate(search, payloads, history).await;
        if !matches!(evaluation, Err(SearchError::Contract(_))) {
            self.tell(&candidate, Served::InItsPlace(&fault));
        }
        evaluation
    }

    fn tell(&self, candidate: &PinnedContract, how: Served<'_>) {
        if let Some(Rollouts { watch, .. }) = &self.rollouts {
            let (intent, digest): (&IntentId, Digest) = (&candidate.descriptor().intent, candidate.digest());
            watch.served(intent, digest, how);
        }
    }
}

/// Whether what partners have answered under one version was taken apart as another one wants it.
fn reads_alike(a: &Descriptor, b: &Descriptor) -> bool {
    a.search == b.search && a.forbidden_fields == b.forbidden_fields
}
