//! A search that shows what it has while it waits for the rest: the whole ranking, anew as answers come.
//!
//! The last snapshot ranks what the plain search would have ranked. Those before it can be booked from as well: all
//! rankings of a search have one receipt between them, in which an option keeps its number. It is kept once, when the
//! search ends or its reader leaves, and holds every option that was shown. Findings go to the journal with the last
//! snapshot alone, so that nobody is blamed twice for one answer.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use futures_util::future::{BoxFuture, Either, FutureExt as _, select};
use futures_util::stream::{BoxStream, FuturesUnordered, StreamExt as _, unfold};

use super::asking::PartnerAnswer;
use super::gathered::GatheredAnswers;
use super::pace::Pace;
use super::prepare::PreparedSearch;
use super::ranking::receipt;
use super::{SearchError, SearchOutcome, SearchRequest, Searcher, count};
use crate::pinned::PinnedFailure;
use intent_gateway_domain::contract::{Evaluation, PastOrder};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::ContractFault;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::Timer;
use intent_gateway_domain::receipt::{ReceiptScore, identifier};

/// What is known of a search.
#[derive(Debug)]
pub struct Snapshot {
    /// The answer over those who have answered so far.
    pub outcome: SearchOutcome,
    /// Who has not answered yet; nobody in the last snapshot. Sorted by identifier.
    pub awaited: Vec<Arc<Partner>>,
}

/// Snapshots of one search, of which an error is the last. Dropped, the calls under way are dropped with it.
pub type Snapshots = BoxStream<'static, Result<Snapshot, PinnedFailure<SearchError>>>;

impl Searcher {
    /// Runs one search, and shows what there is as answers come, at most [`RANKINGS_MAX`](super::RANKINGS_MAX) times.
    ///
    /// # Errors
    /// As [`search_for`](Self::search_for), where it ends before anybody is asked.
    pub async fn search_progressively(
        self: Arc<Self>,
        request: SearchRequest<'_>,
        timer: Arc<dyn Timer>,
    ) -> Result<Snapshots, PinnedFailure<SearchError>> {
        let (prepared, chosen) = self.begin(request).await?;
        let search = ProgressiveSearch::begin(self, timer, prepared, chosen);
        Ok(unfold(search, ProgressiveSearch::next).boxed())
    }
}

/// What a search waits for.
enum Arrival {
    /// The answer of the partner at this place among the chosen.
    Answer(usize, Box<PartnerAnswer>),
    /// What the user took before.
    History(Vec<PastOrder>),
}

/// A search on its way.
struct ProgressiveSearch {
    searcher: Arc<Searcher>,
    timer: Arc<dyn Timer>,
    prepared: Arc<PreparedSearch>,
    /// Calls of partners, and the look into the user's past orders.
    under_way: FuturesUnordered<BoxFuture<'static, Arrival>>,
    /// By their place among the chosen.
    awaited: BTreeMap<usize, Arc<Partner>>,
    gathered: GatheredAnswers,
    /// What the user took before, once it is settled: the same for every ranking, so none is made before.
    history: Option<Vec<PastOrder>>,
    pace: Pace,
    /// Until the next step of the pace.
    wait: Option<BoxFuture<'static, ()>>,
    /// The identifier of the one receipt, which references hold before it is kept.
    receipt: String,
    /// The newest evaluation, and how many options it covers.
    newest: Option<(Evaluation, usize)>,
    /// Every option that was shown, with its scores of the last time.
    shown: BTreeMap<u32, ReceiptScore>,
    is_over: bool,
}

impl ProgressiveSearch {
    fn begin(
        searcher: Arc<Searcher>,
        timer: Arc<dyn Timer>,
        prepared: PreparedSearch,
        chosen: Vec<Arc<Partner>>,
    ) -> Self {
        let prepared = Arc::new(prepared);
        let awaited: BTreeMap<usize, Arc<Partner>> = chosen.into_iter().enumerate().collect();
        let calls = awaited.iter().map(|(place, partner)| {
            let (searcher, prepared, partner, place) = (searcher.clone(), prepared.clone(), partner.clone(), *place);
            async move { Arrival::Answer(place, Box::new(searcher.ask(&prepared, partner).await)) }.boxed()
        });
        let under_way: FuturesUnordered<_> = calls.collect();
        let (asking, search, asked) = (searcher.clone(), prepared.clone(), awaited.len());
        under_way.push(async move { Arrival::History(asking.history(&search, asked).await) }.boxed());
        // The same request may be streamed twice in one moment, and each must find its own.
        let random = RandomState::new().hash_one(&prepared.context.request_id);
        let distinction = Digest::of(&random.to_be_bytes());
        Self {
            under_way,
            awaited,
            receipt: identifier(&prepared.context, prepared.contract.digest(), distinction),
            searcher,
            timer,
            prepared,
            gathered: GatheredAnswers::default(),
            history: None,
            pace: Pace::new(),
            wait: None,
            newest: None,
            shown: BTreeMap::new(),
            is_over: false,
        }
    }

    async fn next(mut self) -> Option<(Result<Snapshot, PinnedFailure<SearchError>>, Self)> {
        while !self.is_over {
            self.wait().await;
            let snapshot = self.snapshot().await;
            if snapshot.is_ok() || self.is_over {
                return Some((snapshot, self));
            }
        }
        None
    }

    /// Waits until a ranking is due.
    async fn wait(&mut self) {
        loop {
            while let Some(Some(arrival)) = self.under_way.next().now_or_never() {
                self.take(arrival);
            }
            if self.history.is_some() && self.pace.is_due(self.gathered.len(), self.awaited.is_empty()) {
                return;
            }
            let arrival = match self.wait.take() {
                None => self.under_way.next().await,
                Some(wait) => match select(self.under_way.next(), wait).await {
                    Either::Left((arrival, wait)) => {
                        self.wait = Some(wait);
                        arrival
                    }
                    Either::Right(_) => {
                        self.wait = self.pace.step().map(|time| self.timer.wait(time));
                        None
                    }
                },
            };
            arrival.into_iter().for_each(|arrival| self.take(arrival));
        }
    }

    fn take(&mut self, arrival: Arrival) {
        match arrival {
            Arrival::Answer(place, answer) => {
                self.gathered.add(place, *answer, self.prepared.contract.descriptor());
                self.awaited.remove(&place);
            }
            Arrival::History(history) => self.history = Some(history),
        }
    }

    async fn snapshot(&mut self) -> Result<Snapshot, PinnedFailure<SearchError>> {
        self.wait = Some(self.timer.wait(self.pace.note_ranking(self.gathered.len())));
        let is_complete = self.awaited.is_empty();
        let outcome = self.rank(is_complete).await;
        // The next one may find room.
        let is_passing = matches!(outcome, Err(SearchError::Contract(ContractFault::Busy(_))));
        self.is_over = is_complete || (outcome.is_err() && !is_passing);
        if self.is_over {
            self.keep_receipt();
            count(&self.prepared.contract, outcome.as_ref());
        }
        let mut awaited: Vec<Arc<Partner>> = self.awaited.values().cloned().collect();
        awaited.sort_by(|a, b| a.id.cmp(&b.id));
        let failed = |error| PinnedFailure { contract: Some(self.prepared.contract.clone()), error };
        outcome.map(|outcome| Snapshot { outcome, awaited }).map_err(failed)
    }

    async fn rank(&mut self, is_complete: bool) -> Result<SearchOutcome, SearchError> {
        let options = self.gathered.options();
        let evaluation = match &self.newest {
            // The contract would say the same again.
            Some((evaluation, covered)) if *covered == options => evaluation.clone(),
            _ => self.evaluate(options).await?,
        };
        let receipt = (options > 0).then_some(self.receipt.as_str());
        let outcome = self.searcher.answer(&self.prepared, &self.gathered, evaluation, receipt, is_complete);
        if is_complete {
            self.gathered.require_place()?;
        }
        Ok(outcome)
    }

    async fn evaluate(&mut self, options: usize) -> Result<Evaluation, SearchError> {
        let payloads = self.gathered.payloads(self.prepared.descriptor().intent.as_str());
        let history = self.history.clone().unwrap_or_default();
        let evaluation = if self.shown.is_empty() {
            let mut prepared = PreparedSearch::clone(&self.prepared);
            let evaluation = self.searcher.evaluate_or_fall_back(&mut prepared, &payloads, &history).await?;
            self.prepared = Arc::new(prepared);
            evaluation
        } else {
            // What was shown was ranked by this version; another one would contradict it.
            self.searcher.evaluate(&self.prepared, &payloads, &history).await?
        };
        self.shown.extend(evaluation.ranked.iter().map(|option| (option.number, ReceiptScore::from(option))));
        if !payloads.is_empty() {
            let until = self.gathered.bookable_until(self.prepared.context.now);
            let receipt =
                receipt(&self.prepared, Some(&self.receipt), payloads, until, history, &evaluation, &self.shown);
            self.searcher.shown_rankings.show(receipt);
        }
        self.newest = Some((evaluation.clone(), options));
        Ok(evaluation)
    }

    /// Hands over the receipt of all that was shown, once.
    fn keep_receipt(&self) {
        if let Some(receipt) = self.searcher.shown_rankings.end(&self.receipt) {
            self.searcher.journal.keep_shared(receipt, self.prepared.asker.user.as_ref());
        }
    }
}

impl Drop for ProgressiveSearch {
    fn drop(&mut self) {
        // Whoever leaves early may book what was shown until then.
        self.keep_receipt();
    }
}
