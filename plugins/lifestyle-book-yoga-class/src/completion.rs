//! What a completion report carries beyond the common members, and the rules on it (spec 3, "Events").
//!
//! `amount_inr` is the booked amount, so it is held against the price that was offered. The spec does not say whether a
//! price holds the tax, which is reported apart: a price fits where it is no less than the amount, and no more than the
//! amount with tax and passed-through fees. Both readings are exact, so there is no tolerance.
//!
//! Prices of an option are that of its pass, and what the instructor takes for a private session: the report does not
//! tell whether the session was one. A pass for many visits is paid once, so a visit on it may also cost nothing.

use crate::option::{Offer, YogaClassOption, YogaSlotOption};
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
/// one took place and its slot is known.
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
    if let Some(Offer { option, .. }) = subject.quoted {
        compare_with_quote(extra, option, rules);
        // What is kept of an order that ended otherwise, nobody has told in advance; nor another studio's prices.
        if *common.status == *COMPLETED && *extra.yoga_studio_id == *option.yoga_studio.identity.id {
            check_amount(common, extra, option, rules);
        }
        if took_place && let Some(quoted_start) = quoted_start(extra, option) {
            rules.late_by_minutes(extra.started_at.minutes_since(quoted_start));
        }
    }
}

/// When the class should have started: the start nearest to the reported one among the slots of that class. The
/// report does not name its slot, so of two that are equally near it is the earlier one: the class was late.
fn quoted_start(report: &YogaClassReport<'_>, option: &YogaClassOption<'_>) -> Option<DateTime> {
    let of_class = option.available_slots.iter().filter(|slot| *slot.class_id == *report.class_id);
    let away_ms = |start: &DateTime| report.started_at.ms.abs_diff(start.ms);
    of_class.filter_map(YogaSlotOption::starts).min_by_key(|start| (away_ms(start), start.ms))
}

fn compare_with_quote(report: &YogaClassReport<'_>, option: &YogaClassOption<'_>, rules: &mut ReportRules) {
    let studio = &option.yoga_studio.identity.id;
    rules.finding_if(
        *report.yoga_studio_id != **studio,
        "STUDIO_MISMATCH",
        "/yoga_studio_id",
        format_args!("The studio {:?} was booked.", &**studio),
    );
    rules.finding_if(
        !option.yoga_class_catalog.iter().any(|class| *class.class_id == *report.class_id),
        "CLASS_MISMATCH",
        "/class_id",
        "The booked option has no such class.",
    );
    rules.finding_if(
        !option.instructors.iter().any(|instructor| *instructor.instructor_id == *report.instructor_id),
        "INSTRUCTOR_MISMATCH",
        "/instructor_id",
        "The booked option has no such instructor.",
    );
}

/// The amount is that of a price which was offered; see the top of the file.
fn check_amount(
    common: &CommonReport<'_>,
    report: &YogaClassReport<'_>,
    option: &YogaClassOption<'_>,
    rules: &mut ReportRules,
) {
    let pass = &option.session_pass;
    let instructor = option.instructors.iter().find(|instructor| *instructor.instructor_id == *report.instructor_id);
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
