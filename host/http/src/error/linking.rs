//! What account linking refuses, as HTTP says it: to the orchestrator, or on a page to the user, in words for either.

use std::borrow::Cow;

use http::StatusCode;
use intent_gateway_domain::error::chain;
use intent_gateway_linking::LinkError;

use super::{Code, Refusal};

impl From<LinkError> for Refusal {
    fn from(error: LinkError) -> Self {
        let code = error.code();
        let (status, said) = match code {
            "LINK_INVALID" => (StatusCode::BAD_REQUEST, "This link is not one that was given out here."),
            "LINK_EXPIRED" => (StatusCode::GONE, "This link is too old. Ask your assistant for a new one."),
            "PARTNER_GONE" => (StatusCode::CONFLICT, "This business is not served at the moment."),
            "LINK_SERVER_UNREACHABLE" => {
                (StatusCode::BAD_GATEWAY, "The business's sign-in cannot be reached at the moment. Try again later.")
            }
            "LINK_SERVER_UNUSABLE" => (StatusCode::BAD_GATEWAY, "The business's sign-in does not work as it should."),
            "LINK_NO_CLIENT" => (StatusCode::BAD_GATEWAY, "The business's sign-in does not know this service."),
            "LINK_REFUSED" => (StatusCode::BAD_GATEWAY, "The business's sign-in refused. Try again with a new link."),
            "LINK_CALLBACK_INVALID" => (StatusCode::BAD_REQUEST, "This is no answer of a business's sign-in."),
            "LINK_NOT_UNDER_WAY" => (
                StatusCode::BAD_REQUEST,
                "This sign-in was ended before, or took too long. Ask your assistant for a new link.",
            ),
            "LINK_OTHER_BROWSER" => (
                StatusCode::FORBIDDEN,
                "This sign-in was begun in another browser, or cookies are switched off. Open the link again, and stay in one \
                 browser.",
            ),
            "LINK_WRONG_ISSUER" => (StatusCode::BAD_REQUEST, "The answer came from somebody else than was asked."),
            "LINK_DENIED" => (StatusCode::FORBIDDEN, "You did not agree, so nothing was linked."),
            "NOT_FOUND" => (StatusCode::NOT_FOUND, "The user has linked no account there."),
            "OVERLOADED" => return Self::new(Code::Overloaded).internal(chain(&error)),
            _ => return Self::new(Code::InternalError).internal(chain(&error)),
        };
        let refused = Self::new(Code::InvalidRequest).message(said).internal(chain(&error));
        Self { status, code: Cow::Borrowed(code), ..refused }
    }
}
