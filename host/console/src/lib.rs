//! Pages over the gateway's API: a console for the platform team, a dashboard for partners.
//!
//! A page is made of what the API tells its visitor, and its forms do what the API lets that visitor do ([`api`]); no page reads the
//! store of anybody's records. So a page shows nothing that a script with the same token would not be told, and what is refused there
//! is refused here. What a page is made of is in `templates`, one file a page.
//!
//! Not here: rules, rights, and what is kept of partners, orders and contracts, which the API has.
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod api;
mod assets;
mod confirm;
mod entry;
mod events;
mod failure;
mod frame;
mod live;
mod members;
mod multipart;
mod notices;
mod partner;
mod plots;
mod protect;
mod session;
mod team;
mod view;
mod visitor;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::fair_slots::FairSlots;
use intent_gateway_domain::store::Store;
use intent_gateway_domain::vault::Vault;
use intent_gateway_http::auth::Tokens;
use intent_gateway_http::inside::Inside;
use tower_http::compression::CompressionLayer;

pub use self::entry::{FetchError, Fetched, FirstCode, Provider, ProviderFetch};
use self::failure::Failed;
use self::live::{PARTNER_LOOKS_MAX, PARTNER_STREAMS_MAX, StreamPlaces, TEAM_LOOKS_MAX, TEAM_STREAMS_MAX};
use self::protect::{PAGE_TIMEOUT, Places};
use self::session::{Face, Sessions};

/// Pages of the team that are made at once.
const TEAM_PAGES_MAX: usize = 32;
/// Pages of the team that bring a contract's component, likewise: each may wait for a large file and for its compilation.
const TEAM_LOADS_MAX: usize = 4;
/// How long one of those may take: two minutes for the file, and one for the compilation.
const LOAD_TIMEOUT: Duration = Duration::from_secs(3 * 60);
/// Pages of partners, likewise.
const PARTNER_PAGES_MAX: usize = 128;
/// Pages of one face for whoever is not signed in, likewise: places of their own, so that strangers take none of the others'.
const STRANGERS_PAGES_MAX: usize = 32;

/// What pages stand on.
pub struct Parts {
    /// Keeps sessions.
    pub store: Arc<dyn Store>,
    pub vault: Vault,
    pub clock: Arc<dyn Clock>,
    /// Issues and knows the gateway's own bearer tokens.
    pub tokens: Arc<Tokens>,
    /// A code that opens the console once. None where the team signs in at an issuer.
    pub first_code: Option<FirstCode>,
    /// Where the team signs in; with a token or the code where there is none.
    pub provider: Option<Provider>,
}

/// What pages work with.
struct Console {
    inside: Inside,
    sessions: Sessions,
    tokens: Arc<Tokens>,
    first_code: Option<FirstCode>,
    provider: Option<Provider>,
    team_streams: Arc<StreamPlaces>,
    partner_streams: Arc<StreamPlaces>,
}

impl Console {
    /// The places of what moves on the pages of a face.
    fn streams(&self, face: Face) -> &Arc<StreamPlaces> {
        match face {
            Face::Team => &self.team_streams,
            Face::Partner => &self.partner_streams,
        }
    }
}

/// The routes of all pages.
pub fn router(parts: Parts, inside: Inside) -> Router {
    let Parts { store, vault, clock, tokens, first_code, provider } = parts;
    let console = Arc::new(Console {
        inside,
        sessions: Sessions { store, vault, clock },
        tokens,
        first_code,
        provider,
        team_streams: StreamPlaces::new(TEAM_STREAMS_MAX, TEAM_LOOKS_MAX),
        partner_streams: StreamPlaces::new(PARTNER_STREAMS_MAX, PARTNER_LOOKS_MAX),
    });
    let inside = console.inside.clone();
    let around_for = |routes: Router<Arc<Console>>, face: Face, at_once: usize, timeout: Duration| {
        let places = Places { slots: FairSlots::new(at_once), timeout, inside: inside.clone() };
        routes
            .layer(from_fn(protect::from_own_pages))
            .layer(from_fn_with_state(Arc::new(places), protect::in_bounds))
            .layer(from_fn(move |request, next| failure::in_frame(face, request, next)))
            .layer(from_fn(protect::with_headers))
    };
    let around = |routes, face, at_once| around_for(routes, face, at_once, PAGE_TIMEOUT);
    // They stay open, in places of their own: none of those in which pages are made is held meanwhile.
    let streams = |routes: Router<Arc<Console>>, face: Face| {
        let in_frame = from_fn(move |request, next| failure::in_frame(face, request, next));
        routes.layer(from_fn(protect::from_own_pages)).layer(in_frame).layer(from_fn(protect::with_headers))
    };
    let assets = Router::new().route(assets::ROUTE, get(assets::asset)).layer(from_fn(protect::with_headers));
    let team_entry = entry::team_routes().route("/console/{*rest}", get(no_page).post(no_page));
    let partner_entry = entry::partner_routes().route("/dashboard/{*rest}", get(no_page).post(no_page));
    around(team_entry, Face::Team, STRANGERS_PAGES_MAX)
        .merge(around(team::routes(), Face::Team, TEAM_PAGES_MAX))
        .merge(around_for(team::load_routes(), Face::Team, TEAM_LOADS_MAX, LOAD_TIMEOUT))
        .merge(around(partner_entry, Face::Partner, STRANGERS_PAGES_MAX))
        .merge(around(partner::routes(), Face::Partner, PARTNER_PAGES_MAX))
        .merge(streams(team::streams(), Face::Team))
        .merge(streams(partner::streams(), Face::Partner))
        .merge(assets)
        // Streams are left as they are: an event is to be sent when it happens. What is secret in a page is written so that the length of
        // the answer tells nothing of it (`session::masked`).
        .layer(CompressionLayer::new())
        .with_state(console)
}

async fn no_page() -> Response {
    Failed::NoPage.into_response()
}
