//! Issuing a policy: arguments, result, and the rules between them and the quote (spec 2, IssuedPolicy).
//!
//! The spec does not show the arguments; required is only what identifies the call and the quote. Whether the customer was
//! checked, the order tells ([`crate::order`]). The payment is between the user and the partner, which judges it and answers
//! PAYMENT_FAILED; its reference may go along.
//!
//! The free-look window is counted from the start of cover, the only day that the answer names. A window that ends
//! earlier than its own length from there is a finding; a longer one is to the user's advantage.

use crate::cover::{AddonCode, PolicyType};
use crate::dates::is_years_apart;
use crate::order::INSPECTION_ID;
use crate::quote::MotorQuote;
use crate::quote_rules::PREMIUM_TOLERANCE_INR;
use crate::{MotorInsurance, tables};
use contract_sdk::shape::{Date, HttpsUrl, Inr, Nullable, Phone, Text};
use contract_sdk::{AnswerRules, RequestRules, Shape, Subject, Tool, ToolPolicy, Vocabulary};

/// Years that a bundle may have.
const BUNDLE_YEARS: [i64; 2] = [3, 5];

/// By how many days the end of the free-look window may miss its length: some count the first day.
const FREELOOK_TOLERANCE_DAYS: i64 = 1;

pub struct IssuePolicy;

#[derive(Debug, Shape)]
pub struct IssueArguments<'a> {
    /// Identifier of the request; the same one gives the same policy.
    pub request_id: Text<'a>,
    /// The quote to issue.
    pub quote_id: Text<'a>,
    /// The user's payment, as the partner knows it.
    pub payment_reference: Option<Text<'a>>,
}

#[derive(Debug, Shape)]
pub struct IssuedPolicy<'a> {
    /// The partner's identifier of the policy; it never changes.
    pub policy_id: Text<'a>,
    /// Number of the policy at the insurer.
    pub policy_number: Text<'a>,
    /// Identifier of the insurer.
    pub insurer_id: Text<'a>,
    /// The product's unique identification number.
    pub product_uin: Text<'a>,
    /// Kind of policy.
    pub policy_type: PolicyType,
    /// First day of cover.
    pub policy_start_date: Date,
    /// Last day of cover.
    pub policy_end_date: Date,
    /// Last day of third-party cover in a bundle; never null for one.
    pub long_term_tp_end_date: Nullable<Date>,
    /// What the user paid, in INR.
    #[shape(min = 0)]
    pub total_paid_inr: Inr,
    /// The policy.
    pub policy_pdf_url: HttpsUrl<'a>,
    /// The certificate that the law asks for.
    pub certificate_of_insurance_url: HttpsUrl<'a>,
    /// Days within which the user may give the policy back.
    #[shape(min = 7, max = 30)]
    pub freelook_period_days: i64,
    /// Last day on which the user may give the policy back.
    pub freelook_ends_at: Date,
    /// Where to report a claim.
    pub claim_helpline_phone: Phone<'a>,
    /// Help on the road, where that addon was bought.
    pub emergency_assistance_phone: Nullable<Phone<'a>>,
}

impl Tool for IssuePolicy {
    type Intent = MotorInsurance;
    type Arguments<'a> = IssueArguments<'a>;
    type Answer<'a> = IssuedPolicy<'a>;

    const POLICY: ToolPolicy = tables::ISSUE;

    /// A vehicle that has to be inspected is, before its policy is issued (MotorQuote `inspection_required`). The outcome of the
    /// inspection, the partner knows.
    fn argument_rules(_: &IssueArguments<'_>, subject: &Subject<'_, MotorQuote<'_>>, rules: &mut RequestRules) {
        let uninspected = subject.order.is_some_and(|order| order.text(INSPECTION_ID).is_none());
        rules.refuse_if(
            uninspected && subject.quoted.is_some_and(|quote| quote.inspection_required),
            "INSPECTION_MISSING",
            "/quote_id",
            "The quote asks for an inspection first; call schedule_inspection.",
        );
    }

    fn answer_rules(
        _: &IssueArguments<'_>,
        policy: &IssuedPolicy<'_>,
        subject: &Subject<'_, MotorQuote<'_>>,
        rules: &mut AnswerRules,
    ) {
        let (start, end) = (policy.policy_start_date, policy.policy_end_date);
        rules.refuse_if(end <= start, "DATE_ORDER", "/policy_end_date", "The policy must end after it starts.");
        check_bundle(policy, subject.quoted, rules);
        check_free_look(policy, rules);
        if let Some(quote) = subject.quoted {
            compare_with_quote(policy, quote, rules);
        }
    }

    fn reference<'r>(policy: &'r IssuedPolicy<'_>) -> Option<&'r str> {
        Some(&policy.policy_id)
    }
}

/// A bundle says until when its third-party cover lasts, and that is 3 or 5 years from its start.
fn check_bundle(policy: &IssuedPolicy<'_>, quoted: Option<&MotorQuote<'_>>, rules: &mut AnswerRules) {
    let at = "/long_term_tp_end_date";
    let quoted_years = quoted.map_or(0, |quote| quote.long_term_tp_years);
    let Nullable(Some(long_term_end)) = policy.long_term_tp_end_date else {
        rules.refuse_if(
            policy.policy_type == PolicyType::LongTermTpBundle || quoted_years > 0,
            "LONG_TERM_TP_END_MISSING",
            at,
            "A bundle must say until when its third-party cover lasts.",
        );
        return;
    };
    let start = policy.policy_start_date;
    rules.refuse_if(long_term_end <= start, "DATE_ORDER", at, "Third-party cover must end after it starts.");
    let lasts = |years: i64| is_years_apart(start, long_term_end, years);
    let sound = match quoted {
        Some(quote) => quote.long_term_tp_years > 0 && lasts(quote.long_term_tp_years),
        None => BUNDLE_YEARS.into_iter().any(lasts),
    };
    rules.finding_if(
        long_term_end > start && !sound,
        "LONG_TERM_TP_END_MISMATCH",
        at,
        "The third-party cover does not last as long as a bundle of this quote does.",
    );
}

fn check_free_look(policy: &IssuedPolicy<'_>, rules: &mut AnswerRules) {
    let window = i64::from(policy.freelook_ends_at.days) - i64::from(policy.policy_start_date.days);
    let stated = policy.freelook_period_days;
    rules.finding_if(
        window + FREELOOK_TOLERANCE_DAYS < stated,
        "FREELOOK_CUT_SHORT",
        "/freelook_ends_at",
        format_args!("The window ends {window} days after the start of cover; freelook_period_days says {stated}."),
    );
}

/// What was issued against what was quoted.
fn compare_with_quote(policy: &IssuedPolicy<'_>, quote: &MotorQuote<'_>, rules: &mut AnswerRules) {
    let insurer = &quote.insurer;
    let texts = [
        ("/insurer_id", "INSURER_CHANGED", &*insurer.insurer_id, &*policy.insurer_id),
        ("/product_uin", "PRODUCT_CHANGED", &*insurer.product_uin, &*policy.product_uin),
        ("/policy_type", "POLICY_TYPE_CHANGED", quote.policy_type.value(), policy.policy_type.value()),
    ];
    for (at, code, quoted, issued) in texts {
        rules.finding_if(quoted != issued, code, at, format_args!("{quoted:?} was quoted, {issued:?} is issued."));
    }
    let (Inr(payable), Inr(paid)) = (quote.premium_breakdown.total_payable_inr, policy.total_paid_inr);
    rules.finding_if(
        payable.abs_diff(paid) > PREMIUM_TOLERANCE_INR,
        "PREMIUM_CHANGED",
        "/total_paid_inr",
        format_args!("{payable} INR were quoted, {paid} INR are paid."),
    );
    rules.finding_if(
        quote.includes(AddonCode::Rsa24x7) && policy.emergency_assistance_phone.0.is_none(),
        "ASSISTANCE_PHONE_MISSING",
        "/emergency_assistance_phone",
        "Roadside assistance was bought, so the user needs its number.",
    );
}
