//! The API for pages of the same process: asked as over the network, with a bearer token, and without a socket between.
//!
//! A page can do no more than a script with the same token: it goes through the same routes, limits, scopes and logs.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::BoxStream;
use http::request::Parts;
use http::{Extensions, HeaderName, HeaderValue, Method, StatusCode};
use intent_gateway_api::error::ErrorDetail;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::secret::Secret;
use tokio_util::sync::CancellationToken;
use tower_service::Service as _;

use crate::auth::{Access, Caller};
use crate::client::{Clients, FORWARDED_FOR, Network, Peer};
use crate::connections::Answering;
use crate::error::Refusal;
use crate::request_id::{self, RequestId};
use crate::streams;

/// The API of this gateway.
#[derive(Clone)]
pub struct Inside {
    routes: Router,
    access: Arc<Access>,
    clients: Clients,
    /// A stream of events on which nothing else was sent for so long gets a comment.
    heartbeat: Duration,
    /// Cancelled when a shutdown begins.
    draining: CancellationToken,
}

impl Inside {
    pub(crate) fn new(
        routes: Router,
        access: Arc<Access>,
        clients: Clients,
        heartbeat: Duration,
        draining: CancellationToken,
    ) -> Self {
        Self { routes, access, clients, heartbeat, draining }
    }

    /// An answer of server-sent events, which ends with them, or as soon as a shutdown begins: it holds none up.
    #[must_use]
    pub fn stream(&self, reading: Reading, events: BoxStream<'static, Bytes>) -> Response {
        streams::of_page(events, self.heartbeat, reading.0, self.draining.clone())
    }

    /// The network that a page's request comes from, by which places are shared. Without a connection, as in a test of the router alone,
    /// all are one.
    #[must_use]
    pub fn network(&self, request: &Request) -> IpAddr {
        let network = self.clients.find(request.headers(), request.extensions());
        network.map_or(Ipv4Addr::UNSPECIFIED.into(), |Network(network)| network)
    }

    /// Who bears a token, also as the audit log names them, for a page that signs somebody in.
    ///
    /// # Errors
    /// What the API would answer to a request with this token.
    pub async fn identify(
        &self,
        origin: &Origin,
        token: &Secret,
    ) -> Result<(Caller, Actor), (StatusCode, ErrorDetail)> {
        let identified = self.access.identify_bearer(token.expose()).await;
        let caller = identified.map_err(|refusal: Refusal| {
            (refusal.status(), refusal.body(origin.request_id.as_ref().map_or("", RequestId::as_str)).error)
        })?;
        let mut extensions = Extensions::new();
        origin.peer.map(|peer| extensions.insert(peer));
        let network = self.clients.find(&origin.headers.iter().cloned().collect(), &extensions);
        let actor = caller.actor(network.as_ref());
        Ok((caller, actor))
    }

    /// Answers a request as the listener would, for the client that a page's own request came from.
    pub async fn ask(&self, origin: &Origin, mut request: Request) -> Response {
        if let Some(peer) = origin.peer {
            request.extensions_mut().insert(peer);
        }
        // Whatever changes something is counted and noted however often it is asked.
        if origin.repeats && request.method() == Method::GET {
            request.extensions_mut().insert(Again);
        }
        for (name, value) in &origin.headers {
            request.headers_mut().append(name, value.clone());
        }
        match self.routes.clone().call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
}

/// Where a page's request came from, and its identifier: what it asks the API for counts as that client's, and is found in the
/// log under the same name.
#[derive(Clone, Debug)]
pub struct Origin {
    peer: Option<Peer>,
    headers: Vec<(HeaderName, HeaderValue)>,
    request_id: Option<RequestId>,
    repeats: bool,
}

impl Origin {
    /// That of a request on its way to a page.
    #[must_use]
    pub fn of(parts: &Parts) -> Self {
        let peer = parts.extensions.get::<Peer>().copied();
        let mut headers: Vec<_> =
            parts.headers.get_all(FORWARDED_FOR).iter().map(|value| (FORWARDED_FOR, value.clone())).collect();
        let request_id = parts.extensions.get::<RequestId>().cloned();
        let named = request_id.as_ref().and_then(|id| HeaderValue::from_str(id.as_str()).ok());
        headers.extend(named.map(|id| (request_id::HEADER, id)));
        Self { peer, headers, request_id, repeats: false }
    }

    /// The same for a page that stays open and asks again what it has asked before.
    ///
    /// Such a read counts in no quota, stands in no log and is no request of its own: what opened the page was counted and noted, and
    /// how often it looks again is bounded by whoever keeps it open. It goes through the same rights, places and deadlines.
    #[must_use]
    pub fn again(&self) -> Self {
        Self { repeats: true, ..self.clone() }
    }
}

/// Among a request's extensions: a page that stays open reads once more what it has read before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Again;

/// The connection that events are sent on: it is in use as long as they are read.
#[derive(Clone)]
pub struct Reading(Option<Answering>);

impl Reading {
    /// That of a request on its way to a page.
    #[must_use]
    pub fn of(parts: &Parts) -> Self {
        Self(parts.extensions.get::<Answering>().cloned())
    }
}

/// Among an answer's extensions: it is a page, which is sent as it is, also where it refuses.
#[derive(Clone, Copy, Debug)]
pub struct Page;
