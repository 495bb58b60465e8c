//! Pages that say why there is nothing to show.

use std::sync::Arc;

use askama::Template;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use intent_gateway_api::error::ErrorDetail;
use intent_gateway_domain::contract::Violation;

use crate::api::ApiError;
use crate::frame::{Frame, lead_to, show_with};
use crate::session::{Face, SessionError};

/// Why a page has nothing to show.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failed {
    #[error(transparent)]
    Api(#[from] ApiError),
    #[error("the session cannot be read")]
    Session(#[from] SessionError),
    /// It does not come from a page of this gateway, or of another session.
    #[error("the form is not one of this session")]
    ForeignForm,
    #[error("the form cannot be taken: {0}")]
    Form(StatusCode),
    #[error("there is no such page")]
    NoPage,
    /// The session of a page that stays open has ended.
    #[error("the session has ended")]
    SignedOut,
    #[error("too many pages are under way")]
    Busy,
    #[error("the page took too long")]
    Late,
}

/// What went wrong, for the person before the page.
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) violations: Vec<Violation>,
    /// By which the platform team finds the cause.
    pub(crate) request_id: Option<String>,
    retry_after: Option<HeaderValue>,
}

impl Problem {
    fn new(status: StatusCode, code: &str, message: &str) -> Self {
        Self {
            status,
            code: code.to_owned(),
            message: message.to_owned(),
            violations: Vec::new(),
            request_id: None,
            retry_after: None,
        }
    }

    /// What the API has refused, for the page that has asked for it. Whatever else went wrong has a page of its own.
    pub(crate) fn of_refusal(error: ApiError) -> Result<Self, Failed> {
        match &error {
            ApiError::Refused { .. } if !error.is_signed_out() => Ok(Self::from(&error)),
            _ => Err(error.into()),
        }
    }
}

impl From<&Failed> for Problem {
    fn from(failed: &Failed) -> Self {
        match failed {
            Failed::Api(error) => error.into(),
            Failed::Session(_) => {
                let problem = Self::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "STORE_UNAVAILABLE",
                    "The gateway's store is down; try again shortly.",
                );
                Self { retry_after: Some(HeaderValue::from_static("2")), ..problem }
            }
            Failed::ForeignForm => Self::new(
                StatusCode::FORBIDDEN,
                "FORM_NOT_OF_THIS_SESSION",
                "The form was opened in another session, or elsewhere. Nothing was done; open the page again and repeat it there.",
            ),
            Failed::Form(status) => {
                Self::new(*status, "FORM_NOT_TAKEN", "The form is too large, or did not arrive in time.")
            }
            Failed::SignedOut => Self::new(StatusCode::UNAUTHORIZED, "INVALID_AUTH", "The session has ended."),
            Failed::NoPage => Self::new(StatusCode::NOT_FOUND, "NOT_FOUND", "There is no page at this address."),
            Failed::Busy => {
                let problem =
                    Self::new(StatusCode::SERVICE_UNAVAILABLE, "OVERLOADED", "The gateway is busy; try again shortly.");
                Self { retry_after: Some(HeaderValue::from_static("1")), ..problem }
            }
            Failed::Late => Self::new(StatusCode::GATEWAY_TIMEOUT, "TIMEOUT", "The gateway did not finish in time."),
        }
    }
}

impl From<&ApiError> for Problem {
    fn from(error: &ApiError) -> Self {
        match error {
            ApiError::Refused { status, retry_after, detail } => {
                let ErrorDetail { code, message, request_id, violations, .. } = &**detail;
                Self {
                    status: *status,
                    code: code.clone(),
                    message: message.clone(),
                    violations: violations.clone(),
                    request_id: Some(request_id.clone()),
                    retry_after: retry_after.clone(),
                }
            }
            ApiError::Unreadable(_) => Self::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "INTERNAL_ERROR",
                "The gateway failed; its log has the cause.",
            ),
        }
    }
}

impl IntoResponse for Failed {
    /// It is written by [`in_frame`], which knows the face.
    fn into_response(self) -> Response {
        let mut response = StatusCode::INTERNAL_SERVER_ERROR.into_response();
        response.extensions_mut().insert(Arc::new(self));
        response
    }
}

#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemPage {
    frame: Frame,
    problem: Problem,
}

/// Writes failures as pages of a face. Whoever is signed out by the API signs in again.
pub(crate) async fn in_frame(face: Face, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let Some(failed) = response.extensions_mut().remove::<Arc<Failed>>() else { return response };
    if let Failed::Api(error) = &*failed
        && error.is_signed_out()
    {
        return lead_to(&format!("{}/sign-in", face.home()));
    }
    if let Failed::Api(ApiError::Unreadable(_)) | Failed::Session(_) = &*failed {
        tracing::warn!(error = intent_gateway_domain::error::chain(&*failed), "a page could not be made");
    }
    let problem = Problem::from(&*failed);
    let (status, retry_after) = (problem.status, problem.retry_after.clone());
    let page = ProblemPage { frame: Frame::of_stranger(face, "Not done"), problem };
    let mut response = show_with(status, &page);
    response.headers_mut().extend(retry_after.map(|wait| (header::RETRY_AFTER, wait)));
    response
}
