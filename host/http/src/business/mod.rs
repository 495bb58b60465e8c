//! What a business does for itself: signs up, gets credentials, submits its manifest, registers its endpoint, reads
//! its statements, what was ordered at it, and what was found in its answers.
//!
//! Five routes take no token: four are the way to the first one, and one undoes what somebody else did with a stolen one. Each
//! client may use them so many times a minute. All others are about one account, which the path names and the token must be of (an admin may act in
//! its stead). Nothing here may be kept by a cache.

mod account;
mod credentials;
mod documents;
mod entry;
mod events;
mod findings;
mod notices;
mod orders;
mod overdue;
mod statements;
mod trial;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::acting::{Acting, no_account};
use crate::admin::is_known;
use crate::error::Refusal;
pub(crate) use documents::{CONCURRENT_UPLOADS_MAX, document_of};

/// The way to the first token, and back from a stolen one.
pub(crate) fn open_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default()
        .routes(routes!(entry::sign_up))
        .routes(routes!(entry::verify))
        .routes(routes!(entry::sign_in))
        .routes(routes!(entry::token))
        .routes(routes!(entry::undo))
}

/// An account's own routes.
pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default()
        .routes(routes!(account::overview))
        .routes(routes!(account::end_sessions))
        .routes(routes!(account::set_profile))
        .routes(routes!(documents::list, documents::add))
        .routes(routes!(documents::replace, documents::remove))
        .routes(routes!(findings::list_own_findings))
        .routes(routes!(findings::summarize_own_findings))
        .routes(routes!(notices::list_own_notices))
        .routes(routes!(orders::list_own_orders))
        .routes(routes!(orders::show_own_order))
        .routes(routes!(statements::months))
        .routes(routes!(statements::statement))
        .routes(routes!(statements::test_reports))
        .routes(routes!(overdue::list_own_overdue))
        .routes(routes!(account::show_manifest, account::submit_manifest))
        .routes(routes!(account::write_phone_manifest))
        .routes(routes!(trial::try_mapping))
        .routes(routes!(account::show_connection, account::register_endpoint))
        .routes(routes!(credentials::show, credentials::issue))
        .routes(routes!(credentials::rotate))
        .routes(routes!(events::list_own_events))
        .routes(routes!(events::show_own_event))
        .routes(routes!(events::replay_own_event))
        .routes(routes!(credentials::set_webhook, events::show_webhook))
        .routes(routes!(events::test_webhook))
        .routes(routes!(events::enable_webhook))
        .routes(routes!(events::rotate_event_secret))
        .routes(routes!(credentials::rotate_webhook_key))
        .routes(routes!(credentials::test_call))
}

/// Refuses an account that does not exist.
async fn require_known(app: &App, acting: &Acting) -> Result<(), Refusal> {
    if is_known(app, acting.account.as_str()).await? { Ok(()) } else { Err(no_account()) }
}
