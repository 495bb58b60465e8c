//! The connection: a form for the endpoint, what the last probe saw of it, and how the tests of its intents went.

use askama::Template;
use askama::filters::HtmlSafe;
use axum::response::Response;
use http::{Method, StatusCode};
use intent_gateway_api::connection::ConnectionBody;
use intent_gateway_domain::endpoint::Endpoint;
use serde_json::{Map, Value};

use super::{PLACE, check_chip};
use crate::failure::{Failed, Problem};
use crate::frame::{Frame, lead_to, render, show_with};
use crate::live::{Follower, follow};
use crate::notices::with_notice;
use crate::partner::{connection_chip, own, take, take_refusal, wants_fresh_sign_in};
use crate::view::{Chip, Ident, Moment, Tone};
use crate::visitor::{Business, Fields, Sent, Visitor};

const ADDRESS: &str = "/dashboard/go-live/connection";

/// The kinds of endpoints, as the API and as people call them.
const KINDS: [(&str, &str); 3] = [("mcp", "MCP server"), ("rest", "REST API"), ("graphql", "GraphQL API")];

/// What stands in the form.
#[derive(Default)]
struct EndpointForm {
    kind: String,
    url: String,
    base_url: String,
    openapi_url: String,
}

impl EndpointForm {
    fn of(endpoint: &Endpoint) -> Self {
        let form = |kind: &str| Self { kind: kind.to_owned(), ..Self::default() };
        match endpoint {
            Endpoint::Mcp { url } => Self { url: url.clone(), ..form("mcp") },
            Endpoint::Graphql { url } => Self { url: url.clone(), ..form("graphql") },
            Endpoint::Rest { base_url, openapi_url } => {
                Self { base_url: base_url.clone(), openapi_url: openapi_url.clone(), ..form("rest") }
            }
        }
    }

    fn read(fields: &Fields) -> Self {
        let [kind, url, base_url, openapi_url] =
            ["kind", "url", "base_url", "openapi_url"].map(|name| fields.text(name).to_owned());
        Self { kind, url, base_url, openapi_url }
    }

    /// As the API takes it: what was left empty is absent.
    fn write(&self) -> Value {
        let members = [
            ("kind", &self.kind),
            ("url", &self.url),
            ("base_url", &self.base_url),
            ("openapi_url", &self.openapi_url),
        ];
        let said = members.into_iter().filter(|(_, text)| !text.is_empty());
        Value::Object(said.map(|(name, text)| (name.to_owned(), text.as_str().into())).collect::<Map<_, _>>())
    }
}

#[derive(Template)]
#[template(path = "partner/connection.html")]
struct ConnectionPage {
    frame: Frame,
    moves: ConnectionMoves,
    form: EndpointForm,
    problem: Option<Problem>,
}

/// All but the form.
#[derive(Template)]
#[template(path = "partner/connection-moves.html")]
struct ConnectionMoves {
    connection: Option<ConnectionBody>,
}

impl HtmlSafe for ConnectionMoves {}

impl ConnectionMoves {
    /// The answer in one line.
    fn lead(&self) -> &'static str {
        let Some(connection) = &self.connection else { return "No endpoint is registered yet." };
        match connection.state.as_str() {
            "live" if !connection.quarantine.is_empty() => {
                "Live, but some intents are out of service: their tools have changed."
            }
            "live" => "Live: requests of users are routed to your server.",
            "suspended" => "Suspended: no request reaches your server.",
            "probe_failed" => "The last probe found something wrong. Mend it, then the platform team probes again.",
            _ => "In the sandbox: no request of a user reaches your server yet.",
        }
    }
}

/// Whether something that was tried went well.
fn passed_chip(passed: &bool) -> Chip {
    if *passed { Chip::new(Tone::Good, "passed") } else { Chip::new(Tone::Bad, "failed") }
}

pub(super) async fn show_connection(Business(visitor): Business) -> Result<Response, Failed> {
    connection_page(&visitor, None).await
}

pub(super) async fn register_endpoint(Sent(Business(visitor), fields): Sent<Business>) -> Result<Response, Failed> {
    let form = EndpointForm::read(&fields);
    let address = own(&visitor, "connection");
    let saved = visitor.api.send::<ConnectionBody>(Method::PUT, &address, &form.write()).await.and_then(take);
    match saved {
        Ok(_) => Ok(lead_to(&with_notice(ADDRESS, "saved"))),
        Err(error) => connection_page(&visitor, Some((form, take_refusal(error)?))).await,
    }
}

/// The page with what is registered, or with what was typed and why it was refused.
async fn connection_page(visitor: &Visitor, refused: Option<(EndpointForm, Problem)>) -> Result<Response, Failed> {
    let moves = connection_moves(visitor).await?;
    let (form, problem) = match refused {
        Some((form, problem)) => (form, Some(problem)),
        None => {
            let connection = moves.connection.as_ref();
            (connection.map(|connection| EndpointForm::of(&connection.endpoint)).unwrap_or_default(), None)
        }
    };
    let status = problem.as_ref().map_or(StatusCode::OK, |problem| problem.status);
    let frame = visitor.frame(PLACE, "Connection").json(own(visitor, "connection"));
    let frame = frame.live("/dashboard/live/connection");
    Ok(show_with(status, &ConnectionPage { frame, moves, form, problem }))
}

pub(crate) async fn follow_connection(follower: Follower<Business>) -> Result<Response, Failed> {
    follow(follower, |visitor| Box::pin(async move { render(&connection_moves(&visitor).await?) })).await
}

async fn connection_moves(visitor: &Visitor) -> Result<ConnectionMoves, Failed> {
    Ok(ConnectionMoves { connection: visitor.api.find::<ConnectionBody>(&own(visitor, "connection")).await? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_registered_is_sent_as_it_was() {
        for document in [
            json!({"kind": "mcp", "url": "https://a.example/mcp"}),
            json!({"kind": "graphql", "url": "https://a.example/graphql"}),
            json!({"kind": "rest", "base_url": "https://a.example", "openapi_url": "https://a.example/openapi.json"}),
        ] {
            let endpoint: Endpoint = serde_json::from_value(document.clone()).expect("an endpoint");
            assert_eq!(EndpointForm::of(&endpoint).write(), document);
        }
        assert_eq!(EndpointForm::read(&Fields::parse(b"kind=mcp&url=+&base_url=")).write(), json!({"kind": "mcp"}));
    }
}
