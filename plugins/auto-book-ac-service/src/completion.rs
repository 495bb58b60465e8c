//! What a completion report carries beyond the common members, and the rule on it (spec 2, "Events").

use crate::slot::{AcServiceSlot, ServiceScopeCode};
use contract_sdk::{Report, ReportRules, Shape, Vocabulary};

/// Members of a report beyond the common ones.
#[derive(Debug, Shape)]
pub struct AcServiceReport {
    /// What was done, by the codes of service_scope.
    pub service_scope_performed: ServiceScopeCode,
    /// Whether the user was given a warranty card.
    pub warranty_card_issued: bool,
}

/// The scope that was quoted must be the one that was performed; where it is not, the report is
/// accepted and reviewed (spec 2, rule 5). Lateness is never said: the report has no time at which the work began.
pub(crate) fn report_rules(
    report: &Report<'_, AcServiceReport>,
    quoted: Option<&AcServiceSlot<'_>>,
    rules: &mut ReportRules,
) {
    let Some(quoted) = quoted else {
        return;
    };
    let (quoted, performed) = (quoted.service_scope.code, report.extra.service_scope_performed);
    rules.finding_if(
        quoted != performed,
        "SCOPE_MISMATCH",
        "/service_scope_performed",
        format_args!("{} was quoted, {} was performed.", quoted.value(), performed.value()),
    );
}
