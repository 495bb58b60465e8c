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

#[derive(Template)]
#[template(path = "confirm.html")]
struct ConfirmationPage<'a> {
    frame: &'a Frame,
    asked: &'a Confirmation,
    /// The reason as it was typed before.
    typed: &'a str,
}

impl Confirmation {
    /// As an answer.
    pub(crate) fn show(self) -> Response {
        self.show_again("")
    }

    /// The same after it was refused, with the status of the problem and the reason that was typed.
    pub(crate) fn show_again(self, typed: &str) -> Response {
        let status = self.problem.as_ref().map_or(StatusCode::OK, |problem| problem.status);
        show_with(status, &ConfirmationPage { frame: &self.frame, asked: &self, typed })
    }
}
