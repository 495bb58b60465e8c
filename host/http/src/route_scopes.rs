//! Which scope an admin's token needs for which operation: one table, so that a reviewer sees what each scope opens.
//!
//! It holds every operation that an admin's token may call, those of orchestrators and of partners' accounts as well. An operation
//! that is not in it needs [`Scope::All`], so that a new one is closed until somebody decides. A test holds the table against the
//! routes.

use axum::extract::{MatchedPath, Request};
use http::Method;

use crate::auth::{Caller, Role, Scope};
use crate::error::{Code, Refusal};

use Scope::{All, Ledger, Review, Ship, Watch};

/// Route, method, and the scope that is needed.
///
/// What shows personal data of users, or a partner's papers, is not for `watch`. What hands out keys of a partner needs `all`:
/// with them its bearer could sign completion reports, which are booked. So does naming or moving a partner's endpoint, to which
/// users' requests and tokens go, for the team gives no fresh proof; and so does what is an orchestrator's.
pub const ROUTES: [(&str, Method, Scope); 119] = [
    ("/api/v1/admin/accounts", Method::GET, Review),
    ("/api/v1/admin/accounts/{id}/documents/{document}", Method::GET, Review),
    // Showing and deciding take the scope of what waits, too.
    ("/api/v1/admin/approvals", Method::GET, Watch),
    ("/api/v1/admin/approvals/{approval}", Method::GET, Watch),
    ("/api/v1/admin/approvals/{approval}/approve", Method::POST, Watch),
    ("/api/v1/admin/approvals/{approval}/refuse", Method::POST, Watch),
    ("/api/v1/admin/audit", Method::GET, Watch),
    ("/api/v1/admin/audit/verify", Method::GET, Watch),
    ("/api/v1/admin/connections", Method::GET, Watch),
    ("/api/v1/admin/connections/summary", Method::GET, Watch),
    ("/api/v1/admin/contracts", Method::GET, Watch),
    ("/api/v1/admin/contracts", Method::POST, Ship),
    // It runs a component, and names receipts and partners.
    ("/api/v1/admin/contracts/compare", Method::POST, Ship),
    ("/api/v1/admin/contracts/failures", Method::GET, Watch),
    ("/api/v1/admin/contracts/revocations", Method::GET, Watch),
    ("/api/v1/admin/contracts/revocations", Method::POST, Ship),
    ("/api/v1/admin/contracts/status", Method::GET, Watch),
    ("/api/v1/admin/contracts/{digest}/activate", Method::POST, Ship),
    ("/api/v1/admin/contracts/{digest}/promote", Method::POST, Ship),
    ("/api/v1/admin/delivered", Method::GET, Watch),
    ("/api/v1/admin/gateways", Method::GET, Watch),
    ("/api/v1/admin/health", Method::GET, Watch),
    ("/api/v1/admin/intents/{intent}", Method::DELETE, Ship),
    ("/api/v1/admin/intents/{intent}/coming", Method::DELETE, Ship),
    ("/api/v1/admin/intents/{intent}/policy", Method::PUT, Ship),
    ("/api/v1/admin/intents/{intent}/rollout", Method::GET, Watch),
    ("/api/v1/admin/intents/{intent}/rollout", Method::POST, Ship),
    // A contract says there what it likes of the call that it failed in; the second hands out the call.
    ("/api/v1/admin/intents/{intent}/faults", Method::GET, Ship),
    ("/api/v1/admin/intents/{intent}/faults/{number}", Method::GET, Ship),
    // Which partners were ranked above which is in it.
    ("/api/v1/admin/intents/{intent}/rankings", Method::GET, Review),
    ("/api/v1/admin/ledger/entries", Method::GET, Ledger),
    ("/api/v1/admin/ledger/entries/{number}", Method::GET, Ledger),
    ("/api/v1/admin/ledger/entries/{number}/correction", Method::POST, Ledger),
    ("/api/v1/admin/ledger/entries/{number}/reversal", Method::POST, Ledger),
    ("/api/v1/admin/ledger/trial-balance", Method::GET, Ledger),
    ("/api/v1/admin/ledger/verify", Method::GET, Ledger),
    ("/api/v1/admin/metrics", Method::GET, Watch),
    ("/api/v1/admin/notices", Method::GET, Watch),
    // It writes to all partners.
    ("/api/v1/admin/notices", Method::POST, Review),
    ("/api/v1/admin/notices/{notice}", Method::GET, Watch),
    ("/api/v1/admin/notices/{notice}/withdraw", Method::POST, Review),
    ("/api/v1/admin/orders", Method::GET, Review),
    ("/api/v1/admin/orders/{order_id}", Method::GET, Review),
    ("/api/v1/admin/overdue-orders", Method::GET, Review),
    ("/api/v1/admin/overdue-orders/summary", Method::GET, Watch),
    ("/api/v1/admin/partners", Method::GET, Watch),
    ("/api/v1/admin/partners/{partner}/findings", Method::GET, Review),
    ("/api/v1/admin/partners/{partner}/findings/summary", Method::GET, Watch),
    ("/api/v1/admin/partners/{partner}/health", Method::GET, Watch),
    ("/api/v1/admin/partners/{partner}/statements", Method::GET, Ledger),
    ("/api/v1/admin/partners/{partner}/statements/{month}", Method::GET, Ledger),
    ("/api/v1/admin/partners/{partner}/strikes", Method::POST, Review),
    ("/api/v1/admin/partners/{partner}/traffic", Method::GET, Watch),
    ("/api/v1/admin/receipts", Method::GET, Review),
    ("/api/v1/admin/receipts/export", Method::POST, Review),
    ("/api/v1/admin/receipts/{receipt}", Method::GET, Review),
    ("/api/v1/admin/receipts/{receipt}/replay", Method::POST, Review),
    ("/api/v1/admin/reviews", Method::GET, Review),
    ("/api/v1/admin/reviews/{review}", Method::GET, Review),
    ("/api/v1/admin/reviews/{review}/decision", Method::POST, Review),
    ("/api/v1/admin/traffic", Method::GET, Watch),
    // No secret is in it; addresses, paths of key files and every bound are.
    ("/api/v1/admin/settings", Method::GET, All),
    ("/api/v1/business/tier1/accounts/{account_id}", Method::GET, Review),
    ("/api/v1/business/tier1/accounts/{account_id}/documents", Method::GET, Review),
    ("/api/v1/business/tier1/accounts/{account_id}/documents", Method::POST, Review),
    ("/api/v1/business/tier1/accounts/{account_id}/documents/{document}", Method::DELETE, Review),
    ("/api/v1/business/tier1/accounts/{account_id}/documents/{document}", Method::PUT, Review),
    ("/api/v1/business/tier1/accounts/{account_id}/events", Method::GET, Review),
    ("/api/v1/business/tier1/accounts/{account_id}/events/{event}", Method::GET, Review),
    ("/api/v1/business/tier1/accounts/{account_id}/events/{event}/replay", Method::POST, Review),
    ("/api/v1/business/tier1/accounts/{account_id}/findings", Method::GET, Review),
    ("/api/v1/business/tier1/accounts/{account_id}/findings/summary", Method::GET, Watch),
    ("/api/v1/business/tier1/accounts/{account_id}/notices", Method::GET, Watch),
    ("/api/v1/business/tier1/accounts/{account_id}/orders", Method::GET, Review),
    ("/api/v1/business/tier1/accounts/{account_id}/orders/{order}", Method::GET, Review),
    ("/api/v1/business/tier1/accounts/{account_id}/overdue-orders", Method::GET, Review),
    ("/api/v1/business/tier1/accounts/{account_id}/profile", Method::PUT, Review),
    ("/api/v1/business/tier1/accounts/{account_id}/sessions/end", Method::POST, Review),
    ("/api/v1/business/tier1/accounts/{account_id}/statements", Method::GET, Ledger),
    ("/api/v1/business/tier1/accounts/{account_id}/statements/{month}", Method::GET, Ledger),
    ("/api/v1/business/tier1/accounts/{account_id}/test-reports", Method::GET, Review),
    ("/api/v1/business/tier1/accounts/{account_id}/traffic", Method::GET, Watch),
    ("/api/v1/business/tier1/connection/{account_id}", Method::GET, Watch),
    ("/api/v1/business/tier1/connection/{account_id}", Method::PUT, All),
    ("/api/v1/business/tier1/credentials/{account_id}", Method::GET, Review),
    ("/api/v1/business/tier1/credentials/{account_id}", Method::POST, All),
    ("/api/v1/business/tier1/credentials/{account_id}/rotate", Method::POST, All),
    ("/api/v1/business/tier1/credentials/{account_id}/test-call", Method::POST, Review),
    ("/api/v1/business/tier1/credentials/{account_id}/webhook", Method::GET, Review),
    ("/api/v1/business/tier1/credentials/{account_id}/webhook", Method::PUT, All),
    ("/api/v1/business/tier1/credentials/{account_id}/webhook/enable", Method::POST, Review),
    ("/api/v1/business/tier1/credentials/{account_id}/webhook/event-secret/rotate", Method::POST, All),
    ("/api/v1/business/tier1/credentials/{account_id}/webhook/rotate", Method::POST, All),
    ("/api/v1/business/tier1/credentials/{account_id}/webhook/test", Method::POST, Review),
    ("/api/v1/business/tier1/manifest/{account_id}", Method::GET, Review),
    ("/api/v1/business/tier1/manifest/{account_id}", Method::POST, Review),
    ("/api/v1/business/tier1/manifest/{account_id}/try", Method::POST, Review),
    ("/api/v1/business/tier2/manifest/{account_id}", Method::POST, Review),
    ("/api/v1/classify", Method::POST, Watch),
    ("/api/v1/intents", Method::GET, Watch),
    ("/api/v1/intents/{intent}", Method::GET, Watch),
    ("/api/v1/intents/{intent}/search", Method::POST, All),
    ("/api/v1/intents/{intent}/tools/{tool}", Method::POST, All),
    ("/api/v1/intents/{intent}/tools/{tool}/stream", Method::POST, All),
    ("/api/v1/links", Method::GET, All),
    ("/api/v1/links", Method::POST, All),
    ("/api/v1/links/{partner}", Method::DELETE, All),
    ("/api/v1/mcp-admin/{id}", Method::GET, Watch),
    ("/api/v1/mcp-admin/{id}/accept-drift", Method::POST, Review),
    ("/api/v1/mcp-admin/{id}/lift", Method::POST, Review),
    ("/api/v1/mcp-admin/{id}/probe", Method::POST, Review),
    ("/api/v1/mcp-admin/{id}/suspend", Method::POST, Review),
    ("/api/v1/mcp-admin/{id}/switch-on", Method::POST, Review),
    ("/api/v1/mcp-admin/{id}/test", Method::POST, Review),
    ("/api/v1/orders", Method::GET, All),
    ("/api/v1/orders/events", Method::GET, All),
    ("/api/v1/orders/{order_id}", Method::GET, All),
    ("/api/v1/user-data", Method::DELETE, All),
    ("/api/v1/user-data", Method::GET, All),
];

/// The scope that an operation needs of an admin; `None` where the table does not have it.
pub(crate) fn find(route: &str, method: &Method) -> Option<Scope> {
    // What is answered to HEAD is what GET would say.
    let method = if method == Method::HEAD { &Method::GET } else { method };
    ROUTES.iter().find(|(path, of, _)| *path == route && of == method).map(|(.., scope)| *scope)
}

/// Refuses an admin whose token does not have the scope that the request needs. Other roles have no scopes.
pub(crate) fn require(caller: &Caller, request: &Request) -> Result<(), Refusal> {
    let route = request.extensions().get::<MatchedPath>();
    let needed = route.and_then(|route| find(route.as_str(), request.method())).unwrap_or(All);
    require_scope(caller, needed)
}

/// Refuses an admin whose token does not have a scope. Other roles have no scopes.
pub(crate) fn require_scope(caller: &Caller, needed: Scope) -> Result<(), Refusal> {
    if caller.role != Role::Admin || caller.scopes.as_ref().is_some_and(|scopes| scopes.cover(needed)) {
        return Ok(());
    }
    let (code, scope) = (needed.code_of_lack(), needed.as_str());
    let message = format!("This route takes an admin's token with the scope `{scope}`; the token does not have it.");
    Err(Refusal::new(Code::Forbidden).with_code(code).challenge(needed.challenge()).message(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_is_there_once() {
        for (index, (path, method, _)) in ROUTES.iter().enumerate() {
            assert!(!ROUTES[..index].iter().any(|(other, of, _)| other == path && of == method), "{method} {path}");
        }
    }

    #[test]
    fn head_is_as_get_and_what_is_unknown_is_not_there() {
        assert_eq!(find("/api/v1/admin/contracts", &Method::HEAD), Some(Watch));
        assert_eq!(find("/api/v1/admin/contracts", &Method::POST), Some(Ship));
        assert_eq!(find("/api/v1/admin/contracts", &Method::PUT), None);
        assert_eq!(find("/api/v1/admin/else", &Method::GET), None);
    }
}
