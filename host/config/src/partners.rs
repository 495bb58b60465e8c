//! `[[partners]]`: the partners, until they have a store of their own.

use std::collections::{BTreeSet, HashSet};

use intent_gateway_domain::availability::Availability;
use intent_gateway_domain::contract::Axes;
use intent_gateway_domain::endpoint::{Endpoint, Mappings};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::partner::{Listing, Partner};
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::sign_in::SignInServer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Shortest key that completion reports may be signed with, bytes.
const SIGNING_KEY_MIN_BYTES: usize = 32;

/// One partner.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PartnerEntry {
    /// 1 to 64 letters, digits, `-` or `_`.
    #[schemars(with = "String")]
    id: PartnerId,
    /// Display name.
    name: String,
    /// Address of the MCP endpoint.
    url: String,
    /// Bearer token for calls without a user's own.
    #[serde(default, serialize_with = "super::redact")]
    #[schemars(with = "Option<String>")]
    token: Option<Secret>,
    /// Signs its completion reports.
    #[serde(default, serialize_with = "super::redact")]
    #[schemars(with = "Option<String>")]
    webhook_signing_key: Option<Secret>,
    /// Where its users sign in; without it, none of them can link an account.
    #[serde(default)]
    sign_in: Option<SignInEntry>,
    /// What it lists.
    listings: Vec<ListingEntry>,
}

/// The authorization server of a partner, as the operator has approved it.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct SignInEntry {
    /// Its issuer, to the letter.
    issuer: String,
    /// The resource for which it gives tokens, to the letter; when absent, whatever covers `url`.
    #[serde(default)]
    resource: Option<String>,
}

impl PartnerEntry {
    pub(crate) fn id(&self) -> &PartnerId {
        &self.id
    }

    /// Its secrets, each with the name of its setting.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = (&'static str, &Secret)> {
        let key = self.webhook_signing_key.as_ref().map(|key| ("partners.webhook_signing_key", key));
        key.into_iter().chain(self.token.as_ref().map(|token| ("partners.token", token)))
    }

    /// The partner and its signing key, where it has one.
    pub fn signing_key(&self) -> Option<(PartnerId, Secret)> {
        Some((self.id.clone(), self.webhook_signing_key.clone()?))
    }
}

/// One intent that a partner lists.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct ListingEntry {
    #[schemars(with = "String")]
    intent: IntentId,
    /// City names, six-digit postal codes, or `IN_ALL`.
    service_area: Vec<String>,
    /// Hours of operation; empty is always.
    #[serde(default)]
    availability: String,
    #[serde(default)]
    ttbs_signals: Signals,
}

/// Self-rated signals; each is 0.5 where the partner gives none (spec 1, `_meta.platform`).
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
struct Signals {
    time: f64,
    taste: f64,
    budget: f64,
    safety: f64,
}

impl Default for Signals {
    fn default() -> Self {
        let Axes { time, taste, budget, safety } = Axes::UNDECLARED;
        Self { time, taste, budget, safety }
    }
}

impl From<PartnerEntry> for Partner {
    fn from(entry: PartnerEntry) -> Self {
        let listing = |ListingEntry { intent, service_area, availability, ttbs_signals }: ListingEntry| {
            let Signals { time, taste, budget, safety } = ttbs_signals;
            let declared = Axes { time, taste, budget, safety };
            Listing { intent, service_area, availability, declared, prices: None }
        };
        let PartnerEntry { id, name, url, token, sign_in, listings, webhook_signing_key: _ } = entry;
        let sign_in = sign_in.map(|SignInEntry { issuer, resource }| {
            // Whatever endpoints the issuer names are its own.
            SignInServer { issuer, resource, origins: BTreeSet::new() }
        });
        let listings = listings.into_iter().map(listing).collect();
        Self { id, name, endpoint: Endpoint::mcp(url), mappings: Mappings::new(), listings, token, sign_in }
    }
}

/// Everything that is wrong with the partners.
pub(crate) fn check(partners: &[PartnerEntry], allow_loopback_http: bool, problems: &mut Vec<String>) {
    let mut ids = HashSet::new();
    for partner in partners {
        let mut wrong = |what: String| problems.push(format!("partner `{}`: {what}", partner.id));
        if !ids.insert(&partner.id) {
            wrong("the id is given twice".to_owned());
        }
        if partner.name.trim().is_empty() {
            wrong("`name` is empty".to_owned());
        }
        if let Some(what) = wrong_url(&partner.url, allow_loopback_http) {
            wrong(format!("`url` is `{}`; {what}", partner.url));
        }
        if partner.token.as_ref().is_some_and(|token| !is_header_text(token.expose())) {
            wrong("`token` must be visible ASCII characters".to_owned());
        }
        if partner.webhook_signing_key.as_ref().is_some_and(|key| key.expose().len() < SIGNING_KEY_MIN_BYTES) {
            wrong(format!(
                "`webhook_signing_key` needs at least {SIGNING_KEY_MIN_BYTES} bytes (`openssl rand -hex 32`)"
            ));
        }
        if partner.sign_in.as_ref().is_some_and(|sign_in| sign_in.issuer.trim().is_empty()) {
            wrong("`sign_in.issuer` is empty".to_owned());
        }
        if partner.listings.is_empty() {
            wrong("it lists no intent; add `[[partners.listings]]`".to_owned());
        }
        let mut intents = HashSet::new();
        for listing in &partner.listings {
            if !intents.insert(&listing.intent) {
                wrong(format!("`{}` is listed twice", listing.intent));
            }
            listing.check(&mut wrong);
        }
    }
}

impl ListingEntry {
    fn check(&self, wrong: &mut impl FnMut(String)) {
        let intent = &self.intent;
        if self.service_area.is_empty() || self.service_area.iter().any(|place| place.trim().is_empty()) {
            wrong(format!("`service_area` of `{intent}` needs city names, postal codes, or `IN_ALL`, none empty"));
        }
        if let Err(error) = Availability::parse(&self.availability) {
            wrong(format!("`availability` of `{intent}`: {error}"));
        }
        let Signals { time, taste, budget, safety } = self.ttbs_signals;
        for (axis, value) in [("time", time), ("taste", taste), ("budget", budget), ("safety", safety)] {
            if !(0.0..=1.0).contains(&value) {
                wrong(format!("`ttbs_signals.{axis}` of `{intent}` is {value}; expected 0 to 1"));
            }
        }
    }
}

fn wrong_url(url: &str, allow_loopback_http: bool) -> Option<String> {
    let Ok(uri) = url.parse::<http::Uri>() else { return Some("it is no URL".to_owned()) };
    let authority = uri.authority()?;
    if authority.as_str().contains('@') {
        return Some("it must not hold a user or a password; use `token`".to_owned());
    }
    match uri.scheme_str() {
        Some("https") => None,
        Some("http") if allow_loopback_http => None,
        Some("http") => {
            Some("HTTPS is required (`--allow-loopback-partners` permits HTTP on loopback in development)".to_owned())
        }
        _ => Some("expected `https://host/path`".to_owned()),
    }
}

fn is_header_text(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}
