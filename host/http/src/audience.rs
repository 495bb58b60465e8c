//! What stands before the routes of one audience: who may come in, bounds on requests under way, and a deadline.
//!
//! It is laid around routes as a whole, so that a new handler cannot forget it. A request is worked on when it is there with
//! its body: until then it holds a place of its client's, and of the work's places none.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, header};
use intent_gateway_domain::fair_slots::FairSlots;
use intent_gateway_domain::limits::REQUEST_BODY_MAX_BYTES;
use intent_gateway_ledger::completion::REPORT_MAX_BYTES;

use crate::admission::UnknownToken;
use crate::auth::{self, Access, Caller, Role, not_this_account};
use crate::body::{self, Awaited};
use crate::change_budget::ChangeBudget;
use crate::client::{ClientLimit, Clients, Network};
use crate::error::{Code, Refusal};
use crate::inside::Again;
use crate::quota::{Counted, QuotaKeeper};
use crate::read_log::ReadLog;
use crate::route_scopes;
use crate::second_person::{Approved, Fate, SecondPerson};
use crate::tls::Uncertified;

/// Name of the path parameter that holds the account a partner's route is about.
pub(crate) const ACCOUNT: &str = "account_id";

/// Who gets in.
pub(crate) enum Entry {
    /// Whoever asks, so many times a minute.
    Anyone {
        /// For each client.
        limit: ClientLimit,
    },
    /// Whoever signs what it sends, which the handler verifies: it needs the whole body for that.
    Signed,
    /// The bearer of any token, for what every role may know; as an admin, with the scope that [`route_scopes`] names.
    Known {
        /// Knows the tokens.
        access: Arc<Access>,
    },
    /// The bearer of a token with at least this role; as a partner, of the account that the path names, and as an admin, with the
    /// scope that [`route_scopes`] names.
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
    /// Requests that are arriving, of all audiences but admins, who have places of their own; shared fairly by the clients'
    /// networks.
    pub(crate) arriving: Arc<FairSlots<IpAddr>>,
    /// How much of a body is awaited, and how long.
    pub(crate) awaited: Awaited,
    /// Requests that are worked on, shared fairly by callers. Each audience has its own, so that the platform team gets in when
    /// searches fill the gateway. None where the handler has them, which alone can tell who it is that asks.
    pub(crate) in_flight: Option<FairSlots<String>>,
    /// Whether its answers may be kept: those that carry secrets may not.
    pub(crate) no_store: bool,
    /// Says where requests come from.
    pub(crate) clients: Clients,
    /// Who reads what.
    pub(crate) reads: ReadLog,
    /// How often callers with a token may ask, over all audiences.
    pub(crate) quotas: Arc<QuotaKeeper>,
    /// How much accounts may change, likewise.
    pub(crate) changes: Arc<ChangeBudget>,
    /// Keeps back what admins cannot undo, where that is set.
    pub(crate) second_person: Option<Arc<SecondPerson>>,
}

/// Checks who asks, waits for the body, refuses at once when too many requests are worked on, rather than letting all of them
/// grow slow; then answers in time, whatever the handler does.
pub(crate) async fn admit(
    State(audience): State<Arc<Audience>>,
    params: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
    next: Next,
) -> Response {
    let mut counted = Counted::default();
    let params = params.ok();
    let answer = async {
        let (caller, request) = audience.receive(params.as_ref(), request, &mut counted).await?;
        let _slot = match &audience.in_flight {
            Some(slots) => Some(slots.try_take(&caller).ok_or(Code::Overloaded)?),
            None => None,
        };
        let request = match &audience.second_person {
            Some(second_person) => match second_person.hold(request, params.as_ref()).await? {
                Fate::GoesOn(request) => request,
                Fate::Waits(answer) => return Ok(answer),
            },
            None => request,
        };
        // A page that stays open was noted when it was opened.
        let is_repeated = request.extensions().get::<Again>().is_some();
        let read = audience.reads.find(&request, params.as_ref()).filter(|_| !is_repeated);
        let change = audience.changes.ask(&request).map_err(too_many)?;
        let response = next.run(request).await;
        change.into_iter().for_each(|change| audience.changes.count(change, response.status()));
        audience.reads.note(read, response.status());
        Ok::<_, Refusal>(response)
    };
    let mut response = match tokio::time::timeout(audience.deadline, answer).await {
        Ok(answered) => answered.unwrap_or_else(Refusal::into_response),
        Err(_elapsed) => Refusal::new(Code::Timeout).into_response(),
    };
    if let Some(fields) = counted.fields() {
        response.extensions_mut().insert(fields);
    }
    if audience.no_store {
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

impl Audience {
    /// The request with its body, and who sends it.
    async fn receive(
        &self,
        params: Option<&RawPathParams>,
        request: Request,
        counted: &mut Counted,
    ) -> Result<(String, Request), Refusal> {
        let mut request = request;
        let known = self.clients.find(request.headers(), request.extensions());
        if let Some(network) = known {
            request.extensions_mut().insert(network);
        }
        // Without a connection, as in a test of the router alone, all are one client.
        let network = known.map_or(Ipv4Addr::UNSPECIFIED.into(), |Network(network)| network);
        let _place = self.arriving.try_take(&network).ok_or(Code::Overloaded)?;
        let is_approved = request.extensions().get::<Approved>().is_some();
        let is_repeated = request.extensions().get::<Again>().is_some();
        let caller = self.entry.identify(network, &mut request, counted).await?;
        let token = request.extensions_mut().remove::<UnknownToken>();
        // Elsewhere a token is neither asked for nor verified.
        if let Some(token) = token.filter(|_| request.extensions().get::<Caller>().is_some()) {
            token.belongs_to(&caller);
        }
        // What was approved was counted when it was asked for, and a page that stays open when it was opened. What is refused below counts as well: whoever tries what its token does
        // not open makes work, too.
        if let Some(known) = request.extensions().get::<Caller>().filter(|_| !is_approved && !is_repeated) {
            let token = auth::signed_part(request.headers());
            self.quotas.count(known, token, counted).map_err(too_many)?;
        }
        self.entry.authorize(params, &request)?;
        Ok((caller, self.awaited.gather(request).await?))
    }
}

impl Entry {
    /// What is awaited of the bodies that it lets in.
    pub(crate) fn awaits(&self, timeout: Duration) -> Awaited {
        match self {
            Self::Signed => Awaited { media_types: &[], max_bytes: REPORT_MAX_BYTES, timeout },
            Self::Anyone { .. } | Self::Known { .. } | Self::Bearer { .. } => {
                Awaited { media_types: &[body::JSON, body::FORM], max_bytes: REQUEST_BODY_MAX_BYTES, timeout }
            }
        }
    }

    /// Finds out who asks, and puts its [`Caller`](crate::auth::Caller) among the extensions where there is one; says whose the request
    /// is: the caller's, or the network's that it comes from.
    async fn identify(&self, network: IpAddr, request: &mut Request, counted: &mut Counted) -> Result<String, Refusal> {
        let access = match self {
            Self::Anyone { limit } => {
                limit.count(network, counted).map_err(too_many)?;
                return Ok(network.to_string());
            }
            Self::Signed => return Ok(network.to_string()),
            Self::Known { access } | Self::Bearer { access, .. } => access,
        };
        // Always an admin's; its token was looked at when it was asked for.
        let approved = request.extensions().get::<Approved>().map(|approved| approved.caller.clone());
        let caller = match approved {
            Some(caller) => caller,
            None => access.identify(request.headers()).await?,
        };
        if caller.role == Role::Orchestrator && request.extensions().get::<Uncertified>().is_some() {
            return Err(Refusal::new(Code::ClientCertificateNeeded));
        }
        let name = caller.name();
        request.extensions_mut().insert(caller);
        Ok(name)
    }

    /// Refuses a caller whom the routes are not open to.
    fn authorize(&self, params: Option<&RawPathParams>, request: &Request) -> Result<(), Refusal> {
        let required = match self {
            Self::Anyone { .. } | Self::Signed => return Ok(()),
            Self::Known { .. } => None,
            Self::Bearer { required, .. } => Some(*required),
        };
        let caller = request.extensions().get::<Caller>();
        let caller = caller.ok_or_else(|| Refusal::new(Code::InternalError).internal("nobody has asked who calls"))?;
        if let Some(required) = required {
            caller.require(required)?;
        }
        route_scopes::require(caller, request)?;
        if required == Some(Role::Partner) {
            let account = params.and_then(|params| params.iter().find(|(name, _)| *name == ACCOUNT));
            // A route that names no account is nobody's.
            if !account.is_some_and(|(_, account)| caller.acts_for(account)) {
                return Err(not_this_account());
            }
        }
        Ok(())
    }
}

/// What who asks too often is answered with.
fn too_many(wait: Duration) -> Refusal {
    Refusal::new(Code::RateLimited).retry_after(wait)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use axum::body::Body;
    use axum::routing::get;
    use axum::{Extension, Router};
    use http::StatusCode;
    use intent_gateway_domain::accesses::Accesses;
    use intent_gateway_domain::clock::{Clock as _, SystemClock};
    use intent_gateway_domain::fleet::Fleet;
    use intent_gateway_domain::secret::Secret;
    use tower::ServiceExt as _;

    use super::*;
    use crate::auth::issuers::Issuers;
    use crate::auth::test_sessions::NoneEnded;
    use crate::auth::{TokenRules, Tokens};
    use crate::client::Peer;
    use crate::quota::{Quota, Quotas};
    use crate::rates::{LiveRates, Rates};

    const MINUTE: Duration = Duration::from_secs(60);

    fn tokens() -> Arc<Tokens> {
        let key = Secret::new("0123456789abcdef0123456789abcdef");
        Arc::new(Tokens::new(&[key], "tests", Arc::new(SystemClock)).expect("usable"))
    }

    fn rates(open_per_minute: u32, quotas: Quotas) -> Arc<LiveRates> {
        let open_per_minute = NonZeroU32::new(open_per_minute).expect("not zero");
        Arc::new(LiveRates::new(Rates { open_per_minute, quotas }))
    }

    fn audience(entry: Entry) -> Audience {
        Audience {
            entry,
            deadline: MINUTE,
            arriving: Arc::new(FairSlots::new(8)),
            awaited: Awaited { media_types: &[body::JSON], max_bytes: 1_024, timeout: MINUTE },
            in_flight: Some(FairSlots::new(8)),
            no_store: false,
            clients: Clients::default(),
            reads: ReadLog::new(Arc::default(), Arc::new(SystemClock)),
            quotas: Arc::new(QuotaKeeper::new(rates(1, Quotas::default()), Arc::new(SystemClock), &Fleet::default())),
            changes: Arc::new(ChangeBudget::new(Arc::new(SystemClock), Fleet::default())),
            second_person: None,
        }
    }

    fn behind(entry: Entry, path: &str) -> Router {
        routes(audience(entry), path)
    }

    fn routes(audience: Audience, path: &str) -> Router {
        let handler = async |caller: Option<Extension<Caller>>| {
            caller.map_or_else(String::new, |Extension(caller)| caller.subject)
        };
        let layer = axum::middleware::from_fn_with_state(Arc::new(audience), admit);
        Router::new().route(path, get(handler)).route_layer(layer)
    }

    async fn ask(router: &Router, path: &str, token: Option<&str>, peer: [u8; 4]) -> Response {
        router.clone().oneshot(asked(path, token, peer)).await.expect("never fails")
    }

    fn asked(path: &str, token: Option<&str>, peer: [u8; 4]) -> Request {
        let mut request = Request::new(Body::empty());
        *request.uri_mut() = path.parse().expect("a path");
        if let Some(token) = token {
            let value = format!("Bearer {token}").parse().expect("a header value");
            request.headers_mut().insert(http::header::AUTHORIZATION, value);
        }
        request.extensions_mut().insert(Peer(peer.into()));
        request
    }

    #[tokio::test]
    async fn a_partners_route_opens_to_its_account_and_to_admins() {
        let tokens = tokens();
        let access = Arc::new(Access {
            tokens: tokens.clone(),
            issuers: Arc::new(Issuers::default()),
            sessions: Arc::new(NoneEnded),
            rules: TokenRules::default(),
        });
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
    async fn a_page_that_stays_open_is_counted_and_noted_once() {
        let tokens = tokens();
        let access = Arc::new(Access {
            tokens: tokens.clone(),
            issuers: Arc::new(Issuers::default()),
            sessions: Arc::new(NoneEnded),
            rules: TokenRules::default(),
        });
        let (accesses, quota) = (Arc::<Accesses>::default(), Quota { per_minute: NonZeroU32::new(1), per_day: None });
        let quotas = Quotas { account: quota, ..Quotas::default() };
        let path = "/api/v1/business/tier1/accounts/{account_id}";
        let audience = Audience {
            reads: ReadLog::new(accesses.clone(), Arc::new(SystemClock)),
            quotas: Arc::new(QuotaKeeper::new(rates(1, quotas), Arc::new(SystemClock), &Fleet::default())),
            ..audience(Entry::Bearer { access, required: Role::Partner })
        };
        let routes = routes(audience, path);
        let status = async |role: Role, again: bool| {
            let token = tokens.issue(role, "ptr_1", MINUTE).expect("issued");
            let mut request = asked(&path.replace("{account_id}", "ptr_1"), Some(&token), [1; 4]);
            again.then(|| request.extensions_mut().insert(Again));
            routes.clone().oneshot(request).await.expect("never fails").status()
        };
        let partner = [status(Role::Partner, false).await, status(Role::Partner, true).await];
        assert_eq!(partner, [StatusCode::OK; 2]);
        assert_eq!(status(Role::Partner, false).await, StatusCode::TOO_MANY_REQUESTS);
        for again in [false, true, true] {
            assert_eq!(status(Role::Admin, again).await, StatusCode::OK);
        }
        let later = SystemClock.now().plus_ms(2 * 60_000);
        let noted = accesses.take_due(later);
        assert_eq!(noted.len(), 1, "{noted:?}");
        assert_eq!(noted[0].detail["times"], 1, "{noted:?}");
    }

    #[tokio::test]
    async fn an_open_route_counts_each_client() {
        let limit = ClientLimit::new(rates(2, Quotas::default()), Fleet::default());
        let routes = behind(Entry::Anyone { limit }, "/open");
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
