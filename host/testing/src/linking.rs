//! What linking needs around it: background work for tests in which whoever began some work sees it to its end, and which
//! authorization servers are approved.

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::SignInServers;
use intent_gateway_domain::sign_in::SignInServer;
use intent_gateway_linking::Background;

/// Drops what it is given: the work goes on in whoever waits for its outcome.
pub struct NoBackground;

impl Background for NoBackground {
    fn run(&self, _: BoxFuture<'static, ()>) {}
}

/// Admits what the directory says is approved for a partner, and nothing else.
pub struct ApprovedAlone;

impl SignInServers for ApprovedAlone {
    fn admit<'a>(&'a self, partner: &'a Partner, named: &'a SignInServer) -> BoxFuture<'a, bool> {
        let admitted = partner.sign_in.as_ref().is_some_and(|approved| approved.admits(named));
        ready(admitted).boxed()
    }
}
