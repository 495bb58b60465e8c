//! What a completion report carries beyond the common members, and the rules on it (spec 2, "Events").
//!
//! `amount_inr` is the partner's commission and never the premium; the premium is passed through. The commission is not
//! quoted, so the quote tells one bound of it: it is a share of the premium without tax, hence less. Whatever does not fit
//! the quote is a finding: the report is accepted, posted, and reviewed. Lateness is never said: a policy has no appointment
//! to be late for, and the report no time of issuance.

use crate::cover::PolicyType;
use crate::quote::{MotorQuote, PremiumBreakdown};
use crate::quote_rules::PREMIUM_TOLERANCE_INR;
use contract_sdk::shape::{Inr, Text};
use contract_sdk::{Report, ReportRules, Shape, Subject, Vocabulary};

/// Paise of a rupee.
const PAISE: i64 = 100;

/// Most that any amount of a report may be, INR: the premium passed through for the costliest vehicles with years of cover is
/// far below it.
pub const AMOUNT_MAX_INR: u32 = 100_000_000;

/// Members of a report beyond the common ones.
#[derive(Debug, Shape)]
pub struct MotorInsuranceReport<'a> {
    /// Identifier of the insurer.
    pub insurer_id: Text<'a>,
    /// The product's unique identification number.
    pub product_uin: Text<'a>,
    /// Kind of policy.
    pub policy_type: PolicyType,
    /// Years of third-party cover in a bundle; 0 outside one.
    #[shape(one_of = [0, 3, 5])]
    pub long_term_tp_years: i64,
    /// Number of addons.
    #[shape(min = 0)]
    pub addons_count: i64,
}

pub(crate) fn report_rules(
    report: &Report<'_, MotorInsuranceReport<'_>>,
    subject: &Subject<'_, MotorQuote<'_>>,
    rules: &mut ReportRules,
) {
    let quoted = subject.quoted;
    let (amount, passed_through) = (report.common.amount_inr.paise, report.common.pass_through_inr.paise);
    let quoted_premium = quoted.map(|quote| without_tax(&quote.premium_breakdown).saturating_mul(PAISE));
    let is_premium = |premium: i64| premium > 0 && amount >= premium;
    rules.finding_if(
        is_premium(passed_through) || quoted_premium.is_some_and(is_premium),
        "PREMIUM_AS_AMOUNT",
        "/amount_inr",
        "amount_inr is the partner's commission; this is as much as the premium without tax, or more.",
    );
    if let Some(quote) = quoted {
        check_pass_through(passed_through, quote, rules);
        compare_with_quote(&report.extra, quote, rules);
    }
}

/// The premium of all years that were sold, without tax, in INR.
fn without_tax(premium: &PremiumBreakdown) -> i64 {
    premium.total_payable_inr.0.saturating_sub(premium.gst_inr.0)
}

/// What is passed through is the first year's premium. The spec does not say whether with tax, nor how a bundle's
/// years are told apart, so anything between the least and the greatest reading is sound: at least one year's share
/// without tax and without the bundle's later years, at most all that the user pays.
fn check_pass_through(paise: i64, quote: &MotorQuote<'_>, rules: &mut ReportRules) {
    let premium = &quote.premium_breakdown;
    let Inr(total) = premium.total_payable_inr;
    let first_year = without_tax(premium).saturating_sub(premium.long_term_tp_premium_inr.0);
    let least = first_year.max(0) / quote.tenure_years.max(1);
    let tolerance = PREMIUM_TOLERANCE_INR as i64;
    let range =
        least.saturating_sub(tolerance).saturating_mul(PAISE)..=total.saturating_add(tolerance).saturating_mul(PAISE);
    rules.finding_if(
        !range.contains(&paise),
        "PASS_THROUGH_MISMATCH",
        "/pass_through_inr",
        format_args!("The first year's premium of the quote is {least} to {total} INR."),
    );
}

/// What is reported against what was quoted.
fn compare_with_quote(report: &MotorInsuranceReport<'_>, quote: &MotorQuote<'_>, rules: &mut ReportRules) {
    let insurer = &quote.insurer;
    let texts = [
        ("/insurer_id", "INSURER_MISMATCH", &*insurer.insurer_id, &*report.insurer_id),
        ("/product_uin", "PRODUCT_MISMATCH", &*insurer.product_uin, &*report.product_uin),
        ("/policy_type", "POLICY_TYPE_MISMATCH", quote.policy_type.value(), report.policy_type.value()),
    ];
    for (at, code, quoted, reported) in texts {
        rules.finding_if(
            quoted != reported,
            code,
            at,
            format_args!("{quoted:?} was quoted, {reported:?} is reported."),
        );
    }
    let addons = i64::try_from(quote.addons_included.len()).unwrap_or(i64::MAX);
    let numbers = [
        ("/long_term_tp_years", "LONG_TERM_TP_MISMATCH", quote.long_term_tp_years, report.long_term_tp_years),
        ("/addons_count", "ADDONS_MISMATCH", addons, report.addons_count),
    ];
    for (at, code, quoted, reported) in numbers {
        rules.finding_if(quoted != reported, code, at, format_args!("{quoted} was quoted, {reported} is reported."));
    }
}
