//! What a running gateway has loaded of an intent, over its HTTP interface (docs/api.md).

use std::time::Duration;

use anyhow::{Context as _, bail};
use intent_gateway_core::contract::Vocabulary;
use intent_gateway_core::digest::Digest;
use intent_gateway_core::secret::Secret;
use intent_gateway_kit::check::{Live, Loaded};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Wait for one answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
/// Largest answer, bytes.
const ANSWER_MAX_BYTES: u64 = 16 * 1024 * 1024;
/// Status of an intent that is not live.
const NOT_FOUND: u16 = 404;

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
    let config = ureq::Agent::config_builder().timeout_global(Some(ANSWER_TIMEOUT)).http_status_as_error(false);
    let agent: ureq::Agent = config.build().into();
    let base = gateway.trim_end_matches('/');
    let live: Option<Intent> = get(&agent, &format!("{base}/api/v1/intents/{intent}"), token)?;
    let all: Option<Contracts> = get(&agent, &format!("{base}/api/v1/admin/contracts"), token)?;
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

/// Reads an address; none where there is nothing.
fn get<T: DeserializeOwned>(agent: &ureq::Agent, url: &str, token: &Secret) -> anyhow::Result<Option<T>> {
    let request = agent.get(url).header("authorization", format!("Bearer {}", token.expose()));
    let mut response = request.call().with_context(|| format!("no answer from {url}"))?;
    let status = response.status().as_u16();
    if status == NOT_FOUND {
        return Ok(None);
    }
    let body = response.body_mut().with_config().limit(ANSWER_MAX_BYTES).read_to_string();
    let body = body.with_context(|| format!("no answer from {url}"))?;
    if !response.status().is_success() {
        /// Characters of a refusal that are shown.
        const SHOWN_MAX_CHARS: usize = 300;
        bail!("{url} answered {status}: {}", body.chars().take(SHOWN_MAX_CHARS).collect::<String>());
    }
    serde_json::from_str(&body).map(Some).with_context(|| format!("{url} answered something else than expected"))
}
