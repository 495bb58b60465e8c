//! Locking a quote and knowing the customer: arguments, result, and the rules between them (spec 2, KYCResult).
//!
//! The spec does not show the arguments; asked for is what identifies the call and the quote. Which documents and
//! which nominee go along is between the user and the partner.

use crate::quote::MotorQuote;
use crate::{MotorInsurance, tables};
use contract_sdk::shape::{DateTime, Nullable, Text};
use contract_sdk::{AnswerRules, Shape, Subject, Tool, ToolPolicy, Vocabulary};

pub struct ConfirmQuoteAndKyc;

#[derive(Debug, Shape)]
pub struct ConfirmArguments<'a> {
    /// Identifier of the request; the same one gives the same result.
    pub request_id: Text<'a>,
    /// The quote to lock.
    pub quote_id: Text<'a>,
}

#[derive(Debug, Shape)]
pub struct KycResult<'a> {
    /// The partner's identifier of the check.
    pub kyc_id: Text<'a>,
    /// The quote that was locked.
    pub quote_id: Text<'a>,
    /// How the check went.
    pub kyc_status: KycStatus,
    /// Documents that are still needed; none where empty.
    pub documents_required: Vec<Text<'a>>,
    /// Identifier in the central KYC registry.
    pub ckyc_id: Nullable<Text<'a>>,
    /// Until when the check and the quote hold.
    pub expires_at: DateTime,
}

/// How a check of the customer went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum KycStatus {
    VerifiedAadhaar,
    VerifiedPan,
    VerifiedDl,
    PendingManual,
    Failed,
}

impl Tool for ConfirmQuoteAndKyc {
    type Intent = MotorInsurance;
    type Arguments<'a> = ConfirmArguments<'a>;
    type Answer<'a> = KycResult<'a>;

    const POLICY: ToolPolicy = tables::CONFIRM;

    /// A check that failed is an answer like another: it says which documents would help.
    fn answer_rules(
        arguments: &ConfirmArguments<'_>,
        result: &KycResult<'_>,
        subject: &Subject<'_, MotorQuote<'_>>,
        rules: &mut AnswerRules,
    ) {
        rules.refuse_other(&result.quote_id, &arguments.quote_id, "/quote_id", "the quote that was to be locked");
        rules.advise_if(subject.quoted.is_some_and(|quote| quote.inspection_required), "INSPECTION_REQUIRED");
    }

    fn reference<'r>(result: &'r KycResult<'_>) -> Option<&'r str> {
        Some(&result.kyc_id)
    }
}
