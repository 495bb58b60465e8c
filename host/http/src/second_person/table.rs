//! Which operations of the platform team cannot be undone: one table, so that a reviewer sees what waits for a second person, and
//! why the rest does not. It has every operation that changes something and takes an admin's token; a test holds it against
//! [`ROUTES`](crate::route_scopes::ROUTES).

use axum::extract::RawPathParams;
use http::{Method, Uri};
use intent_gateway_api::read::read;
use intent_gateway_api::review::DecisionRequest;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::versions::{ContractAdminError, LoadedVersion, VersionAct};
use intent_gateway_onboarding::ReviewVerdict;

use self::When::{Always, FirstActivation, Forced, Never, Rejection, Replacement};
use crate::admin;
use crate::error::Refusal;

/// A component that takes values out is to go live at once; it has to be loaded first.
const LOAD_BEFORE_ACTIVATION: &str = "LOAD_BEFORE_ACTIVATION";
/// A document would be replaced; the new one has to be added first.
const ADD_BEFORE_DELETION: &str = "ADD_BEFORE_DELETION";
/// Name of the path parameter that holds a component's digest.
const DIGEST: &str = "digest";

/// When an operation waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Always,
    /// A review is rejected: it is closed, and the partner told.
    Rejection,
    /// A version goes live that never was: nothing checks there whether it takes out what is in use.
    FirstActivation,
    /// A component is to go live although it takes values out. It is too large to be kept, so it is refused and has to be loaded
    /// first.
    Forced,
    /// A file takes the place of another, which is gone then. It is too large to be kept, so it is refused and has to be added
    /// beside the other first.
    Replacement,
    /// It can be undone.
    Never,
}

/// An operation that changes something.
#[derive(Debug)]
pub(crate) struct Operation {
    pub(crate) route: &'static str,
    pub(crate) method: Method,
    pub(crate) when: When,
    /// What it does; of one that never waits, how it is undone.
    pub(crate) what: &'static str,
}

const fn row(method: Method, route: &'static str, when: When, what: &'static str) -> Operation {
    Operation { route, method, when, what }
}

#[rustfmt::skip]
pub(crate) static OPERATIONS: [Operation; 50] = [
    row(Method::POST, "/api/v1/admin/approvals/{approval}/approve", Never, "is what the second person does"),
    row(Method::POST, "/api/v1/admin/approvals/{approval}/refuse", Never, "what was refused can be asked for again"),
    row(Method::POST, "/api/v1/admin/contracts", Forced, "makes a version live that takes values out"),
    row(Method::POST, "/api/v1/admin/contracts/compare", Never, "changes nothing"),
    row(Method::POST, "/api/v1/admin/contracts/revocations", Never, "the component is built or signed anew; a leak must be closed at once"),
    row(Method::POST, "/api/v1/admin/contracts/{digest}/activate", FirstActivation, "makes a version live that never was"),
    row(Method::POST, "/api/v1/admin/contracts/{digest}/promote", FirstActivation, "brings a version to everybody that never was live"),
    row(Method::DELETE, "/api/v1/admin/intents/{intent}", Always, "takes an intent out of service"),
    row(Method::DELETE, "/api/v1/admin/intents/{intent}/coming", Never, "the version is activated again"),
    row(Method::PUT, "/api/v1/admin/intents/{intent}/policy", Never, "the policy of before is put again; nothing goes live by it"),
    row(Method::POST, "/api/v1/admin/intents/{intent}/rollout", Never, "it is begun again, or the version before activated; what it may lead to was approved when it began"),
    row(Method::POST, "/api/v1/admin/ledger/entries/{number}/correction", Always, "corrects an entry of the ledger"),
    row(Method::POST, "/api/v1/admin/ledger/entries/{number}/reversal", Always, "takes an entry of the ledger back"),
    row(Method::POST, "/api/v1/admin/notices", Always, "writes to the partners whom a notice concerns"),
    row(Method::POST, "/api/v1/admin/notices/{notice}/withdraw", Never, "another notice is published; what was announced must not be waited for"),
    row(Method::POST, "/api/v1/admin/partners/{partner}/strikes", Never, "a strike ends by itself, the suspension after three is lifted"),
    row(Method::POST, "/api/v1/admin/receipts/export", Never, "changes nothing"),
    row(Method::POST, "/api/v1/admin/receipts/{receipt}/replay", Never, "changes nothing"),
    row(Method::POST, "/api/v1/admin/reviews/{review}/decision", Rejection, "rejects a review"),
    row(Method::POST, "/api/v1/business/tier1/accounts/{account_id}/documents", Never, "the document is deleted again"),
    row(Method::DELETE, "/api/v1/business/tier1/accounts/{account_id}/documents/{document}", Always, "deletes a partner's document"),
    row(Method::PUT, "/api/v1/business/tier1/accounts/{account_id}/documents/{document}", Replacement, "puts another file in a document's place"),
    row(Method::POST, "/api/v1/business/tier1/accounts/{account_id}/events/{event}/replay", Never, "the partner is told once more what it was told"),
    row(Method::PUT, "/api/v1/business/tier1/accounts/{account_id}/profile", Never, "the partner puts its profile again"),
    row(Method::POST, "/api/v1/business/tier1/accounts/{account_id}/sessions/end", Never, "the partner signs in again; a thief must be put out at once"),
    row(Method::PUT, "/api/v1/business/tier1/connection/{account_id}", Never, "the address of before is put again, or the owner undoes it by mail; nothing goes live by it"),
    row(Method::POST, "/api/v1/business/tier1/credentials/{account_id}", Never, "they are rotated; the answer's secret is for whoever asks alone"),
    row(Method::POST, "/api/v1/business/tier1/credentials/{account_id}/rotate", Never, "the partner rotates again; a leak must be closed at once"),
    row(Method::POST, "/api/v1/business/tier1/credentials/{account_id}/test-call", Never, "changes nothing"),
    row(Method::PUT, "/api/v1/business/tier1/credentials/{account_id}/webhook", Never, "the address of before is put again"),
    row(Method::POST, "/api/v1/business/tier1/credentials/{account_id}/webhook/enable", Never, "the partner is told what it asked to be told"),
    row(Method::POST, "/api/v1/business/tier1/credentials/{account_id}/webhook/event-secret/rotate", Never, "the partner rotates again; a leak must be closed at once"),
    row(Method::POST, "/api/v1/business/tier1/credentials/{account_id}/webhook/rotate", Never, "the partner rotates again; a leak must be closed at once"),
    row(Method::POST, "/api/v1/business/tier1/credentials/{account_id}/webhook/test", Never, "changes nothing"),
    row(Method::POST, "/api/v1/business/tier1/manifest/{account_id}", Never, "nothing is in force before a review; another is submitted"),
    row(Method::POST, "/api/v1/business/tier1/manifest/{account_id}/try", Never, "changes nothing"),
    row(Method::POST, "/api/v1/business/tier2/manifest/{account_id}", Never, "nothing is in force before a review; another is submitted"),
    row(Method::POST, "/api/v1/classify", Never, "changes nothing"),
    row(Method::POST, "/api/v1/intents/{intent}/search", Never, "changes nothing"),
    // An admin orders here as an orchestrator of its own, for no other's users; a partner cancels by a tool of its own. A reference
    // ends before a second person could look at it.
    row(Method::POST, "/api/v1/intents/{intent}/tools/{tool}", Never, "the order is the admin's own; it is cancelled as orders are"),
    row(Method::POST, "/api/v1/intents/{intent}/tools/{tool}/stream", Never, "the order is the admin's own; it is cancelled as orders are"),
    row(Method::POST, "/api/v1/links", Never, "the link is ended again"),
    row(Method::DELETE, "/api/v1/links/{partner}", Never, "the user links again"),
    row(Method::POST, "/api/v1/mcp-admin/{id}/accept-drift", Never, "the connection is suspended; changed tools are looked at anew"),
    row(Method::POST, "/api/v1/mcp-admin/{id}/lift", Never, "the connection is suspended again"),
    row(Method::POST, "/api/v1/mcp-admin/{id}/probe", Never, "changes nothing but what is known of the server"),
    row(Method::POST, "/api/v1/mcp-admin/{id}/suspend", Never, "the suspension is lifted; it must take effect at once"),
    row(Method::POST, "/api/v1/mcp-admin/{id}/switch-on", Never, "the connection is suspended"),
    row(Method::POST, "/api/v1/mcp-admin/{id}/test", Never, "the test is made again"),
    row(Method::DELETE, "/api/v1/user-data", Always, "erases a user"),
];

/// The row of an operation.
pub(crate) fn find(route: &str, method: &Method) -> Option<&'static Operation> {
    OPERATIONS.iter().find(|operation| operation.route == route && operation.method == *method)
}

/// A request that an operation is asked with, as far as it decides whether it waits.
pub(super) struct Asked<'a> {
    pub(super) uri: &'a Uri,
    /// As the route takes them out of the path: decoded.
    pub(super) params: Option<&'a RawPathParams>,
    pub(super) body: &'a [u8],
}

impl Operation {
    /// Whether it depends on the body if it waits.
    pub(super) fn reads_body(&self) -> bool {
        self.when == Rejection
    }

    /// Whether a request waits.
    ///
    /// # Errors
    /// A refusal where it cannot wait, or where there is nothing to wait for.
    pub(super) fn waits(&self, asked: &Asked<'_>, versions: &[LoadedVersion]) -> Result<bool, Refusal> {
        match self.when {
            Never => Ok(false),
            Always => Ok(true),
            Rejection => Ok(rejects(asked.body)),
            FirstActivation => {
                let mut params = asked.params.into_iter().flatten();
                let digest = params.find_map(|(name, digest)| (name == DIGEST).then_some(digest));
                is_first_activation(digest.unwrap_or_default(), versions)
            }
            Forced if admin::forces(asked.uri) => {
                let message = "A second person has to approve that: load it with `activate=false`, then activate it.";
                Err(Refusal::conflict(LOAD_BEFORE_ACTIVATION, message))
            }
            Forced => Ok(false),
            Replacement => {
                let message =
                    "A second person has to approve that: upload the file as a new document, then delete this one.";
                Err(Refusal::conflict(ADD_BEFORE_DELETION, message))
            }
        }
    }
}

/// Whether the body of a decision rejects, read as the route reads it. One that cannot be read decides nothing.
fn rejects(body: &[u8]) -> bool {
    let decision = std::str::from_utf8(body).ok().and_then(|body| read::<DecisionRequest>(body).ok());
    decision.is_some_and(|decision| decision.decision == ReviewVerdict::Reject)
}

/// Whether a version has never been live. One that is not loaded is refused here: it might be by the time the handler looks.
fn is_first_activation(digest: &str, versions: &[LoadedVersion]) -> Result<bool, Refusal> {
    let named = digest.parse::<Digest>().ok();
    let version = versions.iter().find(|version| Some(version.digest) == named);
    let version = version.ok_or_else(|| ContractAdminError::Unknown(digest.to_owned()))?;
    Ok(!version.live && !version.history.iter().any(|event| event.act == VersionAct::WentLive))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route_scopes::ROUTES;

    #[test]
    fn every_operation_that_changes_something_is_decided_once() {
        let changes = |method: &Method| *method != Method::GET;
        let mut listed: Vec<_> =
            OPERATIONS.iter().map(|operation| (operation.route, operation.method.to_string())).collect();
        let routes = ROUTES.iter().filter(|(_, method, _)| changes(method));
        let mut expected: Vec<_> = routes.map(|(route, method, _)| (*route, method.to_string())).collect();
        listed.sort();
        expected.sort();
        assert_eq!(listed, expected);
    }

    #[test]
    fn only_rejections_wait() {
        assert!(rejects(br#"{"decision":"reject","notes":"x"}"#));
        assert!(rejects(br#"{"decision":"r\u0065ject"}"#));
        for other in [&br#"{"decision":"approve"}"#[..], b"{}", b"no JSON", b"", b"\xff"] {
            assert!(!rejects(other));
        }
    }

    #[test]
    fn what_is_not_loaded_is_refused() {
        for digest in ["", "x", &"ab".repeat(32)] {
            assert_eq!(is_first_activation(digest, &[]).expect_err("refused").code(), "NOT_FOUND");
        }
    }
}
