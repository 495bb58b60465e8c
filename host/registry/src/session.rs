//! Requests to a repository, signed in as its registry wants it: with a password (RFC 7617), or with a token of a server that the
//! registry names (the distribution's token specification).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_auth::parser::ChallengeParser;
use serde::Deserialize;
use url::Url;
use url::form_urlencoded::Serializer;

use crate::credentials::{Credentials, Login};
use crate::error::{BrokenRule, RegistryError};
use crate::name::Repository;
use crate::transport::{Answer, Ask, Transport};

/// Largest answer of a server of tokens.
const TOKEN_ANSWER_MAX_BYTES: usize = 64 * 1024;
/// How this program calls itself to one.
const CLIENT_ID: &str = "intent-gateway";

/// What is to be done, which a token is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    Pull,
    Push,
}

impl Action {
    fn name(self) -> &'static str {
        match self {
            Self::Pull => "pull",
            Self::Push => "pull,push",
        }
    }
}

/// A repository, and how one is signed in there.
pub(crate) struct Session {
    pub(crate) transport: Transport,
    repository: Repository,
    credentials: Credentials,
    /// What was accepted last, until it is refused.
    known: Mutex<HashMap<Action, HeaderValue>>,
}

/// How a registry wants to be signed in to.
enum Challenge {
    Password,
    Token { realm: String, service: Option<String> },
}

impl Session {
    pub(crate) fn new(transport: Transport, repository: Repository, credentials: Credentials) -> Self {
        Self { transport, repository, credentials, known: Mutex::default() }
    }

    pub(crate) fn path(&self) -> &str {
        self.repository.path()
    }

    /// Sends a request, and once more where the first answer says how to sign in.
    pub(crate) async fn ask(&self, action: Action, ask: &Ask) -> Result<Answer, RegistryError> {
        let known = match &self.credentials {
            Credentials::Token(token) => Some(self.bearer(token.expose())?),
            _ => self.lock().get(&action).cloned(),
        };
        let answer = self.transport.send(ask, known.as_ref()).await?;
        // What another host wants, to which was redirected, is not the registry's to ask.
        let is_own = answer.url.origin() == ask.url.origin();
        if answer.status() != StatusCode::UNAUTHORIZED || !is_own {
            return Ok(answer);
        }
        let Some(challenge) = find_challenge(answer.response.headers()) else { return Ok(answer) };
        match self.sign_in(action, &challenge).await? {
            Some(new) if known.as_ref() != Some(&new) => {
                let answer = self.transport.send(ask, Some(&new)).await?;
                if answer.status() != StatusCode::UNAUTHORIZED {
                    self.lock().insert(action, new);
                }
                Ok(answer)
            }
            // The same again would be refused again.
            _ => Ok(answer),
        }
    }

    async fn sign_in(&self, action: Action, challenge: &Challenge) -> Result<Option<HeaderValue>, RegistryError> {
        let found = self.credentials.find(&self.repository).await;
        let place = || self.transport.place().to_owned();
        let login = found.map_err(|cause| RegistryError::Credentials { place: place(), cause })?;
        match (challenge, login) {
            (_, Login::Token(token)) => Ok(Some(self.bearer(token.expose())?)),
            (Challenge::Password, Login::Password { user, password }) => Ok(basic(&user, password.expose())),
            (Challenge::Password, Login::Anonymous | Login::Identity(_)) => Ok(None),
            (Challenge::Token { realm, service }, login) => {
                self.fetch_token(action, realm, service.as_deref(), login).await.map(Some)
            }
        }
    }

    /// Asks a server of tokens. It may be on any host, but credentials go to it over TLS alone, and no redirect is followed.
    async fn fetch_token(
        &self,
        action: Action,
        realm: &str,
        service: Option<&str>,
        login: Login,
    ) -> Result<HeaderValue, RegistryError> {
        let refused = || self.transport.broken(BrokenRule::TokenServer);
        let mut url = Url::parse(realm).map_err(|_| refused())?;
        if !self.transport.is_protected(&url) {
            return Err(refused());
        }
        let scope = format!("repository:{}:{}", self.repository.path(), action.name());
        let fields = [("service", service), ("scope", Some(scope.as_str()))];
        let fields = fields.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let (ask, authorization) = if let Login::Identity(token) = login {
            let mut form = Serializer::new(String::new());
            form.extend_pairs(fields).append_pair("grant_type", "refresh_token").append_pair("client_id", CLIENT_ID);
            form.append_pair("refresh_token", token.expose());
            let mut ask = Ask::new(Method::POST, url);
            ask.content_type = Some("application/x-www-form-urlencoded");
            ask.body = Bytes::from(form.finish());
            (ask, None)
        } else {
            url.query_pairs_mut().extend_pairs(fields);
            let authorization = match &login {
                Login::Password { user, password } => basic(user, password.expose()),
                _ => None,
            };
            (Ask::new(Method::GET, url), authorization)
        };
        let answer = self.transport.send(&Ask { follows: false, ..ask }, authorization.as_ref()).await?;
        match answer.status() {
            StatusCode::OK => {}
            StatusCode::BAD_REQUEST | StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                let (place, status) = (self.transport.place().to_owned(), answer.status());
                return Err(RegistryError::Refused { place, status, code: None });
            }
            status if status.is_redirection() => return Err(self.transport.broken(BrokenRule::Redirect)),
            status if status.is_client_error() => return Err(self.transport.broken(BrokenRule::Token)),
            _ => return Err(self.transport.refusal(answer, "token").await),
        }
        let body = self.transport.read(answer, "the token", TOKEN_ANSWER_MAX_BYTES).await?;
        // What the parser says may repeat a part of the token.
        let token: TokenJson = serde_json::from_slice(&body).map_err(|_| self.transport.broken(BrokenRule::Token))?;
        let token = token.token.or(token.access_token).ok_or_else(|| self.transport.broken(BrokenRule::Token))?;
        self.bearer(&token)
    }

    fn bearer(&self, token: &str) -> Result<HeaderValue, RegistryError> {
        sensitive(&format!("Bearer {token}")).ok_or_else(|| self.transport.broken(BrokenRule::Token))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Action, HeaderValue>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Deserialize)]
struct TokenJson {
    token: Option<String>,
    access_token: Option<String>,
}

/// Always some: Base64 is a header's value.
fn basic(user: &str, password: &str) -> Option<HeaderValue> {
    let encoded = STANDARD.encode(format!("{user}:{password}"));
    sensitive(&format!("Basic {encoded}"))
}

fn sensitive(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// The way to sign in among those that an answer offers: a token before a password, as other clients have it.
fn find_challenge(headers: &HeaderMap) -> Option<Challenge> {
    let mut takes_password = false;
    for value in headers.get_all(WWW_AUTHENTICATE).into_iter().filter_map(|value| value.to_str().ok()) {
        for challenge in ChallengeParser::new(value).map_while(Result::ok) {
            let parameter = |wanted: &str| {
                let (_, value) = challenge.params.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted))?;
                Some(value.to_unescaped())
            };
            if challenge.scheme.eq_ignore_ascii_case("bearer") {
                if let Some(realm) = parameter("realm") {
                    return Some(Challenge::Token { realm, service: parameter("service") });
                }
            } else if challenge.scheme.eq_ignore_ascii_case("basic") {
                takes_password = true;
            }
        }
    }
    takes_password.then_some(Challenge::Password)
}
