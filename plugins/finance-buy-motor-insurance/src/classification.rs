//! Which utterances are this intent's, which are another's, which ask for a second intent as well (spec 2, "Distinct
//! from" and "Multi-intent pairs").
//!
//! In: a fresh motor policy, for a new vehicle, after a lapse, from another insurer, for a used vehicle. Out: renewing
//! a live policy, life and health, filing a claim; travel, home and the like, which are nobody's here.

#[rustfmt::skip]
mod words;

use contract_sdk::any_of;
use contract_sdk::lexicon::{Claim, Lexicon, Pair, Referral};

use self::words::{
    ACCIDENT, CLAIM, CLAIM_AS_PROPERTY, CLAIMS_FILED, COVER, EV_CHARGER, FIRST_POLICY, HEALTH, HEALTH_MATTERS, HELD,
    INSURANCE, LAPSED, LEGAL, LIFE_MATTERS, LOSS, MOTOR_TERMS, NAMED, NO_PURCHASE, OTHER_THINGS, PAYS, PERSON, POLICY,
    POLLUTION_CHECK, PURCHASE, PURCHASE_AFTER_ALL, RC_TRANSFER, RENEWAL, SWITCHING, TERM_LIFE, USED_CAR, VEHICLE,
    VEHICLE_KIND,
};

/// The words of the contract.
pub const LEXICON: Lexicon = Lexicon {
    cues: any_of![
        INSURANCE,
        POLICY,
        COVER,
        MOTOR_TERMS,
        CLAIM,
        CLAIMS_FILED,
        HEALTH,
        TERM_LIFE,
        LEGAL,
        &["comprehensive", "idv", "ncb", "no claim bonus", "renewal", "renew"],
    ],
    claims: CLAIMS,
    referrals: REFERRALS,
    pairs: &[
        Pair { intent: "marketplace.buy_used_car", any: USED_CAR },
        Pair { intent: "auto.book_rc_transfer", any: RC_TRANSFER },
        Pair { intent: "auto.book_ev_charger_install", any: EV_CHARGER },
        Pair { intent: "auto.book_pollution_check", any: POLLUTION_CHECK },
    ],
};

const CLAIMS: &[Claim] = &[
    Claim { name: "motor insurance", weight: 0.6, all: &[NAMED] },
    Claim { name: "insurance of a vehicle", weight: 0.65, all: &[INSURANCE, VEHICLE] },
    Claim { name: "policy of a vehicle", weight: 0.6, all: &[POLICY, VEHICLE] },
    Claim { name: "cover of a vehicle", weight: 0.3, all: &[COVER, VEHICLE] },
    Claim { name: "cover wanted for a vehicle", weight: 0.4, all: &[COVER, VEHICLE, PURCHASE] },
    Claim { name: "kind of motor policy", weight: 0.55, all: &[MOTOR_TERMS] },
    Claim { name: "comprehensive cover", weight: 0.5, all: &[&["comprehensive"], VEHICLE] },
    Claim { name: "legal minimum", weight: 0.6, all: &[LEGAL, VEHICLE] },
    Claim { name: "insurance to be bought", weight: 0.25, all: &[any_of![INSURANCE, POLICY], PURCHASE] },
    Claim { name: "after a lapse", weight: 0.2, all: &[any_of![INSURANCE, POLICY], LAPSED] },
    Claim {
        name: "lapsed policy to be issued afresh",
        weight: 0.3,
        all: &[any_of![INSURANCE, POLICY], LAPSED, &["new", "naya", "nayi", "fresh", "dobara", "again"]],
    },
    Claim { name: "another insurer", weight: 0.35, all: &[any_of![INSURANCE, POLICY], SWITCHING] },
    Claim { name: "declared value or bonus", weight: 0.3, all: &[&["idv", "ncb", "no claim bonus"], PURCHASE] },
];

const REFERRALS: &[Referral] = &[
    Referral {
        intent: Some("auto.book_insurance_renewal"),
        reason: "The policy is still live and is to be renewed.",
        weight: 0.9,
        all: &[any_of![INSURANCE, POLICY, &["ncb", "no claim bonus"]], RENEWAL],
        unless: any_of![LAPSED, SWITCHING, FIRST_POLICY],
    },
    Referral {
        intent: Some("auto.file_insurance_claim"),
        reason: "A loss is to be claimed, not a policy bought.",
        weight: 0.92,
        all: &[CLAIMS_FILED],
        unless: CLAIM_AS_PROPERTY,
    },
    Referral {
        intent: Some("auto.file_insurance_claim"),
        reason: "A loss is to be claimed, not a policy bought.",
        weight: 0.9,
        all: &[CLAIM, LOSS],
        unless: any_of![CLAIM_AS_PROPERTY, PURCHASE_AFTER_ALL, SWITCHING],
    },
    Referral {
        intent: Some("auto.file_insurance_claim"),
        reason: "The insurer is to pay for an accident.",
        weight: 0.9,
        all: &[any_of![INSURANCE, POLICY], ACCIDENT, PAYS],
        unless: any_of![CLAIM_AS_PROPERTY, PURCHASE_AFTER_ALL, SWITCHING],
    },
    Referral {
        intent: Some("finance.buy_health_insurance"),
        reason: "Insures health, not a vehicle.",
        weight: 0.9,
        all: &[HEALTH],
        unless: VEHICLE_KIND,
    },
    Referral {
        intent: Some("finance.buy_health_insurance"),
        reason: "Pays for treatment, not for a vehicle.",
        weight: 0.88,
        all: &[any_of![INSURANCE, POLICY, COVER], HEALTH_MATTERS],
        unless: VEHICLE_KIND,
    },
    Referral {
        intent: Some("finance.buy_term_insurance"),
        reason: "Insures a life, not a vehicle.",
        weight: 0.92,
        all: &[TERM_LIFE],
        unless: any_of![VEHICLE_KIND, &["long term"]],
    },
    Referral {
        intent: Some("finance.buy_term_insurance"),
        reason: "Pays on a death, not for a vehicle.",
        weight: 0.91,
        all: &[any_of![INSURANCE, POLICY, COVER], LIFE_MATTERS],
        unless: any_of![VEHICLE_KIND, &["long term"]],
    },
    Referral {
        intent: Some("finance.buy_term_insurance"),
        reason: "Insures somebody's life, whatever they drive.",
        weight: 0.92,
        all: &[TERM_LIFE, PERSON],
        unless: any_of![NAMED, HELD],
    },
    Referral {
        intent: Some("finance.buy_health_insurance"),
        reason: "Insures somebody's health, whatever they drive.",
        weight: 0.9,
        all: &[HEALTH, PERSON],
        unless: any_of![NAMED, HELD],
    },
    Referral {
        intent: None,
        reason: "Insures something else than a vehicle.",
        weight: 0.9,
        all: &[OTHER_THINGS],
        unless: NAMED,
    },
    Referral {
        intent: None,
        reason: "About a policy that the user has, or about the trade.",
        weight: 0.8,
        all: &[NO_PURCHASE],
        unless: PURCHASE_AFTER_ALL,
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
                "car insurance for my newly purchased Swift",
                "gaadi ka bima karwana hai",
                "my policy lapsed three months ago, I need a fresh one for the car",
                "switch my car to another insurer",
                "I bought a used bike and it has no insurance",
                "insurence for my new scooty",
                "nayi EV ke liye policy chahiye",
                "goods carrier ka insurance kitna padega",
                "I don't want to renew my car policy with them, show me other companies",
            ],
        );
    }

    #[test]
    fn what_people_in_india_say_classifies_in() {
        assert_claimed(
            &LEXICON,
            &[
                "gaadi kal hi nikali hai, bima chahiye",
                "mera insurance khatam ho chuka hai 2 saal se, car chalu karni hai",
                "insurer ne premium badha diya, doosri company se quotes lao, Alto hai",
                "dealer ki policy mehengi hai, market se quote chahiye Sonet ke liye",
                "chota hathi ke liye commercial insurance",
                "polisy for my new scoty",
                "bike insurence lapsed last year",
                "electric scooter ka insurance kitne ka hai",
                "get a long term third party policy for my new Splendor",
            ],
        );
    }

    #[test]
    fn near_misses_stay_on_their_side() {
        assert_claimed(
            &LEXICON,
            &[
                "I renewed nothing, the policy lapsed in March, issue a new one for my Alto",
                "I already have term life, now I want cover on my new two wheeler",
                "health is covered, what I need is a policy for my Ola scooter",
                "claim free for 5 years, want a cheaper car insurance company",
            ],
        );
        assert_sent(
            &LEXICON,
            &[
                ("life insurance for my husband who rides a bike", Some("finance.buy_term_insurance")),
                ("meri car ki policy agle hafte khatam ho rahi hai, renew kar do", Some("auto.book_insurance_renewal")),
                ("gaadi ka accident hua hai insurance se paise chahiye", Some("auto.file_insurance_claim")),
                ("health insurance for my driver", Some("finance.buy_health_insurance")),
                ("police complaint about a stolen car", None),
                ("my car insurance is done", None),
            ],
        );
    }

    #[test]
    fn what_the_spec_classifies_out() {
        assert_sent(
            &LEXICON,
            &[
                ("renew my car insurance before it expires", Some("auto.book_insurance_renewal")),
                ("bike ka insurance renew karna hai", Some("auto.book_insurance_renewal")),
                ("a term plan of one crore", Some("finance.buy_term_insurance")),
                ("health insurance for my parents", Some("finance.buy_health_insurance")),
                ("file an insurance claim for my car", Some("auto.file_insurance_claim")),
                ("travel insurance for Thailand", None),
                ("home insurance against fire", None),
                ("what is your return policy", None),
                ("I need insurance", None),
                ("book a table for two", None),
                ("", None),
            ],
        );
    }

    #[test]
    fn a_good_claim_record_is_no_claim() {
        assert_claimed(
            &LEXICON,
            &[
                "new car policy from a company with a high claim settlement ratio",
                "car insurance, no claim last year, switching insurer",
            ],
        );
    }

    #[test]
    fn pairs_are_proposed_with_it() {
        for (utterance, pairs) in [
            (
                "buy a used car, do the RC transfer and insure it",
                &["marketplace.buy_used_car", "auto.book_rc_transfer"][..],
            ),
            ("insurance for my new EV and install a home charger", &["auto.book_ev_charger_install"]),
            ("gaadi ka insurance aur PUC dono", &["auto.book_pollution_check"]),
            ("insurance for the used car that I bought", &[]),
        ] {
            let found = LEXICON.classify(utterance);
            assert!(found.score >= 0.5, "{utterance}: {found:?}");
            assert_eq!(found.also, pairs, "{utterance}");
        }
    }
}
