//! The API for pages of the same process: asked as over the network, with a bearer token, and without a socket between.
//!
//! A page can do no more than a script with the same token: it goes through the same routes, limits, scopes and logs.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use http::request::Parts;
use http::{Extensions, HeaderName, HeaderValue, StatusCode};
use intent_gateway_api::error::ErrorDetail;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::secret::Secret;
use tower_service::Service as _;

use crate::auth::{Access, Caller};
use crate::client::{Clients, FORWARDED_FOR, Network, Peer};
use crate::error::Refusal;
use crate::request_id::{self, RequestId};

/// The API of this gateway.
#[derive(Clone)]
pub struct Inside {
    routes: Router,
    access: Arc<Access>,
    clients: Clients,
}

impl Inside {
    pub(crate) fn new(routes: Router, access: Arc<Access>, clients: Clients) -> Self {
        Self { routes, access, clients }
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
        Self { peer, headers, request_id }
    }
}

/// Among an answer's extensions: it is a page, which is sent as it is, also where it refuses.
#[derive(Clone, Copy, Debug)]
pub struct Page;
