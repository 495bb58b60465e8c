//! What account linking refuses, as HTTP says it: to the orchestrator, or on a page to the user, in words for either.

use std::borrow::Cow;

use http::StatusCode;
use intent_gateway_domain::error::chain;
use intent_gateway_linking::{LinkCode, LinkError};

use super::{Code, Refusal};

impl From<LinkError> for Refusal {
    fn from(error: LinkError) -> Self {
        refusal(error.code()).internal(chain(&error))
    }
}

fn refusal(code: LinkCode) -> Refusal {
    match code {
        LinkCode::Overloaded => Refusal::new(Code::Overloaded),
        LinkCode::StoreUnavailable => Refusal::new(Code::StoreUnavailable)
            .message("This service cannot keep anything at the moment, so nothing was linked. Try again in a moment."),
        LinkCode::Internal => Refusal::new(Code::InternalError),
        LinkCode::InvalidLink => {
            refuse_expected(code, StatusCode::BAD_REQUEST, "This link is not one that was given out here.")
        }
        LinkCode::UsedLink => {
            refuse_expected(code, StatusCode::GONE, "This link was used before. Ask your assistant for a new one.")
        }
        LinkCode::ExpiredLink => {
            refuse_expected(code, StatusCode::GONE, "This link is too old. Ask your assistant for a new one.")
        }
        LinkCode::PartnerGone => {
            refuse_expected(code, StatusCode::CONFLICT, "This business is not served at the moment.")
        }
        LinkCode::ServerUnreachable => refuse_expected(
            code,
            StatusCode::BAD_GATEWAY,
            "The business's sign-in cannot be reached at the moment. Try again later.",
        ),
        LinkCode::ServerUnusable => {
            refuse_expected(code, StatusCode::BAD_GATEWAY, "The business's sign-in does not work as it should.")
        }
        LinkCode::ServerNotApproved => refuse_expected(
            code,
            StatusCode::CONFLICT,
            "Where this business lets its users sign in is being looked at. Try again later.",
        ),
        LinkCode::NoClient => {
            refuse_expected(code, StatusCode::BAD_GATEWAY, "The business's sign-in does not know this service.")
        }
        LinkCode::Refused => {
            refuse_expected(code, StatusCode::BAD_GATEWAY, "The business's sign-in refused. Try again with a new link.")
        }
        LinkCode::InvalidCallback => {
            refuse_expected(code, StatusCode::BAD_REQUEST, "This is no answer of a business's sign-in.")
        }
        LinkCode::NotUnderWay => refuse_expected(
            code,
            StatusCode::BAD_REQUEST,
            "This sign-in was ended before, or took too long. Ask your assistant for a new link.",
        ),
        LinkCode::Outdated => refuse_expected(
            code,
            StatusCode::GONE,
            "This sign-in was begun before this service was updated. Ask your assistant for a new link.",
        ),
        LinkCode::OtherBrowser => refuse_expected(
            code,
            StatusCode::FORBIDDEN,
            "This sign-in was begun in another browser, or cookies are switched off. Open the link again, and stay in \
                 one browser.",
        ),
        LinkCode::WrongIssuer => {
            refuse_expected(code, StatusCode::BAD_REQUEST, "The answer came from somebody else than was asked.")
        }
        LinkCode::Denied => refuse_expected(code, StatusCode::FORBIDDEN, "You did not agree, so nothing was linked."),
        LinkCode::NotLinked => refuse_expected(code, StatusCode::NOT_FOUND, "The user has linked no account there."),
    }
}

/// A refusal under the code's own name.
fn refuse_expected(code: LinkCode, status: StatusCode, message: &'static str) -> Refusal {
    let refused = Refusal::new(Code::InvalidRequest).message(message);
    Refusal { status, code: Cow::Borrowed(code.as_str()), ..refused }
}

#[cfg(test)]
mod tests {
    use super::*;
    use intent_gateway_domain::store::{Kind, StoreError};
    use intent_gateway_linking::LinkFailure;

    #[test]
    fn only_the_gateways_own_fault_is_an_internal_error() {
        for code in LinkCode::ALL {
            let refusal = refusal(code);
            assert_eq!(refusal.code(), code.as_str());
            assert_eq!(refusal.status == StatusCode::INTERNAL_SERVER_ERROR, code == LinkCode::Internal, "{code:?}");
        }
    }

    #[test]
    fn faults_stay_inside() {
        let refused = Refusal::from(LinkError::Server(LinkFailure::AddressRefused("10.0.0.1".to_owned())));
        assert_eq!((refused.code(), refused.status), ("LINK_SERVER_UNUSABLE", StatusCode::BAD_GATEWAY));
        assert!(
            !refused.message.contains("10.0.0.1") && refused.detail().is_some_and(|text| text.contains("10.0.0.1"))
        );
        assert_eq!(Refusal::from(LinkError::Contended).code(), "OVERLOADED");
        let down = StoreError::Unavailable("the connection is gone".to_owned(), None);
        assert_eq!(Refusal::from(LinkError::Store(down)).code(), "STORE_UNAVAILABLE");
        assert_eq!(Refusal::from(LinkError::Store(StoreError::Conflict(Kind::Links))).code(), "INTERNAL_ERROR");
    }
}
