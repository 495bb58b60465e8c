//! `[linking]`: how users' browsers reach the gateway, and the OAuth clients that were arranged by hand.

use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::secret::Secret;
use intent_gateway_linking::{ArrangedClient, AuthMethod, Client, Settings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PlatformSection;

/// Clients that may be given.
const CLIENTS_MAX: usize = 256;
/// Characters of the name that users see where they consent.
const NAME_MAX_CHARS: usize = 100;

/// Account linking.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinkingSection {
    /// Public address of the gateway, as users' browsers reach it; when absent, `platform.base_url`.
    pub base_url: Option<String>,
    /// What the gateway is called where users give their consent.
    pub client_name: String,
    /// Clients that were arranged with authorization servers by hand.
    pub clients: Vec<ClientEntry>,
}

impl Default for LinkingSection {
    fn default() -> Self {
        Self { base_url: None, client_name: "Intent Gateway".to_owned(), clients: Vec::new() }
    }
}

/// A client that was arranged with one authorization server.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ClientEntry {
    /// For users of this partner.
    #[schemars(with = "String")]
    partner: PartnerId,
    /// The server's issuer, to the letter.
    issuer: String,
    /// The gateway's name there.
    client_id: String,
    /// Its secret, where it has one.
    #[serde(default, serialize_with = "super::redact")]
    #[schemars(with = "Option<String>")]
    client_secret: Option<Secret>,
    /// How it shows who it is; by default with the secret in the `Authorization` header, or not at all without one.
    #[serde(default)]
    #[schemars(schema_with = "crate::schema::auth_method")]
    auth_method: Option<AuthMethod>,
}

impl ClientEntry {
    fn method(&self) -> AuthMethod {
        let default = if self.client_secret.is_some() { AuthMethod::ClientSecretBasic } else { AuthMethod::None };
        self.auth_method.unwrap_or(default)
    }
}

impl LinkingSection {
    /// The secrets of its clients.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &Secret> {
        self.clients.iter().filter_map(|entry| entry.client_secret.as_ref())
    }

    pub fn settings(&self, platform: &PlatformSection) -> Settings {
        let base_url = self.base_url.as_ref().unwrap_or(&platform.base_url);
        let client = |entry: &ClientEntry| {
            let client_secret = entry.client_secret.clone();
            let client = Client { client_id: entry.client_id.clone(), client_secret, method: entry.method() };
            ArrangedClient { partner: entry.partner.clone(), issuer: entry.issuer.clone(), client }
        };
        Settings {
            base_url: base_url.trim_end_matches('/').to_owned(),
            client_name: self.client_name.clone(),
            clients: self.clients.iter().map(client).collect(),
        }
    }

    pub(crate) fn check(&self, problems: &mut Vec<String>) {
        if let Some(base_url) = self.base_url.as_ref().filter(|url| !is_for_browsers(url)) {
            problems.push(format!(
                "`linking.base_url` is `{base_url}`; expected `https://host`, or `http://localhost` in development"
            ));
        }
        let characters = self.client_name.trim().chars().count();
        if !(1..=NAME_MAX_CHARS).contains(&characters) {
            problems.push(format!("`linking.client_name` has {characters} characters; expected 1 to {NAME_MAX_CHARS}"));
        }
        if self.clients.len() > CLIENTS_MAX {
            problems.push(format!("`linking.clients` has {} entries; at most {CLIENTS_MAX}", self.clients.len()));
        }
        for (index, entry) in self.clients.iter().enumerate() {
            let mut problem = |text: &str| {
                problems.push(format!("linking client of `{}` at `{}`: {text}", entry.partner, entry.issuer))
            };
            if self.clients[..index]
                .iter()
                .any(|earlier| (&earlier.issuer, &earlier.partner) == (&entry.issuer, &entry.partner))
            {
                problem("the issuer is given twice for the same partner");
            }
            if entry.issuer.is_empty() || entry.client_id.is_empty() {
                problem("`issuer` and `client_id` must not be empty");
            }
            if (entry.method() == AuthMethod::None) == entry.client_secret.is_some() {
                problem(
                    "a `client_secret` goes with `client_secret_basic` or `client_secret_post`, and neither without it",
                );
            }
        }
    }
}

/// Codes and cookies come over this address: nobody may read them on the way.
pub(crate) fn is_for_browsers(url: &str) -> bool {
    let Ok(uri) = url.parse::<http::Uri>() else { return false };
    let plain = uri.query().is_none() && uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
    let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let loopback = host == "localhost" || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback());
    plain && !host.is_empty() && (uri.scheme_str() == Some("https") || (uri.scheme_str() == Some("http") && loopback))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        let section: LinkingSection = toml::from_str(text).expect("readable");
        let mut problems = Vec::new();
        section.check(&mut problems);
        problems
    }

    #[test]
    fn addresses_of_browsers_are_protected() {
        for good in
            ["https://gateway.example", "https://gateway.example/base/", "http://localhost:8080", "http://[::1]:80"]
        {
            assert_eq!(problems(&format!("base_url = {good:?}")), Vec::<String>::new(), "{good}");
        }
        for bad in
            ["http://gateway.example", "https://", "gateway.example", "https://a@gateway.example", "https://a?b", ""]
        {
            assert_eq!(problems(&format!("base_url = {bad:?}")).len(), 1, "{bad}");
        }
    }

    #[test]
    fn clients_are_whole() {
        let client = |rest: &str| {
            format!(
                "[[clients]]\npartner = \"coolcar\"\nissuer = \"https://id.example\"\nclient_id = \"gateway\"\n{rest}\n"
            )
        };
        for good in ["", "client_secret = \"s\"", "client_secret = \"s\"\nauth_method = \"client_secret_post\""] {
            assert_eq!(problems(&client(good)), Vec::<String>::new(), "{good}");
        }
        for bad in
            ["auth_method = \"client_secret_post\"", "client_secret = \"s\"\nauth_method = \"none\"", &client("")]
        {
            assert_eq!(problems(&client(bad)).len(), 1, "{bad}");
        }
        assert_eq!(problems("client_name = \" \"").len(), 1);
        let section: LinkingSection = toml::from_str(&client("client_secret = \"s3cret-value\"")).expect("readable");
        let settings = section.settings(&PlatformSection::default());
        assert_eq!(settings.base_url, "http://localhost:8080");
        assert_eq!(settings.clients[0].client.method, AuthMethod::ClientSecretBasic);
        assert!(!toml::to_string(&section).expect("shown").contains("s3cret-value"));
    }
}
