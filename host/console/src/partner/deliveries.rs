//! Completion reports that were refused, one for each delivery: what was found wrong with one delivery was found at one moment.
//!
//! Taken ones stand with their orders. Of what no key of the partner has signed nothing is kept but how often it came.

use intent_gateway_api::evidence::{Finding, FindingsSummary, PartnerFindings, UnsignedReportsBody};
use intent_gateway_domain::findings::{Severity, Source};

use super::own;
use crate::api::{ApiError, with_query};
use crate::view::Moment;
use crate::visitor::Visitor;

/// Deliveries that are shown.
const DELIVERIES_MAX: usize = 50;
/// Findings that are read for them: a delivery has several.
const FINDINGS_READ: &str = "200";

/// A delivery that was refused.
pub(super) struct Refused {
    pub(super) at: Moment,
    pub(super) intent: String,
    pub(super) request_id: String,
    /// The order, as the report calls it, where it can be read.
    pub(super) external_id: Option<String>,
    pub(super) wrong: Vec<Wrong>,
}

/// A thing that was wrong with it.
pub(super) struct Wrong {
    pub(super) code: String,
    pub(super) pointer: String,
    pub(super) message: String,
    pub(super) excerpt: Option<String>,
}

/// The latest that were refused, the newest first.
pub(super) async fn list_refused(visitor: &Visitor) -> Result<Vec<Refused>, ApiError> {
    let parts = [("source", Source::Report.as_str()), ("severity", Severity::Drop.as_str()), ("limit", FINDINGS_READ)];
    let address = with_query(&format!("{}/findings", own(visitor, "accounts")), &parts);
    Ok(group(visitor.api.get::<PartnerFindings>(&address).await?.findings))
}

/// How many came under the partner's name that it has not signed; none where none came.
pub(super) async fn count_unsigned(visitor: &Visitor) -> Result<Option<UnsignedReportsBody>, ApiError> {
    let address = format!("{}/findings/summary", own(visitor, "accounts"));
    Ok(visitor.api.get::<FindingsSummary>(&address).await?.unsigned_reports)
}

/// Findings, the newest first, as the deliveries that they are of.
fn group(findings: Vec<Finding>) -> Vec<Refused> {
    let mut deliveries: Vec<(_, Refused)> = Vec::new();
    for Finding { at_ms, intent, request_id, external_id, violation, excerpt, .. } in findings {
        let wrong = Wrong { code: violation.code, pointer: violation.pointer, message: violation.message, excerpt };
        let is_same = |(at, one): &&mut (_, Refused)| {
            (*at, &one.external_id, &one.request_id) == (at_ms, &external_id, &request_id)
        };
        if let Some((_, known)) = deliveries.last_mut().filter(is_same) {
            // They come the newest first, and are to stand as the answer had them.
            known.wrong.insert(0, wrong);
            continue;
        }
        if deliveries.len() == DELIVERIES_MAX {
            break;
        }
        deliveries
            .push((at_ms, Refused { at: Moment::of(at_ms), intent, request_id, external_id, wrong: vec![wrong] }));
    }
    deliveries.into_iter().map(|(_, delivery)| delivery).collect()
}

#[cfg(test)]
mod tests {
    use intent_gateway_domain::clock::Timestamp;
    use intent_gateway_domain::contract::Violation;

    use super::*;

    fn finding(at_ms: u64, external_id: &str, code: &str) -> Finding {
        Finding {
            number: at_ms,
            at_ms: Timestamp::from_ms(at_ms),
            partner: "ptr_a".to_owned(),
            intent: "auto.book_ac_service".to_owned(),
            request_id: "req-1".to_owned(),
            source: Some(Source::Report),
            option: None,
            option_id: None,
            external_id: Some(external_id.to_owned()),
            severity: Severity::Drop,
            violation: Violation { pointer: "/status".to_owned(), code: code.to_owned(), message: String::new() },
            excerpt: None,
        }
    }

    #[test]
    fn what_was_found_at_once_is_of_one_delivery() {
        let found =
            vec![finding(9, "B-2", "C"), finding(9, "B-2", "B"), finding(9, "B-1", "A"), finding(8, "B-1", "A")];
        let told: Vec<_> = group(found)
            .iter()
            .map(|one| {
                let codes: Vec<_> = one.wrong.iter().map(|wrong| wrong.code.clone()).collect();
                (one.external_id.clone().unwrap_or_default(), codes.concat())
            })
            .collect();
        let expected = [("B-2", "BC"), ("B-1", "A"), ("B-1", "A")].map(|(id, codes)| (id.to_owned(), codes.to_owned()));
        assert_eq!(told, expected);
        let many = (0..99).rev().map(|at| finding(at, "B-1", "A")).collect();
        assert_eq!(group(many).len(), DELIVERIES_MAX);
    }
}
