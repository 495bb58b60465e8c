//! Which gateway a command is for, and on whose behalf: an address, and a token or a partner's credentials.

use anyhow::{Context as _, anyhow};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use clap::Args;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::secret::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::Gateway;
use crate::complain;
use crate::outcome::{CommandError, fail, usage};

/// Where a partner's credentials are taken from. There are no flags for them: what stands on a command line, others
/// on the machine can read.
const CLIENT_ID: &str = "INTENT_GATEWAY_CLIENT_ID";
const CLIENT_SECRET: &str = "INTENT_GATEWAY_CLIENT_SECRET";
/// Where credentials become a token.
const TOKEN_PATH: &str = "/api/v1/business/token";

/// A gateway, and on whose behalf it is asked.
#[derive(Args, Clone, Debug)]
pub(crate) struct GatewayArgs {
    /// Address of the gateway.
    #[arg(long, value_name = "URL", env = "INTENT_GATEWAY_URL")]
    gateway: String,
    /// A token of that gateway, of role admin unless said otherwise.
    #[arg(long, value_name = "TOKEN", env = "INTENT_GATEWAY_TOKEN", hide_env_values = true, value_parser = parse_secret)]
    token: Option<Secret>,
}

impl GatewayArgs {
    /// The gateway with a token, and the token.
    pub(crate) fn open(&self) -> Result<(Gateway, Secret), CommandError> {
        open(&self.gateway, self.token.as_ref())
    }
}

/// A gateway with a token, or with the credentials of the environment, which are changed for one.
pub(crate) fn open(address: &str, token: Option<&Secret>) -> Result<(Gateway, Secret), CommandError> {
    let gateway = Gateway::at(address).map_err(usage)?;
    if gateway.is_in_the_clear() {
        complain(&format!("warning: {} is plain HTTP; everybody on the way can read the token", gateway.address()));
    }
    let token = match (token.filter(|token| !token.expose().is_empty()), credentials()) {
        (Some(token), _) => token.clone(),
        (None, Some((client_id, client_secret))) => exchange(&gateway, &client_id, &client_secret)?,
        (None, None) => {
            let message = "a token is needed: set INTENT_GATEWAY_TOKEN, or, as a partner, both INTENT_GATEWAY_CLIENT_ID \
                           and INTENT_GATEWAY_CLIENT_SECRET";
            return Err(usage(anyhow!(message)));
        }
    };
    Ok((gateway.with_token(token.clone()), token))
}

fn credentials() -> Option<(String, Secret)> {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    Some((set(CLIENT_ID)?, Secret::new(set(CLIENT_SECRET)?)))
}

#[derive(Deserialize)]
struct Issued {
    token: Secret,
}

fn exchange(gateway: &Gateway, client_id: &str, client_secret: &Secret) -> Result<Secret, CommandError> {
    let body = json!({"client_id": client_id, "client_secret": client_secret.expose()});
    let issued: Result<Issued, _> = gateway.post(TOKEN_PATH, Some(&body));
    issued.map(|issued| issued.token).context("there is no token for these credentials").map_err(fail)
}

/// The account that a partner's token is for. The token is not verified: that is the gateway's business, and here it
/// only saves typing.
pub(crate) fn account_of(token: &Secret) -> Option<PartnerId> {
    let payload = token.expose().split('.').nth(1)?;
    let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()?;
    let is_partner = claims.get("role").and_then(Value::as_str) == Some("partner");
    claims.get("sub").and_then(Value::as_str).filter(|_| is_partner).and_then(|sub| PartnerId::parse(sub).ok())
}

/// A secret of the command line or the environment.
pub(crate) fn parse_secret(text: &str) -> Result<Secret, std::convert::Infallible> {
    Ok(Secret::new(text))
}

/// A partner's identifier of the command line.
pub(crate) fn parse_partner(text: &str) -> Result<PartnerId, String> {
    PartnerId::parse(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partners_token_names_its_account() {
        let token = |claims: Value| Secret::new(format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(claims.to_string())));
        let account = |claims: Value| account_of(&token(claims)).map(|account| account.to_string());
        assert_eq!(account(json!({"role": "partner", "sub": "ptr_1"})), Some("ptr_1".to_owned()));
        assert_eq!(account(json!({"role": "admin", "sub": "ptr_1"})), None);
        assert_eq!(account(json!({"role": "partner", "sub": "no account"})), None);
        assert_eq!(account(json!({"role": "partner"})), None);
        for strange in ["", "a", "a.b.c", "a.e30.c", "a.W10.c"] {
            assert_eq!(account_of(&Secret::new(strange)), None, "{strange}");
        }
    }
}
