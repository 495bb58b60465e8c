//! The rules of the contract in words, for the partners' page (spec 3). What they do is in `judge`, `findings`,
//! [`crate::booking`] and [`crate::completion`]; the case files are held against this table, so that neither has a
//! rule that the other does not.

use contract_sdk::RuleRow;
use contract_sdk::bindings::Consequence::{Dropped, Finding, Refused, Strike};
use contract_sdk::bindings::Judged::{self, Answer, Report};

/// Every rule beyond the shapes.
pub const RULES: &[RuleRow] = &[
    RuleRow::new(Judged::Option, Dropped, "NO_FIRST_AID_KIT", "The studio has a first-aid kit."),
    RuleRow::new(Judged::Option, Dropped, "FIRE_SAFETY", "The studio complies with fire safety."),
    RuleRow::new(
        Judged::Option,
        Dropped,
        "PRENATAL_CLASS_REQUIRED",
        "For a user in the third trimester the studio gives a class of kind prenatal_class.",
    ),
    RuleRow::new(Judged::Option, Dropped, "STYLE_ABSENT", "The catalogue has a class of a style that was asked for."),
    RuleRow::new(
        Judged::Option,
        Dropped,
        "NOT_PRENATAL_FRIENDLY",
        "For a pregnant user a class of an asked style is prenatal_friendly.",
    ),
    RuleRow::new(
        Judged::Option,
        Dropped,
        "NOT_POSTPARTUM_FRIENDLY",
        "In the six months after birth, or where the user discloses postpartum and does not state that it was longer ago, \
         a class of an asked style is postpartum_friendly.",
    ),
    RuleRow::new(
        Judged::Option,
        Dropped,
        "TOO_ADVANCED",
        "A beginner or novice finds a class of an asked style that is not advanced.",
    ),
    RuleRow::new(
        Judged::Option,
        Dropped,
        "TOO_EASY",
        "An advanced user or teacher finds a class of an asked style that is not for beginners.",
    ),
    RuleRow::new(
        Judged::Option,
        Dropped,
        "NOT_BACK_PAIN_FRIENDLY",
        "For a user with back pain, mild or not, a class of an asked style is back_pain_friendly.",
    ),
    RuleRow::new(
        Judged::Option,
        Dropped,
        "NO_SLOT",
        "A class that suits the user has a slot, with an instructor of the list.",
    ),
    RuleRow::new(
        Judged::Option,
        Dropped,
        "INSTRUCTOR_UNCHECKED",
        "The instructor of the slot has passed the background check.",
    ),
    RuleRow::new(
        Judged::Option,
        Dropped,
        "INSTRUCTOR_NOT_CERTIFIED",
        "An advanced class has an instructor with a registry 200-hour certification or its equivalent.",
    ),
    RuleRow::new(
        Judged::Option,
        Strike,
        "PRENATAL_NOT_CERTIFIED",
        "A prenatal class has an instructor who is prenatal_certified; without another class for the user the option goes.",
    ),
    RuleRow::new(
        Judged::Option,
        Finding,
        "PRENATAL_NOT_CERTIFIED",
        "A prenatal class has an instructor who is prenatal_certified, also where the user is served by another class.",
    ),
    RuleRow::new(Judged::Option, Finding, "UNKNOWN_CLASS", "Every slot names a class of the catalogue."),
    RuleRow::new(Judged::Option, Finding, "UNKNOWN_INSTRUCTOR", "Every slot names an instructor of the list."),
    RuleRow::new(
        Judged::Option,
        Finding,
        "CLASS_SIZE",
        "The average attendance is not above the most that are let in.",
    ),
    RuleRow::new(
        Judged::Option,
        Finding,
        "REGISTRY_UNBACKED",
        "Who claims a registry certification has registry_body among the certifying authorities.",
    ),
    RuleRow::new(
        Judged::Option,
        Finding,
        "POWER_YOGA_UNWARNED",
        "Power yoga that calls itself back-pain-friendly warns of it in its description.",
    ),
    RuleRow::new(Answer, Finding, "UNKNOWN_CLASS", "Every slot names a class of the option."),
    RuleRow::new(Answer, Finding, "UNKNOWN_INSTRUCTOR", "Every slot names an instructor of the option."),
    RuleRow::new(Answer, Finding, "CLASS_SIZE", "The average attendance is not above the most that are let in."),
    RuleRow::new(
        Answer,
        Finding,
        "REGISTRY_UNBACKED",
        "Who claims a registry certification has registry_body among the certifying authorities.",
    ),
    RuleRow::new(Report, Refused, "WINDOW_ORDER", "The class ends after it starts."),
    RuleRow::new(Report, Finding, "STUDIO_MISMATCH", "The studio is the one that was booked."),
    RuleRow::new(
        Report,
        Finding,
        "CLASS_MISMATCH",
        "The class is the one that was booked; without a known booking, one of the option.",
    ),
    RuleRow::new(
        Report,
        Finding,
        "INSTRUCTOR_MISMATCH",
        "The instructor is the one that was booked; without a known booking, one of the option.",
    ),
    RuleRow::new(Report, Finding, "SLOT_MISMATCH", "The class started on the day that was booked."),
    RuleRow::new(
        Report,
        Finding,
        "AMOUNT_MISMATCH",
        "Of a completed order, amount_inr, with or without gst_inr and pass_through_inr, is the price of the pass or of the \
         instructor's private session; on a pass for many visits it may be nothing.",
    ),
];
