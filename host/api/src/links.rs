//! The accounts that users have linked at partners.

use intent_gateway_domain::ports::SignInLink;
use intent_gateway_linking::{LinkOffer, LinkView, Revocation};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::read::{Body, Members};
use crate::time;

/// An account that the user has linked.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct LinkBody {
    /// Where.
    pub partner: String,
    /// When the user linked it.
    pub since: String,
    /// The scopes that were granted, set off by spaces; null where the partner has not told.
    #[schema(required)]
    pub scope: Option<String>,
    /// When the present token is over; null where the partner has not told.
    #[schema(required)]
    pub expires_at: Option<String>,
    /// Whether another token follows then without the user.
    pub renewable: bool,
}

impl From<LinkView> for LinkBody {
    fn from(LinkView { partner, since_ms, scope, expires_at_ms, renewable }: LinkView) -> Self {
        let expires_at = expires_at_ms.map(time);
        Self { partner: partner.to_string(), since: time(since_ms), scope, expires_at, renewable }
    }
}

/// A user's links.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct LinkList {
    /// In order of their partners, at most 200.
    pub links: Vec<LinkBody>,
}

/// Where an account is to be linked.
#[derive(Debug, ToSchema)]
pub struct LinkRequest {
    /// The partner.
    pub partner: String,
    /// An intent that the partner must list.
    pub intent: Option<String>,
}

impl Body for LinkRequest {
    fn read(members: &mut Members<'_>) -> Option<Self> {
        let (partner, intent) = (members.text("partner"), members.optional_text("intent"));
        Some(Self { partner: partner?, intent })
    }
}

/// Where the user links an account.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct LinkOffered {
    /// For the browser of this user and nobody else.
    pub link_url: String,
    /// What the page there shows as well. Tell it to the user beforehand: whoever sees another code, or was told none, was
    /// sent somebody else's link.
    #[schema(example = "K7Q-2XR")]
    pub link_code: String,
    /// Good until then.
    pub expires_at: String,
}

impl From<LinkOffer> for LinkOffered {
    fn from(LinkOffer { link: SignInLink { url, code }, expires_at_ms }: LinkOffer) -> Self {
        Self { link_url: url, link_code: code, expires_at: time(expires_at_ms) }
    }
}

/// What happened to a link.
#[derive(Debug, Serialize, ToSchema)]
pub struct LinkRemoved {
    /// Where it was.
    pub partner: String,
    /// Whether the partner's authorization server has ended the tokens: `done`; `unsupported`, it takes no revocations; or
    /// `failed`. In the last two cases they end by themselves; here they are forgotten in any case.
    #[schema(value_type = String, example = "done")]
    pub revocation: Revocation,
}
