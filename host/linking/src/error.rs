//! Why an account was not linked, as the user is told it: a code, and no more than concerns them.

use super::flow::{CallbackFault, EndpointFault};
use super::port::LinkFailure;
use intent_gateway_domain::platform_code::PlatformCode;
use intent_gateway_domain::steps::Contended;
use intent_gateway_domain::store::{StoreError, StoreTrouble};
use intent_gateway_domain::vault::{NoEntropy, OpenError};

/// An account was not linked; nothing is kept of it.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The address is none that was given out here.
    #[error("the link is none that was given out here")]
    InvalidLink,
    /// An account was linked, or begun to be, by the address before.
    #[error("the link was used before")]
    UsedLink,
    /// The address was given out too long ago.
    #[error("the link is too old")]
    ExpiredLink,
    /// Requests are not routed to the partner at the moment.
    #[error("the partner is not served at the moment")]
    PartnerGone,
    /// The partner's authorization server gave nothing.
    #[error("the partner's authorization server gave nothing")]
    Server(#[source] LinkFailure),
    /// The partner names one that is not approved for it.
    #[error("the partner's authorization server is not approved")]
    ServerNotApproved,
    /// It cannot be asked by a browser.
    #[error("the partner's authorization server cannot be asked")]
    Endpoint(#[source] EndpointFault),
    /// It admits only clients that it knows, and does not know the gateway.
    #[error("the partner's authorization server does not know the gateway, and takes no registration")]
    NoClient,
    /// What the browser came back with is not an answer to what was asked, or refuses it.
    #[error("the answer of the authorization server was not taken")]
    Callback(#[source] CallbackFault),
    /// No request of this state is under way: it was answered before, is too old, or never was.
    #[error("no link with this state is under way")]
    NotUnderWay,
    /// The browser came back to the address that all authorization servers shared before each had its own.
    #[error("the browser came back to an address from before an update")]
    Outdated,
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

/// Why an account was not linked, as far as it concerns whoever is told: each has a stable name, and asks for words of its
/// own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkCode {
    /// The address was not given out here.
    InvalidLink,
    /// The address was used before.
    UsedLink,
    /// The address is too old.
    ExpiredLink,
    /// The partner is not served.
    PartnerGone,
    /// The authorization server cannot be reached.
    ServerUnreachable,
    /// The authorization server does not work as it should.
    ServerUnusable,
    /// The authorization server is not approved for the partner.
    ServerNotApproved,
    /// The authorization server does not know the gateway.
    NoClient,
    /// The authorization server refused.
    Refused,
    /// The browser came back with something that is not an answer.
    InvalidCallback,
    /// The answer came from another server.
    WrongIssuer,
    /// The user declined.
    Denied,
    /// The request was answered before, is too old, or never was.
    NotUnderWay,
    /// It was begun before an update.
    Outdated,
    /// Another browser began.
    OtherBrowser,
    /// There is no such link.
    NotLinked,
    /// The gateway has too much to do.
    Overloaded,
    /// The gateway's store is down.
    StoreUnavailable,
    /// The gateway's own fault.
    Internal,
}

impl LinkCode {
    /// All of them.
    pub const ALL: [Self; 19] = [
        Self::InvalidLink,
        Self::UsedLink,
        Self::ExpiredLink,
        Self::PartnerGone,
        Self::ServerUnreachable,
        Self::ServerUnusable,
        Self::ServerNotApproved,
        Self::NoClient,
        Self::Refused,
        Self::InvalidCallback,
        Self::WrongIssuer,
        Self::Denied,
        Self::NotUnderWay,
        Self::Outdated,
        Self::OtherBrowser,
        Self::NotLinked,
        Self::Overloaded,
        Self::StoreUnavailable,
        Self::Internal,
    ];

    /// As it is written on the wire and in `docs/errors.md`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidLink => "LINK_INVALID",
            Self::UsedLink => "LINK_USED",
            Self::ExpiredLink => "LINK_EXPIRED",
            Self::PartnerGone => "PARTNER_GONE",
            Self::ServerUnreachable => "LINK_SERVER_UNREACHABLE",
            Self::ServerUnusable => "LINK_SERVER_UNUSABLE",
            Self::ServerNotApproved => "LINK_SERVER_NOT_APPROVED",
            Self::NoClient => "LINK_NO_CLIENT",
            Self::Refused => "LINK_REFUSED",
            Self::InvalidCallback => "LINK_CALLBACK_INVALID",
            Self::WrongIssuer => "LINK_WRONG_ISSUER",
            Self::Denied => "LINK_DENIED",
            Self::NotUnderWay => "LINK_NOT_UNDER_WAY",
            Self::Outdated => "LINK_OUTDATED",
            Self::OtherBrowser => "LINK_OTHER_BROWSER",
            Self::NotLinked => "NOT_FOUND",
            Self::Overloaded => "OVERLOADED",
            Self::StoreUnavailable => "STORE_UNAVAILABLE",
            Self::Internal => PlatformCode::InternalError.as_str(),
        }
    }
}

impl From<Contended> for LinkError {
    fn from(Contended: Contended) -> Self {
        Self::Contended
    }
}

impl LinkError {
    /// What whoever is told has to know of it. Every failure is named here, so that a new one is not forgotten.
    #[must_use]
    pub fn code(&self) -> LinkCode {
        match self {
            Self::InvalidLink => LinkCode::InvalidLink,
            Self::UsedLink => LinkCode::UsedLink,
            Self::ExpiredLink => LinkCode::ExpiredLink,
            Self::PartnerGone => LinkCode::PartnerGone,
            Self::Server(LinkFailure::Unreachable(_)) => LinkCode::ServerUnreachable,
            Self::Server(LinkFailure::AddressRefused(_) | LinkFailure::Unusable(_) | LinkFailure::Protocol(_))
            | Self::Endpoint(EndpointFault::Address | EndpointFault::Parameter | EndpointFault::TooLong) => {
                LinkCode::ServerUnusable
            }
            Self::Server(LinkFailure::Refused { .. }) | Self::Callback(CallbackFault::Refused(_)) => LinkCode::Refused,
            Self::ServerNotApproved => LinkCode::ServerNotApproved,
            Self::NoClient => LinkCode::NoClient,
            Self::Callback(CallbackFault::Malformed | CallbackFault::State) => LinkCode::InvalidCallback,
            Self::Callback(CallbackFault::Issuer) => LinkCode::WrongIssuer,
            Self::Callback(CallbackFault::Denied) => LinkCode::Denied,
            Self::NotUnderWay => LinkCode::NotUnderWay,
            Self::Outdated => LinkCode::Outdated,
            Self::OtherBrowser => LinkCode::OtherBrowser,
            Self::NotLinked => LinkCode::NotLinked,
            Self::Store(error) => match error.trouble() {
                StoreTrouble::Unavailable => LinkCode::StoreUnavailable,
                StoreTrouble::Busy => LinkCode::Overloaded,
                StoreTrouble::Defect => LinkCode::Internal,
            },
            Self::Contended => LinkCode::Overloaded,
            Self::NoEntropy(_) | Self::Sealed(_) => LinkCode::Internal,
        }
    }
}
