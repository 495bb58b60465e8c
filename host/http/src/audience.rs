//! What stands before the routes of one audience: a bound on requests under way, who may come in, and a deadline.
//!
//! It is laid around routes as a whole, so that a new handler cannot forget it.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, header};
use tokio::sync::Semaphore;

use crate::auth::{Access, Role, not_this_account};
use crate::client::{self, ClientLimit};
use crate::error::{Code, Refusal};

/// Name of the path parameter that holds the account a partner's route is about.
pub(crate) const ACCOUNT: &str = "account_id";

/// Who gets in.
pub(crate) enum Entry {
    /// Whoever asks, so many times a minute.
    Anyone {
        /// For each client.
        limit: ClientLimit,
        /// Hops of `X-Forwarded-For` that are believed.
        trusted_proxies: usize,
    },
    /// Whoever signs what it sends, which the handler verifies: it needs the whole body for that.
    Signed,
    /// The bearer of any token, for what every role may know.
    Known {
        /// Knows the tokens.
        access: Arc<Access>,
    },
    /// The bearer of a token with at least this role, and, as a partner, of the account that the path names.
    Bearer {
        /// Knows the tokens.
        access: Arc<Access>,
        /// The role.
        required: Role,
    },
}

/// What the routes of one audience share.
pub(crate) struct Audience {
    pub(crate) entry: Entry,
    /// For a request as a whole.
    pub(crate) deadline: Duration,
    /// Each audience has its own, so that the platform team gets in when searches fill the gateway.
    pub(crate) in_flight: Semaphore,
    /// Whether its answers may be kept: those that carry secrets may not.
    pub(crate) no_store: bool,
}

/// Refuses at once when too many requests are under way, rather than letting all of them grow slow; then checks who
/// asks; then answers in time, whatever the handler does.
pub(crate) async fn admit(
    State(audience): State<Arc<Audience>>,
    params: Result<RawPathParams, RawPathParamsRejection>,
    mut request: Request,
    next: Next,
) -> Response {
    let Ok(_slot) = audience.in_flight.try_acquire() else { return Refusal::new(Code::Overloaded).into_response() };
    let answer = async {
        match audience.entry.open(params.ok(), &mut request).await {
            Ok(()) => next.run(request).await,
            Err(refusal) => refusal.into_response(),
        }
    };
    let mut response = match tokio::time::timeout(audience.deadline, answer).await {
        Ok(response) => response,
        Err(_elapsed) => Refusal::new(Code::Timeout).into_response(),
    };
    if audience.no_store {
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

impl Entry {
    /// Lets the request in, with its [`Caller`](crate::auth::Caller) among the extensions where there is one.
    async fn open(&self, params: Option<RawPathParams>, request: &mut Request) -> Result<(), Refusal> {
        let (access, required) = match self {
            Self::Anyone { limit, trusted_proxies } => {
                let network = client::network(request.headers(), request.extensions(), *trusted_proxies);
                return limit.count(network).map_err(|wait| Refusal::new(Code::RateLimited).retry_after(wait));
            }
            Self::Signed => return Ok(()),
            Self::Known { access } => {
                let caller = access.identify(request.headers()).await?;
                request.extensions_mut().insert(caller);
                return Ok(());
            }
            Self::Bearer { access, required } => (access, *required),
        };
        let caller = access.admit(request.headers(), required).await?;
        if required == Role::Partner {
            let account = params.as_ref().and_then(|params| params.iter().find(|(name, _)| *name == ACCOUNT));
            // A route that names no account is nobody's.
            if !account.is_some_and(|(_, account)| caller.acts_for(account)) {
                return Err(not_this_account());
            }
        }
        request.extensions_mut().insert(caller);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use axum::body::Body;
    use axum::routing::get;
    use axum::{Extension, Router};
    use http::StatusCode;
    use intent_gateway_domain::clock::SystemClock;
    use intent_gateway_domain::secret::Secret;
    use tower::ServiceExt as _;

    use super::*;
    use crate::auth::issuers::Issuers;
    use crate::auth::{Caller, Tokens};
    use crate::client::Peer;

    const MINUTE: Duration = Duration::from_secs(60);

    fn tokens() -> Arc<Tokens> {
        let key = Secret::new("0123456789abcdef0123456789abcdef");
        Arc::new(Tokens::new(&[key], "tests", Arc::new(SystemClock)).expect("usable"))
    }

    fn behind(entry: Entry, path: &str) -> Router {
        let audience = Audience { entry, deadline: MINUTE, in_flight: Semaphore::new(8), no_store: false };
        let handler = async |caller: Option<Extension<Caller>>| {
            caller.map_or_else(String::new, |Extension(caller)| caller.subject)
        };
        let layer = axum::middleware::from_fn_with_state(Arc::new(audience), admit);
        Router::new().route(path, get(handler)).route_layer(layer)
    }

    async fn ask(router: &Router, path: &str, token: Option<&str>, peer: [u8; 4]) -> Response {
        let mut request = Request::new(Body::empty());
        *request.uri_mut() = path.parse().expect("a path");
        if let Some(token) = token {
            let value = format!("Bearer {token}").parse().expect("a header value");
            request.headers_mut().insert(http::header::AUTHORIZATION, value);
        }
        request.extensions_mut().insert(Peer(peer.into()));
        router.clone().oneshot(request).await.expect("never fails")
    }

    #[tokio::test]
    async fn a_partners_route_opens_to_its_account_and_to_admins() {
        let tokens = tokens();
        let access = Arc::new(Access { tokens: tokens.clone(), issuers: Arc::new(Issuers::default()) });
        let entry = |required| Entry::Bearer { access: access.clone(), required };
        let token = |role, subject: &str| tokens.issue(role, subject, MINUTE).expect("issued");
        let partner = token(Role::Partner, "ptr_1");
        let routes = behind(entry(Role::Partner), "/accounts/{account_id}/profile");
        let status = async |token: &str, path: &str| ask(&routes, path, Some(token), [1; 4]).await.status();

        assert_eq!(status(&partner, "/accounts/ptr_1/profile").await, StatusCode::OK);
        assert_eq!(status(&partner, "/accounts/ptr%5F1/profile").await, StatusCode::OK);
        for other in ["ptr_2", "ptr_1x", "PTR_1", "ptr_1%20", "%2e", "*"] {
            assert_eq!(status(&partner, &format!("/accounts/{other}/profile")).await, StatusCode::FORBIDDEN, "{other}");
        }
        assert_eq!(status(&token(Role::Admin, "ops"), "/accounts/ptr_2/profile").await, StatusCode::OK);
        let orchestrator = token(Role::Orchestrator, "ptr_1");
        assert_eq!(status(&orchestrator, "/accounts/ptr_1/profile").await, StatusCode::FORBIDDEN);

        // A route that names no account is not opened by mistake.
        let routes = behind(entry(Role::Partner), "/accounts/{other}");
        assert_eq!(ask(&routes, "/accounts/ptr_1", Some(&partner), [1; 4]).await.status(), StatusCode::FORBIDDEN);
        let routes = behind(entry(Role::Partner), "/accounts");
        assert_eq!(ask(&routes, "/accounts", Some(&partner), [1; 4]).await.status(), StatusCode::FORBIDDEN);
        let routes = behind(entry(Role::Orchestrator), "/intents");
        assert_eq!(ask(&routes, "/intents", Some(&partner), [1; 4]).await.status(), StatusCode::FORBIDDEN);
    }

    #[tokio::test]
    async fn an_open_route_counts_each_client() {
        let limit = ClientLimit::per_minute(NonZeroU32::new(2).expect("not zero"));
        let routes = behind(Entry::Anyone { limit, trusted_proxies: 0 }, "/open");
        for _ in 0..2 {
            assert_eq!(ask(&routes, "/open", None, [1; 4]).await.status(), StatusCode::OK);
        }
        let refused = ask(&routes, "/open", None, [1; 4]).await;
        assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
        let refusal = refused.extensions().get::<Refusal>().expect("a refusal").clone().render("r");
        assert!(["29", "30"].contains(&refusal.headers()["retry-after"].to_str().expect("text")));
        assert_eq!(ask(&routes, "/open", None, [2; 4]).await.status(), StatusCode::OK);
    }
}
