//! What a completion report carries beyond the common members, and the rule on it.

use crate::option::Offer;
use crate::request::Kind;
use contract_sdk::shape::DateTime;
use contract_sdk::{Report, ReportRules, Shape, Subject, Vocabulary};

/// Most that any amount of a report may be, INR: far above what an order costs.
pub const AMOUNT_MAX_INR: u32 = 1_000_000;

/// Members of a report beyond the common ones.
#[derive(Debug, Shape)]
pub struct Extra {
    /// The kind of service that was given.
    pub kind_performed: Kind,
    /// When the service started.
    pub started_at: DateTime,
}

/// What was offered must be what was given; where it is not, the report is accepted and reviewed. How late the service
/// started is told against the offer.
pub(crate) fn report_rules(report: &Report<'_, Extra>, subject: &Subject<'_, Offer<'_>>, rules: &mut ReportRules) {
    let Some(quoted) = subject.quoted else {
        return;
    };
    let given = &report.extra;
    rules.finding_if(
        quoted.kind != given.kind_performed,
        "KIND_MISMATCH",
        "/kind_performed",
        format_args!("{} was offered, {} was given.", quoted.kind.value(), given.kind_performed.value()),
    );
    rules.late_by_minutes(given.started_at.minutes_since(quoted.starts_at));
}
