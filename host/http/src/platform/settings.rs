//! The configuration as this gateway runs it.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use intent_gateway_api::settings::SettingList;

use crate::App;
use crate::error::Refusal;
use crate::wire;

/// About what a setting takes, bytes.
const SETTING_BYTES: usize = 160;

/// Lists the settings in force at the gateway that answers, each with where it was given. Gateways of one store may differ.
///
/// Of a secret is said whether it is set, and an address is shown without the name, the password and the query in it.
#[utoipa::path(
    get, path = "/api/v1/admin/settings", tag = "admin",
    security(("bearer" = ["admin"])),
    responses((status = 200, description = "All of them, at most 5,000", body = SettingList))
)]
pub(super) async fn list_settings(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let settings = app.settings.load().to_vec();
    let bytes = settings.len() * SETTING_BYTES;
    wire::private(&SettingList { settings }, bytes)
}
