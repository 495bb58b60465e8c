//! Having the vehicle inspected: arguments, result, and the rules between them (spec 2, InspectionResult).
//!
//! The spec does not show the arguments; asked for is the quote, which identifies a repeated call.

use crate::quote::MotorQuote;
use crate::{MotorInsurance, tables};
use contract_sdk::shape::{DateTime, Nullable, Phone, Text};
use contract_sdk::{AnswerRules, Shape, Subject, Tool, ToolPolicy, Vocabulary};

pub struct ScheduleInspection;

#[derive(Debug, Shape)]
pub struct InspectionArguments<'a> {
    /// Identifier of the request.
    pub request_id: Option<Text<'a>>,
    /// The quote that the inspection is for; the same one gives the same inspection.
    pub quote_id: Text<'a>,
}

#[derive(Debug, Shape)]
pub struct InspectionResult<'a> {
    /// The partner's identifier of the inspection.
    pub inspection_id: Text<'a>,
    /// The quote that it is for.
    pub quote_id: Text<'a>,
    /// When it starts.
    pub scheduled_at: DateTime,
    /// How and where.
    pub location: InspectionLocation<'a>,
    /// When its result is expected.
    pub expected_completion_at: DateTime,
    /// How to reach who inspects.
    pub inspector_contact: Phone<'a>,
}

/// How and where a vehicle is inspected.
#[derive(Debug, Shape)]
pub struct InspectionLocation<'a> {
    /// How.
    pub mode: InspectionMode,
    /// Where to, for a visit at home.
    pub address: Nullable<Text<'a>>,
    /// Which garage, for an inspection in one.
    pub garage_name: Nullable<Text<'a>>,
}

/// How a vehicle is inspected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum InspectionMode {
    SelfVideo,
    InPersonGarage,
    SurveyorHomeVisit,
}

impl Tool for ScheduleInspection {
    type Intent = MotorInsurance;
    type Arguments<'a> = InspectionArguments<'a>;
    type Answer<'a> = InspectionResult<'a>;

    const POLICY: ToolPolicy = tables::INSPECT;

    fn answer_rules(
        arguments: &InspectionArguments<'_>,
        result: &InspectionResult<'_>,
        _: &Subject<'_, MotorQuote<'_>>,
        rules: &mut AnswerRules,
    ) {
        rules.refuse_other(&result.quote_id, &arguments.quote_id, "/quote_id", "the quote to inspect for");
        rules.refuse_if(
            result.expected_completion_at.ms < result.scheduled_at.ms,
            "DATE_ORDER",
            "/expected_completion_at",
            "An inspection is not complete before it starts.",
        );
        let place = &result.location;
        let absent = match place.mode {
            InspectionMode::SelfVideo => None,
            InspectionMode::InPersonGarage => place.garage_name.0.is_none().then_some("garage_name"),
            InspectionMode::SurveyorHomeVisit => place.address.0.is_none().then_some("address"),
        };
        rules.finding_if(
            absent.is_some(),
            "INSPECTION_PLACE_MISSING",
            format_args!("/location/{}", absent.unwrap_or_default()),
            format_args!("The user has to know where: {} says so.", absent.unwrap_or_default()),
        );
    }

    fn reference<'r>(result: &'r InspectionResult<'_>) -> Option<&'r str> {
        Some(&result.inspection_id)
    }
}
