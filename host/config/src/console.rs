//! `[console]`: the pages for the platform team and for partners.

use std::net::SocketAddr;

use intent_gateway_domain::secret::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::issuers::IssuerEntry;
use super::linking::is_for_browsers;
use super::{PlatformSection, ServerSection};

/// Pages over the API.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConsoleSection {
    /// Whether there are any.
    pub enabled: bool,
    /// Where they are; when absent, beside the API.
    pub listen: Option<SocketAddr>,
    /// Public address of the pages, as browsers reach them; when absent, `platform.base_url`.
    pub base_url: Option<String>,
    /// The issuer at which the team signs in, one of `auth.issuers`; when absent, it does so with a token.
    pub sign_in_issuer: Option<String>,
    /// The gateway's name there.
    pub sign_in_client_id: Option<String>,
    /// Its secret there, where it has one.
    #[serde(serialize_with = "super::redact")]
    #[schemars(with = "Option<String>")]
    pub sign_in_client_secret: Option<Secret>,
    /// What is asked for there.
    pub sign_in_scopes: String,
    /// Which of the tokens that it gives is the bearer token.
    pub sign_in_bearer: SignInBearer,
}

/// A token that an issuer gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SignInBearer {
    /// It has to be a JWT with the audience of the issuer's entry.
    AccessToken,
    /// The audience of the issuer's entry is the client then.
    IdToken,
}

/// An issuer at which the team signs in.
#[derive(Clone, Debug)]
pub struct TeamSignIn {
    pub issuer: String,
    pub client_id: String,
    pub client_secret: Option<Secret>,
    pub scopes: String,
    pub bearer: SignInBearer,
    /// Address of the pages, without a slash at its end.
    pub base_url: String,
}

impl Default for ConsoleSection {
    fn default() -> Self {
        Self {
            enabled: false,
            listen: None,
            base_url: None,
            sign_in_issuer: None,
            sign_in_client_id: None,
            sign_in_client_secret: None,
            sign_in_scopes: "openid".to_owned(),
            sign_in_bearer: SignInBearer::AccessToken,
        }
    }
}

impl ConsoleSection {
    /// Where the team signs in, if an issuer is named.
    pub fn team_sign_in(&self, platform: &PlatformSection) -> Option<TeamSignIn> {
        let base_url = self.base_url.as_ref().unwrap_or(&platform.base_url);
        Some(TeamSignIn {
            issuer: self.sign_in_issuer.clone()?,
            client_id: self.sign_in_client_id.clone()?,
            client_secret: self.sign_in_client_secret.clone(),
            scopes: self.sign_in_scopes.clone(),
            bearer: self.sign_in_bearer,
            base_url: base_url.trim_end_matches('/').to_owned(),
        })
    }

    pub(crate) fn check(&self, server: &ServerSection, issuers: &[IssuerEntry], problems: &mut Vec<String>) {
        // Port 0 is a free one each time.
        if self.listen.is_some_and(|listen| listen == server.listen && listen.port() != 0) {
            problems.push(
                "`console.listen` is the address of `server.listen`; leave it out, and the pages are beside the API"
                    .to_owned(),
            );
        }
        if let Some(base_url) = self.base_url.as_ref().filter(|url| !is_for_browsers(url)) {
            problems.push(format!(
                "`console.base_url` is `{base_url}`; expected `https://host`, or `http://localhost` in development"
            ));
        }
        match (&self.sign_in_issuer, &self.sign_in_client_id) {
            (Some(issuer), Some(_)) => {
                if self.enabled && !issuers.iter().any(|entry| entry.is_of(issuer)) {
                    problems.push(format!("`console.sign_in_issuer` is `{issuer}`, which is none of `auth.issuers`"));
                }
                if !self.sign_in_scopes.split(' ').any(|scope| scope == "openid") {
                    problems.push("`console.sign_in_scopes` lacks `openid`".to_owned());
                }
            }
            (Some(_), None) => problems.push("`console.sign_in_issuer` wants `console.sign_in_client_id`".to_owned()),
            (None, Some(_)) => problems.push("`console.sign_in_client_id` wants `console.sign_in_issuer`".to_owned()),
            (None, None) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        let section: ConsoleSection = toml::from_str(text).expect("readable");
        let issuer = "issuer = \"https://id.example\"\njwks_url = \"https://id.example/keys\"\naudience = \"gateway\"\nrole = \"admin\"";
        let mut problems = Vec::new();
        section.check(&ServerSection::default(), &[toml::from_str(issuer).expect("readable")], &mut problems);
        problems
    }

    #[test]
    fn the_team_signs_in_at_an_issuer_that_is_known() {
        let whole = "sign_in_issuer = \"https://id.example\"\nsign_in_client_id = \"console\"\n";
        assert_eq!(problems(""), Vec::<String>::new());
        assert_eq!(problems(whole), Vec::<String>::new());
        for (bad, said) in [
            ("listen = \"127.0.0.1:8080\"", "`console.listen` is the address"),
            ("base_url = \"http://gateway.example\"", "`console.base_url` is"),
            ("sign_in_issuer = \"https://id.example\"", "wants `console.sign_in_client_id`"),
            ("sign_in_client_id = \"console\"", "wants `console.sign_in_issuer`"),
            (
                "enabled = true\nsign_in_issuer = \"https://id.other\"\nsign_in_client_id = \"console\"",
                "none of `auth.issuers`",
            ),
            (&format!("{whole}sign_in_scopes = \"profile\""), "lacks `openid`"),
        ] {
            let problems = problems(bad);
            assert!(problems.len() == 1 && problems[0].contains(said), "{bad}: {problems:?}");
        }
        let section: ConsoleSection = toml::from_str(whole).expect("readable");
        let platform =
            PlatformSection { base_url: "https://gateway.example/".to_owned(), ..PlatformSection::default() };
        assert_eq!(section.team_sign_in(&platform).expect("named").base_url, "https://gateway.example");
        assert!(ConsoleSection::default().team_sign_in(&platform).is_none());
    }
}
