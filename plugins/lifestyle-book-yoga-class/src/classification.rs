//! Which utterances are this intent's, which are another's, which ask for a second intent as well (spec 3,
//! "Classifies in", "Classifies out" and "Multi-intent pairs").

#[rustfmt::skip]
mod words;

use contract_sdk::any_of;
use contract_sdk::lexicon::{Claim, Lexicon, Pair, Referral};

use self::words::{
    AMENITY, AT_HOME, CLASS, CLASS_AFTER_ALL, GYM, LOOSE_STYLE, NO_RETREAT, NO_SPA, NO_TRAINER, NOT_AT_HOME, PURPOSE,
    RETREAT, RIDE, SPA, STYLE, THINGS_AND_MEDIA, TIFFIN, TRAINER, WHEN, WISH, YOGA, YOGA_ELSEWHERE,
};

/// The words of the contract.
pub const LEXICON: Lexicon = Lexicon {
    cues: any_of![
        YOGA,
        STYLE,
        GYM,
        TRAINER,
        SPA,
        AMENITY,
        RETREAT,
        &["meditation class", "restorative class", "prenatal class"],
    ],
    claims: CLAIMS,
    referrals: REFERRALS,
    pairs: &[
        Pair { intent: "food.subscribe_tiffin", any: TIFFIN },
        Pair { intent: "mobility.book_intracity_ride", any: RIDE },
    ],
};

const CLAIMS: &[Claim] = &[
    Claim { name: "yoga class", weight: 0.75, all: &[YOGA, CLASS] },
    Claim { name: "style", weight: 0.55, all: &[STYLE] },
    Claim { name: "class in a style", weight: 0.5, all: &[STYLE, any_of![CLASS, WHEN, WISH]] },
    Claim { name: "yoga of a kind", weight: 0.5, all: &[YOGA, LOOSE_STYLE] },
    Claim { name: "yoga wanted", weight: 0.55, all: &[YOGA, WISH] },
    Claim { name: "yoga for a purpose", weight: 0.5, all: &[YOGA, PURPOSE] },
    Claim { name: "yoga at a time", weight: 0.5, all: &[YOGA, WHEN] },
    Claim { name: "yoga and what goes with it", weight: 0.5, all: &[YOGA, any_of![TIFFIN, RIDE]] },
];

const REFERRALS: &[Referral] = &[
    Referral {
        intent: Some("lifestyle.book_at_home_service"),
        reason: "The yoga is to be at the user's home, not at a studio.",
        weight: 0.93,
        all: &[any_of![YOGA, STYLE], AT_HOME],
        unless: NOT_AT_HOME,
    },
    Referral {
        intent: Some("lifestyle.book_personal_trainer"),
        reason: "A trainer is wanted, not a yoga class.",
        weight: 0.92,
        all: &[TRAINER],
        unless: any_of![STYLE, NO_TRAINER,],
    },
    Referral {
        intent: Some("lifestyle.book_wellness_retreat"),
        reason: "A stay is wanted, not a class.",
        weight: 0.94,
        all: &[RETREAT],
        unless: NO_RETREAT,
    },
    Referral {
        intent: Some("lifestyle.book_spa_treatment"),
        reason: "A spa treatment is wanted, with yoga beside it at most.",
        weight: 0.93,
        all: &[SPA],
        unless: NO_SPA,
    },
    Referral {
        intent: Some("lifestyle.book_spa_treatment"),
        reason: "Steam and sauna are a spa's, unless a gym is asked for.",
        weight: 0.93,
        all: &[AMENITY],
        unless: any_of![NO_SPA, GYM, CLASS_AFTER_ALL],
    },
    Referral {
        intent: Some("lifestyle.book_gym_session"),
        reason: "The gym is wanted, not a yoga class.",
        weight: 0.91,
        all: &[GYM],
        unless: any_of![YOGA, STYLE, TRAINER],
    },
    Referral {
        intent: None,
        reason: "Things, media and professions of yoga are no class.",
        weight: 0.85,
        all: &[YOGA, THINGS_AND_MEDIA],
        unless: CLASS_AFTER_ALL,
    },
    Referral {
        intent: None,
        reason: "The yoga is over or elsewhere on the user's mind.",
        weight: 0.45,
        all: &[YOGA_ELSEWHERE],
        unless: &["cancel nothing", "don t cancel"],
    },
];

#[cfg(test)]
mod tests {
    use contract_sdk::testing::{assert_claimed, assert_sent};

    use super::LEXICON;

    #[test]
    fn what_the_spec_classifies_in() {
        assert_claimed(
            &LEXICON,
            &[
                "yoga and tiffin subscription",
                "kal subah yoga class book karo",
                "a yoga class at seven tomorrow",
                "iyengar near me",
                "hot yoga on Sunday",
                "private one-to-one yoga",
                "beginers yoga",
                "yoga for back pain",
                "yoga class near my home",
                "skip the spa, a yoga session will do",
            ],
        );
    }

    #[test]
    fn what_people_in_india_say_classifies_in() {
        assert_claimed(
            &LEXICON,
            &[
                "yoga karna chahti hoon, subah 6 baje ka batch",
                "mujhe kal subah ka hatha session chahiye",
                "main pregnant hoon, prenatal yoga batao",
                "ghar ke paas koi yoga class hai kya",
                "pranayam sikhne ki class",
                "yogaa clas kal shaam",
                "ashtnga mornning batch",
            ],
        );
    }

    #[test]
    fn near_misses_stay_on_their_side() {
        for utterance in [
            "I do not need a personal trainer, just a vinyasa class",
            "gym ke upar wala yoga studio, shaam ka batch",
            "tired of yoga at home, find me a studio",
            "I have been following YouTube videos, now a proper yoga class please",
            "spa nahi, sirf yoga class",
            "yoga class in the morning, cab not needed",
        ] {
            let found = LEXICON.classify(utterance);
            assert!(found.score >= 0.5 && found.also.is_empty(), "{utterance}: {found:?}");
        }
        assert_sent(
            &LEXICON,
            &[
                ("gym with sauna this evening", Some("lifestyle.book_gym_session")),
                ("PT at a gym for 12 weeks", Some("lifestyle.book_personal_trainer")),
                ("a yoga teacher who visits homes", Some("lifestyle.book_at_home_service")),
                ("steam and sauna", Some("lifestyle.book_spa_treatment")),
                ("chota hathi on rent", None),
                ("Lenovo Yoga laptop price", None),
            ],
        );
    }

    #[test]
    fn what_the_spec_classifies_out() {
        assert_sent(
            &LEXICON,
            &[
                ("a yoga teacher to come to my home", Some("lifestyle.book_at_home_service")),
                ("ghar pe yoga class chahiye", Some("lifestyle.book_at_home_service")),
                ("a gym session this evening", Some("lifestyle.book_gym_session")),
                ("personal trainer for fat loss", Some("lifestyle.book_personal_trainer")),
                ("spa day with yoga", Some("lifestyle.book_spa_treatment")),
                ("wellness retreat with daily yoga class", Some("lifestyle.book_wellness_retreat")),
                ("buy a yoga mat", None),
                ("dance class tomorrow", None),
                ("", None),
            ],
        );
    }

    #[test]
    fn pairs_are_proposed_with_it() {
        for (utterance, pairs) in [
            ("yoga class and a healthy tiffin", &["food.subscribe_tiffin"][..]),
            ("yoga class at 7 and a cab to get there", &["mobility.book_intracity_ride"]),
            ("yoga class at 7", &[]),
        ] {
            let found = LEXICON.classify(utterance);
            assert!(found.score >= 0.5, "{utterance}: {found:?}");
            assert_eq!(found.also, pairs, "{utterance}");
        }
    }
}
