//! Where partners report: one endpoint, which takes a signature in place of a token.
//!
//! The body is read as bytes, up to a bound, and handed on with the two headers; nothing looks into it before the
//! signature holds. Not here: what is judged and booked ([`intake`](intent_gateway_ledger::completion::intake)).

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use intent_gateway_api::report::CompletionReport;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::platform_code::PlatformCode;
use intent_gateway_ledger::DeskError;
use intent_gateway_ledger::completion::REPORT_MAX_BYTES;
use intent_gateway_ledger::completion::intake::{Acknowledgement, Delivery, IntakeError};
use intent_gateway_ledger::completion::signature::{Presented, SIGNATURE_HEADER, TIMESTAMP_HEADER};
use intent_gateway_ledger::completion::test_reports::TestReportError;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::body;
use crate::error::{Code, ErrorBody, Refusal, refuse_document};
use crate::wire;

/// The scheme that a refused signature is answered with: RFC 9110 wants one of every 401.
const CHALLENGE: &str = "X-PLATFORM-Signature";
/// A header that stands for one that is there twice: it has no one value, and no reading of it is right.
const AMBIGUOUS: &[u8] = b"";

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default().routes(routes!(take_report))
}

/// Takes a completion report.
///
/// Signed with HMAC-SHA256 over `<timestamp>.<raw body>` under the partner's `webhook_signing_key`. The same report may be
/// sent again: it is booked once, and answered alike. An answer with status 200 means that it is in the ledger; or, where
/// `test` is true, that the sender was never live: the report is kept as a test, and costs nothing.
#[utoipa::path(
    post, path = "/api/v1/cpc/mcp_provider/{partner_id}", tag = "reports",
    params(
        ("partner_id" = String, Path, description = "The partner that reports"),
        ("X-PLATFORM-Timestamp" = u64, Header, description = "Time of signing, milliseconds since the epoch"),
        ("X-PLATFORM-Signature" = String, Header, description = "`sha256=` and 64 hexadecimal digits"),
    ),
    request_body(
        content = CompletionReport, content_type = "application/json",
        description = "The report: the members that every intent has, and those that its contract adds"
    ),
    security(("signature" = [])),
    responses(
        (status = 200, description = "Booked, now or before", body = Acknowledgement),
        (
            status = 400,
            description = "`INVALID_REQUEST`: malformed, every violation is listed; `INVALID_INTENT`: no such intent",
            body = ErrorBody
        ),
        (
            status = 401,
            description = "`SIGNATURE_INVALID`, whatever is wrong with it; `TIMESTAMP_OUT_OF_WINDOW`: signed, and more \
                than five minutes from the gateway's clock",
            body = ErrorBody
        ),
        (
            status = 409,
            description = "`IDEMPOTENCY_CONFLICT`: another report was booked for the order, or under the same intent and \
                `external_id`",
            body = ErrorBody
        ),
        (
            status = 429,
            description = "`RATE_LIMITED`: more reports than the platform takes of one business in a minute",
            body = ErrorBody
        ),
        (status = "5XX", description = "Nothing is known to be booked; send it again", body = ErrorBody),
    )
)]
async fn take_report(
    State(app): State<Arc<App>>,
    partner: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Refusal> {
    let (head, body) = request.into_parts();
    let body = body::read(body, REPORT_MAX_BYTES, app.limits.body_timeout).await?;
    // A path that is no text names nobody, like any other name that nobody has.
    let partner = partner.map_or_else(|_| String::new(), |Path(partner)| partner);
    let presented = Presented {
        timestamp: only(&head.headers, TIMESTAMP_HEADER),
        signature: only(&head.headers, SIGNATURE_HEADER),
    };
    let delivery = Delivery { partner: &partner, presented, body: &body };
    let acknowledgement: Acknowledgement = app.intake.take(delivery).await?;
    wire::json(StatusCode::OK, &acknowledgement, wire::SMALL_BYTES)
}

/// The value of a header that is there once.
fn only<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a [u8]> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    Some(if values.next().is_some() { AMBIGUOUS } else { first.as_bytes() })
}

impl From<TestReportError> for Refusal {
    fn from(error: TestReportError) -> Self {
        let detail = chain(&error);
        match error {
            TestReportError::Store(error) => Self::from(error.trouble()).internal(detail),
            TestReportError::Contended(_) => Self::new(Code::Overloaded).internal(detail),
        }
    }
}

impl From<IntakeError> for Refusal {
    fn from(error: IntakeError) -> Self {
        let detail = chain(&error);
        match error {
            IntakeError::Signature(error) => {
                let refused = Self::new(Code::InvalidAuth).message(error.public_message()).challenge(CHALLENGE);
                refused.with_code(error.code()).internal(detail)
            }
            IntakeError::Refused(refusal) => refuse_document(refusal),
            IntakeError::UnknownIntent(intent) => {
                let refused = Self::new(Code::InvalidRequest).message(format!("There is no intent `{intent}`."));
                refused.with_code(Code::InvalidIntent.as_str())
            }
            IntakeError::Conflict(receipt) => Self::conflict(
                PlatformCode::IdempotencyConflict.as_str(),
                format!(
                    "Another report was booked for this order, or under this intent and `external_id`, with receipt {receipt}."
                ),
            ),
            IntakeError::Contract(fault) => fault.into(),
            IntakeError::Desk(DeskError::Closed) => Self::new(Code::Draining).internal(detail),
            IntakeError::Desk(DeskError::Store(error)) => Self::from(error.trouble()).internal(detail),
            IntakeError::Test(error) => error.into(),
            IntakeError::TooOften(wait) => Self::new(Code::RateLimited).retry_after(wait),
            // The keys are compared with the store every two seconds; it could not be read for longer than they are trusted.
            IntakeError::Stale(_) => Self::new(Code::StoreUnavailable).internal(detail),
            IntakeError::TooMany | IntakeError::Desk(DeskError::Full) => Self::new(Code::Overloaded).internal(detail),
            IntakeError::Unbookable(_) | IntakeError::Unsound(_) => Self::new(Code::InternalError).internal(detail),
        }
    }
}
