//! A ranking as another version of its intent makes it, beside the one that was shown: which option moves, and which score moves it.

use std::collections::BTreeMap;

use intent_gateway_api::evidence::RankingUnder;
use intent_gateway_domain::receipt::{Receipt, ReceiptDrop, ReceiptScore};

use super::compare::with_sign;
use super::weights::Weights;
use crate::view::{AxisBar, Chip, Tone, share};

/// The two rankings, option by option.
pub(super) struct Under {
    pub(super) version: String,
    pub(super) digest: String,
    /// What the two come to, in a sentence.
    pub(super) sentence: String,
    /// In the order of the other version; what it does not show comes last.
    pub(super) rows: Vec<Moved>,
    /// Whether the differences by score are those of the totals. They are of the scores alone where no weights explain both rankings.
    pub(super) is_weighed: bool,
}

/// One option under both.
pub(super) struct Moved {
    pub(super) number: u32,
    pub(super) id: String,
    /// From where to where it went.
    pub(super) movement: Chip,
    /// Why it is taken out now, or was taken out then.
    pub(super) codes: Vec<String>,
    /// Totals, as shown and under the other version; empty where it was or is not ranked.
    pub(super) was: String,
    pub(super) is: String,
    pub(super) difference: String,
    /// By axis, and of completeness: by how much it counts more under the other version.
    pub(super) parts: Vec<String>,
    pub(super) bar: Option<AxisBar>,
}

impl Under {
    /// `weights` are those of the ranking that was shown, where they are known; `of_other` makes those of the other version.
    pub(super) fn of(
        receipt: &Receipt,
        other: &RankingUnder,
        weights: Option<&Weights>,
        of_other: impl FnOnce(&[ReceiptScore]) -> Weights,
    ) -> Self {
        let shown = places(&receipt.ranked, &receipt.dropped);
        let now = places(&other.ranked, &other.dropped);
        let of_other = of_other(&other.ranked);
        let both = weights.filter(|weights| weights.fit && of_other.fit).map(|weights| (weights, &of_other));
        let mut rows = Vec::new();
        for (place, score) in &now.ranked {
            let (was, codes) = (shown.find(score.number), shown.codes_of(score.number));
            rows.push(Moved::of(score, was, Some((*place, score)), codes, both, &of_other));
        }
        for (place, score) in shown.ranked.iter().filter(|(_, score)| now.find(score.number).is_none()) {
            let codes = now.codes_of(score.number);
            rows.push(Moved::of(score, Some((*place, score)), None, codes, both, &of_other));
        }
        Self {
            version: other.contract.version.to_string(),
            digest: other.contract.digest.to_string(),
            sentence: tell(&shown, &now),
            rows,
            is_weighed: both.is_some(),
        }
    }
}

impl Moved {
    fn of(
        score: &ReceiptScore,
        was: Option<(usize, &ReceiptScore)>,
        is: Option<(usize, &ReceiptScore)>,
        codes: Vec<String>,
        both: Option<(&Weights, &Weights)>,
        of_other: &Weights,
    ) -> Self {
        let total = |one: Option<(usize, &ReceiptScore)>| one.map_or_else(String::new, |(_, score)| share(score.total));
        let movement = match (was, is) {
            (Some((was, _)), Some((is, _))) if was == is => Chip::new(Tone::Idle, format!("stays {}", ordinal(is))),
            (Some((was, _)), Some((is, _))) if is < was => {
                Chip::new(Tone::Good, format!("was {}, is {}", ordinal(was), ordinal(is)))
            }
            (Some((was, _)), Some((is, _))) => {
                Chip::new(Tone::Care, format!("was {}, is {}", ordinal(was), ordinal(is)))
            }
            (None, Some((is, _))) => Chip::new(Tone::Good, format!("was not shown, is {}", ordinal(is))),
            (Some((was, _)), None) => Chip::new(Tone::Bad, format!("was {}, is not shown", ordinal(was))),
            (None, None) => Chip::new(Tone::Idle, "is not shown"),
        };
        let (difference, parts) = match (was, is) {
            (Some((_, was)), Some((_, is))) => (with_sign(is.total - was.total), find_parts(was, is, both)),
            _ => (String::new(), vec![String::new(); 5]),
        };
        Self {
            number: score.number,
            id: score.id.clone(),
            movement,
            codes,
            was: total(was),
            is: total(is),
            difference,
            parts,
            bar: is.map(|(_, score)| AxisBar::new(score.axes, of_other.axes)),
        }
    }
}

/// By how much each score counts more under the other version: weight times score of it, less weight times score of the one that was
/// shown; without weights, by how much the score itself is higher.
fn find_parts(was: &ReceiptScore, is: &ReceiptScore, both: Option<(&Weights, &Weights)>) -> Vec<String> {
    let scores = |score: &ReceiptScore| {
        let [time, taste, budget, safety] = score.axes.values();
        [time, taste, budget, safety, score.completeness]
    };
    let weigh = |weights: &Weights| {
        let [time, taste, budget, safety] = weights.axes.values();
        [time, taste, budget, safety, weights.completeness]
    };
    let (before, after) = both.map_or(([1.0; 5], [1.0; 5]), |(before, after)| (weigh(before), weigh(after)));
    let was = scores(was).into_iter().zip(before).map(|(score, weight)| score * weight);
    let is = scores(is).into_iter().zip(after).map(|(score, weight)| score * weight);
    was.zip(is).map(|(was, is)| with_sign(is - was)).collect()
}

/// An outcome by its places.
struct Places<'a> {
    /// With their places, from 1.
    ranked: Vec<(usize, &'a ReceiptScore)>,
    by_number: BTreeMap<u32, (usize, &'a ReceiptScore)>,
    dropped: &'a [ReceiptDrop],
}

/// What an earlier snapshot of a streamed search had shown stands among the ranked as well, though the last ranking takes it out.
fn places<'a>(ranked: &'a [ReceiptScore], dropped: &'a [ReceiptDrop]) -> Places<'a> {
    let is_kept = |score: &&ReceiptScore| !dropped.iter().any(|drop| drop.number == score.number);
    let ranked: Vec<_> = (1..).zip(ranked.iter().filter(is_kept)).collect();
    let by_number = ranked.iter().map(|(place, score)| (score.number, (*place, *score))).collect();
    Places { ranked, by_number, dropped }
}

impl<'a> Places<'a> {
    fn find(&self, number: u32) -> Option<(usize, &'a ReceiptScore)> {
        self.by_number.get(&number).copied()
    }

    fn codes_of(&self, number: u32) -> Vec<String> {
        let drop = self.dropped.iter().find(|drop| drop.number == number);
        drop.map(|drop| drop.codes.clone()).unwrap_or_default()
    }
}

/// What the two come to.
fn tell(shown: &Places<'_>, now: &Places<'_>) -> String {
    let moved =
        now.ranked.iter().filter(|(place, score)| shown.find(score.number).is_some_and(|(was, _)| was != *place));
    let added = now.ranked.iter().filter(|(_, score)| shown.find(score.number).is_none()).count();
    let gone = shown.ranked.iter().filter(|(_, score)| now.find(score.number).is_none()).count();
    let first = |places: &Places<'_>| places.ranked.first().map(|(_, score)| score.number);
    let moved = moved.count();
    let order = match (moved, first(shown) == first(now)) {
        (0, _) if added + gone == 0 => return "Every option stays in its place.".to_owned(),
        (0, true) => "What both show stays in its place".to_owned(),
        (moved, true) => format!("The first stays first; {} of another place", options(moved, "is", "are")),
        (moved, false) => format!("Another option is first; {} of another place", options(moved, "is", "are")),
    };
    let mut parts = vec![order];
    if added > 0 {
        parts.push(format!("{} shown that was not", options(added, "is", "are")));
    }
    if gone > 0 {
        parts.push(format!("{} not shown any more", options(gone, "is", "are")));
    }
    format!("{}.", parts.join("; "))
}

fn options(count: usize, one: &str, many: &str) -> String {
    match count {
        1 => format!("one option {one}"),
        count => format!("{count} options {many}"),
    }
}

/// A place in words: 1st, 2nd, 3rd, 4th, 11th.
fn ordinal(place: usize) -> String {
    let ending = match (place % 100, place % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{place}{ending}")
}

#[cfg(test)]
mod tests {
    use intent_gateway_domain::contract::Axes;

    use super::*;

    const EVEN: Axes = Axes { time: 0.25, taste: 0.25, budget: 0.25, safety: 0.25 };

    fn score(number: u32, time: f64, total: f64) -> ReceiptScore {
        let axes = Axes { time, taste: 0.5, budget: 0.5, safety: 0.5 };
        ReceiptScore { number, id: format!("option-{number}"), total, axes, completeness: 1.0 }
    }

    fn dropped(number: u32) -> ReceiptDrop {
        ReceiptDrop { number, strike: false, codes: vec!["TOO_DEAR".to_owned()] }
    }

    #[test]
    fn places_are_written_as_people_say_them() {
        let written: Vec<_> = [1, 2, 3, 4, 11, 12, 13, 21, 102, 111].into_iter().map(ordinal).collect();
        assert_eq!(written, ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th"]);
    }

    #[test]
    fn movements_are_told_in_a_sentence() {
        let (a, b, c) = (score(0, 1.0, 0.9), score(1, 0.5, 0.8), score(2, 0.0, 0.7));
        let of = |before: (&[ReceiptScore], &[ReceiptDrop]), after: (&[ReceiptScore], &[ReceiptDrop])| {
            tell(&places(before.0, before.1), &places(after.0, after.1))
        };
        let all = [a.clone(), b.clone(), c.clone()];
        assert_eq!(of((&all, &[]), (&all, &[])), "Every option stays in its place.");
        let turned = [b.clone(), a.clone()];
        assert_eq!(
            of((&all, &[]), (&turned, &[dropped(2)])),
            "Another option is first; 2 options are of another place; one option is not shown any more."
        );
        assert_eq!(
            of((&all[..2], &[dropped(2)]), (&all, &[])),
            "What both show stays in its place; one option is shown that was not."
        );
        // A streamed search had shown it before it was taken out.
        assert_eq!(of((&all, &[dropped(2)]), (&all[..2], &[dropped(2)])), "Every option stays in its place.");
    }

    #[test]
    fn a_part_is_what_counts_more() {
        let (was, is) = (score(0, 0.5, 0.5), score(0, 1.0, 0.6));
        assert_eq!(find_parts(&was, &is, None)[0], "+0.500");
        let before = Weights { axes: EVEN, completeness: 0.1, fit: true };
        let after = Weights { axes: Axes { time: 0.125, ..EVEN }, completeness: 0.2, fit: true };
        let parts = find_parts(&was, &is, Some((&before, &after)));
        assert_eq!(parts, ["0.000", "0.000", "0.000", "0.000", "+0.100"]);
    }
}
