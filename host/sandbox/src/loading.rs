//! From bytes to a contract that may serve, off the serving threads: recognise, compile or take from the
//! cache, check the interface, describe, run the examples. Whether it may follow what is live is the
//! catalogue's question.

use std::sync::Arc;

use bytes::Bytes;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::ports::Contract as _;
use intent_gateway_domain::versions::RefusedComponent;
use wasmtime::component::Component;

use crate::cache::CompiledCache;
use crate::compiling::{self, CompiledCode};
use crate::contract::LoadedContract;
use crate::engine::Engine;
use crate::failure::LoadError;
use crate::progress::StartProgress;

/// A component that passed.
pub(crate) struct Prepared {
    pub(crate) contract: LoadedContract,
    /// The compiled form, where it is not in the cache already.
    pub(crate) to_cache: Option<CompiledCode>,
}

/// A component that did not pass, with what it told of itself.
pub(crate) struct Rejected {
    error: LoadError,
    digest: Option<Digest>,
    /// Intent and version.
    identity: Option<(String, String)>,
}

impl Rejected {
    pub(crate) fn told(&self) -> RefusedComponent {
        let (code, message) = (self.error.code().to_owned(), chain(&self.error));
        RefusedComponent { digest: self.digest, identity: self.identity.clone(), code, message }
    }
}

/// Examines a component from end to end. Dropped, it stops, and so does the compiling.
pub(crate) async fn prepare(
    engine: &Engine,
    cache: &Arc<CompiledCache>,
    progress: &Arc<StartProgress>,
    bytes: Bytes,
) -> Result<Prepared, Box<Rejected>> {
    let rejected = |error, digest| Box::new(Rejected { error, digest, identity: None });
    let reading = {
        let (cache, bytes) = (Arc::clone(cache), bytes.clone());
        tokio::task::spawn_blocking(move || {
            let digest = Digest::of(&bytes);
            (digest, cache.load(digest))
        })
    };
    let (digest, cached) = reading.await.map_err(|error| rejected(LoadError::Broken(error.into()), None))?;
    let (compiled, to_cache) = match cached {
        Some(compiled) => (compiled, None),
        None => {
            progress.compile();
            let compiled = compiling::compile(engine, bytes).await;
            let (compiled, code) = compiled.map_err(|error| rejected(error, Some(digest)))?;
            (compiled, Some(code))
        }
    };
    let contract = examine(engine, &compiled, digest).await?;
    Ok(Prepared { contract, to_cache })
}

/// The same for a component whose compiled form is in the cache; none where it is not.
pub(crate) async fn take_up(
    engine: &Engine,
    cache: &Arc<CompiledCache>,
    digest: Digest,
) -> Option<Result<Prepared, Box<Rejected>>> {
    let reading = {
        let cache = Arc::clone(cache);
        tokio::task::spawn_blocking(move || cache.load(digest))
    };
    let compiled = reading.await.ok().flatten()?;
    Some(examine(engine, &compiled, digest).await.map(|contract| Prepared { contract, to_cache: None }))
}

async fn examine(engine: &Engine, compiled: &Component, digest: Digest) -> Result<LoadedContract, Box<Rejected>> {
    let rejected = |error, identity| Box::new(Rejected { error, digest: Some(digest), identity });
    let examined = LoadedContract::examine(engine, compiled, digest).await;
    let contract = examined.map_err(|error| rejected(error, None))?;
    if let Err(error) = contract.run_examples().await {
        let descriptor = contract.descriptor();
        let identity = (descriptor.intent.to_string(), descriptor.version.to_string());
        return Err(rejected(error, Some(identity)));
    }
    Ok(contract)
}
