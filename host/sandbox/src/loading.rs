//! From bytes to a contract that may serve, off the serving threads: recognise, compile or take from the
//! cache, check the interface, describe, run the examples. Whether it may follow what is loaded is the
//! registry's question.

use std::sync::Arc;

use bytes::Bytes;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::ports::Contract as _;
use intent_gateway_domain::versions::{LoadFailure, Origin};

use crate::cache::CompiledCache;
use crate::compiling::{self, CompiledCode};
use crate::contract::LoadedContract;
use crate::engine::Engine;
use crate::failure::LoadError;
use crate::progress::StartProgress;

/// A component that passed, with what is needed to keep it.
pub(crate) struct Prepared {
    pub(crate) contract: LoadedContract,
    /// The compiled form, where it is not in the cache already.
    pub(crate) to_cache: Option<CompiledCode>,
    pub(crate) bytes: Bytes,
    pub(crate) origin: Origin,
}

/// A component that did not pass, with what it told of itself.
pub(crate) struct Rejected {
    pub(crate) error: LoadError,
    pub(crate) origin: Origin,
    pub(crate) digest: Option<Digest>,
    /// Intent and version.
    pub(crate) identity: Option<(String, String)>,
}

impl Rejected {
    pub(crate) fn failure(&self, at_ms: Timestamp) -> LoadFailure {
        let (intent, version) = self.identity.clone().unzip();
        LoadFailure {
            at_ms,
            origin: self.origin.clone(),
            digest: self.digest,
            intent,
            version,
            code: self.error.code().to_owned(),
            message: chain(&self.error),
            removed: match &self.error {
                LoadError::Succession(error) => error.removed().to_vec(),
                _ => Vec::new(),
            },
        }
    }
}

impl Prepared {
    /// Intent and version, for a failure.
    pub(crate) fn identity(&self) -> (String, String) {
        identity(&self.contract)
    }
}

fn identity(contract: &LoadedContract) -> (String, String) {
    let descriptor = contract.descriptor();
    (descriptor.intent.to_string(), descriptor.version.to_string())
}

/// Examines a component from end to end. Dropped, it stops, and so does the compiling.
pub(crate) async fn prepare(
    engine: &Engine,
    cache: &Arc<CompiledCache>,
    progress: &Arc<StartProgress>,
    bytes: Bytes,
    origin: Origin,
) -> Result<Prepared, Box<Rejected>> {
    let rejected = |error, digest, identity| Box::new(Rejected { error, origin: origin.clone(), digest, identity });
    let reading = {
        let (cache, bytes) = (Arc::clone(cache), bytes.clone());
        tokio::task::spawn_blocking(move || {
            let digest = Digest::of(&bytes);
            (digest, cache.load(digest))
        })
    };
    let (digest, cached) = reading.await.map_err(|error| rejected(LoadError::Broken(error.into()), None, None))?;
    let (compiled, to_cache) = match cached {
        Some(compiled) => (compiled, None),
        None => {
            progress.compile();
            let compiled = compiling::compile(engine, bytes.clone()).await;
            let (compiled, code) = compiled.map_err(|error| rejected(error, Some(digest), None))?;
            (compiled, Some(code))
        }
    };
    let contract = LoadedContract::examine(engine, &compiled, digest)
        .await
        .map_err(|error| rejected(error, Some(digest), None))?;
    if let Err(error) = contract.run_examples().await {
        return Err(rejected(error, Some(digest), Some(identity(&contract))));
    }
    Ok(Prepared { contract, to_cache, bytes, origin })
}
