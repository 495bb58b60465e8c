//! A page before an act that concerns others: what changes, before and after, and why. It sends its form to where the act is done.

use askama::Template;
use axum::response::Response;
use http::StatusCode;

use crate::failure::Problem;
use crate::frame::{Frame, show_with};

/// What an act changes of one thing.
pub(crate) struct Altered {
    pub(crate) what: &'static str,
    pub(crate) before: String,
    pub(crate) after: String,
}

/// The question, with all that is needed to answer it.
#[derive(Template)]
#[template(path = "confirm.html")]
pub(crate) struct Confirmation {
    pub(crate) frame: Frame,
    /// What the act does, in a sentence.
    pub(crate) lead: String,
    pub(crate) altered: Vec<Altered>,
    /// Where the form goes.
    pub(crate) action: String,
    /// What it brings along.
    pub(crate) hidden: Vec<(&'static str, String)>,
    /// Label of the reason, where one is wanted.
    pub(crate) reason: Option<&'static str>,
    /// On the button.
    pub(crate) act: &'static str,
    /// Where nothing is done.
    pub(crate) back: String,
    /// Why it was not done.
    pub(crate) problem: Option<Problem>,
}

impl Confirmation {
    /// As an answer, with the status of the problem where there is one.
    pub(crate) fn show(self) -> Response {
        let status = self.problem.as_ref().map_or(StatusCode::OK, |problem| problem.status);
        show_with(status, &self)
    }
}
