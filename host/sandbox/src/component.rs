//! A component that is a contract, and how its functions are called: a fresh instance for each call.

use std::sync::Arc;
use std::time::Duration;

use intent_gateway_domain::contract::Descriptor;
use intent_gateway_domain::error::ContractFault;
use wasmtime::component::{Component, ComponentExportIndex, ComponentNamedList, InstancePre, Lift, Lower};

use crate::abi::{self, Exports};
use crate::bindings as wit;
use crate::budget::ContractMemory;
use crate::descriptor;
use crate::engine::{Engine, Lane};
use crate::failure::LoadError;
use crate::instance::{self, Guest, TABLE_ELEMENT_BYTES};
use crate::pages::CodePages;

/// How much longer than its deadline a call with WASI may take by the clock.
const WASI_WAIT_FACTOR: u32 = 4;

/// A compiled component that exports the interface and imports nothing forbidden.
#[derive(Clone)]
pub(crate) struct ContractComponent {
    engine: Engine,
    pre: InstancePre<Guest>,
    pages: Arc<CodePages>,
    memory: Arc<ContractMemory>,
    pub(crate) exports: Exports,
    with_wasi: bool,
}

impl ContractComponent {
    /// Checks imports and exports and prepares the instantiation.
    pub(crate) fn new(engine: &Engine, component: &Component) -> Result<Self, LoadError> {
        let with_wasi = abi::imports(engine, component)?;
        let exports = abi::exports(engine, component)?;
        Self::check_prepared(engine, component, with_wasi, exports)
    }

    pub(crate) fn check_prepared(
        engine: &Engine,
        component: &Component,
        with_wasi: bool,
        exports: Exports,
    ) -> Result<Self, LoadError> {
        let pre = engine.linker(with_wasi).instantiate_pre(component).map_err(|e| LoadError::Compile(e.into()))?;
        let memory = engine.memory().contract(starting_bytes(component).min(engine.config().memory_max_bytes));
        let pages = Arc::new(CodePages::new(component.clone()));
        Ok(Self { engine: engine.clone(), pre, pages, memory, exports, with_wasi })
    }

    pub(crate) fn pages(&self) -> &CodePages {
        &self.pages
    }

    /// Compares the type of every function with the interface.
    pub(crate) async fn check_types(&self) -> Result<(), LoadError> {
        let lane = Lane::Loading;
        let admission = self.engine.admit(lane, &self.memory).await.map_err(LoadError::Describe)?;
        let deadline = self.engine.deadline(lane);
        let mut store = instance::store(&self.engine, &admission.reservation, self.with_wasi, deadline);
        let instance = match self.pre.instantiate_async(&mut store).await {
            Ok(instance) => instance,
            Err(error) => {
                return Err(LoadError::Describe(instance::fault(&error, &store, deadline)));
            }
        };
        macro_rules! check {
            ($($function:literal $index:ident ($($parameter:ty),*) -> $result:ty;)*) => {$(
                instance
                    .get_typed_func::<($($parameter,)*), ($result,)>(&mut store, &self.exports.$index)
                    .map_err(|error| LoadError::ExportType { function: $function, cause: error.into() })?;
            )*};
        }
        check! {
            "describe" describe() -> wit::Descriptor;
            "classify" classify(&str, &str) -> wit::Classification;
            "check-request" check_request(wit::Context<'_>, &str, &str, wit::SubjectParam<'_>) -> Result<wit::PreparedRequest, wit::Refusal>;
            "evaluate" evaluate(wit::Context<'_>, &str, &[wit::PayloadParam<'_>], &[wit::PastOrderParam<'_>]) -> Result<wit::Evaluation, wit::Refusal>;
            "check-response" check_response(wit::Context<'_>, wit::ExchangeParam<'_>) -> Result<wit::CheckedResponse, wit::Refusal>;
            "check-completion" check_completion(wit::Context<'_>, &str, wit::SubjectParam<'_>) -> Result<wit::CheckedCompletion, wit::Refusal>;
            "examples" examples() -> Vec<wit::Example>;
        }
        Ok(())
    }

    /// Calls `describe` and checks what it says.
    pub(crate) async fn describe(&self) -> Result<Descriptor, LoadError> {
        let (descriptor,) = self
            .call::<_, (wit::Descriptor,)>(Lane::Loading, &self.exports.describe, ())
            .await
            .map_err(LoadError::Describe)?;
        descriptor::checked(descriptor).map_err(LoadError::Descriptor)
    }

    /// Calls `examples`.
    pub(crate) async fn examples(&self) -> Result<Vec<wit::Example>, LoadError> {
        let (examples,) = self
            .call::<_, (Vec<wit::Example>,)>(Lane::Loading, &self.exports.examples, ())
            .await
            .map_err(LoadError::Examples)?;
        Ok(examples)
    }

    /// Makes a fresh instance and throws it away.
    pub(crate) async fn instantiate_only(&self) -> Result<(), ContractFault> {
        let admission = self.engine.admit(Lane::Serving, &self.memory).await?;
        let deadline = self.engine.deadline(Lane::Serving);
        let mut store = instance::store(&self.engine, &admission.reservation, self.with_wasi, deadline);
        let instance = self.pre.instantiate_async(&mut store).await;
        self.engine.note_fuel(&store);
        match instance {
            Ok(_) => Ok(()),
            Err(error) => Err(instance::fault(&error, &store, deadline)),
        }
    }

    /// One call in a fresh instance under the lane's deadline.
    pub(crate) async fn call<P, R>(
        &self,
        lane: Lane,
        export: &ComponentExportIndex,
        parameters: P,
    ) -> Result<R, ContractFault>
    where
        P: ComponentNamedList + Lower + Send + Sync,
        R: ComponentNamedList + Lift + Send + Sync + 'static,
    {
        if self.pages.note_call() {
            let pages = self.pages.clone();
            // A panic there leaves the pages to be fetched as they are touched.
            let _ = tokio::task::spawn_blocking(move || pages.fetch()).await;
        }
        // Declared before the store and therefore dropped after it: slot and memory are free when they are given back.
        let admission = self.engine.admit(lane, &self.memory).await?;
        let deadline = self.engine.deadline(lane);
        let mut store = instance::store(&self.engine, &admission.reservation, self.with_wasi, deadline);
        let outcome = {
            let work = async {
                let instance = self.pre.instantiate_async(&mut store).await?;
                let function = instance.get_typed_func::<P, R>(&mut store, export)?;
                function.call_async(&mut store, parameters).await
            };
            if self.with_wasi { within(deadline, work).await } else { Some(work.await) }
        };
        self.engine.note_fuel(&store);
        match outcome {
            Some(Ok(result)) => Ok(result),
            Some(Err(error)) => Err(instance::fault(&error, &store, deadline)),
            None => Err(ContractFault::DeadlineExceeded(u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX))),
        }
    }
}

/// What an instance starts with, bytes; at most, where its memories differ.
fn starting_bytes(component: &Component) -> usize {
    let Some(required) = component.resources_required() else { return 0 };
    let all = |count: u32, each: Option<u64>| u64::from(count).saturating_mul(each.unwrap_or_default());
    let elements = all(required.num_tables, required.max_initial_table_size);
    let tables = elements.saturating_mul(TABLE_ELEMENT_BYTES as u64);
    let bytes = all(required.num_memories, required.max_initial_memory_size).saturating_add(tables);
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// A guest that waits inside a WASI call runs no code, so the epoch cannot stop it; this timer does. Guests
/// without WASI have nothing to wait on and are spared the timer.
async fn within<T>(deadline: Duration, work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(deadline * WASI_WAIT_FACTOR, work).await.ok()
}
