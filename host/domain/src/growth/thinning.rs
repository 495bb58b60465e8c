//! Which receipts of a segment stay when it is written anew: those of an intent go at an age of their own, and of those that
//! nothing points to one in so many stays, once nothing can be booked by them any more. Both are off unless somebody asks for them.
//!
//! A segment is forgotten whole in the end. Before that it is written anew once for each age in the rules, at most.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use crate::clock::Timestamp;
use crate::id::IntentId;

/// Different ages that intents may have, at most: for each of them a segment is written anew.
pub const AGES_MAX: usize = 3;

/// Which receipts go before their segment does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThinningRules {
    /// For how long receipts of an intent stay, milliseconds, where that is shorter than for others.
    pub intents: BTreeMap<IntentId, u64>,
    /// What stays of rankings that led to nothing; all of it where there is no rule.
    pub unused: Option<UnusedRule>,
}

/// What stays of rankings that led to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnusedRule {
    /// One in so many; 0 is none, 1 is all.
    pub keep_one_in: u64,
    /// At which age, milliseconds.
    pub after_ms: u64,
}

/// What is known of a receipt when it is decided whether it stays.
#[derive(Clone, Copy, Debug)]
pub struct RankingFacts<'a> {
    pub intent: Option<&'a IntentId>,
    pub request_id: &'a str,
    /// How long ago it was kept, milliseconds.
    pub age_ms: u64,
    /// Whether something points to it: an order, a finding, a fault.
    pub is_pointed_to: bool,
    /// Whether something may still be booked by it. Nobody knows of those that do not say until when.
    pub is_bookable: bool,
}

impl ThinningRules {
    /// Whether all receipts stay as long as their segments.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ages().next().is_none()
    }

    /// The ages at which receipts go.
    fn ages(&self) -> impl Iterator<Item = u64> + '_ {
        let unused = self.unused.filter(|rule| rule.keep_one_in != 1).map(|rule| rule.after_ms);
        self.intents.values().copied().chain(unused)
    }

    /// Whether receipts of a segment may have to go that did not when it was looked at last. It is looked at when all that it
    /// holds has reached an age of the rules.
    #[must_use]
    pub fn is_due(&self, ended: Timestamp, looked_at: Timestamp, now: Timestamp) -> bool {
        self.ages().map(|age_ms| ended.plus_ms(age_ms)).any(|due| looked_at < due && due <= now)
    }

    /// Whether a receipt stays.
    #[must_use]
    pub fn keeps(&self, ranking: &RankingFacts<'_>) -> bool {
        if ranking.is_pointed_to {
            return true;
        }
        let own_ms = ranking.intent.and_then(|intent| self.intents.get(intent));
        if own_ms.is_some_and(|own_ms| ranking.age_ms >= *own_ms) {
            return false;
        }
        match self.unused {
            Some(rule) if ranking.age_ms >= rule.after_ms && !ranking.is_bookable => rule.keeps(ranking.request_id),
            _ => true,
        }
    }
}

impl UnusedRule {
    /// Whether the rankings of a request are among those that stay. Chance would have two gateways, or two tries of one, keep
    /// different ones, so a digest decides.
    fn keeps(self, request_id: &str) -> bool {
        let digest: [u8; 32] = Sha256::digest(request_id).into();
        let figure = digest.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        figure.checked_rem(self.keep_one_in) == Some(0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

    fn intent(text: &str) -> IntentId {
        IntentId::parse(text).expect("an intent")
    }

    fn yoga_for(days: u64) -> ThinningRules {
        let yoga = intent("lifestyle.book_yoga_class");
        ThinningRules { intents: BTreeMap::from([(yoga, days * DAY_MS)]), unused: None }
    }

    fn one_in(keep_one_in: u64) -> ThinningRules {
        ThinningRules { unused: Some(UnusedRule { keep_one_in, after_ms: 7 * DAY_MS }), ..ThinningRules::default() }
    }

    fn facts<'a>(intent: &'a IntentId, request_id: &'a str, days: u64) -> RankingFacts<'a> {
        RankingFacts {
            intent: Some(intent),
            request_id,
            age_ms: days * DAY_MS,
            is_pointed_to: false,
            is_bookable: false,
        }
    }

    #[test]
    fn an_intent_has_an_age_of_its_own() {
        let (yoga, other) = (intent("lifestyle.book_yoga_class"), intent("auto.book_ac_service"));
        let rules = yoga_for(7);
        assert!(rules.keeps(&facts(&yoga, "r", 6)) && !rules.keeps(&facts(&yoga, "r", 7)));
        assert!(rules.keeps(&facts(&other, "r", 80)), "no other intent goes with it");
        assert!(rules.keeps(&RankingFacts { intent: None, ..facts(&yoga, "r", 80) }));
        let bookable = RankingFacts { is_bookable: true, ..facts(&yoga, "r", 7) };
        assert!(!rules.keeps(&bookable), "as what is too old goes, bookable or not");
    }

    #[test]
    fn of_what_led_to_nothing_one_in_so_many_stays() {
        let auto = intent("auto.book_ac_service");
        let kept = |rules: &ThinningRules, days: u64| {
            let names = (0..10_000).map(|at| format!("request-{at}"));
            names.filter(|name| rules.keeps(&facts(&auto, name, days))).count()
        };
        assert_eq!((kept(&one_in(10), 6), kept(&one_in(1), 7), kept(&one_in(0), 7)), (10_000, 10_000, 0));
        assert!((900..1_100).contains(&kept(&one_in(10), 7)), "{}", kept(&one_in(10), 7));
        let bookable = RankingFacts { is_bookable: true, ..facts(&auto, "r", 80) };
        assert!(one_in(0).keeps(&bookable), "somebody may still book it");
        // As any gateway of any version decides: these figures never change.
        let rules = one_in(2);
        let stays = ["a", "b", "c", "d", "e", "f", "g", "h"].map(|name| rules.keeps(&facts(&auto, name, 7)));
        assert_eq!(stays, FIRST_LETTERS);
    }

    /// Whether the first eight bytes of each letter's SHA-256, as a figure, is even.
    const FIRST_LETTERS: [bool; 8] = [true, true, true, false, true, true, false, false];

    #[test]
    fn a_segment_is_looked_at_once_for_each_age() {
        let rules = ThinningRules { unused: one_in(2).unused, ..yoga_for(30) };
        let at = |days: u64| Timestamp::from_ms(days * DAY_MS);
        let due = |looked_at: u64, now: u64| rules.is_due(at(100), at(looked_at), at(now));
        assert!(!due(0, 106) && due(0, 107) && due(0, 300));
        assert!(!due(107, 129) && due(107, 130) && due(129, 130));
        assert!(!due(130, 300), "there is no more to do");
        assert!(!ThinningRules::default().is_due(at(100), at(0), at(300)));
        assert!(ThinningRules::default().is_empty() && one_in(1).is_empty() && !rules.is_empty());
        assert!(!one_in(1).is_due(at(100), at(0), at(300)), "where all stay there is nothing to do");
    }

    proptest! {
        #[test]
        fn what_is_pointed_to_stays_whatever_the_rules(
            own_days in 0_u64..100, keep_one_in in 0_u64..20, days in 0_u64..400, request_id in ".*", is_bookable: bool
        ) {
            let yoga = intent("lifestyle.book_yoga_class");
            let rules = ThinningRules { unused: one_in(keep_one_in).unused, ..yoga_for(own_days) };
            let ranking = RankingFacts { is_pointed_to: true, is_bookable, ..facts(&yoga, &request_id, days) };
            prop_assert!(rules.keeps(&ranking));
        }

        #[test]
        fn what_has_gone_does_not_come_back_with_age(
            own_days in 0_u64..100, keep_one_in in 0_u64..20, days in 0_u64..400, more in 0_u64..400, request_id in ".*"
        ) {
            let yoga = intent("lifestyle.book_yoga_class");
            let rules = ThinningRules { unused: one_in(keep_one_in).unused, ..yoga_for(own_days) };
            if !rules.keeps(&facts(&yoga, &request_id, days)) {
                prop_assert!(!rules.keeps(&facts(&yoga, &request_id, days + more)));
            }
        }
    }
}
