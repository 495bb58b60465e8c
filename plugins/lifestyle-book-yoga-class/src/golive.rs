//! What a partner shows before its traffic goes live. The intent has no list of its own (spec 3), so that this one
//! follows from its rules that must hold, its safety filters, and what the platform asks of every partner (spec 1):
//! what samples can show, the host checks; what only a look at papers and rooms can show, people confirm. That all
//! six tools are there is the host's to see.

use crate::tables;
use contract_sdk::{GoLiveCheck, Requirement};

/// Registries and municipalities renew what they have registered year by year.
const YEAR_DAYS: u32 = 365;
/// Rooms, props, timetables and attendance change with the season: they are looked at twice a year.
const SEASON_DAYS: u32 = 180;

/// Every requirement beyond the tools.
pub const GO_LIVE: &[Requirement] = &[
    Requirement::new(
        "STUDIOS_SAFE",
        "Every studio has a first-aid kit and complies with fire safety.",
        GoLiveCheck::Handles { occasions: &[], unbroken: &["NO_FIRST_AID_KIT", "FIRE_SAFETY"] },
    ),
    Requirement::new(
        "INSTRUCTORS_FIT",
        "Instructors have passed the background check, and hold what advanced and prenatal classes ask for.",
        GoLiveCheck::Handles {
            occasions: &[],
            unbroken: &[
                "INSTRUCTOR_UNCHECKED",
                "INSTRUCTOR_NOT_CERTIFIED",
                "PRENATAL_NOT_CERTIFIED",
                "REGISTRY_UNBACKED",
            ],
        },
    ),
    Requirement::new(
        "CONDITIONS_HEEDED",
        "Power yoga that calls itself back-pain-friendly warns of it.",
        GoLiveCheck::Handles { occasions: &[], unbroken: &["POWER_YOGA_UNWARNED"] },
    ),
    Requirement::new(
        "CATALOGUE_SOUND",
        "Slots name classes and instructors that there are, and classes are not fuller than they may be.",
        GoLiveCheck::Handles { occasions: &[], unbroken: &["UNKNOWN_CLASS", "UNKNOWN_INSTRUCTOR", "CLASS_SIZE"] },
    ),
    Requirement::search_latency(&tables::SEARCH),
    Requirement::booking_latency("BOOK_LATENCY", &tables::BOOK),
    Requirement::IDEMPOTENCY_TESTED,
    Requirement::by_hand(
        "LINEAGE_VERIFIED",
        "A lineage that is claimed has been verified by a certificate or a documented chain of teachers.",
    ),
    Requirement::by_hand(
        "REGISTRATIONS_ACTIVE",
        "Each registry certification that is claimed has an active registration with that registry.",
    )
    .valid_for(YEAR_DAYS),
    Requirement::by_hand(
        "PRENATAL_CERTIFICATES",
        "The certificate of each instructor who gives prenatal classes has been seen.",
    )
    .valid_for(YEAR_DAYS),
    Requirement::by_hand(
        "ATTENDANCE_TRUE",
        "class_size_typical has been compared with real attendance and is its average.",
    )
    .valid_for(SEASON_DAYS),
    Requirement::by_hand(
        "HOT_ROOMS_MEASURED",
        "A room of kind hot_yoga_40c has been measured at 38 to 42 degrees Celsius.",
    )
    .valid_for(SEASON_DAYS),
    Requirement::by_hand("PROPS_SOUND", "Props have been looked at and are clean and undamaged.")
        .valid_for(SEASON_DAYS),
    Requirement::by_hand(
        "HEADLINE_INSTRUCTORS_TEACH",
        "The timetable shows that a headline instructor teaches at least 80 % of the sessions that carry the name.",
    )
    .valid_for(SEASON_DAYS),
    Requirement::by_hand(
        "COMPLIANCE_DOCUMENTS",
        "Tax number, municipal licence, legal form of the business and a live privacy policy are on file.",
    )
    .valid_for(YEAR_DAYS),
];
