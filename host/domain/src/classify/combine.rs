//! How several contracts' opinions of one utterance become one answer. The rules are in the parent's head.

use std::collections::{BTreeMap, BTreeSet};

use super::words::words;
use super::{CLAIM_THRESHOLD, Claim, Classified, Decision, Elsewhere};
use crate::contract::Classification;

/// From this score on a claim is as good as any other, if it is of another wish.
const SURE: f64 = 0.7;
/// Words that join one wish to another, in English and in Hindi as it is written in Latin letters.
const JOINING_WORDS: [&str; 11] =
    ["and", "also", "plus", "then", "aur", "bhi", "phir", "tatha", "saath", "alongside", "besides"];
/// Signs that do the same.
const JOINING_SIGNS: [char; 5] = [',', ';', '&', '+', '\n'];

/// What one contract said.
pub(super) struct Opinion {
    pub(super) intent: String,
    pub(super) version: String,
    pub(super) said: Classification,
}

/// Combines all opinions; `is_live` tells whether the gateway serves an intent. The order of the opinions
/// does not matter.
pub(super) fn combine(
    utterance: &str,
    mut opinions: Vec<Opinion>,
    failed: Vec<String>,
    is_live: impl Fn(&str) -> bool,
) -> Classified {
    opinions.sort_by(|a, b| a.intent.cmp(&b.intent));
    let referrals = Referrals::of(&opinions);
    let wishes = Wishes::of(utterance);
    let candidates = claims(&opinions, &referrals, &wishes);
    let elsewhere: Vec<Elsewhere> = referrals
        .best()
        .into_iter()
        .map(|(intent, (score, reason))| Elsewhere {
            live: is_live(intent),
            intent: intent.to_owned(),
            score,
            reason: reason.to_owned(),
        })
        .collect();
    let elsewhere = best_first(elsewhere, |pointer| (pointer.score, &pointer.intent));

    let (decision, intent) = match candidates.first() {
        Some(claim) => (Decision::Intent, Some(claim.intent.clone())),
        None => match elsewhere.iter().find(|pointer| referrals.holds(&pointer.intent, pointer.score)) {
            Some(pointer) => (Decision::Elsewhere, Some(pointer.intent.clone())),
            None => (Decision::None, None),
        },
    };
    let also = also(&wishes, &opinions, &candidates, &referrals);
    Classified { decision, intent, candidates, elsewhere, also, failed }
}

fn best_first<T>(mut all: Vec<T>, key: impl Fn(&T) -> (f64, &String)) -> Vec<T> {
    all.sort_by(|a, b| {
        let ((score_a, intent_a), (score_b, intent_b)) = (key(a), key(b));
        score_b.total_cmp(&score_a).then_with(|| intent_a.cmp(intent_b))
    });
    all
}

/// Who sends the utterance to whom, and how surely.
struct Referrals<'a>(BTreeMap<(&'a str, &'a str), (f64, &'a str)>);

impl<'a> Referrals<'a> {
    fn of(opinions: &'a [Opinion]) -> Self {
        let mut surest: BTreeMap<_, (f64, &str)> = BTreeMap::new();
        for opinion in opinions {
            // A contract that names itself says nothing.
            for pointer in opinion.said.elsewhere.iter().filter(|pointer| pointer.intent != opinion.intent) {
                let entry =
                    surest.entry((opinion.intent.as_str(), pointer.intent.as_str())).or_insert((0.0, &pointer.reason));
                if pointer.score > entry.0 {
                    *entry = (pointer.score, &pointer.reason);
                }
            }
        }
        Self(surest)
    }

    fn score(&self, from: &str, to: &str) -> f64 {
        let found = self.0.get(&(from, to)).map_or(0.0, |(score, _)| *score);
        if found >= CLAIM_THRESHOLD { found } else { 0.0 }
    }

    /// Whether one claimant gives way to another: it is surer that the utterance is the other's than the other is
    /// that it is its own.
    fn gives_way(&self, one: &str, other: &str) -> bool {
        self.score(one, other) > self.score(other, one)
    }

    /// Whether nobody but less sure contracts is referred to: a contract that itself refers the utterance on, at
    /// least as surely as it was referred to, does not take it.
    fn holds(&self, intent: &str, score: f64) -> bool {
        let referred_on = self.0.iter().any(|((from, _), (onward, _))| *from == intent && *onward >= score);
        score >= CLAIM_THRESHOLD && !referred_on
    }

    /// The surest referral to each intent.
    fn best(&self) -> BTreeMap<&'a str, (f64, &'a str)> {
        let mut best: BTreeMap<&str, (f64, &str)> = BTreeMap::new();
        for ((_, to), (score, reason)) in &self.0 {
            let entry = best.entry(to).or_insert((*score, reason));
            if *score > entry.0 {
                *entry = (*score, reason);
            }
        }
        best
    }
}

/// The claims, the one that decides first. Claimants that give way to another come last; where all give way in
/// a circle, nobody does.
fn claims(opinions: &[Opinion], referrals: &Referrals<'_>, wishes: &Wishes) -> Vec<Claim> {
    let claims = opinions.iter().filter(|opinion| opinion.said.score >= CLAIM_THRESHOLD).map(|opinion| Claim {
        intent: opinion.intent.clone(),
        version: opinion.version.clone(),
        score: opinion.said.score,
        evidence: opinion.said.evidence.clone(),
    });
    let claims = best_first(claims.collect(), |claim| (claim.score, &claim.intent));
    let gives_way = |one: &Claim| claims.iter().any(|other| referrals.gives_way(&one.intent, &other.intent));
    let (mut first, last): (Vec<Claim>, Vec<Claim>) = claims.iter().cloned().partition(|claim| !gives_way(claim));
    first.extend(last);
    if let Some(said_first) = first_wish(&first, referrals, wishes) {
        first[..=said_first].rotate_right(1);
    }
    first
}

/// The sure claim that is said first, where the best one is not the only wish: two wishes do not compete, so the
/// user's own order is the better one.
fn first_wish(claims: &[Claim], referrals: &Referrals<'_>, wishes: &Wishes) -> Option<usize> {
    let best = claims.first().filter(|best| best.score >= SURE)?;
    let others = claims.iter().enumerate().skip(1).filter(|(_, claim)| {
        claim.score >= SURE
            && !referrals.gives_way(&claim.intent, &best.intent)
            && wishes.are_apart(&claim.evidence, &best.evidence)
    });
    let earlier = others.filter_map(|(at, claim)| {
        let begins = wishes.begins(&claim.evidence, &best.evidence)?;
        (begins < wishes.begins(&best.evidence, &claim.evidence)?).then_some((begins, at))
    });
    earlier.min().map(|(_, at)| at)
}

/// The intents besides the one decided on: its own pairs, then the claims that are wishes of their own.
fn also(wishes: &Wishes, opinions: &[Opinion], claims: &[Claim], referrals: &Referrals<'_>) -> Vec<String> {
    let Some((decided, others)) = claims.split_first() else { return Vec::new() };
    let proposed = opinions.iter().find(|opinion| opinion.intent == decided.intent);
    let mut also: Vec<String> = proposed.map(|opinion| opinion.said.also.clone()).unwrap_or_default();
    let mut granted = vec![decided];
    for claim in others {
        let apart = granted.iter().all(|other| {
            !referrals.gives_way(&claim.intent, &other.intent) && wishes.are_apart(&claim.evidence, &other.evidence)
        });
        if apart {
            granted.push(claim);
            also.push(claim.intent.clone());
        }
    }
    let mut seen = BTreeSet::from([decided.intent.clone()]);
    also.retain(|intent| seen.insert(intent.clone()));
    also
}

/// The words of an utterance, divided where a word or a sign joins one wish to another.
struct Wishes(Vec<Vec<String>>);

impl Wishes {
    fn of(utterance: &str) -> Self {
        let lower = utterance.to_lowercase();
        let mut parts = Vec::new();
        for part in lower.split(JOINING_SIGNS) {
            parts.push(Vec::new());
            for word in words(part) {
                if JOINING_WORDS.contains(&word) {
                    parts.push(Vec::new());
                } else if let Some(last) = parts.last_mut() {
                    last.push(word.to_owned());
                }
            }
        }
        Self(parts)
    }

    /// Whether two claims rest on different words: on none in common, a word that is said twice being enough for
    /// both; or else on words of their own with a joint between them.
    fn are_apart(&self, one: &[String], other: &[String]) -> bool {
        let (one, other) = (evidence_words(one), evidence_words(other));
        if one.is_empty() || other.is_empty() {
            return false;
        }
        let times = |wanted: &str| self.0.iter().flatten().filter(|word| *word == wanted).count();
        if one.intersection(&other).all(|shared| times(shared) > 1) {
            return true;
        }
        let parts_with = |own: &BTreeSet<String>, not: &BTreeSet<String>| -> Vec<usize> {
            let own_word = |word: &String| own.contains(word) && !not.contains(word);
            (0..self.0.len()).filter(|part| self.0[*part].iter().any(own_word)).collect()
        };
        let (of_one, of_other) = (parts_with(&one, &other), parts_with(&other, &one));
        of_one.iter().any(|part| of_other.iter().any(|another| part != another))
    }

    /// Position of the first word that only this claim rests on.
    fn begins(&self, own: &[String], not: &[String]) -> Option<usize> {
        let (own, not) = (evidence_words(own), evidence_words(not));
        self.0.iter().flatten().position(|word| own.contains(word) && !not.contains(word))
    }
}

fn evidence_words(evidence: &[String]) -> BTreeSet<String> {
    evidence.iter().flat_map(|phrase| words(&phrase.to_lowercase()).map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::PointerElsewhere;

    const AC: &str = "auto.ac";
    const CAR: &str = "finance.car_insurance";
    const GYM: &str = "lifestyle.gym";
    const YOGA: &str = "lifestyle.yoga";

    fn opinion(intent: &str, score: f64, evidence: &[&str]) -> Opinion {
        let evidence = evidence.iter().map(ToString::to_string).collect();
        let said = Classification { score, evidence, elsewhere: Vec::new(), also: Vec::new() };
        Opinion { intent: intent.to_owned(), version: "1.0.0".to_owned(), said }
    }

    impl Opinion {
        fn points_to(mut self, intent: &str, score: f64) -> Self {
            let reason = format!("{} says so", self.intent);
            self.said.elsewhere.push(PointerElsewhere { intent: intent.to_owned(), score, reason });
            self
        }

        fn pairs_with(mut self, intent: &str) -> Self {
            self.said.also.push(intent.to_owned());
            self
        }
    }

    /// Combines the opinions in the given and in the opposite order.
    fn combine_opinions(utterance: &str, opinions: impl Fn() -> Vec<Opinion>) -> Classified {
        let live = |intent: &str| [AC, CAR, GYM, YOGA].contains(&intent);
        let found = combine(utterance, opinions(), Vec::new(), live);
        let backwards = combine(utterance, opinions().into_iter().rev().collect(), Vec::new(), live);
        assert_eq!(found, backwards);
        found
    }

    fn answer(found: &Classified) -> (Decision, Option<&str>, Vec<&str>) {
        (found.decision, found.intent.as_deref(), found.also.iter().map(String::as_str).collect())
    }

    #[test]
    fn nothing_is_claimed_below_the_threshold() {
        let found = combine_opinions("hm", || vec![opinion(AC, 0.49, &["hm"])]);
        assert_eq!(answer(&found), (Decision::None, None, vec![]));
        let found = combine_opinions("hm", || vec![opinion(AC, 0.5, &["hm"])]);
        assert_eq!(answer(&found), (Decision::Intent, Some(AC), vec![]));
    }

    #[test]
    fn two_claims_on_the_same_words_go_to_the_better_then_by_name() {
        let found =
            combine_opinions("yoga class", || vec![opinion(YOGA, 0.7, &["class"]), opinion(GYM, 0.8, &["class"])]);
        assert_eq!(answer(&found), (Decision::Intent, Some(GYM), vec![]));
        assert_eq!(found.candidates.len(), 2);
        let found =
            combine_opinions("yoga class", || vec![opinion(YOGA, 0.8, &["class"]), opinion(GYM, 0.8, &["class"])]);
        assert_eq!(answer(&found), (Decision::Intent, Some(GYM), vec![]));
    }

    #[test]
    fn claims_on_different_words_are_two_intents() {
        let found = combine_opinions("AC service, insurance", || {
            vec![opinion(CAR, 0.6, &["insurance"]), opinion(AC, 0.8, &["ac"])]
        });
        assert_eq!(answer(&found), (Decision::Intent, Some(AC), vec![CAR]));
    }

    #[test]
    fn of_two_sure_wishes_the_one_said_first_decides() {
        let claims = || vec![opinion(CAR, 0.7, &["car", "insurance"]), opinion(AC, 0.9, &["ac", "car"])];
        assert_eq!(answer(&combine_opinions("car insurance and ac", claims)), (Decision::Intent, Some(CAR), vec![AC]));
        assert_eq!(answer(&combine_opinions("ac and car insurance", claims)), (Decision::Intent, Some(AC), vec![CAR]));
        // Only the better one decides where one is less sure, or where both rest on the same words.
        let unsure = || vec![opinion(CAR, 0.69, &["insurance"]), opinion(AC, 0.9, &["ac"])];
        assert_eq!(answer(&combine_opinions("insurance and ac", unsure)), (Decision::Intent, Some(AC), vec![CAR]));
        assert_eq!(answer(&combine_opinions("insurance for the car ac", claims)), (Decision::Intent, Some(AC), vec![]));
        let giving_way = || vec![opinion(CAR, 0.8, &["insurance"]).points_to(AC, 0.9), opinion(AC, 0.9, &["ac"])];
        assert_eq!(answer(&combine_opinions("insurance and ac", giving_way)), (Decision::Intent, Some(AC), vec![]));
        let three =
            || vec![opinion(CAR, 0.8, &["insurance"]), opinion(AC, 0.9, &["ac"]), opinion(YOGA, 0.85, &["yoga"])];
        assert_eq!(answer(&combine_opinions("yoga, insurance, ac", three)).1, Some(YOGA));
    }

    #[test]
    fn a_word_said_twice_is_enough_for_two() {
        let claims = || vec![opinion(CAR, 0.6, &["car", "insurance"]), opinion(AC, 0.8, &["ac", "car"])];
        assert_eq!(answer(&combine_opinions("car ac or car insurance", claims)).2, [CAR]);
        assert!(answer(&combine_opinions("car ac or insurance", claims)).2.is_empty());
    }

    #[test]
    fn a_joint_between_words_of_their_own_parts_two_wishes() {
        let claims = || vec![opinion(CAR, 0.6, &["car", "insurance"]), opinion(AC, 0.8, &["ac", "car"])];
        for utterance in ["my car needs ac and insurance", "car ka ac aur insurance", "Car AC, INSURANCE"] {
            assert_eq!(answer(&combine_opinions(utterance, claims)).2, [CAR], "{utterance}");
        }
        // The joint has to lie between the two wishes.
        assert!(answer(&combine_opinions("please, ac insurance for the car and that", claims)).2.is_empty());
        // A claim without words of its own is not a wish of its own.
        let same = || vec![opinion(CAR, 0.6, &["car"]), opinion(AC, 0.8, &["ac", "car"])];
        assert!(answer(&combine_opinions("a car and its ac", same)).2.is_empty());
        let silent = || vec![opinion(CAR, 0.6, &[]), opinion(AC, 0.8, &["ac"])];
        assert!(answer(&combine_opinions("a car and its ac", silent)).2.is_empty());
    }

    #[test]
    fn a_third_wish_has_to_stand_apart_from_both_others() {
        let claims = || {
            vec![
                opinion(AC, 0.9, &["ac"]),
                opinion(YOGA, 0.8, &["yoga", "class"]),
                opinion(GYM, 0.7, &["class"]),
                opinion(CAR, 0.6, &["insurance"]),
            ]
        };
        assert_eq!(answer(&combine_opinions("ac, yoga class, insurance", claims)).2, [YOGA, CAR]);
    }

    #[test]
    fn a_claimant_that_points_to_another_gives_way_to_it() {
        let claims = || vec![opinion(YOGA, 0.9, &["yoga"]).points_to(GYM, 0.6), opinion(GYM, 0.55, &["gym"])];
        let found = combine_opinions("yoga, gym", claims);
        assert_eq!(answer(&found), (Decision::Intent, Some(GYM), vec![]));
        assert_eq!(found.candidates[1].intent, YOGA);
        assert!(found.elsewhere[0].live);
        // A pointer below the threshold says too little for that.
        let weak = || vec![opinion(YOGA, 0.9, &["yoga"]).points_to(GYM, 0.4), opinion(GYM, 0.55, &["gym"])];
        assert_eq!(answer(&combine_opinions("yoga, gym", weak)), (Decision::Intent, Some(YOGA), vec![GYM]));
    }

    #[test]
    fn of_two_that_point_to_each_other_the_less_sure_of_it_stays() {
        let claims =
            || vec![opinion(YOGA, 0.9, &["x"]).points_to(GYM, 0.8), opinion(GYM, 0.6, &["x"]).points_to(YOGA, 0.7)];
        assert_eq!(combine_opinions("x", claims).intent.as_deref(), Some(GYM));
        let even =
            || vec![opinion(YOGA, 0.9, &["x"]).points_to(GYM, 0.7), opinion(GYM, 0.6, &["x"]).points_to(YOGA, 0.7)];
        assert_eq!(combine_opinions("x", even).intent.as_deref(), Some(YOGA));
    }

    #[test]
    fn where_all_give_way_in_a_circle_the_best_score_decides() {
        let claims = || {
            vec![
                opinion(AC, 0.6, &["x"]).points_to(CAR, 0.9),
                opinion(CAR, 0.7, &["x"]).points_to(GYM, 0.9),
                opinion(GYM, 0.65, &["x"]).points_to(AC, 0.9),
            ]
        };
        assert_eq!(answer(&combine_opinions("x", claims)), (Decision::Intent, Some(CAR), vec![]));
    }

    #[test]
    fn a_claim_outweighs_any_pointer_to_an_intent_that_does_not_claim() {
        let found =
            combine_opinions("x", || vec![opinion(AC, 0.5, &["x"]), opinion(CAR, 0.1, &[]).points_to("a.b", 0.9)]);
        assert_eq!(answer(&found), (Decision::Intent, Some(AC), vec![]));
        assert_eq!(found.elsewhere[0].intent, "a.b");
    }

    #[test]
    fn without_a_claim_the_surest_pointer_names_the_intent() {
        let found = combine_opinions("x", || {
            vec![
                opinion(AC, 0.1, &[]).points_to("a.b", 0.6).points_to("a.c", 0.7),
                opinion(CAR, 0.0, &[]).points_to("a.b", 0.9).points_to("a.b", 0.2),
            ]
        });
        assert_eq!(answer(&found), (Decision::Elsewhere, Some("a.b"), vec![]));
        let named: Vec<_> = found.elsewhere.iter().map(|one| (one.intent.as_str(), one.score, one.live)).collect();
        assert_eq!(named, [("a.b", 0.9, false), ("a.c", 0.7, false)]);
        assert_eq!(found.elsewhere[0].reason, "finance.car_insurance says so");
    }

    #[test]
    fn a_pointer_below_the_threshold_is_shown_and_decides_nothing() {
        let found = combine_opinions("x", || vec![opinion(AC, 0.1, &[]).points_to("a.b", 0.4)]);
        assert_eq!(answer(&found), (Decision::None, None, vec![]));
        assert_eq!(found.elsewhere.len(), 1);
        let found = combine_opinions("x", || vec![opinion(AC, 0.1, &[]).points_to(AC, 0.9)]);
        assert_eq!((found.decision, found.elsewhere.len()), (Decision::None, 0));
    }

    #[test]
    fn a_contract_that_refers_on_as_surely_is_passed_over() {
        let on = || vec![opinion(YOGA, 0.1, &[]).points_to(GYM, 0.8), opinion(GYM, 0.2, &[]).points_to("a.b", 0.8)];
        assert_eq!(combine_opinions("x", on).intent.as_deref(), Some("a.b"));
        let less_sure =
            || vec![opinion(YOGA, 0.1, &[]).points_to(GYM, 0.9), opinion(GYM, 0.2, &[]).points_to("a.b", 0.8)];
        assert_eq!(combine_opinions("x", less_sure).intent.as_deref(), Some(GYM));
        // Two that are equally sure that it is the other's leave it to nobody.
        let to_each_other =
            || vec![opinion(YOGA, 0.1, &[]).points_to(GYM, 0.9), opinion(GYM, 0.2, &[]).points_to(YOGA, 0.9)];
        assert_eq!(answer(&combine_opinions("x", to_each_other)), (Decision::None, None, vec![]));
    }

    #[test]
    fn pairs_of_the_decided_contract_come_first_and_nothing_is_named_twice() {
        let claims = || {
            vec![
                opinion(AC, 0.9, &["ac"]).pairs_with("auto.tyres").pairs_with(CAR),
                opinion(CAR, 0.8, &["insurance"]).pairs_with("auto.puc").pairs_with(AC),
                opinion(YOGA, 0.7, &["yoga"]),
            ]
        };
        let found = combine_opinions("ac, insurance, yoga", claims);
        assert_eq!(answer(&found).2, ["auto.tyres", CAR, YOGA]);
        let unclaimed = combine_opinions("puc", || vec![opinion(CAR, 0.3, &[]).pairs_with("auto.puc")]);
        assert!(unclaimed.also.is_empty());
    }
}
