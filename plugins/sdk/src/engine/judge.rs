//! `check-request`, `check-response`, `check-completion`.

use super::refusal;
use crate::bindings::{
    CheckedCompletion, CheckedResponse, Context, Exchange, Need, PreparedRequest, Refusal, Subject, Violation,
};
use crate::code;
use crate::completion::Report;
use crate::contract::{Contract, Intent, SearchRequest, ToolEntry, read_quoted, subject};
use crate::ranking::Ranking;
use crate::rules::{ReportRules, RequestRules};
use crate::shape::{read_document, read_text_member};
use crate::violations::{Quoted, Violations};

/// Paise of a rupee.
const PAISE_PER_INR: i128 = 100;

/// Judges the arguments of a tool.
///
/// # Errors
/// `INVALID_REQUEST` with every violation, or the code of the error table that a rule named; for a tool that the
/// intent does not have, one `UNKNOWN_TOOL`.
pub fn check_request<C: Contract>(
    context: &Context,
    tool: &str,
    arguments: String,
    about: &Subject,
) -> Result<PreparedRequest, Refusal> {
    if tool == <C::Intent as Intent>::SEARCH.policy.name {
        return check_search::<C>(context, arguments);
    }
    let notes = (entry::<C>(tool)?.check_arguments)(context, &arguments, about)?;
    Ok(PreparedRequest { arguments, need: Need::default(), notes })
}

fn check_search<C: Contract>(context: &Context, arguments: String) -> Result<PreparedRequest, Refusal> {
    let refuse = |violations| refusal(code::INVALID_REQUEST, violations);
    let (need, notes) = {
        let request: <C::Intent as Intent>::Request<'_> = read_document(&arguments).map_err(refuse)?;
        let mut rules = RequestRules::new();
        C::Intent::request_rules(&request, &mut rules);
        if !rules.refusals.is_empty() {
            return Err(rules.refusals.into_refusal(code::INVALID_REQUEST));
        }
        note_unknown_bands(&C::RANKING, &request, &mut rules.notes);
        (request.need(), rules.notes.into_list())
    };
    let arguments = match read_text_member(&arguments, "request_id") {
        Some(_) => arguments,
        None => with_request_id(&arguments, &context.request_id),
    };
    Ok(PreparedRequest { arguments, need, notes })
}

fn note_unknown_bands(ranking: &Ranking, request: &impl SearchRequest, notes: &mut Violations) {
    for (axis, name, value) in request.bands().each() {
        if let Some(value) = value.filter(|value| ranking.band(axis, value).is_none()) {
            notes.add(
                format_args!("/ttbs_user_band/{name}"),
                code::UNKNOWN_BAND,
                format_args!("{} is no band of this axis; it counts as neutral.", Quoted(value)),
            );
        }
    }
}

/// Puts `request_id` in front of the members of an object that has at least one. All else stays as it came.
fn with_request_id(object: &str, request_id: &str) -> String {
    let id = serde_json::Value::from(request_id);
    match object.split_once('{') {
        Some((before, members)) => format!("{before}{{\"request_id\":{id},{members}"),
        None => object.to_owned(),
    }
}

/// The entry of a tool that is not a search.
fn entry<C: Contract>(tool: &str) -> Result<&'static ToolEntry, Refusal> {
    let entries = <C::Intent as Intent>::TOOLS;
    entries.iter().find(|entry| entry.policy.name == tool).ok_or_else(|| {
        let mut unknown = Violations::new();
        unknown.add("", code::UNKNOWN_TOOL, format_args!("The intent has no tool {}.", Quoted(tool)));
        refusal(code::INVALID_REQUEST, unknown.into_list())
    })
}

/// Judges the answer of a tool that is not a search.
///
/// # Errors
/// `INTERNAL_ERROR` (a partner failure) with every violation of the answer, or the code of the error table that a
/// rule named; for a tool that the intent does not have, `INVALID_REQUEST` with `UNKNOWN_TOOL`.
pub fn check_response<C: Contract>(context: &Context, exchange: &Exchange) -> Result<CheckedResponse, Refusal> {
    let judged = (entry::<C>(&exchange.tool)?.check_answer)(context, exchange)?;
    Ok(CheckedResponse {
        reference: judged.reference,
        advisory: judged.advisory.map(str::to_owned),
        findings: judged.findings,
    })
}

/// Judges a completion report.
///
/// # Errors
/// `INVALID_REQUEST` with every violation.
pub fn check_completion<C: Contract>(
    context: &Context,
    report: &str,
    about: &Subject,
) -> Result<CheckedCompletion, Refusal> {
    let refuse = |violations| refusal(code::INVALID_REQUEST, violations);
    let report: Report<'_, <C::Intent as Intent>::ReportExtra<'_>> = read_document(report).map_err(refuse)?;
    let mut rules = ReportRules::new();
    let (intent, statuses) = (<C::Intent as Intent>::ABOUT.intent, <C::Intent as Intent>::STATUSES);
    let common = &report.common;
    rules.refuse_if(
        &*common.intent != intent,
        code::UNEXPECTED_VALUE,
        "/intent",
        format_args!("Found {}; expected {intent:?}.", Quoted(&common.intent)),
    );
    rules.refuse_if(
        !statuses.contains(&&*common.status),
        code::NOT_IN_VOCABULARY,
        "/status",
        format_args!("Found {}; expected one of: {}.", Quoted(&common.status), statuses.join(", ")),
    );
    let amounts = [
        ("/amount_inr", common.amount_inr),
        ("/gst_inr", common.gst_inr),
        ("/tips_inr", common.tips_inr),
        ("/pass_through_inr", common.pass_through_inr),
    ];
    for (pointer, amount) in amounts {
        let most = <C::Intent as Intent>::AMOUNT_MAX_INR;
        rules.refuse_if(
            i128::from(amount.paise) > i128::from(most) * PAISE_PER_INR,
            code::OUT_OF_RANGE,
            pointer,
            format_args!("Expected at most {most}."),
        );
    }
    let quoted = read_quoted::<C::Intent>(about);
    C::Intent::report_rules(&report, &subject(context, about, &quoted), &mut rules);
    if !rules.refusals.is_empty() {
        return Err(rules.refusals.into_refusal(code::INVALID_REQUEST));
    }
    let late_minutes = rules.late_minutes();
    let mut findings: Vec<Violation> = rules.findings.into_list();
    findings.extend(quoted.err());
    Ok(CheckedCompletion {
        external_id: common.external_id.to_string(),
        request_id: common.request_id.to_string(),
        status: common.status.to_string(),
        amount_paise: common.amount_inr.paise,
        charged: <C::Intent as Intent>::CHARGED.contains(&&*common.status),
        late_minutes,
        findings,
        strikes: rules.strikes.into_list(),
    })
}

#[cfg(test)]
mod tests {
    use super::with_request_id;

    #[test]
    fn the_request_id_is_filled_in_and_nothing_else_changes() {
        assert_eq!(
            with_request_id(" \n{ \"intent\" : 1,\"x\":{}}\n", "a\"b"),
            " \n{\"request_id\":\"a\\\"b\", \"intent\" : 1,\"x\":{}}\n"
        );
    }
}
