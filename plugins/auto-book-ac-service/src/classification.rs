//! Which utterances are this intent's, which are another's, which ask for a second intent as well (spec 2).
//!
//! In: whatever is wrong with the air-conditioning of a car, and its service. Out: the service or overhaul of the whole
//! car or its engine, a car that does not start, and the air-conditioning of a building, a bus or a train.

#[rustfmt::skip]
mod words;

use contract_sdk::any_of;
use contract_sdk::lexicon::{Claim, Lexicon, Pair, Referral, vehicles};

use self::words::{
    AC, AC_AT_ALL, AC_DOES_NOT_START, AC_OF_MY_CAR, AC_WELL, ALIGNMENT, BATTERY, BATTERY_WELL, BUILDING, BUILDING_AC,
    CABIN_FILTER, CAR, CAR_AC_AFTER_ALL, CAR_TOO, COLD, COLD_AIR, COMPRESSOR, COOL_WORDS, COOLING, DEAD_CAR,
    ELECTRICAL, ENGINE, FLAT, GAS, GENERAL_SERVICE, LEAK, NEGATION, NO_CAR, NOISE, OTHER_AC, OVERHAUL, PARTS,
    REFRIGERANT, SERVICE, SERVICE_OF_CAR, SMELL, SOMETIMES, SUMMER, SURELY_CAR, WARM_AIR, WORN_OUT,
};

/// The words of the contract.
pub const LEXICON: Lexicon = Lexicon {
    cues: any_of![
        AC,
        PARTS,
        REFRIGERANT,
        CABIN_FILTER,
        COMPRESSOR,
        GENERAL_SERVICE,
        SERVICE_OF_CAR,
        ENGINE,
        DEAD_CAR,
        BATTERY,
        OVERHAUL,
        COOL_WORDS,
    ],
    claims: CLAIMS,
    referrals: REFERRALS,
    pairs: &[
        Pair { intent: "auto.book_general_service", any: GENERAL_SERVICE },
        Pair { intent: "auto.book_tyre_alignment", any: ALIGNMENT },
    ],
};

const CLAIMS: &[Claim] = &[
    Claim { name: "AC not cooling", weight: 0.75, all: &[AC, NEGATION, COOLING] },
    Claim { name: "AC not cooling", weight: 0.65, all: &[AC, WARM_AIR] },
    Claim { name: "AC not always cooling", weight: 0.65, all: &[AC, SOMETIMES] },
    Claim {
        name: "AC not cooling",
        weight: 0.6,
        all: &[
            CAR,
            &["warm air", "hot air", "no cold air", "garam hawa", "cooling not working", "cooling is not working"],
        ],
    },
    Claim { name: "car not getting cold", weight: 0.6, all: &[CAR, NEGATION, COLD] },
    Claim { name: "cooling of the car", weight: 0.6, all: &[CAR, &["cooling", "kooling"], SERVICE] },
    Claim { name: "pre-summer check", weight: 0.7, all: &[AC, SUMMER] },
    Claim { name: "refrigerant top-up", weight: 0.75, all: &[REFRIGERANT] },
    Claim { name: "refrigerant top-up", weight: 0.7, all: &[AC, GAS] },
    Claim { name: "compressor", weight: 0.7, all: &[COMPRESSOR, any_of![AC, CAR]] },
    // Said of the car's air-conditioning unless a fridge or a workshop's compressor is named.
    Claim { name: "compressor noise", weight: 0.55, all: &[COMPRESSOR, NOISE] },
    Claim { name: "noise", weight: 0.7, all: &[any_of![AC, PARTS, &["hvac"]], NOISE] },
    Claim { name: "smell", weight: 0.7, all: &[any_of![AC, PARTS], SMELL] },
    Claim { name: "smell", weight: 0.6, all: &[CAR, &["musty"]] },
    Claim { name: "musty smell", weight: 0.5, all: &[&["musty smell", "musty smelling", "smells musty"]] },
    Claim { name: "cabin filter", weight: 0.75, all: &[CABIN_FILTER] },
    Claim { name: "vents and blower", weight: 0.65, all: &[PARTS, any_of![AC, CAR]] },
    Claim { name: "blower does not cool", weight: 0.65, all: &[PARTS, NEGATION, COLD_AIR] },
    Claim { name: "AC service", weight: 0.65, all: &[AC, SERVICE] },
    Claim { name: "leak or electrical fault", weight: 0.6, all: &[AC, any_of![LEAK, ELECTRICAL]] },
    Claim { name: "AC of a car", weight: 0.4, all: &[AC, CAR] },
    Claim { name: "AC of the user's car", weight: 0.35, all: &[AC_OF_MY_CAR] },
    Claim { name: "HVAC of a car", weight: 0.4, all: &[&["hvac"], CAR] },
];

const REFERRALS: &[Referral] = &[
    Referral {
        intent: Some("auto.book_breakdown_assist"),
        reason: "A dead battery is why the AC does not turn on: the car needs breakdown assistance first.",
        weight: 0.92,
        all: &[BATTERY, FLAT],
        unless: BATTERY_WELL,
    },
    Referral {
        intent: Some("auto.book_breakdown_assist"),
        reason: "A car that does not start needs breakdown assistance first.",
        weight: 0.9,
        all: &[DEAD_CAR],
        unless: AC_DOES_NOT_START,
    },
    Referral {
        intent: Some("auto.book_major_service"),
        reason: "An overhaul is a major service unless AC work is asked for.",
        weight: 0.9,
        all: &[OVERHAUL],
        unless: AC,
    },
    Referral {
        intent: Some("auto.book_major_service"),
        reason: "A worn-out engine or gearbox is a major service.",
        weight: 0.88,
        all: &[ENGINE, WORN_OUT],
        unless: any_of![AC, &["oil", "engine oil"]],
    },
    Referral {
        intent: Some("auto.book_general_service"),
        reason: "A periodic service covers more than the air-conditioning, which is not mentioned.",
        weight: 0.9,
        all: &[any_of![GENERAL_SERVICE, SERVICE_OF_CAR]],
        unless: AC_AT_ALL,
    },
    Referral {
        intent: None,
        reason: "The air-conditioning of a building or a portable unit is no car's.",
        weight: 0.9,
        all: &[BUILDING],
        unless: SURELY_CAR,
    },
    Referral {
        intent: None,
        reason: "A portable or home unit is no part of a car.",
        weight: 0.9,
        all: &[BUILDING_AC],
        unless: CAR_TOO,
    },
    Referral {
        intent: None,
        reason: "Only cars are served.",
        weight: 0.9,
        all: &[any_of![vehicles::TWO_WHEELER, NO_CAR]],
        unless: SURELY_CAR,
    },
    Referral {
        intent: None,
        reason: "Not about the air-conditioning of a car.",
        weight: 0.9,
        all: &[OTHER_AC],
        unless: CAR_AC_AFTER_ALL,
    },
    Referral {
        intent: None,
        reason: "The air-conditioning is well, or already seen to.",
        weight: 0.6,
        all: &[AC_WELL],
        unless: &[
            "ac is fine on",
            "fine on the highway",
            "ac works fine on",
            "ac works fine at",
            "but smells",
            "but it smells",
            "but makes",
            "but blows",
        ],
    },
];

#[cfg(test)]
mod tests {
    use contract_sdk::testing::{assert_claimed, assert_sent};

    use super::LEXICON;

    fn score(utterance: &str) -> f64 {
        LEXICON.classify(utterance).score
    }

    #[test]
    fn what_the_spec_classifies_in() {
        assert_claimed(
            &LEXICON,
            &[
                "my car's AC blows warm air",
                "AC not cooling",
                "The A/C in my Swift isn't cooling at all",
                "car AC stopped working on the highway",
                "pre-summer AC prep for my car",
                "get the AC checked before summer",
                "refrigerant top-up please",
                "AC gas refill for my i20",
                "car ac gas top up",
                "AC compressor making noise",
                "compressor noise",
                "musty smell",
                "my compresser in the car is noisy, AC",
                "musty smell from the AC vents",
                "the vents in my car smell musty",
                "vent cleaning and cabin filter",
                "replace cabin air filter",
                "clean the AC vents of my car",
                "full AC service for my Honda City",
                "Book an air conditioning service for my car",
                "airconditoning of my car is leaking",
                "AC blower is very loud",
                "Complete AC overhaul, I do want the AC work done",
                "A major HVAC overhaul, mainly the AC work",
                "AC fuse keeps blowing, electrical problem",
            ],
        );
    }

    #[test]
    fn what_people_in_india_say_classifies_in() {
        assert_claimed(
            &LEXICON,
            &[
                "gaadi ka AC thanda nahi kar raha",
                "car ka ac thanda hi nahi karta",
                "AC chalane pe ajeeb si awaaz aati hai gaadi mein",
                "gas khatam ho gayi AC ki, bharwani hai",
                "AC me se thandi hawa nahi nikal rahi, Brio hai",
                "Ac se pani tapak raha hai car ke andar",
                "garmi me ac jawab de gaya hai, swift dzire",
                "mujhe apni car ka AC dikhana hai",
                "ac sarvice for maruti swft",
                "aircondition not workng in my baleno",
                "driver side vent has no air flow in my Kiger",
                "the aircon in my Venue makes a rattling sound",
                "I'm sweating buckets in my Amaze even with the AC at full",
                "AC takes half an hour to cool the car",
            ],
        );
    }

    #[test]
    fn near_misses_stay_on_their_side() {
        for utterance in [
            "skip the general service, only the car AC this time",
            "the battery is brand new but the AC in my Swift won't come on",
            "engine is fine, AC overhaul needed on my old Accent",
            "not a full service, just the cabin filter",
            "AC cools fine on the highway but blows warm air in traffic, Baleno",
        ] {
            let found = LEXICON.classify(utterance);
            assert!(found.score >= 0.5 && found.also.is_empty(), "{utterance}: {found:?}");
        }
        for utterance in [
            "room mein AC nahi chal raha",
            "1.5 ton inverter AC service",
            "is there an AC bus to Pune",
            "AC cab to the airport",
            "the AC is fine, only the horn of my car is dead",
            "my AC bill is too high",
            "headlight replacement for my Swift",
        ] {
            let found = LEXICON.classify(utterance);
            assert!(found.score < 0.5 && found.elsewhere.is_empty(), "{utterance}: {found:?}");
        }
    }

    #[test]
    fn what_the_spec_classifies_out() {
        assert_sent(
            &LEXICON,
            &[
                ("full periodic service for my car", Some("auto.book_general_service")),
                ("I need a full car service", Some("auto.book_general_service")),
                ("engine overhaul", Some("auto.book_major_service")),
                ("major HVAC overhaul", Some("auto.book_major_service")),
                ("battery dead, AC not turning on", Some("auto.book_breakdown_assist")),
                ("my car won't start and the AC is not turning on", Some("auto.book_breakdown_assist")),
                ("portable home AC is not cooling", None),
                ("the split AC in my bedroom is not cooling", None),
                ("my scooter makes noise", None),
                ("need an AC adapter for my laptop, the old one is not working", None),
                ("book a table for two", None),
                ("", None),
                ("space race place", None),
            ],
        );
    }

    #[test]
    fn pairs_are_proposed_with_it() {
        let found = LEXICON.classify("AC gas top up and a general service for my car");
        assert!(found.score >= 0.5);
        assert_eq!(found.also, ["auto.book_general_service"]);
        assert!(found.elsewhere.is_empty());
        let found = LEXICON.classify("car AC not cooling, and wheel alignment too");
        assert_eq!(found.also, ["auto.book_tyre_alignment"]);
        assert!(score("just wheel alignment") < 0.5);
    }
}
