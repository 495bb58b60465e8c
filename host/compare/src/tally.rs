//! Counts the differences of many receipts, in bounded memory.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::Descriptor;
use intent_gateway_domain::receipt::{Receipt, ReceiptDrop, ReceiptScore};

use crate::budget::{DifferenceBudget, OutsideTally, RequestDifference};
use crate::difference::{Difference, FIRST_PLACES, OtherwiseDropped, RankDifference, SCORES};
use crate::distribution::{Distribution, Times};
use crate::judged::{Judged, Ranking};
use crate::report::{
    BaselineName, CallTimes, CodeCount, ComparedVersion, ComparisonReport, Example, ExampleRow, PartnerShare,
    RuleChange, ScoreShift,
};

/// Receipts that are shown side by side.
const EXAMPLES: usize = 10;
/// Rows of one of them.
const EXAMPLE_ROWS: usize = 10;
/// Codes and partners that are told apart; what comes beyond is counted together.
const CODES_MAX: usize = 300;
const PARTNERS_MAX: usize = 2_000;
/// How what is beyond a bound is told.
const OTHERS: &str = "others";

/// One receipt, compared.
#[derive(Clone, Debug)]
pub(crate) struct Compared {
    pub(crate) before: Judged,
    pub(crate) after: Judged,
    pub(crate) request: RequestDifference,
    /// Processor time of the candidate; none where it has not ranked.
    pub(crate) candidate_took: Option<Duration>,
    /// The same of the baseline, where it has ranked anew.
    pub(crate) baseline_took: Option<Duration>,
}

#[derive(Clone, Copy, Debug, Default)]
struct RuleCounts {
    newly_dropped: u64,
    newly_kept: u64,
    other_reasons: u64,
}

/// Counts differences. Two tallies of two halves of some receipts, merged, are the tally of all.
#[derive(Clone, Debug)]
pub struct Tally {
    budget: Option<DifferenceBudget>,
    /// How long a call may take that serves somebody.
    deadline: Duration,
    first_at: Option<Timestamp>,
    last_at: Option<Timestamp>,
    receipts: u64,
    options: u64,
    same: u64,
    different: u64,
    not_comparable: BTreeMap<String, u64>,
    requests_refused: BTreeMap<String, u64>,
    requests_changed: u64,
    refused: BTreeMap<String, u64>,
    failed: BTreeMap<String, u64>,
    first_changed: u64,
    reordered: u64,
    only_wording: u64,
    newly_empty: u64,
    rules: BTreeMap<String, RuleCounts>,
    overlap_of_three: Distribution,
    rank_biased_overlap: Distribution,
    tau: Distribution,
    shifts: [Distribution; SCORES.len()],
    /// First places before and after.
    partners: HashMap<String, (u64, u64)>,
    candidate_times: Times,
    candidate_too_slow: u64,
    baseline_times: Times,
    baseline_too_slow: u64,
    outside: OutsideTally,
    /// The worst first.
    worst: Vec<Example>,
}

impl Tally {
    /// Of nothing yet.
    #[must_use]
    pub fn new(budget: Option<DifferenceBudget>, deadline: Duration) -> Self {
        Self {
            budget,
            deadline,
            first_at: None,
            last_at: None,
            receipts: 0,
            options: 0,
            same: 0,
            different: 0,
            not_comparable: BTreeMap::new(),
            requests_refused: BTreeMap::new(),
            requests_changed: 0,
            refused: BTreeMap::new(),
            failed: BTreeMap::new(),
            first_changed: 0,
            reordered: 0,
            only_wording: 0,
            newly_empty: 0,
            rules: BTreeMap::new(),
            overlap_of_three: Distribution::between(0.0, 1.0),
            rank_biased_overlap: Distribution::between(0.0, 1.0),
            tau: Distribution::between(-1.0, 1.0),
            shifts: std::array::from_fn(|_| Distribution::between(-1.0, 1.0)),
            partners: HashMap::new(),
            candidate_times: Times::default(),
            candidate_too_slow: 0,
            baseline_times: Times::default(),
            baseline_too_slow: 0,
            outside: OutsideTally::default(),
            worst: Vec::new(),
        }
    }

    /// Adds a receipt; whether something differs.
    pub(crate) fn add(&mut self, receipt: &Receipt, compared: &Compared) -> bool {
        let difference = Difference::between(&compared.before, &compared.after);
        if let Difference::NotComparable(code) = &difference {
            count(&mut self.not_comparable, code);
            return false;
        }
        self.first_at = Some(self.first_at.map_or(receipt.at_ms, |first| first.min(receipt.at_ms)));
        self.last_at = Some(self.last_at.map_or(receipt.at_ms, |last| last.max(receipt.at_ms)));
        self.receipts += 1;
        self.options += receipt.payloads.iter().map(|payload| payload.candidates.len() as u64).sum::<u64>();
        self.add_times(compared);
        self.add_places(receipt, &compared.before, &compared.after);
        match &compared.request {
            RequestDifference::None => {}
            RequestDifference::Refuses(code) | RequestDifference::Fails(code) => {
                count(&mut self.requests_refused, code)
            }
            RequestDifference::Changes => self.requests_changed += 1,
        }
        match &difference {
            Difference::None | Difference::NotComparable(_) => {}
            Difference::Refuses(code) => count(&mut self.refused, code),
            Difference::Fails(code) => count(&mut self.failed, code),
            Difference::Ranks(ranks) => self.add_ranks(receipt, compared, ranks),
        }
        if let (Judged::Ranked(_), Difference::None) = (&compared.before, &difference) {
            self.overlap_of_three.add(1.0);
            self.rank_biased_overlap.add(1.0);
        }
        if let Some(budget) = &self.budget {
            for what in budget.find_outside(&compared.request, &difference) {
                self.outside.add(what, &receipt.id);
            }
        }
        let differs = difference != Difference::None || compared.request != RequestDifference::None;
        *(if differs { &mut self.different } else { &mut self.same }) += 1;
        differs
    }

    fn add_times(&mut self, compared: &Compared) {
        let micros = |took: Duration| took.as_secs_f64() * 1e6;
        if let Some(took) = compared.candidate_took {
            self.candidate_times.add(micros(took));
            self.candidate_too_slow += u64::from(took > self.deadline);
        }
        if let Some(took) = compared.baseline_took {
            self.baseline_times.add(micros(took));
            self.baseline_too_slow += u64::from(took > self.deadline);
        }
    }

    fn add_places(&mut self, receipt: &Receipt, before: &Judged, after: &Judged) {
        let partners = partners_by_number(receipt);
        let mut add = |judged: &Judged, is_after: bool| {
            let Judged::Ranked(ranking) = judged else { return };
            for score in ranking.ranked.iter().take(FIRST_PLACES) {
                let partner = partners.get(&score.number).copied().unwrap_or_default();
                let partner = if self.partners.contains_key(partner) || self.partners.len() < PARTNERS_MAX {
                    partner
                } else {
                    OTHERS
                };
                let places = self.partners.entry(partner.to_owned()).or_default();
                *(if is_after { &mut places.1 } else { &mut places.0 }) += 1;
            }
        };
        add(before, false);
        add(after, true);
    }

    fn add_ranks(&mut self, receipt: &Receipt, compared: &Compared, ranks: &RankDifference) {
        self.first_changed += u64::from(ranks.first_changed);
        self.reordered += u64::from(ranks.reordered);
        self.only_wording += u64::from(ranks.only_wording);
        self.overlap_of_three.add(ranks.overlap_of_three);
        self.rank_biased_overlap.add(ranks.rank_biased_overlap);
        ranks.tau.into_iter().for_each(|tau| self.tau.add(tau));
        for (distribution, shifts) in self.shifts.iter_mut().zip(&ranks.shifts) {
            shifts.iter().for_each(|shift| distribution.add(*shift));
        }
        for OtherwiseDropped { codes, .. } in &ranks.newly_dropped {
            self.add_rules(codes, |rule| rule.newly_dropped += 1);
        }
        for OtherwiseDropped { codes, .. } in &ranks.newly_kept {
            self.add_rules(codes, |rule| rule.newly_kept += 1);
        }
        for OtherwiseDropped { codes, before } in &ranks.dropped_for_other_reasons {
            let differing = codes.iter().filter(|code| !before.contains(code));
            let differing: Vec<String> =
                differing.chain(before.iter().filter(|code| !codes.contains(code))).cloned().collect();
            self.add_rules(&differing, |rule| rule.other_reasons += 1);
        }
        if let (Judged::Ranked(before), Judged::Ranked(after)) = (&compared.before, &compared.after) {
            self.newly_empty += u64::from(!before.ranked.is_empty() && after.ranked.is_empty());
            if !ranks.only_wording {
                self.keep_if_worst(receipt, ranks.rank_biased_overlap, before, after);
            }
        }
    }

    fn add_rules(&mut self, codes: &[String], change: impl Fn(&mut RuleCounts)) {
        let none = [String::new()];
        for code in if codes.is_empty() { &none[..] } else { codes } {
            let is_known = self.rules.contains_key(code) || self.rules.len() < CODES_MAX;
            change(self.rules.entry(if is_known { code.clone() } else { OTHERS.to_owned() }).or_default());
        }
    }

    fn keep_if_worst(&mut self, receipt: &Receipt, overlap: f64, before: &Ranking, after: &Ranking) {
        if self.worst.len() == EXAMPLES && self.worst.last().is_some_and(|best| !is_worse((overlap, &receipt.id), best))
        {
            return;
        }
        self.worst.push(example(receipt, overlap, before, after));
        self.sort_worst();
    }

    fn sort_worst(&mut self) {
        self.worst.sort_by(|a, b| {
            a.rank_biased_overlap.total_cmp(&b.rank_biased_overlap).then_with(|| a.receipt.cmp(&b.receipt))
        });
        self.worst.truncate(EXAMPLES);
    }

    /// Adds what another one has counted.
    pub(crate) fn merge(&mut self, other: Self) {
        let earlier = [self.first_at, other.first_at].into_iter().flatten().min();
        let later = [self.last_at, other.last_at].into_iter().flatten().max();
        (self.first_at, self.last_at) = (earlier, later);
        self.receipts += other.receipts;
        self.options += other.options;
        self.same += other.same;
        self.different += other.different;
        self.requests_changed += other.requests_changed;
        self.first_changed += other.first_changed;
        self.reordered += other.reordered;
        self.only_wording += other.only_wording;
        self.newly_empty += other.newly_empty;
        for (counts, more) in [
            (&mut self.not_comparable, other.not_comparable),
            (&mut self.requests_refused, other.requests_refused),
            (&mut self.refused, other.refused),
            (&mut self.failed, other.failed),
        ] {
            more.into_iter().for_each(|(code, more)| *counts.entry(code).or_default() += more);
        }
        for (code, more) in other.rules {
            let counts = self.rules.entry(code).or_default();
            counts.newly_dropped += more.newly_dropped;
            counts.newly_kept += more.newly_kept;
            counts.other_reasons += more.other_reasons;
        }
        self.overlap_of_three.merge(&other.overlap_of_three);
        self.rank_biased_overlap.merge(&other.rank_biased_overlap);
        self.tau.merge(&other.tau);
        self.shifts.iter_mut().zip(&other.shifts).for_each(|(shifts, more)| shifts.merge(more));
        for (partner, (before, after)) in other.partners {
            let places = self.partners.entry(partner).or_default();
            *places = (places.0 + before, places.1 + after);
        }
        self.candidate_times.merge(&other.candidate_times);
        self.baseline_times.merge(&other.baseline_times);
        self.candidate_too_slow += other.candidate_too_slow;
        self.baseline_too_slow += other.baseline_too_slow;
        self.outside.merge(other.outside);
        self.worst.extend(other.worst);
        self.sort_worst();
    }

    /// What is told of it.
    #[must_use]
    pub fn report(&self, candidate: (&Descriptor, ComparedVersion), baseline: BaselineName) -> ComparisonReport {
        let (descriptor, candidate) = candidate;
        let total = |which: fn(&(u64, u64)) -> u64| self.partners.values().map(which).sum::<u64>();
        let (before, after) = (total(|places| places.0), total(|places| places.1));
        let share = |places: u64, of: u64| if of == 0 { 0.0 } else { places as f64 / of as f64 };
        let mut partners: Vec<PartnerShare> = self
            .partners
            .iter()
            .map(|(partner, (places_before, places_after))| PartnerShare {
                partner: partner.clone(),
                places_before: *places_before,
                places_after: *places_after,
                share_before: share(*places_before, before),
                share_after: share(*places_after, after),
            })
            .collect();
        let change = |partner: &PartnerShare| (partner.share_after - partner.share_before).abs();
        partners.sort_by(|a, b| change(b).total_cmp(&change(a)).then_with(|| a.partner.cmp(&b.partner)));
        let mut rules: Vec<RuleChange> = self
            .rules
            .iter()
            .map(|(code, RuleCounts { newly_dropped, newly_kept, other_reasons })| RuleChange {
                code: code.clone(),
                newly_dropped: *newly_dropped,
                newly_kept: *newly_kept,
                other_reasons: *other_reasons,
            })
            .collect();
        let weight = |rule: &RuleChange| rule.newly_dropped + rule.newly_kept + rule.other_reasons;
        rules.sort_by(|a, b| weight(b).cmp(&weight(a)).then_with(|| a.code.cmp(&b.code)));
        let scores = SCORES.iter().zip(&self.shifts).filter(|(_, shift)| shift.count > 0);
        ComparisonReport {
            intent: descriptor.intent.to_string(),
            candidate,
            baseline,
            first_at_ms: self.first_at,
            last_at_ms: self.last_at,
            receipts: self.receipts,
            options: self.options,
            same: self.same,
            different: self.different,
            not_comparable: counts(&self.not_comparable),
            requests_refused: counts(&self.requests_refused),
            requests_changed: self.requests_changed,
            refused: counts(&self.refused),
            failed: counts(&self.failed),
            first_changed: self.first_changed,
            reordered: self.reordered,
            only_wording: self.only_wording,
            newly_empty: self.newly_empty,
            rules,
            overlap_of_three: self.overlap_of_three.clone(),
            rank_biased_overlap: self.rank_biased_overlap.clone(),
            kendall_tau_b: self.tau.clone(),
            scores: scores
                .map(|(name, shift)| ScoreShift { score: (*name).to_owned(), shift: shift.clone() })
                .collect(),
            partners,
            candidate_times: times(&self.candidate_times, self.candidate_too_slow),
            baseline_times: (self.baseline_times.count > 0)
                .then(|| times(&self.baseline_times, self.baseline_too_slow)),
            budget: self.budget.as_ref().map(|budget| self.outside.report(budget)),
            worst: self.worst.clone(),
        }
    }
}

fn count(counts: &mut BTreeMap<String, u64>, code: &str) {
    let is_known = counts.contains_key(code) || counts.len() < CODES_MAX;
    *counts.entry(if is_known { code } else { OTHERS }.to_owned()).or_default() += 1;
}

/// The most frequent first.
fn counts(counts: &BTreeMap<String, u64>) -> Vec<CodeCount> {
    let mut counts: Vec<_> =
        counts.iter().map(|(code, count)| CodeCount { code: code.clone(), count: *count }).collect();
    counts.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.code.cmp(&b.code)));
    counts
}

fn times(times: &Times, too_slow: u64) -> CallTimes {
    CallTimes {
        calls: times.count,
        p50_us: times.percentile(50),
        p99_us: times.percentile(99),
        max_us: times.max_us,
        too_slow,
    }
}

fn partners_by_number(receipt: &Receipt) -> HashMap<u32, &str> {
    let mut partners = HashMap::new();
    for payload in &receipt.payloads {
        let partner = payload.partner.as_str();
        partners.extend(payload.candidates.iter().map(|candidate| (candidate.number, partner)));
    }
    partners
}

fn is_worse((overlap, receipt): (f64, &str), than: &Example) -> bool {
    let by_overlap = overlap.total_cmp(&than.rank_biased_overlap);
    by_overlap.then_with(|| receipt.cmp(&than.receipt)).is_lt()
}

/// The options of either ranking that come first, in the order of their better place.
fn example(receipt: &Receipt, overlap: f64, before: &Ranking, after: &Ranking) -> Example {
    let partners = partners_by_number(receipt);
    let places = |ranking: &Ranking| -> HashMap<u32, (usize, f64)> {
        (1..).zip(&ranking.ranked).map(|(place, score)| (score.number, (place, score.total))).collect()
    };
    let drops = |ranking: &Ranking| -> HashMap<u32, Vec<String>> {
        ranking.dropped.iter().map(|ReceiptDrop { number, codes, .. }| (*number, codes.clone())).collect()
    };
    let (old, new, old_drops, new_drops) = (places(before), places(after), drops(before), drops(after));
    let mut names: HashMap<u32, &str> = HashMap::new();
    let scored = before.ranked.iter().chain(&after.ranked);
    names.extend(scored.map(|ReceiptScore { number, id, .. }| (*number, id.as_str())));
    let mut numbers: Vec<u32> = names.keys().copied().collect();
    let place = |places: &HashMap<u32, (usize, f64)>, number: u32| places.get(&number).map(|(place, _)| *place);
    let best = |number: u32| {
        let (old, new) = (place(&old, number), place(&new, number));
        (old.unwrap_or(usize::MAX).min(new.unwrap_or(usize::MAX)), old.unwrap_or(usize::MAX))
    };
    numbers.sort_by_key(|number| best(*number));
    let row = |number: u32| ExampleRow {
        partner: partners.get(&number).copied().unwrap_or_default().to_owned(),
        option: names.get(&number).copied().unwrap_or_default().to_owned(),
        place_before: place(&old, number).map(|place| place as u64),
        place_after: place(&new, number).map(|place| place as u64),
        total_before: old.get(&number).map(|(_, total)| *total),
        total_after: new.get(&number).map(|(_, total)| *total),
        codes_before: old_drops.get(&number).cloned().unwrap_or_default(),
        codes_after: new_drops.get(&number).cloned().unwrap_or_default(),
    };
    Example {
        receipt: receipt.id.clone(),
        at_ms: receipt.at_ms,
        rank_biased_overlap: overlap,
        options: numbers.into_iter().take(EXAMPLE_ROWS).map(row).collect(),
    }
}
