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

use crate::cache::{CompiledCache, UnkeptCode};
use crate::compiling;
use crate::contract::LoadedContract;
use crate::engine::Engine;
use crate::failure::LoadError;
use crate::progress::StartProgress;

/// A component that passed.
pub(crate) struct Prepared {
    pub(crate) contract: LoadedContract,
    /// The compiled form, where it is not in the cache already.
    pub(crate) to_cache: Option<UnkeptCode>,
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
            let code = compiling::compile(engine, bytes).await.map_err(|error| rejected(error, Some(digest)))?;
            let loading = {
                let cache = Arc::clone(cache);
                tokio::task::spawn_blocking(move || cache.load_new(digest, &code))
            };
            let loaded = loading.await.map_err(|error| rejected(LoadError::Broken(error.into()), Some(digest)))?;
            loaded.map_err(|error| rejected(LoadError::Compile(error.into()), Some(digest)))?
        }
    };
    let contract = examine(engine, &compiled, digest).await?;
    run_examples(&contract).await?;
    Ok(Prepared { contract, to_cache })
}

/// The same for a component whose compiled form is in the cache; none where it is not. What is kept has passed its examples, under
/// this release of the gateway, and the same code would answer the same again.
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
    let examined = LoadedContract::examine(engine, compiled, digest).await;
    examined.map_err(|error| Box::new(Rejected { error, digest: Some(digest), identity: None }))
}

async fn run_examples(contract: &LoadedContract) -> Result<(), Box<Rejected>> {
    contract.run_examples().await.map_err(|error| {
        let descriptor = contract.descriptor();
        let identity = Some((descriptor.intent.to_string(), descriptor.version.to_string()));
        Box::new(Rejected { error, digest: Some(contract.digest()), identity })
    })
}
