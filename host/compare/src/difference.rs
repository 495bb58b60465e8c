//! Where two outcomes of one receipt differ.

use std::collections::HashMap;

use intent_gateway_domain::contract::Axes;
use intent_gateway_domain::receipt::{ReceiptDrop, ReceiptScore};

use crate::judged::{Judged, Ranking};
use crate::similarity::{kendall_tau_b, overlap, rank_biased_overlap};

/// How far a reader goes on from each place to the next.
const PERSISTENCE: f64 = 0.9;
/// First places that count most.
pub(crate) const FIRST_PLACES: usize = 3;
/// Options kept by both, the best, whose order is compared pair by pair.
const PAIRED_MAX: usize = 300;

/// Scores of an option, in the order in which they are told.
pub(crate) const SCORES: [&str; 6] = ["total", "time", "taste", "budget", "safety", "completeness"];

/// An option that one of them takes out and the other one does not, or both for other reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OtherwiseDropped {
    /// The codes of whoever takes it out; of the candidate where both do.
    pub(crate) codes: Vec<String>,
    /// Those of the baseline, where both do.
    pub(crate) before: Vec<String>,
}

/// How the two differ.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Difference {
    /// In nothing.
    None,
    /// The candidate refuses to rank it.
    Refuses(String),
    /// The candidate fails on it.
    Fails(String),
    /// Both rank it.
    Ranks(Box<RankDifference>),
    /// The baseline itself does not rank it.
    NotComparable(String),
}

/// How two rankings differ.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RankDifference {
    pub(crate) newly_dropped: Vec<OtherwiseDropped>,
    pub(crate) newly_kept: Vec<OtherwiseDropped>,
    pub(crate) dropped_for_other_reasons: Vec<OtherwiseDropped>,
    /// Another option is first, or there is none any more.
    pub(crate) first_changed: bool,
    /// What both keep is in another order.
    pub(crate) reordered: bool,
    pub(crate) overlap_of_three: f64,
    pub(crate) rank_biased_overlap: f64,
    /// None where what both keep has no order.
    pub(crate) tau: Option<f64>,
    /// By score, of each option that both keep: by how much it is higher under the candidate. Empty where none has changed.
    pub(crate) shifts: [Vec<f64>; SCORES.len()],
    /// Nothing of the above: cards, findings or the wording of reasons.
    pub(crate) only_wording: bool,
}

impl Difference {
    pub(crate) fn between(before: &Judged, after: &Judged) -> Self {
        match (before, after) {
            (Judged::Ranked(before), Judged::Ranked(after)) if before.outcome == after.outcome => Self::None,
            (Judged::Ranked(before), Judged::Ranked(after)) => Self::Ranks(Box::new(RankDifference::of(before, after))),
            (Judged::Ranked(_), Judged::Refused { code }) => Self::Refuses(code.clone()),
            (_, Judged::Failed { code }) => Self::Fails(code.clone()),
            (Judged::Refused { code: before }, Judged::Refused { code: after }) if before == after => Self::None,
            (Judged::Refused { code } | Judged::Failed { code }, _) => Self::NotComparable(code.clone()),
        }
    }
}

impl RankDifference {
    fn of(before: &Ranking, after: &Ranking) -> Self {
        let numbers = |ranking: &Ranking| ranking.ranked.iter().map(|score| score.number).collect::<Vec<_>>();
        let (old, new) = (numbers(before), numbers(after));
        let drops = |ranking: &'_ Ranking| -> HashMap<u32, Vec<String>> {
            ranking.dropped.iter().map(|ReceiptDrop { number, codes, .. }| (*number, codes.clone())).collect()
        };
        let (dropped_before, dropped_after) = (drops(before), drops(after));
        let places: HashMap<u32, &ReceiptScore> = after.ranked.iter().map(|score| (score.number, score)).collect();
        let was_kept: HashMap<u32, &ReceiptScore> = before.ranked.iter().map(|score| (score.number, score)).collect();

        // An option that is gone without a reason counts as well: a contract may leave out what it does not rank.
        let newly_dropped = old.iter().filter(|number| !places.contains_key(number)).map(|number| OtherwiseDropped {
            codes: dropped_after.get(number).cloned().unwrap_or_default(),
            before: Vec::new(),
        });
        let newly_kept = new.iter().filter(|number| !was_kept.contains_key(number)).map(|number| OtherwiseDropped {
            codes: dropped_before.get(number).cloned().unwrap_or_default(),
            before: Vec::new(),
        });
        let mut other_reasons: Vec<(u32, OtherwiseDropped)> = dropped_after
            .iter()
            .filter_map(|(number, codes)| {
                let before = dropped_before.get(number).filter(|before| *before != codes)?.clone();
                Some((*number, OtherwiseDropped { codes: codes.clone(), before }))
            })
            .collect();
        other_reasons.sort_by_key(|(number, _)| *number);

        let both: Vec<(&ReceiptScore, &ReceiptScore)> =
            before.ranked.iter().filter_map(|old| Some((old, *places.get(&old.number)?))).collect();
        let mut shifts: [Vec<f64>; SCORES.len()] = Default::default();
        for (old, new) in &both {
            for ((shift, old), new) in shifts.iter_mut().zip(scores(old)).zip(scores(new)) {
                shift.push(new - old);
            }
        }
        for shift in &mut shifts {
            if shift.iter().all(|by| *by == 0.0) {
                shift.clear();
            }
        }
        let kept_after: Vec<u32> = new.iter().copied().filter(|number| was_kept.contains_key(number)).collect();
        let reordered = both.iter().map(|(old, _)| old.number).ne(kept_after);
        let totals: Vec<(f64, f64)> = both.iter().take(PAIRED_MAX).map(|(old, new)| (old.total, new.total)).collect();
        let (newly_dropped, newly_kept): (Vec<_>, Vec<_>) = (newly_dropped.collect(), newly_kept.collect());
        let dropped_for_other_reasons: Vec<_> = other_reasons.into_iter().map(|(_, otherwise)| otherwise).collect();
        let only_wording = newly_dropped.is_empty()
            && newly_kept.is_empty()
            && dropped_for_other_reasons.is_empty()
            && !reordered
            && shifts.iter().all(Vec::is_empty);
        Self {
            newly_dropped,
            newly_kept,
            dropped_for_other_reasons,
            first_changed: old.first() != new.first(),
            reordered,
            overlap_of_three: overlap(&old, &new, FIRST_PLACES),
            rank_biased_overlap: rank_biased_overlap(&old, &new, PERSISTENCE),
            tau: kendall_tau_b(&totals),
            shifts,
            only_wording,
        }
    }
}

fn scores(score: &ReceiptScore) -> [f64; SCORES.len()] {
    let Axes { time, taste, budget, safety } = score.axes;
    [score.total, time, taste, budget, safety, score.completeness]
}
