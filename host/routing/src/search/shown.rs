//! What searches have shown, in memory. A search leaves one receipt, which is kept a moment after its answer; a streamed one leaves
//! it at its end. Until then, and for as long as there is room, a booking out of what was shown is compared with what is kept here, so
//! that it asks the store for nothing.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::receipt::Receipt;

/// How long such a ranking is held, milliseconds: it holds what a user has asked for.
const HELD_MAX_MS: u64 = 15 * 60 * 1_000;

/// The rankings that users have seen lately. Clones share them.
#[derive(Clone)]
pub struct ShownRankings {
    held: Arc<Mutex<Held>>,
    ended_max_bytes: usize,
}

#[derive(Default)]
struct Held {
    /// The newest ranking of each search that goes on, by the identifier that its receipt will have. As many as searches are
    /// streamed at once.
    open: HashMap<String, Arc<Receipt>>,
    /// Those of searches that are over, by the identifier of the receipt.
    ended: HashMap<String, Arc<Receipt>>,
    /// The same, the oldest first, each with its bytes, about.
    by_age: VecDeque<(Arc<Receipt>, usize)>,
    bytes: usize,
}

impl fmt::Debug for ShownRankings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = self.held();
        let counts = (held.open.len(), held.ended.len(), held.bytes);
        f.debug_tuple("ShownRankings").field(&counts).finish()
    }
}

impl ShownRankings {
    /// Holds rankings whose search is over in so many bytes, about. That of the search that has just ended is held in any case.
    pub fn new(ended_max_bytes: usize) -> Self {
        Self { held: Arc::default(), ended_max_bytes }
    }

    /// What a search that goes on has shown by now, in the place of what it had shown before.
    pub(super) fn show(&self, ranking: Receipt) {
        let ranking = Arc::new(ranking);
        let before = self.held().open.insert(ranking.id.clone(), ranking);
        drop(before);
    }

    /// A streamed search is over: gives its newest ranking out, once, and holds it as well.
    pub(super) fn end(&self, id: &str) -> Option<Arc<Receipt>> {
        let ranking = self.held().open.remove(id)?;
        self.hold(&ranking);
        Some(ranking)
    }

    /// Holds the ranking of a search that is over.
    pub(super) fn hold(&self, ranking: &Arc<Receipt>) {
        let bytes = bytes_of(ranking);
        let mut forgotten = Vec::new();
        let mut held = self.held();
        held.ended.insert(ranking.id.clone(), ranking.clone());
        held.by_age.push_back((ranking.clone(), bytes));
        held.bytes += bytes;
        while held.bytes > self.ended_max_bytes && held.by_age.len() > 1 {
            forgotten.extend(held.forget_oldest());
        }
        drop(held);
        // What is large goes without the lock.
        drop(forgotten);
    }

    /// Forgets rankings that have been held for their time.
    pub fn forget_old(&self, now: Timestamp) {
        let mut forgotten = Vec::new();
        let mut held = self.held();
        while held.by_age.front().is_some_and(|(oldest, _)| now.ms_since(oldest.at_ms) > HELD_MAX_MS) {
            forgotten.extend(held.forget_oldest());
        }
        drop(held);
        drop(forgotten);
    }

    /// An option that was shown, where its ranking is held.
    pub(crate) fn option(&self, ranking: &str, partner: &PartnerId, number: u32) -> Option<Box<RawValue>> {
        let held = self.held();
        let ranking = held.open.get(ranking).or_else(|| held.ended.get(ranking)).cloned();
        drop(held);
        let ranking = ranking?;
        ranking.shown_option(partner, number).map(ToOwned::to_owned)
    }

    /// They are whole after every step, so they can be used after a panic.
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn forget_oldest(&mut self) -> Option<Arc<Receipt>> {
        let (oldest, bytes) = self.by_age.pop_front()?;
        self.bytes -= bytes;
        // Two equal searches of one moment have one identifier, and the later one may be held still.
        if self.ended.get(&oldest.id).is_some_and(|held| Arc::ptr_eq(held, &oldest)) {
            self.ended.remove(&oldest.id);
        }
        Some(oldest)
    }
}

/// Bytes that a ranking holds, about.
fn bytes_of(ranking: &Receipt) -> usize {
    let candidates = ranking.payloads.iter().flat_map(|payload| &payload.candidates);
    let options: usize = candidates.map(|one| size_of_val(one) + one.json.get().len()).sum();
    let scores: usize = ranking.ranked.iter().map(|score| size_of_val(score) + score.id.len()).sum();
    size_of::<Receipt>() + ranking.arguments.get().len() + options + scores
}

#[cfg(test)]
mod tests {
    use intent_gateway_domain::contract::Axes;
    use intent_gateway_domain::digest::Digest;
    use intent_gateway_domain::id::IntentId;
    use intent_gateway_domain::receipt::{ReceiptCandidate, ReceiptPayload, ReceiptScore};
    use semver::Version;

    use super::*;

    const MAX_BYTES: usize = 1024 * 1024;

    fn partner() -> PartnerId {
        PartnerId::parse("partner").expect("an identifier")
    }

    /// A ranking of one option with a text of this length.
    fn ranking(id: &str, at_ms: u64, length: usize) -> Receipt {
        let json = RawValue::from_string(format!("\"{}\"", "x".repeat(length))).expect("JSON");
        let score =
            ReceiptScore { number: 1, id: "a".to_owned(), total: 1.0, axes: Axes::UNDECLARED, completeness: 1.0 };
        Receipt {
            id: id.to_owned(),
            at_ms: Timestamp::from_ms(at_ms),
            request_id: "r".to_owned(),
            intent: IntentId::parse("auto.book_ac_service").expect("an identifier"),
            version: Version::new(1, 0, 0),
            contract: Digest::of(b"contract"),
            arguments: RawValue::NULL.to_owned(),
            payloads: vec![ReceiptPayload {
                partner: partner(),
                declared: Axes::UNDECLARED,
                candidates: vec![ReceiptCandidate { number: 1, json }],
            }],
            history: Vec::new(),
            ranked: vec![score],
            dropped: Vec::new(),
            bookable_until_ms: None,
            outcome: Digest::of(b"outcome"),
        }
    }

    fn is_held(shown: &ShownRankings, id: &str) -> bool {
        shown.option(id, &partner(), 1).is_some()
    }

    #[test]
    fn a_streamed_search_gives_its_newest_ranking_out_once_and_it_is_still_held() {
        let shown = ShownRankings::new(MAX_BYTES);
        shown.show(ranking("rank_a", 0, 1));
        shown.show(ranking("rank_a", 0, 2));
        let text = shown.option("rank_a", &partner(), 1).expect("it goes on");
        assert_eq!(text.get(), "\"xx\"");
        assert_eq!(shown.end("rank_a").map(|ranking| ranking.id.clone()).as_deref(), Some("rank_a"));
        assert!(shown.end("rank_a").is_none(), "it was given out");
        assert!(is_held(&shown, "rank_a"));
        assert!(shown.option("rank_a", &partner(), 2).is_none(), "it was not shown");
    }

    #[test]
    fn the_oldest_go_when_there_are_too_many_bytes_and_the_newest_never() {
        let shown = ShownRankings::new(MAX_BYTES);
        for (number, id) in ["rank_0", "rank_1", "rank_2"].into_iter().enumerate() {
            shown.hold(&Arc::new(ranking(id, number as u64, MAX_BYTES * 2 / 5)));
        }
        assert_eq!(["rank_0", "rank_1", "rank_2"].map(|id| is_held(&shown, id)), [false, true, true]);
        shown.hold(&Arc::new(ranking("rank_3", 3, 2 * MAX_BYTES)));
        assert_eq!(["rank_1", "rank_2", "rank_3"].map(|id| is_held(&shown, id)), [false, false, true]);
        let held = shown.held();
        assert_eq!((held.ended.len(), held.by_age.len()), (1, 1));
    }

    #[test]
    fn what_was_held_for_its_time_is_forgotten() {
        let shown = ShownRankings::new(MAX_BYTES);
        shown.hold(&Arc::new(ranking("rank_a", 1_000, 1)));
        shown.hold(&Arc::new(ranking("rank_b", 2_000, 1)));
        shown.forget_old(Timestamp::from_ms(1_000 + HELD_MAX_MS));
        assert!(is_held(&shown, "rank_a"));
        shown.forget_old(Timestamp::from_ms(1_001 + HELD_MAX_MS));
        assert_eq!([is_held(&shown, "rank_a"), is_held(&shown, "rank_b")], [false, true]);
        assert_eq!(shown.held().bytes, bytes_of(&ranking("rank_b", 2_000, 1)));
    }
}
