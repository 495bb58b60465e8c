//! How alike two rankings are. All of it is pure arithmetic over lists of options, best first, none of them twice.

use std::collections::HashSet;
use std::hash::Hash;

/// How much of the first places of two rankings is the same, in any order: 1 where all is, 0 where nothing is. Both shorter than
/// `depth` counts as what they have; two that are empty are the same.
#[must_use]
pub fn overlap<T: Eq + Hash>(left: &[T], right: &[T], depth: usize) -> f64 {
    let left = &left[..left.len().min(depth)];
    let right = &right[..right.len().min(depth)];
    let longer = left.len().max(right.len());
    if longer == 0 {
        return 1.0;
    }
    let known: HashSet<&T> = left.iter().collect();
    let shared = right.iter().filter(|one| known.contains(one)).count();
    shared as f64 / longer as f64
}

/// Rank-biased overlap, extrapolated to the end of two rankings of unequal length (Webber, Moffat and Zobel 2010, equation 32): 1
/// where they are the same, 0 where they share nothing. A reader goes on from each place to the next with the probability `p`, so
/// the first places count most.
#[must_use]
pub fn rank_biased_overlap<T: Eq + Hash>(left: &[T], right: &[T], p: f64) -> f64 {
    let (shorter, longer) = if left.len() <= right.len() { (left, right) } else { (right, left) };
    let (s, l) = (shorter.len(), longer.len());
    if l == 0 {
        return 1.0;
    }
    if s == 0 {
        return 0.0;
    }
    let (mut in_shorter, mut in_longer) = (HashSet::new(), HashSet::new());
    let (mut shared, mut shared_at_s, mut sum, mut weight) = (0.0_f64, 0.0_f64, 0.0_f64, 1.0_f64);
    for depth in 1..=l {
        weight *= p;
        let next = &longer[depth - 1];
        in_longer.insert(next);
        match shorter.get(depth - 1) {
            Some(other) => {
                in_shorter.insert(other);
                if next == other {
                    shared += 1.0;
                } else {
                    shared += f64::from(u8::from(in_shorter.contains(next)));
                    shared += f64::from(u8::from(in_longer.contains(other)));
                }
                shared_at_s = shared;
            }
            None => shared += f64::from(u8::from(in_shorter.contains(next))),
        }
        let d = depth as f64;
        sum += shared / d * weight;
        if depth > s {
            sum += shared_at_s * (d - s as f64) / (s as f64 * d) * weight;
        }
    }
    let rest = ((shared - shared_at_s) / l as f64 + shared_at_s / s as f64) * weight;
    ((1.0 - p) / p).mul_add(sum, rest).clamp(0.0, 1.0)
}

/// Kendall's tau-b between two scores of the same options: 1 where they put all pairs in the same order, -1 where in the opposite
/// one. None where there are fewer than two options, or a score is the same for all, for then there is no order.
#[must_use]
pub fn kendall_tau_b(scores: &[(f64, f64)]) -> Option<f64> {
    let (mut agree, mut only_left_tied, mut only_right_tied, mut both_tied, mut disagree) =
        (0_u64, 0_u64, 0_u64, 0_u64, 0_u64);
    for (at, (left, right)) in scores.iter().enumerate() {
        for (other_left, other_right) in &scores[at + 1..] {
            let (left, right) = (left.total_cmp(other_left), right.total_cmp(other_right));
            match (left.is_eq(), right.is_eq()) {
                (true, true) => both_tied += 1,
                (true, false) => only_left_tied += 1,
                (false, true) => only_right_tied += 1,
                (false, false) if left == right => agree += 1,
                (false, false) => disagree += 1,
            }
        }
    }
    let pairs = agree + disagree + only_left_tied + only_right_tied + both_tied;
    let untied_left = pairs - only_left_tied - both_tied;
    let untied_right = pairs - only_right_tied - both_tied;
    if untied_left == 0 || untied_right == 0 {
        return None;
    }
    let difference = agree as f64 - disagree as f64;
    Some(difference / ((untied_left as f64).sqrt() * (untied_right as f64).sqrt()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    #[test]
    fn the_first_three_are_compared_as_a_set() {
        near(overlap(&[1, 2, 3, 4], &[3, 2, 1, 9], 3), 1.0);
        near(overlap(&[1, 2, 3, 4], &[4, 1, 9], 3), 1.0 / 3.0);
        near(overlap(&[1, 2], &[2], 3), 0.5);
        near(overlap::<u8>(&[], &[], 3), 1.0);
        near(overlap(&[], &[1], 3), 0.0);
    }

    #[test]
    fn rank_biased_overlap_follows_its_definition() {
        // By hand: agreement 1, 1/2, 2/3 at depths 1 to 3, and the last one carried on.
        let p = 0.9_f64;
        let by_hand = (1.0 - p) / p * (p + p * p / 2.0 + p.powi(3) * 2.0 / 3.0) + 2.0 / 3.0 * p.powi(3);
        near(rank_biased_overlap(&[1, 2, 3], &[1, 3, 4], p), by_hand);
        // Uneven: [1] against [1, 2]; X_1 = X_2 = 1, s = 1, l = 2.
        let uneven = (1.0 - p) / p * ((p + p * p / 2.0) + (1.0 / 2.0) * p * p) + p * p;
        near(rank_biased_overlap(&[1], &[1, 2], p), uneven);
        near(uneven, 1.0);
        near(rank_biased_overlap(&[2], &[1, 2], p), (1.0 - p) / p * (p * p / 2.0) + p * p / 2.0);
        near(rank_biased_overlap::<u8>(&[], &[], p), 1.0);
        near(rank_biased_overlap(&[], &[1], p), 0.0);
        near(rank_biased_overlap(&[1, 2], &[3, 4], p), 0.0);
        let (first, last) = (
            rank_biased_overlap(&[2, 1, 3, 4], &[1, 2, 3, 4], p),
            rank_biased_overlap(&[1, 2, 4, 3], &[1, 2, 3, 4], p),
        );
        assert!(first < last && last < 1.0, "the first places count most: {first} {last}");
    }

    #[test]
    fn tau_b_takes_ties_into_account() {
        near(kendall_tau_b(&[(1.0, 10.0), (2.0, 20.0), (3.0, 30.0)]).expect("an order"), 1.0);
        near(kendall_tau_b(&[(1.0, 30.0), (2.0, 20.0), (3.0, 10.0)]).expect("an order"), -1.0);
        // Two agree, one is tied on the left: (2 - 0) / sqrt(2 * 3).
        near(kendall_tau_b(&[(1.0, 1.0), (1.0, 2.0), (2.0, 3.0)]).expect("an order"), 2.0 / 6.0_f64.sqrt());
        assert_eq!(kendall_tau_b(&[(1.0, 1.0)]), None);
        assert_eq!(kendall_tau_b(&[(1.0, 1.0), (1.0, 2.0)]), None, "one side has no order");
    }

    proptest! {
        #[test]
        fn a_ranking_is_like_itself_and_all_is_within_bounds(
            left in proptest::collection::hash_set(0_u8..40, 0..20),
            right in proptest::collection::hash_set(0_u8..40, 0..20),
        ) {
            let (left, right): (Vec<u8>, Vec<u8>) = (left.into_iter().collect(), right.into_iter().collect());
            let rbo = rank_biased_overlap(&left, &right, 0.9);
            prop_assert!((0.0..=1.0).contains(&rbo));
            prop_assert!((rbo - rank_biased_overlap(&right, &left, 0.9)).abs() < 1e-12, "it has no direction");
            prop_assert!((rank_biased_overlap(&left, &left, 0.9) - 1.0).abs() < 1e-9);
            prop_assert!((0.0..=1.0).contains(&overlap(&left, &right, 3)));
            let scores: Vec<(f64, f64)> = left.iter().zip(&right).map(|(a, b)| (f64::from(*a), f64::from(*b))).collect();
            if let Some(tau) = kendall_tau_b(&scores) {
                prop_assert!((-1.0 - 1e-9..=1.0 + 1e-9).contains(&tau));
            }
        }
    }
}
