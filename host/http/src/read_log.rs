//! Which reads stand in the audit log: those of what was kept of users and of businesses, by whoever it is not about.
//!
//! The list is one table, so that a reviewer sees what is noted and what is not. What is noted is folded by
//! [`Accesses`]; a reader who is answered with a refusal has read nothing.

use std::sync::Arc;

use axum::extract::{MatchedPath, Request};
use http::{Method, StatusCode};
use intent_gateway_domain::accesses::{Access, Accesses};
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::id::PartnerId;

use crate::auth::{Caller, Role};
use crate::client::Network;

/// Characters of a path that are noted.
const PATH_MAX_CHARS: usize = 200;

/// Route, method and action of each read that is noted. On a partner's own routes, only the platform team's are.
const READS: [(&str, Method, &str); 14] = [
    ("/api/v1/admin/accounts", Method::GET, "account.listed"),
    ("/api/v1/admin/orders", Method::GET, "order.listed"),
    ("/api/v1/admin/orders/{order_id}", Method::GET, "order.read"),
    ("/api/v1/admin/partners/{partner}/findings", Method::GET, "finding.listed"),
    ("/api/v1/admin/partners/{partner}/statements/{month}", Method::GET, "statement.read"),
    ("/api/v1/admin/receipts/{receipt}", Method::GET, "receipt.read"),
    ("/api/v1/admin/receipts/{receipt}/replay", Method::POST, "receipt.replayed"),
    ("/api/v1/admin/reviews/{review}", Method::GET, "review.read"),
    ("/api/v1/business/tier1/accounts/{account_id}", Method::GET, "account.read"),
    ("/api/v1/business/tier1/accounts/{account_id}/findings", Method::GET, "finding.listed"),
    ("/api/v1/business/tier1/accounts/{account_id}/orders", Method::GET, "order.listed"),
    ("/api/v1/business/tier1/accounts/{account_id}/orders/{order}", Method::GET, "order.read"),
    ("/api/v1/business/tier1/accounts/{account_id}/statements/{month}", Method::GET, "statement.read"),
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
    pub(crate) fn find(&self, request: &Request) -> Option<Access> {
        let caller = request.extensions().get::<Caller>().filter(|caller| caller.role != Role::Partner)?;
        let route = request.extensions().get::<MatchedPath>()?.as_str();
        let (_, _, action) = READS.iter().find(|(path, method, _)| *path == route && method == request.method())?;
        let path = request.uri().path();
        // The account is one of the parts of the path, where the route is about one.
        let account = path.split('/').find(|part| part.starts_with("ptr_") && PartnerId::parse(part).is_ok());
        let actor = caller.actor(request.extensions().get::<Network>());
        Some(Access {
            at: self.clock.now(),
            subject: account.map_or_else(|| actor.subject.clone(), str::to_owned),
            actor,
            action,
            what: Some(path.chars().take(PATH_MAX_CHARS).collect()),
        })
    }

    /// Notes a read, once it was answered.
    pub(crate) fn note(&self, read: Option<Access>, status: StatusCode) {
        if let Some(read) = read.filter(|_| status.is_success()) {
            self.accesses.note(read);
        }
    }
}
