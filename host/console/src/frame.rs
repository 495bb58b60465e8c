//! What is around every page: its head, the navigation, who is signed in, and what has just been done.

use askama::Template;
use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, StatusCode, header};
use intent_gateway_domain::secret::Secret;
use intent_gateway_http::inside::Page;

use crate::assets;
use crate::failure::Failed;
use crate::session::Face;

/// A page that the navigation leads to.
pub(crate) struct Place {
    pub(crate) name: &'static str,
    pub(crate) address: &'static str,
}

const fn place(name: &'static str, address: &'static str) -> Place {
    Place { name, address }
}

const TEAM: [Place; 12] = [
    place("Overview", "/console"),
    place("Intents", "/console/intents"),
    place("Partners", "/console/partners"),
    place("Reviews", "/console/reviews"),
    place("Orders", "/console/orders"),
    place("Rankings", "/console/rankings"),
    place("Ledger", "/console/ledger"),
    place("Playground", "/console/playground"),
    place("Approvals", "/console/approvals"),
    place("Notices", "/console/notices"),
    place("Audit", "/console/audit"),
    place("Gateways", "/console/gateways"),
];

const PARTNER: [Place; 8] = [
    place("Home", "/dashboard"),
    place("Go live", "/dashboard/go-live"),
    place("Offers", "/dashboard/offers"),
    place("Orders", "/dashboard/orders"),
    place("Money", "/dashboard/money"),
    place("Events", "/dashboard/events"),
    place("Notices", "/dashboard/notices"),
    place("Access", "/dashboard/access"),
];

/// Something that was done, or has to be known, above a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) text: &'static str,
}

/// What a page's template needs around it.
pub(crate) struct Frame {
    pub(crate) face: Face,
    pub(crate) title: String,
    /// Whoever is signed in.
    pub(crate) who: Option<String>,
    /// Address of the page of the navigation that this one belongs to.
    pub(crate) place: &'static str,
    /// In every form, as this page has it.
    pub(crate) form_token: Secret,
    pub(crate) notice: Option<Notice>,
    /// The same as the API tells it, for a script.
    pub(crate) json: Option<String>,
    /// Where the part of the page comes from that moves, as a stream.
    pub(crate) live: Option<String>,
    /// Whether the page has plots.
    pub(crate) has_plots: bool,
}

impl Frame {
    /// Of a visitor who is not signed in.
    pub(crate) fn of_stranger(face: Face, title: impl Into<String>) -> Self {
        Self {
            face,
            title: title.into(),
            who: None,
            place: "",
            form_token: Secret::new(""),
            notice: None,
            json: None,
            live: None,
            has_plots: false,
        }
    }

    /// With the address in the API that tells the same.
    pub(crate) fn json(self, address: impl Into<String>) -> Self {
        Self { json: Some(address.into()), ..self }
    }

    /// With the address of the stream of what moves on it.
    pub(crate) fn live(self, address: impl Into<String>) -> Self {
        Self { live: Some(address.into()), ..self }
    }

    /// With plots.
    pub(crate) fn plots(self) -> Self {
        Self { has_plots: true, ..self }
    }

    pub(crate) fn places(&self) -> &'static [Place] {
        match self.face {
            Face::Team => &TEAM,
            Face::Partner => &PARTNER,
        }
    }

    /// What the face is called.
    pub(crate) fn name(&self) -> &'static str {
        match self.face {
            Face::Team => "Console",
            Face::Partner => "Partner dashboard",
        }
    }

    pub(crate) fn home(&self) -> &'static str {
        self.face.home()
    }

    pub(crate) fn style(&self) -> &'static str {
        assets::STYLE.address()
    }

    pub(crate) fn script(&self) -> &'static str {
        assets::SCRIPT.address()
    }

    pub(crate) fn plot_script(&self) -> &'static str {
        assets::PLOT_SCRIPT.address()
    }

    pub(crate) fn plot_style(&self) -> &'static str {
        assets::PLOT_STYLE.address()
    }

    pub(crate) fn icon(&self) -> &'static str {
        assets::ICON.address()
    }

    /// Where one sees one's own sessions.
    pub(crate) fn sessions(&self) -> &'static str {
        match self.face {
            Face::Team => "/console/sessions",
            Face::Partner => "/dashboard/access",
        }
    }

    pub(crate) fn token(&self) -> &str {
        self.form_token.expose()
    }
}

/// A part of a page as text.
pub(crate) fn render(part: &impl Template) -> Result<String, Failed> {
    part.render().map_err(|error| {
        tracing::error!(%error, "a part of a page could not be written");
        Failed::NoPage
    })
}

/// A page as an answer.
pub(crate) fn show(page: &impl Template) -> Response {
    show_with(StatusCode::OK, page)
}

/// The same with another status.
pub(crate) fn show_with(status: StatusCode, page: &impl Template) -> Response {
    match page.render() {
        Ok(text) => {
            let mut response = Response::new(Body::from(text));
            *response.status_mut() = status;
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
            response.extensions_mut().insert(Page);
            response
        }
        Err(error) => {
            tracing::error!(%error, "a page could not be written");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// Leads on to another page of this gateway, after a form was taken.
pub(crate) fn lead_to(address: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    // Addresses are made here of visible ASCII; whatever else comes leads home.
    let location = HeaderValue::from_str(address).unwrap_or(HeaderValue::from_static("/"));
    response.headers_mut().insert(header::LOCATION, location);
    response
}
