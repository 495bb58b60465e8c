//! Which utterances are this intent's, which are another's, which ask for a second intent as well (spec 2).

use contract_sdk::lexicon::{AnyOf, Claim, Lexicon, Pair, Referral};

/// The air-conditioning, named outright. `hvac` is not here: see the referral to the major service.
const AC: AnyOf = &[
    "ac",
    "a c",
    "air con",
    "aircon",
    "aircond",
    "air conditioner",
    "air conditioning",
    "airconditioner",
    "airconditioning",
    "climate control",
];

const CAR: AnyOf = &[
    "car",
    "cars",
    "vehicle",
    "suv",
    "sedan",
    "hatchback",
    "dashboard",
    "while driving",
    "when driving",
    "cabin",
    "windscreen",
    "workshop",
];

const NOT_COOLING: AnyOf = &[
    "not cooling",
    "isn t cooling",
    "no cooling",
    "not cool",
    "doesn t cool",
    "does not cool",
    "won t cool",
    "isn t cold",
    "not cold",
    "no cold air",
    "stopped cooling",
    "cooling stopped",
    "weak cooling",
    "poor cooling",
    "less cooling",
    "low cooling",
    "cooling is weak",
    "cooling is poor",
    "cooling is low",
    "not chilling",
    "warm air",
    "hot air",
    "blows warm",
    "blows hot",
    "blowing warm",
    "blowing hot",
    "not working",
    "isn t working",
    "doesn t work",
    "stopped working",
    "broken",
    "no air",
    "weak airflow",
    "low airflow",
    "stops cooling",
    "cools sometimes",
    "intermittent",
];

const GENERAL_SERVICE: AnyOf = &[
    "general service",
    "general servicing",
    "periodic service",
    "periodic servicing",
    "full service",
    "full car service",
    "regular service",
    "scheduled service",
    "annual service",
    "car service",
    "car servicing",
    "service my car",
    "my car serviced",
    "oil change",
    "km service",
];

/// The words of the contract.
pub const LEXICON: Lexicon = Lexicon {
    cues: &[
        "ac",
        "a/c",
        "a c",
        "a.c",
        "hvac",
        "air con",
        "air-con",
        "aircon",
        "aircond",
        "air conditioner",
        "air-conditioner",
        "air conditioning",
        "air-conditioning",
        "airconditioner",
        "airconditioning",
        "climate control",
        "refrigerant",
        "regas",
        "freon",
        "r134a",
        "r1234yf",
        "gas top up",
        "gas refill",
        "cabin filter",
        "cabin air filter",
        "pollen filter",
        "vent",
        "vents",
        "blower",
        "compressor",
        "condenser",
        "musty",
        "warm air",
        "hot air",
        "cold air",
        "car",
    ],
    claims: CLAIMS,
    referrals: REFERRALS,
    pairs: &[
        Pair { intent: "auto.book_general_service", any: GENERAL_SERVICE },
        Pair {
            intent: "auto.book_tyre_alignment",
            any: &["wheel alignment", "tyre alignment", "tire alignment", "alignment of the wheels", "wheel balancing"],
        },
    ],
};

const CLAIMS: &[Claim] = &[
    Claim { name: "AC not cooling", weight: 0.75, all: &[AC, NOT_COOLING] },
    Claim {
        name: "AC not cooling",
        weight: 0.6,
        all: &[CAR, &["warm air", "hot air", "no cold air", "cooling not working", "cooling is not working"]],
    },
    Claim {
        name: "pre-summer check",
        weight: 0.7,
        all: &[
            AC,
            &[
                "pre summer",
                "before summer",
                "before the summer",
                "summer check",
                "summer prep",
                "for summer",
                "for the summer",
                "summer ready",
                "summer is coming",
                "summer comes",
                "checkup",
                "check up",
                "checked",
                "inspection",
            ],
        ],
    },
    Claim {
        name: "refrigerant top-up",
        weight: 0.75,
        all: &[&["refrigerant", "ac gas", "a c gas", "regas", "regassing", "freon", "r134a", "r1234yf"]],
    },
    Claim {
        name: "refrigerant top-up",
        weight: 0.7,
        all: &[AC, &["gas", "recharge", "recharging", "top up", "topup", "refill"]],
    },
    Claim {
        name: "compressor",
        weight: 0.7,
        all: &[
            &["compressor"],
            &["ac", "a c", "aircon", "air con", "air conditioner", "air conditioning", "car", "vehicle"],
        ],
    },
    Claim {
        name: "noise",
        weight: 0.7,
        all: &[
            &["ac", "a c", "aircon", "air con", "air conditioner", "air conditioning", "blower", "hvac"],
            &[
                "noise",
                "noisy",
                "noises",
                "rattle",
                "rattling",
                "grinding",
                "squealing",
                "squeaking",
                "clicking",
                "humming",
                "whining",
                "loud",
                "strange sound",
                "weird sound",
            ],
        ],
    },
    Claim {
        name: "smell",
        weight: 0.7,
        all: &[
            &["ac", "a c", "aircon", "air con", "air conditioner", "air conditioning", "vent", "vents", "blower"],
            &[
                "musty", "smell", "smells", "smelly", "smelling", "stink", "stinks", "stinking", "odour", "odor",
                "mouldy", "moldy", "damp",
            ],
        ],
    },
    Claim { name: "smell", weight: 0.6, all: &[CAR, &["musty"]] },
    Claim {
        name: "cabin filter",
        weight: 0.75,
        all: &[&["cabin filter", "cabin air filter", "pollen filter", "ac filter", "a c filter"]],
    },
    Claim {
        name: "vents and blower",
        weight: 0.65,
        all: &[
            &["ac", "a c", "aircon", "air con", "air conditioner", "air conditioning", "car", "vehicle"],
            &["vent", "vents", "blower", "condenser", "evaporator", "air duct", "air ducts"],
        ],
    },
    Claim {
        name: "AC service",
        weight: 0.65,
        all: &[
            AC,
            &[
                "service",
                "servicing",
                "serviced",
                "repair",
                "repaired",
                "fix",
                "fixed",
                "overhaul",
                "maintenance",
                "look at",
                "diagnose",
                "diagnosis",
                "problem",
                "issue",
                "trouble",
                "work",
            ],
        ],
    },
    Claim {
        name: "leak or electrical fault",
        weight: 0.6,
        all: &[
            AC,
            &[
                "leak",
                "leaking",
                "leaks",
                "leakage",
                "electrical",
                "fuse",
                "not turning on",
                "won t turn on",
                "doesn t turn on",
                "not switching on",
                "trips",
            ],
        ],
    },
    Claim { name: "AC of a car", weight: 0.4, all: &[AC, CAR] },
    Claim { name: "HVAC of a car", weight: 0.4, all: &[&["hvac"], CAR] },
];

const REFERRALS: &[Referral] = &[
    Referral {
        intent: Some("auto.book_breakdown_assist"),
        reason: "A dead battery is why the AC does not turn on: the car needs breakdown assistance first.",
        weight: 0.9,
        all: &[&[
            "battery dead",
            "battery is dead",
            "battery s dead",
            "dead battery",
            "battery died",
            "battery has died",
            "battery flat",
            "battery is flat",
            "flat battery",
            "battery drained",
            "battery is drained",
            "jump start",
            "car won t start",
            "car doesn t start",
            "car not starting",
            "car is not starting",
        ]],
        unless: &[],
    },
    Referral {
        intent: Some("auto.book_major_service"),
        reason: "An overhaul is a major service unless AC work is asked for.",
        weight: 0.9,
        all: &[&[
            "engine overhaul",
            "overhaul the engine",
            "engine rebuild",
            "major service",
            "major overhaul",
            "gearbox overhaul",
            "transmission overhaul",
            "clutch overhaul",
            "hvac overhaul",
            "overhaul of the hvac",
            "overhaul the hvac",
            "overhaul",
        ]],
        unless: AC,
    },
    Referral {
        intent: Some("auto.book_general_service"),
        reason: "A periodic service covers more than the air-conditioning, which is not mentioned.",
        weight: 0.9,
        all: &[GENERAL_SERVICE],
        unless: &[
            "ac",
            "a c",
            "air con",
            "aircon",
            "air conditioner",
            "air conditioning",
            "airconditioner",
            "airconditioning",
            "climate control",
            "refrigerant",
            "cabin filter",
            "cabin air filter",
            "compressor",
            "pollen filter",
            "vents",
        ],
    },
    Referral {
        intent: None,
        reason: "The air-conditioning of a building or a portable unit is no car's.",
        weight: 0.9,
        all: &[&[
            "home",
            "house",
            "room",
            "bedroom",
            "living room",
            "flat",
            "apartment",
            "office",
            "portable",
            "split ac",
            "split air conditioner",
            "window ac",
            "window unit",
            "central air",
            "hotel",
            "shop ac",
        ]],
        unless: &["car", "cars", "vehicle", "suv", "sedan", "hatchback"],
    },
    Referral {
        intent: None,
        reason: "A portable or home unit is no part of a car.",
        weight: 0.9,
        all: &[&[
            "portable ac",
            "portable air conditioner",
            "portable a c",
            "home ac",
            "home a c",
            "home air conditioner",
        ]],
        unless: &[],
    },
    Referral {
        intent: None,
        reason: "Only cars are served.",
        weight: 0.9,
        all: &[&["bike", "motorbike", "motorcycle", "scooter", "scooty", "two wheeler", "truck", "bus"]],
        unless: &["car", "cars", "suv", "sedan", "hatchback"],
    },
    Referral {
        intent: None,
        reason: "Not about the air-conditioning of a car.",
        weight: 0.9,
        all: &[&[
            "ac adapter",
            "ac adaptor",
            "ac charger",
            "ac power",
            "ac current",
            "ac motor",
            "fridge",
            "refrigerator",
            "freezer",
            "air compressor",
        ]],
        unless: &[],
    },
];

#[cfg(test)]
mod tests {
    use super::LEXICON;

    fn score(utterance: &str) -> f64 {
        LEXICON.classify(utterance).score
    }

    /// Whether the host would wake the contract: a cue occurs as whole words.
    fn wakes(utterance: &str) -> bool {
        let lower = utterance.to_lowercase();
        let boundary = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric());
        LEXICON.cues.iter().any(|cue| {
            lower.match_indices(cue).any(|(at, _)| {
                boundary(lower[..at].chars().next_back()) && boundary(lower[at + cue.len()..].chars().next())
            })
        })
    }

    #[test]
    fn what_the_spec_classifies_in() {
        for utterance in [
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
        ] {
            let found = LEXICON.classify(utterance);
            assert!(found.score >= 0.5, "{utterance}: {found:?}");
            assert!(wakes(utterance), "no cue in: {utterance}");
        }
    }

    #[test]
    fn what_the_spec_classifies_out() {
        for (utterance, intent) in [
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
        ] {
            let found = LEXICON.classify(utterance);
            assert!(found.score < 0.5, "{utterance}: {found:?}");
            assert_eq!(found.elsewhere.first().map(|other| other.intent.as_str()), intent, "{utterance}");
        }
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
