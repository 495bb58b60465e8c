//! A search that shows what it has while it waits for the rest: the whole ranking, anew after each partner's answer.
//!
//! The last snapshot is what the plain search would have answered. Those before it are rankings in their own right: each has
//! its receipt, so whoever books early is held to what the ranking showed. Findings are taken down with the last one
//! alone, so that nobody is blamed twice for one answer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, Either, FutureExt as _, select};
use futures_util::stream::{BoxStream, FuturesUnordered, StreamExt as _, unfold};

use super::{Answer, Prepared, SearchError, SearchOutcome, SearchRequest, Searcher, count};
use crate::pinned::Failed;
use intent_gateway_domain::error::ContractFault;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::Timer;

/// Between two snapshots at least; what comes meanwhile is shown together. The last one waits for nothing.
const BETWEEN_SNAPSHOTS: Duration = Duration::from_millis(20);

/// What is known of a search.
#[derive(Debug)]
pub struct Snapshot {
    /// The answer over those who have answered so far.
    pub outcome: SearchOutcome,
    /// Who has not answered yet; nobody in the last snapshot. Sorted by identifier.
    pub awaited: Vec<Arc<Partner>>,
}

/// Snapshots of one search, of which an error is the last. Dropped, the calls under way are dropped with it.
pub type Snapshots = BoxStream<'static, Result<Snapshot, Failed<SearchError>>>;

impl Searcher {
    /// Runs one search, and shows what there is after each partner's answer.
    ///
    /// # Errors
    /// As [`search_for`](Self::search_for), where it ends before anybody is asked.
    pub async fn search_progressively(
        self: Arc<Self>,
        request: SearchRequest<'_>,
        timer: Arc<dyn Timer>,
    ) -> Result<Snapshots, Failed<SearchError>> {
        let contract = self.pin(request.intent)?;
        let (prepared, chosen) = match self.prepare(&contract, request).await {
            Ok(prepared) => prepared,
            Err(error) => {
                count(&contract, Err(&error));
                return Err(Failed { contract: Some(contract), error });
            }
        };
        let prepared = Arc::new(prepared);
        let awaited: BTreeMap<usize, Arc<Partner>> = chosen.into_iter().enumerate().collect();
        let calls = awaited.iter().map(|(place, partner)| {
            let (searcher, prepared, partner, place) = (self.clone(), prepared.clone(), partner.clone(), *place);
            async move { (place, searcher.ask(&prepared, partner).await) }.boxed()
        });
        let calls = calls.collect();
        let under_way = UnderWay {
            calls,
            awaited,
            prepared,
            timer,
            searcher: self,
            places: Vec::new(),
            answers: Vec::new(),
            pause: None,
            is_over: false,
        };
        Ok(unfold(under_way, UnderWay::next).boxed())
    }
}

/// A search on its way.
struct UnderWay {
    searcher: Arc<Searcher>,
    timer: Arc<dyn Timer>,
    prepared: Arc<Prepared>,
    calls: FuturesUnordered<BoxFuture<'static, (usize, Answer)>>,
    /// By their place among the chosen.
    awaited: BTreeMap<usize, Arc<Partner>>,
    /// Places of those who have answered, in their order: a ranking has the same numbers whoever was quicker.
    places: Vec<usize>,
    answers: Vec<Answer>,
    /// Until the next snapshot may be shown.
    pause: Option<BoxFuture<'static, ()>>,
    is_over: bool,
}

impl UnderWay {
    async fn next(mut self) -> Option<(Result<Snapshot, Failed<SearchError>>, Self)> {
        while !self.is_over {
            self.wait().await;
            let snapshot = self.snapshot().await;
            if snapshot.is_ok() || self.is_over {
                self.pause = Some(self.timer.wait(BETWEEN_SNAPSHOTS));
                return Some((snapshot, self));
            }
        }
        None
    }

    /// Waits for an answer, and for those that come with it.
    async fn wait(&mut self) {
        if let Some((place, answer)) = self.calls.next().await {
            self.take(place, answer);
        }
        while let Some(pause) = self.pause.take() {
            match select(self.calls.next(), pause).await {
                Either::Left((Some((place, answer)), pause)) => {
                    self.pause = Some(pause);
                    self.take(place, answer);
                }
                Either::Left((None, _)) | Either::Right(_) => break,
            }
        }
        while let Some(Some((place, answer))) = self.calls.next().now_or_never() {
            self.take(place, answer);
        }
    }

    fn take(&mut self, place: usize, answer: Answer) {
        let at = self.places.partition_point(|other| *other < place);
        self.places.insert(at, place);
        self.answers.insert(at, answer);
        self.awaited.remove(&place);
    }

    async fn snapshot(&mut self) -> Result<Snapshot, Failed<SearchError>> {
        let outcome = self.searcher.rank(&self.prepared, &self.answers, self.awaited.is_empty()).await;
        // The next one may find room.
        let is_passing = matches!(outcome, Err(SearchError::Contract(ContractFault::Busy(_))));
        self.is_over = self.awaited.is_empty() || (outcome.is_err() && !is_passing);
        if self.is_over {
            count(&self.prepared.contract, outcome.as_ref());
        }
        let mut awaited: Vec<Arc<Partner>> = self.awaited.values().cloned().collect();
        awaited.sort_by(|a, b| a.id.cmp(&b.id));
        let failed = |error| Failed { contract: Some(self.prepared.contract.clone()), error };
        outcome.map(|outcome| Snapshot { outcome, awaited }).map_err(failed)
    }
}
