//! Giving a policy back: arguments, result, and the rules between them (spec 2, Insurance CancellationResult).
//!
//! The spec does not show the arguments; required is only the policy, which identifies a repeated call. Where
//! `freelook_ends_at` is sent as well, as the issued policy said it, the answer is judged by it.

use crate::dates::local_day;
use crate::quote::MotorQuote;
use crate::{MotorInsurance, tables};
use contract_sdk::shape::{Date, DateTime, Inr, Text};
use contract_sdk::{AnswerRules, Shape, Subject, Tool, ToolPolicy, Vocabulary};

pub struct CancelOrFreelook;

#[derive(Debug, Shape)]
pub struct CancelArguments<'a> {
    /// Identifier of the request.
    pub request_id: Option<Text<'a>>,
    /// The policy to cancel; the same one gives the same cancellation.
    pub policy_id: Text<'a>,
    /// Last day of the free-look window, as the issued policy said.
    pub freelook_ends_at: Option<Date>,
}

/// Insurance CancellationResult.
#[derive(Debug, Shape)]
pub struct CancellationResult<'a> {
    /// The policy that was cancelled.
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

    fn answer_rules(
        arguments: &CancelArguments<'_>,
        result: &CancellationResult<'_>,
        _: &Subject<'_, MotorQuote<'_>>,
        rules: &mut AnswerRules,
    ) {
        rules.refuse_other(
            &result.policy_id,
            &arguments.policy_id,
            "/policy_id",
            "the policy that was to be cancelled",
        );
        let past = arguments.freelook_ends_at.is_some_and(|end| local_day(result.cancelled_at) > i64::from(end.days));
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
