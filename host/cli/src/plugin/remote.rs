//! What a running gateway has loaded of an intent, over its HTTP interface (docs/api.md).

use anyhow::Context as _;
use intent_gateway_domain::contract::Vocabulary;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::secret::Secret;
use intent_gateway_kit::check::{Live, Loaded};
use serde::Deserialize;

use crate::client::Gateway;

#[derive(Deserialize)]
struct Intent {
    digest: Digest,
    version: semver::Version,
    vocabularies: Vec<Words>,
}

#[derive(Deserialize)]
struct Words {
    name: String,
    values: Vec<String>,
}

#[derive(Deserialize)]
struct Contracts {
    contracts: Vec<Version>,
}

#[derive(Deserialize)]
struct Version {
    intent: String,
    version: semver::Version,
    digest: Digest,
}

/// The live version of the intent and all loaded ones.
pub(super) fn loaded(gateway: &str, token: &Secret, intent: &str) -> anyhow::Result<Loaded> {
    let gateway = Gateway::at(gateway)?.with_token(token.clone());
    let live: Option<Intent> = gateway.find(&format!("/api/v1/intents/{intent}"))?;
    let all: Option<Contracts> = gateway.find("/api/v1/admin/contracts")?;
    let all = all.context("the gateway has no list of contracts; is this the address of an intent-gateway?")?;
    let own = all.contracts.into_iter().filter(|version| version.intent == intent);
    Ok(Loaded {
        live: live.map(|live| Live {
            version: live.version,
            digest: live.digest,
            vocabularies: live
                .vocabularies
                .into_iter()
                .map(|Words { name, values }| Vocabulary { name, values })
                .collect(),
        }),
        versions: own.map(|version| (version.version, version.digest)).collect(),
    })
}
