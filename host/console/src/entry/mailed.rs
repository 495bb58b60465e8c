//! How a person of a partner signs up and in: with an address and the code that is mailed to it.

use std::sync::Arc;

use askama::Template;
use axum::extract::{FromRequest as _, Query, Request, State};
use axum::response::{IntoResponse as _, Response};
use http::request::Parts;
use http::{Method, StatusCode};
use intent_gateway_api::account::{CodeSent, SignedIn};
use intent_gateway_http::inside::Origin;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{agent, open};
use crate::Console;
use crate::api::{Api, ApiError, Outcome};
use crate::failure::{Failed, Problem};
use crate::frame::{Frame, show_with};
use crate::session::{Face, LIFE_MAX_MS, NewSession};
use crate::visitor::{Fields, Strange};

const SIGN_IN: &str = "/api/v1/business/sign-in";
const SIGN_UP: &str = "/api/v1/business/sign-up";
const VERIFY: &str = "/api/v1/business/sign-up/verify";

#[derive(Template)]
#[template(path = "entry/address.html")]
struct AddressPage {
    frame: Frame,
    /// Whether an account is opened, which has a name.
    is_new: bool,
    to: String,
    email: String,
    business_name: String,
    problem: Option<Problem>,
}

#[derive(Template)]
#[template(path = "entry/code.html")]
struct CodePage {
    frame: Frame,
    to: String,
    email: String,
    problem: Option<Problem>,
}

#[derive(Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    to: String,
}

pub(super) async fn ask(Query(Asked { to }): Query<Asked>) -> Response {
    address_page(false, &Fields::default(), to, None)
}

pub(super) async fn ask_new(Query(Asked { to }): Query<Asked>) -> Response {
    address_page(true, &Fields::default(), to, None)
}

pub(super) async fn send(State(console): State<Arc<Console>>, request: Request) -> Result<Response, Response> {
    send_code(&console, request, false).await
}

pub(super) async fn send_new(State(console): State<Arc<Console>>, request: Request) -> Result<Response, Response> {
    send_code(&console, request, true).await
}

async fn send_code(console: &Arc<Console>, request: Request, is_new: bool) -> Result<Response, Response> {
    let (parts, fields) = read(console, request).await?;
    let (email, business_name) = (fields.text("email"), fields.text("business_name"));
    let (address, document) = if is_new {
        (SIGN_UP, json!({"email": email, "business_name": business_name}))
    } else {
        (SIGN_IN, json!({"email": email}))
    };
    let to = fields.text("to").to_owned();
    match ask_api::<CodeSent>(console, &parts, address, &document).await {
        Ok(sent) => Ok(code_page(sent.email, to, None)),
        Err(error) => Ok(address_page(is_new, &fields, to, Some(Problem::from(&error)))),
    }
}

pub(super) async fn enter(State(console): State<Arc<Console>>, request: Request) -> Result<Response, Response> {
    let (parts, fields) = read(&console, request).await?;
    let (email, code) = (fields.text("email"), fields.text("code"));
    // People copy a code with what is around it.
    let code: String = code.chars().filter(char::is_ascii_digit).collect();
    let document = json!({"email": email, "code": code});
    match ask_api::<SignedIn>(&console, &parts, VERIFY, &document).await {
        Ok(SignedIn { account_id, token, .. }) => {
            let token_ends = console.sessions.clock.now().plus_ms(LIFE_MAX_MS);
            let agent = agent(&parts.headers);
            // The API has told the audit log of the code.
            let new = NewSession {
                face: Face::Partner,
                who: account_id,
                token: &token.token,
                token_ends,
                agent,
                entered: None,
            };
            open(&console, new, fields.text("to")).await.map_err(Failed::into_response)
        }
        Err(error) => Ok(code_page(email.to_owned(), fields.text("to").to_owned(), Some(Problem::from(&error)))),
    }
}

async fn read(console: &Arc<Console>, request: Request) -> Result<(Parts, Fields), Response> {
    let (parts, body) = request.into_parts();
    let head = parts.clone();
    let Strange(fields) = Strange::from_request(Request::from_parts(parts, body), console).await?;
    Ok((head, fields))
}

async fn ask_api<T: serde::de::DeserializeOwned>(
    console: &Console,
    parts: &Parts,
    address: &str,
    document: &Value,
) -> Result<T, ApiError> {
    let api = Api::new(console.inside.clone(), Origin::of(parts), None);
    match api.send(Method::POST, address, document).await? {
        Outcome::Done(done) => Ok(done),
        Outcome::Waits => Err(ApiError::Unreadable("nothing of a stranger waits for a second person".into())),
    }
}

fn address_page(is_new: bool, fields: &Fields, to: String, problem: Option<Problem>) -> Response {
    let status = problem.as_ref().map_or(StatusCode::OK, |problem| problem.status);
    let frame = Frame::of_stranger(Face::Partner, if is_new { "Sign up" } else { "Sign in" });
    let (email, business_name) = (fields.text("email").to_owned(), fields.text("business_name").to_owned());
    show_with(status, &AddressPage { frame, is_new, to, email, business_name, problem })
}

fn code_page(email: String, to: String, problem: Option<Problem>) -> Response {
    let status = problem.as_ref().map_or(StatusCode::OK, |problem| problem.status);
    show_with(status, &CodePage { frame: Frame::of_stranger(Face::Partner, "Enter the code"), to, email, problem })
}
