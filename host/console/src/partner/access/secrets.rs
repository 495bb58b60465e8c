//! Issues and replaces the secrets of an account. Each new one is shown on the page that answers the form, and on no other.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use http::Method;
use intent_gateway_api::account::{CredentialsBody, REDACTED, WebhookBody};
use intent_gateway_domain::secret::Secret;
use serde_json::json;

use super::{ADDRESS, Come, ShownOnce, access_page};
use crate::Console;
use crate::api::ApiError;
use crate::confirm::{Altered, Confirmation};
use crate::failure::Failed;
use crate::frame::lead_to;
use crate::notices::with_notice;
use crate::partner::{own, take, take_refusal};
use crate::visitor::{Business, Fields, Sent, Visitor};

/// In the form of the page that asks before a secret ends at once.
const AT_ONCE: &str = "at_once";

fn shown_secret(secret: Secret) -> ShownOnce {
    let purpose = "With client_id and client_secret your programs get tokens from POST /api/v1/business/token.";
    ShownOnce { name: "client_secret", secret, purpose }
}

fn shown_key(secret: Secret) -> ShownOnce {
    ShownOnce { name: "webhook_signing_key", secret, purpose: "Your programs sign completion reports with it." }
}

fn shown_event_secret(secret: String) -> ShownOnce {
    let purpose = "Your webhook verifies with it what is posted there.";
    ShownOnce { name: "webhook_event_secret", secret: Secret::new(secret), purpose }
}

/// The page that shows a new secret, or says why there is none.
async fn show_new(console: &Console, visitor: &Visitor, new: Result<ShownOnce, ApiError>) -> Result<Response, Failed> {
    let come = match new {
        Ok(shown) => Come { shown: vec![shown], ..Come::default() },
        Err(error) => Come { problem: Some(take_refusal(error)?), ..Come::default() },
    };
    access_page(console, visitor, come).await
}

pub(super) async fn issue_credentials(
    State(console): State<Arc<Console>>,
    Sent(Business(visitor), _): Sent<Business>,
) -> Result<Response, Failed> {
    let address = own(&visitor, "credentials");
    let issued = visitor.api.send_text::<CredentialsBody>(Method::POST, &address, None).await.and_then(take);
    show_new(&console, &visitor, issued.map(|issued| shown_secret(issued.client_secret))).await
}

/// How a rotation is asked for: the one before ends in a day, or now.
fn wish_of(fields: &Fields) -> serde_json::Value {
    json!({"at_once": fields.is_ticked(AT_ONCE)})
}

pub(super) async fn rotate_secret(
    State(console): State<Arc<Console>>,
    Sent(Business(visitor), fields): Sent<Business>,
) -> Result<Response, Failed> {
    let address = format!("{}/rotate", own(&visitor, "credentials"));
    let rotated = visitor.api.send::<CredentialsBody>(Method::POST, &address, &wish_of(&fields)).await.and_then(take);
    show_new(&console, &visitor, rotated.map(|rotated| shown_secret(rotated.client_secret))).await
}

pub(super) async fn rotate_key(
    State(console): State<Arc<Console>>,
    Sent(Business(visitor), fields): Sent<Business>,
) -> Result<Response, Failed> {
    let address = format!("{}/webhook/rotate", own(&visitor, "credentials"));
    let rotated = visitor.api.send::<WebhookBody>(Method::POST, &address, &wish_of(&fields)).await.and_then(take);
    show_new(&console, &visitor, rotated.map(|rotated| shown_key(rotated.webhook_signing_key))).await
}

pub(super) async fn save_webhook(
    State(console): State<Arc<Console>>,
    Sent(Business(visitor), fields): Sent<Business>,
) -> Result<Response, Failed> {
    let webhook_url = fields.text("webhook_url");
    let address = format!("{}/webhook", own(&visitor, "credentials"));
    let document = json!({"webhook_url": webhook_url});
    let saved = visitor.api.send::<WebhookBody>(Method::PUT, &address, &document).await.and_then(take);
    let come = match saved {
        // The address that was saved already brings no new key.
        Ok(saved) if saved.webhook_signing_key.expose() == REDACTED => {
            return Ok(lead_to(&with_notice(ADDRESS, "saved")));
        }
        Ok(saved) => {
            let events = saved.webhook_event_secret.filter(|secret| secret != REDACTED).map(shown_event_secret);
            let shown = std::iter::once(shown_key(saved.webhook_signing_key)).chain(events).collect();
            Come { shown, ..Come::default() }
        }
        Err(error) => {
            Come { problem: Some(take_refusal(error)?), webhook_url: Some(webhook_url.to_owned()), ..Come::default() }
        }
    };
    access_page(&console, &visitor, come).await
}

/// Asks before every secret ends that is in use.
pub(super) async fn ask_rotation(Business(visitor): Business) -> Response {
    let alter = |what, after: &str| Altered { what, before: "works".to_owned(), after: after.to_owned() };
    let altered = vec![
        alter("Every secret of today", "refused at once"),
        alter("Every other token and session", "ended at once"),
    ];
    ask(&visitor, "Replace the secret at once", "/dashboard/access/credentials/rotate", altered)
}

/// Asks before every signing key ends that is in use.
pub(super) async fn ask_key_rotation(Business(visitor): Business) -> Response {
    let altered = vec![Altered {
        what: "Reports signed with a key of today",
        before: "taken".to_owned(),
        after: "refused at once".to_owned(),
    }];
    ask(&visitor, "Replace the signing key at once", "/dashboard/access/webhook/rotate", altered)
}

fn ask(visitor: &Visitor, title: &'static str, action: &str, altered: Vec<Altered>) -> Response {
    let lead = "Do this where one has leaked. Your programs stop working until they have the new one, which the next page shows once.";
    Confirmation {
        frame: visitor.frame(ADDRESS, title),
        lead: lead.to_owned(),
        altered,
        action: action.to_owned(),
        hidden: vec![(AT_ONCE, "yes".to_owned())],
        reason: None,
        act: "Replace at once",
        back: ADDRESS.to_owned(),
        problem: None,
    }
    .show()
}
