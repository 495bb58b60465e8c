//! Why an account was not linked, as the user is told it: a code, and no more than concerns them.

use super::flow::{CallbackFault, EndpointFault};
use super::port::LinkFailure;
use intent_gateway_domain::store::StoreError;
use intent_gateway_domain::vault::{NoEntropy, OpenError};

/// An account was not linked; nothing is kept of it.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The address is none that was given out here.
    #[error("the link is none that was given out here")]
    InvalidLink,
    /// The address was given out too long ago.
    #[error("the link is too old")]
    ExpiredLink,
    /// Requests are not routed to the partner at the moment.
    #[error("the partner is not served at the moment")]
    PartnerGone,
    /// The partner's authorization server gave nothing.
    #[error("the partner's authorization server gave nothing")]
    Server(#[source] LinkFailure),
    /// It cannot be asked by a browser.
    #[error("the partner's authorization server cannot be asked")]
    Endpoint(#[source] EndpointFault),
    /// It admits only clients that it knows, and does not know the gateway.
    #[error("the partner's authorization server does not know the gateway, and takes no registration")]
    NoClient,
    /// What the browser came back with is no answer to what was asked, or refuses it.
    #[error("the answer of the authorization server was not taken")]
    Callback(#[source] CallbackFault),
    /// No request of this state is under way: it was answered before, is too old, or never was.
    #[error("no link with this state is under way")]
    NotUnderWay,
    /// Another browser began.
    #[error("another browser began to link")]
    OtherBrowser,
    /// Nothing of that name is linked.
    #[error("the user has linked no account there")]
    NotLinked,
    /// Others kept changing the same record; trying again later is in order.
    #[error("the record was changed by others again and again")]
    Contended,
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] StoreError),
    /// The machine gives no random bytes.
    #[error(transparent)]
    NoEntropy(#[from] NoEntropy),
    /// A sealed secret cannot be opened.
    #[error("a sealed secret cannot be opened")]
    Sealed(#[from] OpenError),
}

impl LinkError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidLink => "LINK_INVALID",
            Self::ExpiredLink => "LINK_EXPIRED",
            Self::PartnerGone => "PARTNER_GONE",
            Self::Server(LinkFailure::Unreachable(_)) => "LINK_SERVER_UNREACHABLE",
            Self::Server(LinkFailure::Refused { .. }) => "LINK_REFUSED",
            Self::Server(_) | Self::Endpoint(_) => "LINK_SERVER_UNUSABLE",
            Self::NoClient => "LINK_NO_CLIENT",
            Self::Callback(CallbackFault::Malformed | CallbackFault::State) => "LINK_CALLBACK_INVALID",
            Self::Callback(CallbackFault::Issuer) => "LINK_WRONG_ISSUER",
            Self::Callback(CallbackFault::Denied) => "LINK_DENIED",
            Self::Callback(CallbackFault::Refused(_)) => "LINK_REFUSED",
            Self::NotUnderWay => "LINK_NOT_UNDER_WAY",
            Self::OtherBrowser => "LINK_OTHER_BROWSER",
            Self::NotLinked => "NOT_FOUND",
            Self::Store(StoreError::Busy) | Self::Contended => "OVERLOADED",
            Self::Store(_) | Self::NoEntropy(_) | Self::Sealed(_) => "INTERNAL_ERROR",
        }
    }
}
