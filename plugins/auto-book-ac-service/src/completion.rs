//! What a completion report carries beyond the common members, and the rules on it (spec 2, "Events").
//!
//! `amount_inr` is labour and the margin on parts and refrigerant; what these cost the provider is not in it, nor is tax.
//! The margin is not quoted, so the quote tells two bounds of an honest amount, and nothing between them:
//!
//! - at least the labour: it is the provider's own in full, and a margin takes nothing from it;
//! - at most all that was quoted before tax, diagnostic fee included: a margin is no more than the whole price of what was
//!   sold. Under a price lock the total may rise by its cap, and so may this.
//!
//! Without a lock only parts are an estimate by name (`parts_estimate_inr`); labour that rises above everything that was
//! quoted is not the price that the user was shown. The quote is in whole rupees, so a rupee more or less is rounding.
//!
//! Whatever deviates is a finding: the report is accepted, posted, and reviewed. The scope that was performed is compared with
//! the one that was quoted (spec 2, "Events"). One deviation is a strike besides: work that is reported as another and costlier
//! one than was booked (spec 2, rule 5). Booked is what the provider confirmed, which may be another scope than was quoted. Who
//! then does the work that was confirmed has deviated from the quote and has relabelled nothing. Where the platform knows of no
//! booking, it knows only what was shown to the user, and that is too little for a strike.

use crate::booking::exceeds;
use crate::order::CONFIRMED_SCOPE;
use crate::rules::PRICE_TOLERANCE_INR;
use crate::slot::{AcServiceSlot, EstimatedPrice, ServiceScopeCode};
use contract_sdk::common::CommonReport;
use contract_sdk::shape::Inr;
use contract_sdk::{Report, ReportRules, Shape, Subject, Vocabulary};

/// Most that any amount of a report may be, INR: a hundred times what a compressor with its fitting costs.
pub const AMOUNT_MAX_INR: u32 = 10_000_000;

/// Paise of a rupee.
const PAISE: i128 = 100;

/// Members of a report beyond the common ones.
#[derive(Debug, Shape)]
pub struct AcServiceReport {
    /// What was done, by the codes of service_scope.
    pub service_scope_performed: ServiceScopeCode,
    /// Whether the user was given a warranty card.
    pub warranty_card_issued: bool,
}

/// The scope that was performed must be the one that was quoted and booked (spec 2, rule 5), and the money that of the quote.
/// Lateness is never said: the report has no time at which the work began.
pub(crate) fn report_rules(
    report: &Report<'_, AcServiceReport>,
    subject: &Subject<'_, AcServiceSlot<'_>>,
    rules: &mut ReportRules,
) {
    let performed = report.extra.service_scope_performed;
    check_scope(performed, subject, rules);
    let Some(quoted) = subject.quoted else {
        return;
    };
    check_price_lock(&report.common, &quoted.estimated_price, rules);
    // What other work costs, the quote does not tell.
    if quoted.service_scope.code == performed {
        check_amount(report.common.amount_inr.paise, &quoted.estimated_price, rules);
    }
}

/// The scope against the quote and against the booking; see the top of the file. Where one of the two is not known, the other
/// stands for it.
fn check_scope(performed: ServiceScopeCode, subject: &Subject<'_, AcServiceSlot<'_>>, rules: &mut ReportRules) {
    let at = "/service_scope_performed";
    let quoted = subject.quoted.map(|slot| slot.service_scope.code);
    let confirmed = subject.order.and_then(|order| ServiceScopeCode::from_value(&order.text(CONFIRMED_SCOPE)?));
    if let Some(expected) = quoted.or(confirmed) {
        let told = if quoted.is_some() { "quoted" } else { "confirmed" };
        rules.finding_if(
            expected != performed,
            "SCOPE_MISMATCH",
            at,
            format_args!("{} was {told}, {} was performed.", expected.value(), performed.value()),
        );
    }
    if let Some(booked) = confirmed.or(quoted) {
        rules.strike_if(
            subject.order.is_some() && performed.cost_rank() > booked.cost_rank(),
            "SCOPE_RELABELLED",
            at,
            format_args!("{} was booked, {} was performed.", booked.value(), performed.value()),
        );
    }
}

/// The amount against what can be told of it from the quote; see the top of the file.
fn check_amount(paise: i64, price: &EstimatedPrice, rules: &mut ReportRules) {
    let paise = i128::from(paise);
    let tolerance = i128::from(PRICE_TOLERANCE_INR) * PAISE;
    let Inr(labour) = price.labour_inr;
    rules.finding_if(
        paise + tolerance < i128::from(labour) * PAISE,
        "AMOUNT_BELOW_QUOTE",
        "/amount_inr",
        format_args!("amount_inr holds the labour, of which {labour} INR were quoted."),
    );
    let cap_pct = if price.price_lock_guaranteed { price.price_lock_variance_cap_pct } else { 0 };
    let before_tax = before_tax_inr(price);
    rules.finding_if(
        paise - tolerance > before_tax * (100 + i128::from(cap_pct)) * PAISE / 100,
        "AMOUNT_ABOVE_QUOTE",
        "/amount_inr",
        format_args!(
            "amount_inr is more than all that was quoted before tax, {before_tax} INR, with a cap of {cap_pct} %."
        ),
    );
}

/// All that was quoted but the tax, whichever way of adding it up gives more: a diagnostic fee that is waived may be left
/// out of the total, and is due all the same where nothing is repaired.
fn before_tax_inr(price: &EstimatedPrice) -> i128 {
    let parts = [price.diagnostic_fee_inr, price.labour_inr, price.parts_estimate_inr, price.refrigerant_inr];
    let sum: i128 = parts.iter().map(|part| i128::from(part.0)).sum();
    sum.max(i128::from(price.total_estimate_inr.0) - i128::from(price.gst_inr.0))
}

/// Under a price lock the user pays no more than the cap allows, unless the user has agreed to more (spec 2, rule 7).
/// What the report says that the user paid, tips aside, is the least that it can have been: what parts cost the provider
/// may be in none of its members. The lock is a promise, so there is no tolerance. Nothing tells the platform that a
/// user has agreed; whoever reviews the finding asks for it.
fn check_price_lock(report: &CommonReport<'_>, price: &EstimatedPrice, rules: &mut ReportRules) {
    let (Inr(locked), cap_pct) = (price.total_estimate_inr, price.price_lock_variance_cap_pct);
    let paid = [report.amount_inr, report.gst_inr, report.pass_through_inr];
    // Each is at most 10^14, so the sum fits.
    let paise: i64 = paid.iter().map(|amount| amount.paise).sum();
    rules.finding_if(
        price.price_lock_guaranteed && exceeds(i128::from(paise), i128::from(locked) * PAISE, cap_pct),
        "PRICE_LOCK_EXCEEDED",
        "/amount_inr",
        format_args!(
            "Amount, tax and what was passed through come to {}.{:02} INR, more than {cap_pct} % above the {locked} INR that \
             were locked; the platform knows of no consent.",
            paise / 100,
            paise % 100
        ),
    );
}
