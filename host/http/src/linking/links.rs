//! A user's links, as the orchestrator shows, offers and ends them.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use http::StatusCode;
use intent_gateway_api::links::{LinkBody, LinkList, LinkOffered, LinkRemoved, LinkRequest};
use intent_gateway_domain::id::PartnerId;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::acting::{AskingUser, Team};
use crate::admin::is_known;
use crate::body::Json;
use crate::error::{Code, ErrorBody, Refusal};
use crate::wire;

/// About what a link takes in a list, bytes.
const LINK_BYTES: usize = 512;

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default().routes(routes!(list_links, offer_link)).routes(routes!(remove_link))
}

/// Lists the accounts that a user has linked at partners.
///
/// Those of partners that are not served at the moment are among them; they are not used.
#[utoipa::path(
    get, path = "/api/v1/links", tag = "orchestrator",
    params(("x-user-id" = String, Header, description = "The user, by a pseudonym of the orchestrator's own")),
    security(("bearer" = ["orchestrator"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The user's links", body = LinkList),
        (status = 400, description = "`INVALID_REQUEST`: the header", body = ErrorBody),
    )
)]
async fn list_links(State(app): State<Arc<App>>, AskingUser(user): AskingUser) -> Result<Response, Refusal> {
    let views = app.linking.links(&user).await?;
    let links: Vec<LinkBody> = views.into_iter().map(LinkBody::from).collect();
    let capacity = links.len() * LINK_BYTES;
    wire::json(StatusCode::OK, &LinkList { links }, capacity + wire::SMALL_BYTES)
}

/// Gives out an address where a user links an account at a partner.
///
/// The refusal of a call that wants a sign-in brings the same in `link_url`; this is for offering it before. Give it to the user
/// that the header names and to nobody else: whoever opens it links an account of theirs for that user.
#[utoipa::path(
    post, path = "/api/v1/links", tag = "orchestrator",
    params(("x-user-id" = String, Header, description = "The user, by a pseudonym of the orchestrator's own")),
    request_body = LinkRequest,
    security(("bearer" = ["orchestrator"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "The address", body = LinkOffered),
        (status = 400, description = "`INVALID_REQUEST`: the header or a member", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: there is no such partner", body = ErrorBody),
        (
            status = 409, description = "`PARTNER_GONE`: it is not served, or not for the intent, at the moment",
            body = ErrorBody
        ),
    )
)]
async fn offer_link(
    State(app): State<Arc<App>>,
    AskingUser(user): AskingUser,
    Json(LinkRequest { partner, intent }): Json<LinkRequest>,
) -> Result<Response, Refusal> {
    let served = PartnerId::parse(&partner).ok().and_then(|id| app.searcher.directory.find(&id));
    let served = served.filter(|served| intent.is_none_or(|intent| served.listing(&intent).is_some()));
    let Some(served) = served else {
        return Err(match is_known(&app, &partner).await? {
            true => {
                Refusal::conflict("PARTNER_GONE", "The partner is not served, or not for the intent, at the moment.")
            }
            false => Refusal::new(Code::NotFound).message("There is no such partner."),
        });
    };
    let offer = app.linking.offer(&served.id, &user, None);
    let offer = offer.map_err(|error| Refusal::new(Code::InternalError).internal(error.to_string()))?;
    wire::json(StatusCode::OK, &LinkOffered::from(offer), wire::SMALL_BYTES)
}

/// Ends a link: the gateway forgets the tokens, and has them revoked where they came from.
#[utoipa::path(
    delete, path = "/api/v1/links/{partner}", tag = "orchestrator",
    params(
        ("partner" = String, Path, description = "The partner; it need not be served any more"),
        ("x-user-id" = String, Header, description = "The user, by a pseudonym of the orchestrator's own"),
    ),
    security(("bearer" = ["orchestrator"]), ("bearer" = ["admin"])),
    responses(
        (status = 200, description = "It is forgotten here", body = LinkRemoved),
        (status = 400, description = "`INVALID_REQUEST`: the header", body = ErrorBody),
        (status = 404, description = "`NOT_FOUND`: the user has linked no account there", body = ErrorBody),
    )
)]
async fn remove_link(
    State(app): State<Arc<App>>,
    Path(partner): Path<String>,
    AskingUser(user): AskingUser,
    Team(actor): Team,
) -> Result<Response, Refusal> {
    let partner = PartnerId::parse(&partner)
        .map_err(|_| Refusal::new(Code::NotFound).message("The user has linked no account there."))?;
    let revocation = app.linking.unlink(&partner, &user, &actor).await?;
    wire::json(StatusCode::OK, &LinkRemoved { partner: partner.to_string(), revocation }, wire::SMALL_BYTES)
}
