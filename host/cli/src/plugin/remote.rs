//! What a running gateway has loaded of an intent, over its HTTP interface (docs/api.md).

use anyhow::Context as _;
use intent_gateway_api::contracts::{LoadedVersion, LoadedVersions};
use intent_gateway_domain::contract::Vocabulary;
use intent_gateway_domain::digest::Digest;
use intent_gateway_kit::check::{Live, Loaded};
use serde::Deserialize;

use crate::client::Gateway;

/// What is read of [`IntentDetail`](intent_gateway_api::intents::IntentDetail), which borrows from a contract and is only written.
#[derive(Deserialize)]
struct Intent {
    digest: Digest,
    version: semver::Version,
    vocabularies: Vec<Vocabulary>,
}

/// The live version of the intent and all loaded ones.
pub(super) fn find_loaded(gateway: &Gateway, intent: &str) -> anyhow::Result<Loaded> {
    let live: Option<Intent> = gateway.find(&format!("/api/v1/intents/{intent}"))?;
    let all: Option<LoadedVersions> = gateway.find("/api/v1/admin/contracts")?;
    let all = all.context("the gateway has no list of contracts; is this the address of an intent-gateway?")?;
    let own = all.contracts.into_iter().filter(|loaded| loaded.intent == intent);
    let number = |loaded: LoadedVersion| {
        let version = loaded.version.parse().context("the gateway names no version of a contract")?;
        Ok((version, loaded.digest))
    };
    Ok(Loaded {
        live: live.map(|Intent { digest, version, vocabularies }| Live { version, digest, vocabularies }),
        versions: own.map(number).collect::<anyhow::Result<_>>()?,
    })
}
