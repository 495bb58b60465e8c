//! What a completion report carries beyond the common members, and the rules on it (spec 3, "Events").
//!
//! A report is held against the order that it closes: the class, the instructor, the studio and the time that were booked.
//! Where the platform knows of no order, it is held against an option that was shown, and any class of it will do.
//!
//! `amount_inr` is the booked amount, so it is held against the price that was offered. The spec does not say whether a
//! price holds the tax, which is reported apart: a price fits where it is no less than the amount, and no more than the
//! amount with tax and passed-through fees. Both readings are exact, so there is no tolerance.
//!
//! Prices of an option are that of its pass, and what the booked instructor takes for a private session: the report does
//! not tell whether the session was one. A pass for many visits is paid once, so a visit on it may also cost nothing.

use crate::option::{Offer, YogaClassOption, YogaSlotOption};
use crate::order::BookedSlot;
use crate::vocabulary::{PassKind, Prop};
use contract_sdk::common::CommonReport;
use contract_sdk::shape::{DateTime, Inr, Text};
use contract_sdk::{Report, ReportRules, Shape, Subject};
use std::borrow::Cow;

/// How an order can end (spec 3, "States and transitions").
pub const STATUSES: &[&str] =
    &[COMPLETED, "cancelled_by_user", "cancelled_by_studio", "no_show", "failed", LEFT_EARLY, HALTED];

/// The one status on which commission is charged.
pub const CHARGED: &[&str] = &[COMPLETED];

/// Most that any amount of a report may be, INR: a hundred times a costly pass for a year.
pub const AMOUNT_MAX_INR: u32 = 10_000_000;

const COMPLETED: &str = "completed";
const LEFT_EARLY: &str = "partial_completion_user_left_early";
const HALTED: &str = "medical_event_class_halted";

/// Paise of a rupee.
const PAISE: i128 = 100;

/// Members of a report beyond the common ones.
#[derive(Debug, Shape)]
pub struct YogaClassReport<'a> {
    /// Version of the contract that the report is written by.
    pub intent_version: Text<'a>,
    /// The partner's reference of the appointment.
    pub appointment_ref: Text<'a>,
    /// The studio.
    pub yoga_studio_id: Text<'a>,
    /// Who taught.
    pub instructor_id: Text<'a>,
    /// The class.
    pub class_id: Text<'a>,
    /// When the class started. Against the start of its slot it tells how late the studio was.
    pub started_at: DateTime,
    /// When the class ended.
    pub ended_at: DateTime,
    /// How long it took.
    pub duration_actual_minutes: i64,
    /// By how much the user was late.
    pub user_arrived_late_minutes: i64,
    /// Props that were used.
    pub props_used: Vec<Prop>,
    /// Currency of all amounts.
    #[shape(equals = "INR")]
    pub currency: Text<'a>,
    /// Total of the fare in INR.
    #[shape(min = 0)]
    pub fare_breakdown_total_inr: Inr,
    /// Tip in INR.
    #[shape(min = 0)]
    pub rider_tip_inr: Inr,
    /// Whether the user has still to rate.
    pub ratings_pending: bool,
    /// What else there is to say; may be empty.
    pub notes: Cow<'a, str>,
}

/// A class ends after it starts. Where none took place the two times may be the same. What was booked is compared
/// with what is reported; where they differ, the report is accepted and reviewed. How late a class began is told where
/// one took place and its start is known.
pub(crate) fn report_rules(
    report: &Report<'_, YogaClassReport<'_>>,
    subject: &Subject<'_, Offer<'_>>,
    rules: &mut ReportRules,
) {
    let Report { common, extra } = report;
    let took_place = matches!(&*common.status, COMPLETED | LEFT_EARLY | HALTED);
    let (start, end) = (extra.started_at.ms, extra.ended_at.ms);
    rules.refuse_if(
        end < start || (took_place && end == start),
        "WINDOW_ORDER",
        "/ended_at",
        "The class must end after it starts.",
    );
    let booked = BookedSlot::of(subject.order);
    let option = subject.quoted.map(|offer| &offer.option);
    compare_with_booking(extra, &booked, option, rules);
    if let Some(option) = option {
        // What is kept of an order that ended otherwise, nobody has told in advance; nor another studio's prices.
        if *common.status == *COMPLETED && *extra.yoga_studio_id == *option.yoga_studio.identity.id {
            let instructor = booked.instructor.as_deref().unwrap_or(&extra.instructor_id);
            check_amount(common, instructor, option, rules);
        }
    }
    if took_place {
        check_start(extra, &booked, option, rules);
    }
}

/// How late the class began, and whether on the day that was booked; days are those of the place that was booked.
fn check_start(
    report: &YogaClassReport<'_>,
    booked: &BookedSlot<'_>,
    option: Option<&YogaClassOption<'_>>,
    rules: &mut ReportRules,
) {
    if let Some(start) = booked.start {
        let started = DateTime { offset_minutes: start.offset_minutes, ..report.started_at };
        rules.finding_if(
            started.local_day() != start.local_day(),
            "SLOT_MISMATCH",
            "/started_at",
            format_args!("{start} was booked; the class started on another day, {started}."),
        );
    }
    if let Some(start) = booked.start.or_else(|| quoted_start(report, option?)) {
        rules.late_by_minutes(report.started_at.minutes_since(start));
    }
}

/// When a class of the option should have started, where no time was booked: the start nearest to the reported one among the slots of that class. The
/// report does not name its slot, so of two that are equally near it is the earlier one: the class was late.
fn quoted_start(report: &YogaClassReport<'_>, option: &YogaClassOption<'_>) -> Option<DateTime> {
    let of_class = option.available_slots.iter().filter(|slot| *slot.class_id == *report.class_id);
    let away_ms = |start: &DateTime| report.started_at.ms.abs_diff(start.ms);
    of_class.filter_map(YogaSlotOption::starts).min_by_key(|start| (away_ms(start), start.ms))
}

/// What was reported against what was booked, or else against the option that was shown.
fn compare_with_booking(
    report: &YogaClassReport<'_>,
    booked: &BookedSlot<'_>,
    option: Option<&YogaClassOption<'_>>,
    rules: &mut ReportRules,
) {
    let studio = booked.studio.as_deref().or(option.map(|option| &*option.yoga_studio.identity.id));
    rules.finding_if(
        studio.is_some_and(|studio| *report.yoga_studio_id != *studio),
        "STUDIO_MISMATCH",
        "/yoga_studio_id",
        format_args!("The studio {:?} was booked.", studio.unwrap_or_default()),
    );
    let has_class = |option: &YogaClassOption<'_>| {
        option.yoga_class_catalog.iter().any(|class| *class.class_id == *report.class_id)
    };
    let class = booked.class.as_deref().map(|class| *report.class_id == *class).or(option.map(has_class));
    rules.finding_if(class == Some(false), "CLASS_MISMATCH", "/class_id", "This class was not booked.");
    let has_instructor = |option: &YogaClassOption<'_>| {
        option.instructors.iter().any(|instructor| *instructor.instructor_id == *report.instructor_id)
    };
    let instructor =
        booked.instructor.as_deref().map(|booked| *report.instructor_id == *booked).or(option.map(has_instructor));
    rules.finding_if(
        instructor == Some(false),
        "INSTRUCTOR_MISMATCH",
        "/instructor_id",
        "This instructor was not booked.",
    );
}

/// The amount is that of a price which was offered; see the top of the file.
fn check_amount(common: &CommonReport<'_>, instructor_id: &str, option: &YogaClassOption<'_>, rules: &mut ReportRules) {
    let pass = &option.session_pass;
    let instructor = option.instructors.iter().find(|instructor| *instructor.instructor_id == *instructor_id);
    let for_many_visits = matches!(pass.pass_kind, PassKind::WeeklyUnlimited | PassKind::MonthlyDropInPack);
    let offered = [
        Some(pass.pass_inr),
        instructor.map(|instructor| instructor.private_session_inr),
        for_many_visits.then_some(Inr(0)),
    ];
    let least = i128::from(common.amount_inr.paise);
    let most = least + i128::from(common.gst_inr.paise) + i128::from(common.pass_through_inr.paise);
    let fits = |Inr(price): &Inr| (least..=most).contains(&(i128::from(*price) * PAISE));
    rules.finding_if(
        !offered.iter().flatten().any(fits),
        "AMOUNT_MISMATCH",
        "/amount_inr",
        format_args!(
            "The pass was offered for {} INR; the amount and what comes on top of it are no price of the option.",
            pass.pass_inr.0
        ),
    );
}
