//! Holders that come and go in any order: what always holds of the slots, over thousands of courses.

use proptest::prelude::*;

use super::{FairSlot, FairSlots, TIMES_FREE};

/// Holders of a course.
const HOLDERS: usize = 6;

/// What a holder does.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Takes so many, as far as it gets them.
    Take(usize),
    /// Gives so many back.
    GiveBack(usize),
}

fn step() -> impl Strategy<Value = (usize, Step)> {
    let count = prop_oneof![4 => 1_usize..4, 1 => Just(1_000_usize)];
    (0..HOLDERS, prop_oneof![3 => count.clone().prop_map(Step::Take), 2 => count.prop_map(Step::GiveBack)])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn no_holder_has_more_than_its_share_and_none_without_a_slot_is_refused_one_that_is_free(
        total in 0_usize..200,
        steps in prop::collection::vec(step(), 1..80),
    ) {
        let slots = FairSlots::new(total);
        let mut held: [Vec<FairSlot<'_, usize>>; HOLDERS] = Default::default();
        for (holder, step) in steps {
            match step {
                Step::GiveBack(count) => {
                    let rest = held[holder].len().saturating_sub(count);
                    held[holder].truncate(rest);
                }
                Step::Take(count) => {
                    for _ in 0..count {
                        let all: usize = held.iter().map(Vec::len).sum();
                        let (own, free) = (held[holder].len(), total - all);
                        let Some(slot) = slots.try_take(&holder) else {
                            prop_assert!(own > 0 || free == 0, "a newcomer was refused, and {free} were free");
                            prop_assert!(own >= free * TIMES_FREE, "refused below its share: {own} of its own, {free} free");
                            break;
                        };
                        prop_assert!(own < free * TIMES_FREE, "{own} of its own, and {free} were free");
                        held[holder].push(slot);
                    }
                }
            }
            prop_assert!(held.iter().map(Vec::len).sum::<usize>() <= total);
        }
        drop(held);
        prop_assert_eq!(slots.held().all, 0);
        prop_assert!(slots.held().by_holder.is_empty());
    }

    #[test]
    fn greedy_holders_leave_something_for_the_next(total in 0_usize..2_000, greedy in 1_usize..HOLDERS) {
        let slots = FairSlots::new(total);
        let mut held = Vec::new();
        // In turn and one at a time, until nobody gets any more: nobody gains by asking more often.
        let mut counts = vec![0_usize; greedy];
        loop {
            let before = held.len();
            for (holder, count) in counts.iter_mut().enumerate() {
                if let Some(slot) = slots.try_take(&holder) {
                    held.push(slot);
                    *count += 1;
                }
            }
            if held.len() == before {
                break;
            }
        }
        let (least, most) = (counts.iter().min(), counts.iter().max());
        prop_assert!(most.zip(least).is_some_and(|(most, least)| most - least <= 1), "{counts:?}");
        // Each has less than four times what is left: of so many parts, one is left.
        let left = total - held.len();
        prop_assert!(left >= total / (1 + TIMES_FREE * greedy), "{left} of {total} are left by {greedy}");
        prop_assert_eq!(slots.try_take(&HOLDERS).is_some(), left > 0);
    }
}
