//! What a partner shows before its traffic goes live (spec 2, "Go-live requirements, auto.book_ac_service"). That all
//! three tools are there is the host's to see; the rest is here, in the order of the spec.

use crate::tables;
use contract_sdk::{GoLiveCheck, Minimum, Requirement, Window};

/// Certificates are those of the current year (spec 2, "Rules that must hold", rule 2): after one, the next one is looked at.
const CERTIFICATE_DAYS: u32 = 365;

/// Every requirement beyond the tools.
pub const GO_LIVE: &[Requirement] = &[
    Requirement::new(
        "CATALOGUE_DEPTH",
        "There are at least 3 providers and 8 slots in a window of 24 hours.",
        GoLiveCheck::AtLeast {
            minimums: &[
                Minimum { counted: "providers", pointer: "/provider/provider_id", count: 3 },
                Minimum { counted: "slots", pointer: "", count: 8 },
            ],
            within: Some(Window { pointer: "/slot_window/start", hours: 24 }),
        },
    ),
    Requirement::by_hand(
        "CERTIFICATION_VERIFIED",
        "The certification of each provider to handle refrigerant can be verified by a document that was uploaded.",
    )
    .valid_for(CERTIFICATE_DAYS),
    Requirement::new(
        "AC_SYSTEMS_COVERED",
        "The catalogue has slots for every kind of air-conditioning system.",
        GoLiveCheck::Covers { pointer: "/vehicle/ac_system_type", vocabulary: "ac_system_type" },
    ),
    Requirement::search_latency(&tables::SEARCH),
    Requirement::booking_latency("CREATE_LATENCY", &tables::CREATE),
    Requirement::IDEMPOTENCY_TESTED,
    Requirement::by_hand(
        "COOLING_WARRANTY_HONOURED",
        "In a test a car that does not cool was serviced again under the cooling warranty, free of charge.",
    ),
    Requirement::by_hand(
        "COMPLIANCE_DOCUMENTS",
        "Tax number, shop licence, refrigerant handling certificate and the URL of the privacy policy are on file.",
    )
    .valid_for(CERTIFICATE_DAYS),
];
