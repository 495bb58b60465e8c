//! Why one option stood above another: what each score adds to both totals, and which one made most of the difference.

use intent_gateway_domain::receipt::ReceiptScore;

use super::weights::{AXES, Weights};
use crate::view::share;

/// Less than this is shown as nothing.
const SHOWN_MIN: f64 = 0.000_5;

/// One of the two.
pub(super) struct Side<'a> {
    /// As a sentence begins with it.
    pub(super) name: String,
    /// Its place in the ranking, from 0.
    pub(super) place: usize,
    pub(super) score: &'a ReceiptScore,
}

/// One score of both.
pub(super) struct Term {
    pub(super) name: &'static str,
    weight: Option<f64>,
    first: f64,
    second: f64,
}

impl Term {
    pub(super) fn weight(&self) -> String {
        self.weight.map_or_else(|| "not known".to_owned(), share)
    }

    pub(super) fn first(&self) -> String {
        share(self.first)
    }

    pub(super) fn second(&self) -> String {
        share(self.second)
    }

    pub(super) fn first_part(&self) -> String {
        self.weight.map_or_else(String::new, |weight| share(weight * self.first))
    }

    pub(super) fn second_part(&self) -> String {
        self.weight.map_or_else(String::new, |weight| share(weight * self.second))
    }

    pub(super) fn difference(&self) -> String {
        self.lead().map_or_else(String::new, with_sign)
    }

    /// How much more it adds to the first total than to the second.
    fn lead(&self) -> Option<f64> {
        self.weight.map(|weight| weight * (self.first - self.second))
    }
}

/// Two options beside each other.
pub(super) struct Comparison {
    pub(super) sentence: String,
    pub(super) terms: Vec<Term>,
    totals: [f64; 2],
}

impl Comparison {
    pub(super) fn first_total(&self) -> String {
        share(self.totals[0])
    }

    pub(super) fn second_total(&self) -> String {
        share(self.totals[1])
    }

    pub(super) fn difference(&self) -> String {
        with_sign(self.totals[0] - self.totals[1])
    }

    /// What of the difference no score explains; none where they explain it.
    pub(super) fn rest(&self) -> Option<String> {
        let explained: Option<f64> = self.terms.iter().map(Term::lead).sum();
        let rest = self.totals[0] - self.totals[1] - explained?;
        (rest.abs() >= SHOWN_MIN).then(|| with_sign(rest))
    }
}

/// Compares two options of a ranking; without weights, their scores alone.
pub(super) fn compare(first: &Side<'_>, second: &Side<'_>, weights: Option<&Weights>) -> Comparison {
    let values = |side: &Side<'_>| side.score.axes.values();
    let (of_first, of_second) = (values(first), values(second));
    let of_axes = weights.map(|weights| weights.axes.values());
    let axes = AXES.iter().enumerate().map(|(place, (_, name))| Term {
        name,
        weight: of_axes.map(|weights| weights[place]),
        first: of_first[place],
        second: of_second[place],
    });
    let completeness = Term {
        name: "completeness",
        weight: weights.map(|weights| weights.completeness),
        first: first.score.completeness,
        second: second.score.completeness,
    };
    let terms: Vec<Term> = axes.chain([completeness]).collect();
    // Weights that do not make the totals cannot say what made their difference.
    let telling = if weights.is_some_and(|weights| weights.fit) { terms.as_slice() } else { &[] };
    Comparison { sentence: tell(first, second, telling), terms, totals: [first.score.total, second.score.total] }
}

/// The difference in words, of the one above to the one below.
fn tell(first: &Side<'_>, second: &Side<'_>, terms: &[Term]) -> String {
    let is_first_above = first.place < second.place;
    let (above, below) = if is_first_above { (first, second) } else { (second, first) };
    let lead = above.score.total - below.score.total;
    let names = format!("{} stands above {}", above.name, lower_first(&below.name));
    if lead < 0.0 {
        return format!(
            "{names}, though its total is less by {}: only an earlier answer of the search showed the other.",
            share(-lead)
        );
    }
    if lead < SHOWN_MIN {
        let why = if lead == 0.0 { "are equal; a hash of the request decided" } else { "differ by less than 0.001" };
        return format!("{names}, though their totals {why}.");
    }
    let signed_up = |parted: f64| if is_first_above { parted } else { -parted };
    let parted = terms.iter().filter_map(|term| Some((term.name, signed_up(term.lead()?))));
    let by = format!("{names} by {}", share(lead));
    match parted.clone().max_by(|(_, one), (_, other)| one.total_cmp(other)) {
        Some((name, most)) if most >= SHOWN_MIN => {
            let part = if most * 2.0 >= lead { "most of it" } else { "the largest part of it" };
            let against =
                parted.min_by(|(_, one), (_, other)| one.total_cmp(other)).filter(|(_, least)| *least <= -SHOWN_MIN);
            let against = against
                .map_or_else(String::new, |(name, least)| format!(" Against it: {name} ({}).", with_sign(least)));
            format!("{by}, {part} by {name} ({}).{against}", with_sign(most))
        }
        _ => format!("{by}."),
    }
}

/// In the middle of a sentence.
fn lower_first(name: &str) -> String {
    name.strip_prefix("Option").map_or_else(|| name.to_owned(), |rest| format!("option{rest}"))
}

/// A difference, with its sign.
pub(super) fn with_sign(value: f64) -> String {
    match value {
        _ if value.abs() < SHOWN_MIN => share(0.0),
        _ if value < 0.0 => format!("\u{2212}{}", share(-value)),
        _ => format!("+{}", share(value)),
    }
}

#[cfg(test)]
mod tests {
    use intent_gateway_domain::contract::Axes;

    use super::*;

    const WEIGHTS: Weights =
        Weights { axes: Axes { time: 0.4, taste: 0.2, budget: 0.2, safety: 0.1 }, completeness: 0.1, fit: true };

    fn score(id: &str, time: f64, budget: f64) -> ReceiptScore {
        let axes = Axes { time, taste: 0.5, budget, safety: 0.5 };
        let total = 0.4 * time + 0.1 + 0.2 * budget + 0.05 + 0.1;
        ReceiptScore { number: 0, id: id.to_owned(), total, axes, completeness: 1.0 }
    }

    fn sentence(first: (&ReceiptScore, usize), second: (&ReceiptScore, usize), weights: Option<&Weights>) -> String {
        let side = |(score, place): (&'_ ReceiptScore, usize)| (format!("Option {}", score.id), place);
        let ((name, place), (other, behind)) = (side(first), side(second));
        let first = Side { name, place, score: first.0 };
        let second = Side { name: other, place: behind, score: second.0 };
        compare(&first, &second, weights).sentence
    }

    #[test]
    fn the_greatest_part_is_named() {
        let (a, b) = (score("A", 0.5, 0.4), score("B", 0.4, 0.5));
        let expected =
            "Option A stands above option B by 0.020, most of it by time (+0.040). Against it: budget (\u{2212}0.020).";
        assert_eq!(sentence((&a, 0), (&b, 1), Some(&WEIGHTS)), expected);
        // The same whichever is chosen first.
        assert_eq!(sentence((&b, 1), (&a, 0), Some(&WEIGHTS)), expected);
        assert_eq!(sentence((&a, 0), (&b, 1), None), "Option A stands above option B by 0.020.");
        let equal = sentence((&a, 0), (&a, 1), Some(&WEIGHTS));
        assert!(equal.ends_with("are equal; a hash of the request decided."), "{equal}");
        let late = sentence((&b, 0), (&a, 1), Some(&WEIGHTS));
        assert!(late.starts_with("Option B stands above option A, though its total is less by 0.020"), "{late}");
    }

    #[test]
    fn what_weights_do_not_explain_is_said() {
        let (a, b) = (score("A", 0.5, 0.5), score("B", 0.4, 0.5));
        let higher = ReceiptScore { total: a.total + 0.25, ..a.clone() };
        let side = |score| Side { name: String::new(), place: 0, score };
        assert_eq!(compare(&side(&a), &side(&b), Some(&WEIGHTS)).rest(), None);
        assert_eq!(compare(&side(&higher), &side(&b), Some(&WEIGHTS)).rest().as_deref(), Some("+0.250"));
        assert_eq!(compare(&side(&higher), &side(&b), None).rest(), None);
        assert_eq!([with_sign(0.031), with_sign(-0.031), with_sign(-0.000_1)], ["+0.031", "\u{2212}0.031", "0.000"]);
    }
}
