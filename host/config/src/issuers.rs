//! `[[auth.issuers]]`: whose tokens are accepted besides the gateway's own.

use std::collections::BTreeMap;

use intent_gateway_http::auth::issuers::{ISSUERS_MAX, IssuerConfig, RoleRule, ScopeRule, SignatureAlgorithm};
use intent_gateway_http::auth::{Role, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One issuer.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct IssuerEntry {
    /// The `iss` of its tokens, to the letter.
    issuer: String,
    /// Address of its key set; HTTPS.
    jwks_url: String,
    /// What the `aud` of its tokens must hold.
    audience: String,
    /// What it signs with.
    #[serde(default = "every_algorithm")]
    #[schemars(with = "Vec<String>")]
    algorithms: Vec<SignatureAlgorithm>,
    /// The role of all its tokens.
    #[serde(default)]
    #[schemars(schema_with = "crate::schema::role")]
    role: Option<Role>,
    /// The claim that tells the role of each.
    #[serde(default)]
    role_claim: Option<String>,
    /// What the values of that claim mean.
    #[serde(default)]
    #[schemars(schema_with = "crate::schema::roles")]
    roles: BTreeMap<String, Role>,
    /// The claim that tells the scopes of an admin's.
    #[serde(default)]
    scope_claim: Option<String>,
    /// What the values of that claim mean.
    #[serde(default)]
    #[schemars(schema_with = "crate::schema::scopes")]
    scopes: BTreeMap<String, Scope>,
}

fn every_algorithm() -> Vec<SignatureAlgorithm> {
    SignatureAlgorithm::ALL.to_vec()
}

impl IssuerEntry {
    /// Whether this is its issuer, to the letter.
    pub(crate) fn is_of(&self, issuer: &str) -> bool {
        self.issuer == issuer
    }

    /// The issuer as the verifier takes it; an entry that says nothing of roles gives none.
    pub fn config(&self) -> IssuerConfig {
        let roles = match (self.role, &self.role_claim) {
            (Some(role), _) => RoleRule::Fixed(role),
            (None, claim) => RoleRule::Claim { claim: claim.clone().unwrap_or_default(), roles: self.roles.clone() },
        };
        IssuerConfig {
            issuer: self.issuer.clone(),
            jwks_url: self.jwks_url.clone(),
            audience: self.audience.clone(),
            algorithms: self.algorithms.clone(),
            roles,
            scopes: self.scope_claim.clone().map(|claim| ScopeRule { claim, scopes: self.scopes.clone() }),
        }
    }

    fn check(&self, allow_loopback_http: bool, problems: &mut Vec<String>) {
        let mut problem = |text: String| problems.push(format!("issuer `{}`: {text}", self.issuer));
        if self.role.is_some() == self.role_claim.is_some() {
            problem("it needs either `role` or `role_claim` with `roles`".to_owned());
        } else if self.role.is_some() && !self.roles.is_empty() {
            problem("`roles` goes with `role_claim`, not with `role`".to_owned());
        } else if self.scope_claim.is_none() && !self.scopes.is_empty() {
            problem("`scopes` goes with `scope_claim`".to_owned());
        } else if let Err(error) = self.config().check() {
            problem(error.to_string());
        }
        if let Err(wrong) = key_set_address(&self.jwks_url, allow_loopback_http) {
            problem(format!("`jwks_url`: {wrong}"));
        }
    }
}

/// Whether keys may be fetched from there: whoever could change them on the way could sign tokens.
fn key_set_address(url: &str, allow_loopback_http: bool) -> Result<(), &'static str> {
    let uri: http::Uri = url.parse().map_err(|_| "it is not a well-formed URL")?;
    let authority = uri.authority().ok_or("it names no host")?;
    if authority.as_str().contains('@') {
        return Err("it must not hold a user or a password");
    }
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let loopback = host == "localhost" || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback());
    match uri.scheme_str() {
        Some("https") => Ok(()),
        Some("http") if loopback && allow_loopback_http => Ok(()),
        _ => Err("HTTPS is required (plain HTTP to the own machine only with `partner_client.allow_loopback_http`)"),
    }
}

/// Every problem that the entries have.
pub(crate) fn check(entries: &[IssuerEntry], allow_loopback_http: bool, problems: &mut Vec<String>) {
    if entries.len() > ISSUERS_MAX {
        problems.push(format!("`auth.issuers` has {} entries; at most {ISSUERS_MAX} may be given", entries.len()));
    }
    for (index, entry) in entries.iter().enumerate() {
        if entries[..index].iter().any(|earlier| earlier.issuer == entry.issuer) {
            problems.push(format!("issuer `{}`: it is given twice", entry.issuer));
        }
        entry.check(allow_loopback_http, problems);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: &str) -> Result<IssuerEntry, toml::de::Error> {
        let always = "issuer = \"https://id.example\"\naudience = \"gateway\"\n";
        toml::from_str(&format!("{always}{text}"))
    }

    fn problems(text: &str) -> Vec<String> {
        let mut problems = Vec::new();
        check(&[entry(text).expect("readable")], true, &mut problems);
        problems
    }

    const URL: &str = "jwks_url = \"https://id.example/keys\"\n";

    #[test]
    fn a_role_is_fixed_or_told_by_a_claim() {
        let fixed = entry(&format!("{URL}role = \"orchestrator\"")).expect("readable").config();
        assert_eq!(fixed.roles, RoleRule::Fixed(Role::Orchestrator));
        assert_eq!(fixed.algorithms, SignatureAlgorithm::ALL);
        let claim =
            "algorithms = [\"ES256\"]\nrole_claim = \"groups\"\nroles = { ops = \"admin\", shop = \"partner\" }";
        let told = entry(&format!("{URL}{claim}")).expect("readable").config();
        assert_eq!(told.scopes, None);
        assert_eq!(told.algorithms, [SignatureAlgorithm::Es256]);
        let RoleRule::Claim { claim, roles } = told.roles else { panic!("a claim") };
        assert_eq!((claim.as_str(), roles["ops"], roles["shop"]), ("groups", Role::Admin, Role::Partner));
        let scoped = "role = \"admin\"\nscope_claim = \"groups\"\nscopes = { ops = \"ship\" }";
        let scoped = entry(&format!("{URL}{scoped}")).expect("readable").config().scopes.expect("a rule");
        assert_eq!((scoped.claim.as_str(), scoped.scopes["ops"]), ("groups", Scope::Ship));
    }

    #[test]
    fn what_is_wrong_is_told() {
        assert_eq!(problems(&format!("{URL}role = \"admin\"")), [""; 0]);
        for (text, expected) in [
            (URL.to_owned(), "either `role` or `role_claim`"),
            (format!("{URL}role = \"admin\"\nrole_claim = \"r\""), "either `role` or `role_claim`"),
            (format!("{URL}role = \"admin\"\nroles = {{ a = \"admin\" }}"), "goes with `role_claim`"),
            (format!("{URL}role_claim = \"r\""), "needs `roles`"),
            (format!("{URL}role = \"admin\"\nscopes = {{ a = \"ship\" }}"), "goes with `scope_claim`"),
            (format!("{URL}role = \"admin\"\nscope_claim = \"g\""), "needs `scopes`"),
            (format!("{URL}role = \"admin\"\nalgorithms = []"), "needs `algorithms`"),
            ("jwks_url = \"http://id.example/keys\"\nrole = \"admin\"".to_owned(), "HTTPS is required"),
            ("jwks_url = \"https://u:p@id.example/\"\nrole = \"admin\"".to_owned(), "a user or a password"),
            ("jwks_url = \"/keys\"\nrole = \"admin\"".to_owned(), "names no host"),
        ] {
            let problems = problems(&text);
            assert!(problems.len() == 1 && problems[0].contains(expected), "{text}: {problems:?}");
        }
        for unreadable in ["role = \"root\"", "algorithms = [\"HS256\"]\nrole = \"admin\"", "scope = \"x\""] {
            assert!(entry(&format!("{URL}{unreadable}")).is_err(), "{unreadable}");
        }
    }

    #[test]
    fn plain_http_stays_on_the_own_machine_in_development() {
        for (url, development, production) in [
            ("https://10.0.0.7/keys", true, true),
            ("http://127.0.0.1:9/keys", true, false),
            ("http://[::1]:9/keys", true, false),
            ("http://localhost/keys", true, false),
            ("http://id.example/keys", false, false),
        ] {
            assert_eq!(key_set_address(url, true).is_ok(), development, "{url}");
            assert_eq!(key_set_address(url, false).is_ok(), production, "{url}");
        }
    }
}
