//! What a partner shows before its traffic goes live (spec 2, "Go-live requirements, finance.buy_motor_insurance").
//! That all five tools are there is the host's to see; the rest is here, in the order of the spec.
//!
//! A check that can be made on sample searches asks for samples of the kind that could break it: otherwise nothing
//! would have been checked.
//!
//! What people confirm holds for a time, so that they look again while a partner is live.

use contract_sdk::{GoLiveCheck, Minimum, Occasion, RequestTest, Requirement};

const THREE_YEAR_BUNDLE: Occasion = Occasion {
    text: "a new car's bundle of 3 years",
    pointer: "/buyer_preferences/long_term_tp_years",
    test: RequestTest::Equals("3"),
};

const FIVE_YEAR_BUNDLE: Occasion = Occasion {
    text: "a new two-wheeler's bundle of 5 years",
    pointer: "/buyer_preferences/long_term_tp_years",
    test: RequestTest::Equals("5"),
};

const NEWLY_PURCHASED: Occasion = Occasion {
    text: "a newly purchased vehicle",
    pointer: "/purchase_context",
    test: RequestTest::Equals("\"newly_purchased\""),
};

const ELECTRIC: Occasion =
    Occasion { text: "an electric vehicle", pointer: "/vehicle/fuel_type", test: RequestTest::Equals("\"electric\"") };

const LONG_LAPSE: Occasion = Occasion {
    text: "a lapse of more than 90 days",
    pointer: "/previous_policy/lapse_days",
    test: RequestTest::Above(90.0),
};

const USED_VEHICLE: Occasion = Occasion {
    text: "a used vehicle's first policy",
    pointer: "/purchase_context",
    test: RequestTest::Equals("\"used_vehicle_first_policy\""),
};

/// A directory of garages is stale after so many days (spec 2, "Rules that must hold, insurance intent"). The counts are
/// counted in it.
const DIRECTORY_DAYS: u32 = 90;
/// The regulator publishes ratios once a year; licences and registrations are kept up by yearly fees and returns.
const YEAR_DAYS: u32 = 365;
/// Insurers file products and wordings, and withdraw them, all through the year, and a policy is sold for a year: looked at
/// twice a year, what was withdrawn is found before the policies that it was sold under are renewed.
const PRODUCT_DAYS: u32 = 180;

/// Every requirement beyond the tools.
pub const GO_LIVE: &[Requirement] = &[
    Requirement::new(
        "INSURERS",
        "There are quotes of at least 5 insurers.",
        GoLiveCheck::AtLeast {
            minimums: &[Minimum { counted: "insurers", pointer: "/insurer/insurer_id", count: 5 }],
            within: None,
        },
    ),
    Requirement::by_hand(
        "REGISTRATIONS_VERIFIED",
        "The insurers' registration numbers and the products' UINs have been found with the regulator.",
    )
    .valid_for(PRODUCT_DAYS),
    Requirement::by_hand(
        "WORDINGS_VERIFIED",
        "Each policy_wording_url leads to the wording that was filed under the product's UIN, and to no brochure.",
    )
    .valid_for(PRODUCT_DAYS),
    Requirement::by_hand(
        "RATIOS_CURRENT",
        "Settlement ratios and days are those of the regulator's latest publication.",
    )
    .valid_for(YEAR_DAYS),
    Requirement::new(
        "TP_FLOOR_KEPT",
        "No third-party premium is below the tariff.",
        GoLiveCheck::Handles { occasions: &[], unbroken: &["TP_BELOW_FLOOR"] },
    ),
    Requirement::new(
        "LONG_TERM_BUNDLES",
        "New cars are quoted with 3 years of third-party cover and new two-wheelers with 5.",
        GoLiveCheck::Handles {
            occasions: &[THREE_YEAR_BUNDLE, FIVE_YEAR_BUNDLE],
            unbroken: &["LONG_TERM_TP_REQUIRED", "LONG_TERM_TP_NOT_ALLOWED"],
        },
    ),
    Requirement::new(
        "IDV_BOUNDS",
        "A newly purchased vehicle is quoted, and no vehicle is insured outside the band of its invoice and age.",
        GoLiveCheck::Handles { occasions: &[NEWLY_PURCHASED], unbroken: &["IDV_OUT_OF_RANGE"] },
    ),
    Requirement::new(
        "ELECTRIC_VEHICLES",
        "Electric vehicles are quoted; a quote that passes is not below the tariff of their power.",
        GoLiveCheck::Handles { occasions: &[ELECTRIC], unbroken: &[] },
    ),
    Requirement::by_hand("CASHLESS_COUNTS", "The counts of cashless garages are those of the network as it is.")
        .valid_for(DIRECTORY_DAYS),
    Requirement::by_hand("GARAGE_DIRECTORY", "The directory of garages is live and up to date.")
        .valid_for(DIRECTORY_DAYS),
    Requirement::by_hand(
        "FREELOOK_PERIOD",
        "A policy that was issued in a test has a freelook_period_days of 7 or more; 15 unless the insurer says otherwise.",
    ),
    Requirement::new(
        "INSPECTIONS",
        "A quote asks for an inspection after a lapse of more than 90 days and for a used vehicle's first policy.",
        GoLiveCheck::Handles { occasions: &[LONG_LAPSE, USED_VEHICLE], unbroken: &["INSPECTION_OMITTED"] },
    ),
    Requirement::by_hand(
        "COMPLIANCE_DOCUMENTS",
        "The licence as agent or broker, the tax number, the privacy policy and a grievance officer are on file.",
    )
    .valid_for(YEAR_DAYS),
    Requirement::by_hand(
        "CLAIMS_SUPPORT",
        "Claims are taken round the clock; where roadside assistance is offered, its help desk answers as well.",
    )
    .valid_for(YEAR_DAYS),
];
