//! What an authorization server answers, read without asking one.

use bytes::Bytes;
use http::StatusCode;
use intent_gateway_linking::{Client, Grant, LinkFailure, Provider};

use super::fetch::FetchedAnswer;
use super::{discovery, registration, token};
use crate::client::PartnerClient;

/// Reads the answer of a token endpoint.
///
/// # Errors
/// As [`intent_gateway_linking::Authorizer::exchange`].
pub fn read_token_answer(status: StatusCode, body: &[u8]) -> Result<Grant, LinkFailure> {
    token::grant(&answer(status, body))
}

/// Reads the metadata of an authorization server, for a resource that wants these scopes.
///
/// # Errors
/// As [`intent_gateway_linking::Authorizer::discover`].
pub fn read_server(client: &PartnerClient, body: &[u8], scopes: &[String]) -> Result<Provider, LinkFailure> {
    let wanted = discovery::SignInRequirements { resource: String::new(), scopes: scopes.to_vec() };
    client.provider(answer(StatusCode::OK, body).document()?, &wanted)
}

/// Reads the answer to a registration.
///
/// # Errors
/// As [`intent_gateway_linking::Authorizer::register`].
pub fn read_registration(status: StatusCode, body: &[u8], listed: &[String]) -> Result<Client, LinkFailure> {
    registration::client(answer(status, body).success("registration")?, listed)
}

fn answer(status: StatusCode, body: &[u8]) -> FetchedAnswer {
    FetchedAnswer { status, body: Bytes::copy_from_slice(body) }
}
