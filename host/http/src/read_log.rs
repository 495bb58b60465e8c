//! Which reads stand in the audit log: those of what was kept of users and of businesses, by whoever it is not about.
//!
//! The list is one table, so that a reviewer sees what is noted and what is not. What is noted is folded by
//! [`Accesses`]; a reader who is answered with a refusal has read nothing.

use std::sync::Arc;

use axum::extract::{MatchedPath, RawPathParams, Request};
use http::{Method, StatusCode};
use intent_gateway_domain::accesses::{Access, Accesses};
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::id::PartnerId;

use crate::auth::{Caller, Role};
use crate::client::Network;

/// Characters of a path that are noted.
const PATH_MAX_CHARS: usize = 200;

/// Route, method and action of each read that is noted. On a partner's own routes, only the platform team's are. A document
/// that is read is noted where it is opened (`document.read`).
const READS: [(&str, Method, &str); 30] = [
    ("/api/v1/admin/accounts", Method::GET, "account.listed"),
    ("/api/v1/admin/approvals/{approval}", Method::GET, "approval.read"),
    ("/api/v1/admin/intents/{intent}/faults", Method::GET, "fault.listed"),
    ("/api/v1/admin/intents/{intent}/faults/{number}", Method::GET, "fault.read"),
    ("/api/v1/admin/intents/{intent}/rankings", Method::GET, "receipt.listed"),
    ("/api/v1/admin/ledger/entries", Method::GET, "entry.listed"),
    ("/api/v1/admin/ledger/entries/{number}", Method::GET, "entry.read"),
    ("/api/v1/admin/orders", Method::GET, "order.listed"),
    ("/api/v1/admin/orders/{order_id}", Method::GET, "order.read"),
    ("/api/v1/admin/overdue-orders", Method::GET, "overdue_order.listed"),
    ("/api/v1/admin/partners/{partner}/findings", Method::GET, "finding.listed"),
    ("/api/v1/admin/partners/{partner}/statements", Method::GET, "statement.listed"),
    ("/api/v1/admin/partners/{partner}/statements/{month}", Method::GET, "statement.read"),
    ("/api/v1/admin/receipts", Method::GET, "receipt.listed"),
    ("/api/v1/admin/receipts/{receipt}", Method::GET, "receipt.read"),
    ("/api/v1/admin/receipts/{receipt}/replay", Method::POST, "receipt.replayed"),
    ("/api/v1/admin/reviews", Method::GET, "review.listed"),
    ("/api/v1/admin/reviews/{review}", Method::GET, "review.read"),
    ("/api/v1/business/tier1/accounts/{account_id}", Method::GET, "account.read"),
    ("/api/v1/business/tier1/accounts/{account_id}/documents", Method::GET, "document.listed"),
    ("/api/v1/business/tier1/accounts/{account_id}/findings", Method::GET, "finding.listed"),
    ("/api/v1/business/tier1/accounts/{account_id}/orders", Method::GET, "order.listed"),
    ("/api/v1/business/tier1/accounts/{account_id}/orders/{order}", Method::GET, "order.read"),
    ("/api/v1/business/tier1/accounts/{account_id}/overdue-orders", Method::GET, "overdue_order.listed"),
    ("/api/v1/business/tier1/accounts/{account_id}/statements", Method::GET, "statement.listed"),
    ("/api/v1/business/tier1/accounts/{account_id}/statements/{month}", Method::GET, "statement.read"),
    ("/api/v1/business/tier1/accounts/{account_id}/test-reports", Method::GET, "test_report.listed"),
    ("/api/v1/business/tier1/credentials/{account_id}", Method::GET, "credentials.read"),
    ("/api/v1/business/tier1/manifest/{account_id}", Method::GET, "manifest.read"),
    ("/api/v1/user-data", Method::GET, "user.exported"),
];

/// Notes who reads what.
#[derive(Clone)]
pub(crate) struct ReadLog {
    accesses: Arc<Accesses>,
    clock: Arc<dyn Clock>,
}

impl ReadLog {
    pub(crate) fn new(accesses: Arc<Accesses>, clock: Arc<dyn Clock>) -> Self {
        Self { accesses, clock }
    }

    /// The read that a request is, where it is one that is noted.
    ///
    /// The parameters are those that the handler gets, decoded: one thing has one name here, in whatever way its path is written.
    pub(crate) fn find(&self, request: &Request, params: Option<&RawPathParams>) -> Option<Access> {
        let caller = request.extensions().get::<Caller>().filter(|caller| caller.role != Role::Partner)?;
        let route = request.extensions().get::<MatchedPath>()?.as_str();
        let (_, _, action) = READS.iter().find(|(path, method, _)| *path == route && method == request.method())?;
        let params: Vec<(&str, &str)> = params.map(|params| params.iter().collect()).unwrap_or_default();
        // The account is one of the parameters, where the route is about one.
        let account = params.iter().find(|(_, value)| value.starts_with("ptr_") && PartnerId::parse(value).is_ok());
        let actor = caller.actor(request.extensions().get::<Network>());
        Some(Access {
            at: self.clock.now(),
            subject: account.map_or_else(|| actor.subject.clone(), |(_, account)| (*account).to_owned()),
            actor,
            action,
            what: Some(name_path(route, &params)),
            names_all: true,
        })
    }

    /// Notes a read, once it was answered.
    pub(crate) fn note(&self, read: Option<Access>, status: StatusCode) {
        if let Some(read) = read.filter(|_| status.is_success()) {
            self.accesses.note(read);
        }
    }
}

/// A route with its parameters in it, cut to [`PATH_MAX_CHARS`]. No control character gets in.
fn name_path(route: &str, params: &[(&str, &str)]) -> String {
    let parts = route.split('/').map(|part| {
        let name = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
        let param = name.and_then(|name| params.iter().find(|(of, _)| *of == name));
        param.map_or(part, |(_, value)| *value)
    });
    let path = parts.collect::<Vec<_>>().join("/");
    let shown = |character: char| if character.is_control() { char::REPLACEMENT_CHARACTER } else { character };
    path.chars().map(shown).take(PATH_MAX_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route_scopes;

    #[test]
    fn each_read_is_an_operation_and_there_once() {
        for (index, (path, method, action)) in READS.iter().enumerate() {
            assert!(route_scopes::find(path, method).is_some(), "{method} {path}");
            assert!(!READS[..index].iter().any(|(other, of, _)| other == path && of == method), "{action}");
        }
    }

    #[test]
    fn a_path_is_named_by_its_parameters() {
        let route = "/accounts/{account_id}/orders/{order}";
        let named = name_path(route, &[("account_id", "ptr_1"), ("order", "a\nb\u{7f}\u{85}c")]);
        assert_eq!(named, "/accounts/ptr_1/orders/a\u{fffd}b\u{fffd}\u{fffd}c");
        assert_eq!(name_path(route, &[("account_id", "ptr_1")]), "/accounts/ptr_1/orders/{order}");
        assert_eq!(name_path("/accounts", &[]), "/accounts");
        assert_eq!(
            name_path("/{order}", &[("order", &"é".repeat(2 * PATH_MAX_CHARS))]).chars().count(),
            PATH_MAX_CHARS
        );
    }
}
