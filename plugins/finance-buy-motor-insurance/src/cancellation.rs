//! Cancelling before issuance, and giving a policy back: arguments, result, and the rules between them (spec 2, Insurance
//! CancellationResult).
//!
//! The spec does not show the arguments. Named is the policy, which identifies a repeated call, or the quote: before issuance
//! there is no policy. The result has a `policy_id` in any case, so until there is one it may carry what the partner knows the
//! order by.
//!
//! The free-look window of an order runs from the answer that issued the policy, as the gateway saw it, for as many days as
//! that answer said, or until the day that it named if that is later. Days are those of India. Without an order the window is
//! what the caller says in `freelook_ends_at`, and the answer alone is judged by it.

use crate::dates::day_in_india;
use crate::order::{FREELOOK_DAYS, FREELOOK_END, ISSUED, KYC_ID, QUOTE_ID};
use crate::quote::MotorQuote;
use crate::{MotorInsurance, tables};
use contract_sdk::code::UNEXPECTED_VALUE;
use contract_sdk::shape::{Date, DateTime, Inr, Text};
use contract_sdk::{AnswerRules, Order, RequestRules, Shape, Subject, Tool, ToolPolicy, Vocabulary};

pub struct CancelOrFreelook;

#[derive(Debug, Shape)]
pub struct CancelArguments<'a> {
    /// Identifier of the request.
    pub request_id: Option<Text<'a>>,
    /// The policy to cancel; the same one gives the same cancellation. Before issuance there is none.
    pub policy_id: Option<Text<'a>>,
    /// The quote that was to be issued.
    pub quote_id: Option<Text<'a>>,
    /// Last day of the free-look window, as the issued policy said; where the platform knows the order, it counts for nothing.
    pub freelook_ends_at: Option<Date>,
}

/// Insurance CancellationResult.
#[derive(Debug, Shape)]
pub struct CancellationResult<'a> {
    /// The policy that was cancelled; where none was issued, the quote or the check of the customer.
    pub policy_id: Text<'a>,
    /// When it was cancelled.
    pub cancelled_at: DateTime,
    /// What the user gets back, in INR.
    #[shape(min = 0)]
    pub refund_amount_inr: Inr,
    /// How the user gets it back.
    pub refund_method: RefundMethod,
    /// Days until the refund arrives.
    #[shape(min = 0, max = 30)]
    pub refund_eta_days: i64,
    /// Whether it was cancelled within the free-look window.
    pub is_freelook_cancellation: bool,
}

/// How a refund is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum RefundMethod {
    OriginalPayment,
    BankTransfer,
    Cheque,
}

impl Tool for CancelOrFreelook {
    type Intent = MotorInsurance;
    type Arguments<'a> = CancelArguments<'a>;
    type Answer<'a> = CancellationResult<'a>;

    const POLICY: ToolPolicy = tables::CANCEL;

    fn argument_rules(
        arguments: &CancelArguments<'_>,
        subject: &Subject<'_, MotorQuote<'_>>,
        rules: &mut RequestRules,
    ) {
        rules.refuse_if(
            arguments.policy_id.is_none() && arguments.quote_id.is_none(),
            "REFERENCE_MISSING",
            "/policy_id",
            "Expected the policy or, before one is issued, its quote_id.",
        );
        let over =
            subject.order.and_then(|order| freelook_end(&order)).is_some_and(|end| day_in_india(subject.now_ms) > end);
        rules.refuse_as(
            over,
            "FREELOOK_WINDOW_EXPIRED",
            "/policy_id",
            "The free-look window has ended, and an issued policy is cancelled within it.",
        );
    }

    fn answer_rules(
        arguments: &CancelArguments<'_>,
        result: &CancellationResult<'_>,
        subject: &Subject<'_, MotorQuote<'_>>,
        rules: &mut AnswerRules,
    ) {
        rules.refuse_if(
            !is_about(&result.policy_id, arguments, subject.order.as_ref()),
            UNEXPECTED_VALUE,
            "/policy_id",
            "Expected the policy that was to be cancelled; where none was issued, what the order is known by.",
        );
        let end = match subject.order {
            Some(order) => freelook_end(&order),
            None => arguments.freelook_ends_at.map(|end| i64::from(end.days)),
        };
        let past = end.is_some_and(|end| result.cancelled_at.local_day() > end);
        rules.refuse_as(
            result.is_freelook_cancellation && past,
            "FREELOOK_WINDOW_EXPIRED",
            "/is_freelook_cancellation",
            "The free-look window had ended when the policy was cancelled.",
        );
    }

    fn reference<'r>(result: &'r CancellationResult<'_>) -> Option<&'r str> {
        Some(&result.policy_id)
    }
}

/// Last day of the free-look window of an issued policy, in days since 1970-01-01. None before issuance, and where the order
/// does not tell.
fn freelook_end(order: &Order<'_>) -> Option<i64> {
    if order.state() != ISSUED {
        return None;
    }
    let days = order.number(FREELOOK_DAYS).map(|days| days as i64);
    let counted = order.answered(tables::ISSUE.name).zip(days).map(|(at, days)| day_in_india(at) + days);
    counted.max(order.date(FREELOOK_END).map(|end| i64::from(end.days)))
}

/// Whether a cancellation is that of the policy or, before one is issued, of the order.
fn is_about(found: &str, arguments: &CancelArguments<'_>, order: Option<&Order<'_>>) -> bool {
    let unissued = order.filter(|order| order.state() != ISSUED);
    let kept = |name: &str| unissued.is_some_and(|order| order.text(name).is_some_and(|kept| kept == found));
    match (&arguments.policy_id, &arguments.quote_id) {
        (Some(policy), _) if **policy == *found => true,
        (None, Some(quote)) if **quote == *found => true,
        _ => kept(QUOTE_ID) || kept(KYC_ID),
    }
}
