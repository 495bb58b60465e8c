//! A contract that can be called in the domain's terms: compiled, described, and every result checked
//! before anybody sees it. It knows nothing of other versions; that is the registry's business.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use intent_gateway_domain::contract::{
    About, CallContext, CheckedCompletion, CheckedResponse, Classification, Descriptor, Evaluation, Exchange,
    PastOrder, Payload, PreparedRequest, Refusal, SearchSample,
};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::{ContractError, ContractFault};
use intent_gateway_domain::ports::Contract;

use crate::bindings as wit;
use crate::compiling;
use crate::component::ContractComponent;
use crate::engine::{Engine, Lane};
use crate::examples::Example;
use crate::failure::LoadError;
use crate::pages::CodePages;
use crate::{checks, convert, examples};

/// One compiled contract. Cheap to clone.
#[derive(Clone)]
pub struct LoadedContract {
    component: ContractComponent,
    descriptor: Arc<Descriptor>,
    digest: Digest,
    /// For whom it is called by its domain's interface.
    lane: Lane,
}

impl LoadedContract {
    /// Compiles and examines a component, its examples excepted; for tests, benches and authors' tools.
    ///
    /// # Errors
    /// [`LoadError`] when the bytes are not a contract.
    pub async fn compile(engine: &Engine, bytes: &[u8]) -> Result<Self, LoadError> {
        let code = compiling::compile(engine, Bytes::copy_from_slice(bytes)).await?;
        let loading = {
            let engine = engine.clone();
            // It copies the code, and looks through the types.
            tokio::task::spawn_blocking(move || code.load(&engine))
        };
        let loaded = loading.await.map_err(|error| LoadError::Broken(error.into()))?;
        let compiled = loaded.map_err(|error| LoadError::Compile(error.into()))?;
        Self::examine(engine, &compiled, Digest::of(bytes)).await
    }

    /// Checks interface and descriptor of a compiled component.
    pub(crate) async fn examine(
        engine: &Engine,
        compiled: &wasmtime::component::Component,
        digest: Digest,
    ) -> Result<Self, LoadError> {
        let component = ContractComponent::new(engine, compiled)?;
        component.check_types().await?;
        let descriptor = component.describe().await?.into();
        Ok(Self { component, descriptor, digest, lane: Lane::Serving })
    }

    /// Runs the contract's own examples.
    ///
    /// # Errors
    /// [`LoadError`] for the first example that does not hold.
    pub async fn run_examples(&self) -> Result<(), LoadError> {
        examples::run(self, self.examples().await?).await
    }

    /// The contract's own examples, for authors' tools.
    ///
    /// # Errors
    /// [`LoadError`] when `examples` fails.
    pub async fn examples(&self) -> Result<Vec<Example>, LoadError> {
        self.component.examples().await?.into_iter().map(Example::new).collect()
    }

    /// A search out of the contract's own examples.
    pub(crate) async fn sample_in(&self, lane: Lane) -> Result<Option<SearchSample>, ContractFault> {
        let examples = &self.component.exports.examples;
        let (examples,) = self.component.call::<_, (Vec<wit::Example>,)>(lane, examples, ()).await?;
        Ok(examples::sample(&examples))
    }

    /// Runs one of the contract's own examples.
    ///
    /// # Errors
    /// [`LoadError`] when it does not hold.
    pub async fn run_example(&self, example: &Example) -> Result<(), LoadError> {
        examples::one(self, example).await
    }

    /// Makes a fresh instance without calling it; for benches.
    ///
    /// # Errors
    /// [`ContractFault`] when the instance cannot be made.
    pub async fn instantiate_only(&self) -> Result<(), ContractFault> {
        self.component.instantiate_only().await
    }

    /// The memory of its code.
    pub(crate) fn pages(&self) -> &CodePages {
        self.component.pages()
    }

    pub(crate) async fn classify_in(
        &self,
        lane: Lane,
        utterance: &str,
        locale: &str,
    ) -> Result<Classification, ContractFault> {
        let export = &self.component.exports.classify;
        let (answer,) = self.component.call::<_, (wit::Classification,)>(lane, export, (utterance, locale)).await?;
        let mut classification = convert::classification(answer);
        checks::classification(&mut classification, &self.descriptor)?;
        Ok(classification)
    }

    pub(crate) async fn check_request_in(
        &self,
        lane: Lane,
        context: &CallContext,
        tool: &str,
        arguments: &str,
        about: About<'_>,
    ) -> Result<PreparedRequest, ContractError> {
        let export = &self.component.exports.check_request;
        let answered = convert::answered(about);
        let parameters = (convert::context(context), tool, arguments, convert::subject(about, &answered));
        let (answer,) = self.component.call::<_, (Answer<wit::PreparedRequest>,)>(lane, export, parameters).await?;
        let prepared = convert::check_prepared(pass(answer)?)?;
        checks::check_prepared(&prepared)?;
        Ok(prepared)
    }

    pub(crate) async fn evaluate_in(
        &self,
        lane: Lane,
        context: &CallContext,
        request: &str,
        payloads: &[Payload<'_>],
        history: &[PastOrder],
    ) -> Result<Evaluation, ContractError> {
        let export = &self.component.exports.evaluate;
        let candidates = convert::candidates(payloads);
        let lowered = convert::payloads(payloads, &candidates);
        let attributes: Vec<String> = history.iter().map(PastOrder::attributes_json).collect();
        let past = convert::past_orders(history, &attributes);
        let parameters = (convert::context(context), request, lowered.as_slice(), past.as_slice());
        let (answer,) = self.component.call::<_, (Answer<wit::Evaluation>,)>(lane, export, parameters).await?;
        let mut evaluation = convert::evaluation(pass(answer)?)?;
        checks::evaluation(&mut evaluation, payloads)?;
        Ok(evaluation)
    }

    pub(crate) async fn check_response_in(
        &self,
        lane: Lane,
        context: &CallContext,
        exchange: Exchange<'_>,
    ) -> Result<CheckedResponse, ContractError> {
        let export = &self.component.exports.check_response;
        let answered = convert::answered(exchange.about);
        let parameters = (convert::context(context), convert::exchange(exchange, &answered));
        let (answer,) = self.component.call::<_, (Answer<wit::CheckedResponse>,)>(lane, export, parameters).await?;
        let response = convert::response(pass(answer)?);
        checks::response(&response, &self.descriptor)?;
        Ok(response)
    }

    pub(crate) async fn check_completion_in(
        &self,
        lane: Lane,
        context: &CallContext,
        report: &str,
        about: About<'_>,
    ) -> Result<CheckedCompletion, ContractError> {
        let export = &self.component.exports.check_completion;
        let answered = convert::answered(about);
        let parameters = (convert::context(context), report, convert::subject(about, &answered));
        let (answer,) = self.component.call::<_, (Answer<wit::CheckedCompletion>,)>(lane, export, parameters).await?;
        let completion = convert::completion(pass(answer)?);
        checks::completion(&completion, &self.descriptor)?;
        Ok(completion)
    }
}

type Answer<T> = Result<T, wit::Refusal>;

/// What passed, or the refusal once it has been checked itself.
fn pass<T>(answer: Answer<T>) -> Result<T, ContractError> {
    answer.map_err(|refusal| {
        let refusal: Refusal = convert::refusal(refusal);
        match checks::refusal(&refusal) {
            Ok(()) => ContractError::Refused(refusal),
            Err(fault) => ContractError::Fault(fault),
        }
    })
}

impl Contract for LoadedContract {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn digest(&self) -> Digest {
        self.digest
    }

    fn classify<'a>(
        &'a self,
        utterance: &'a str,
        locale: &'a str,
    ) -> BoxFuture<'a, Result<Classification, ContractFault>> {
        Box::pin(self.classify_in(self.lane, utterance, locale))
    }

    fn check_request<'a>(
        &'a self,
        context: &'a CallContext,
        tool: &'a str,
        arguments: &'a str,
        about: About<'a>,
    ) -> BoxFuture<'a, Result<PreparedRequest, ContractError>> {
        Box::pin(self.check_request_in(self.lane, context, tool, arguments, about))
    }

    fn evaluate<'a>(
        &'a self,
        context: &'a CallContext,
        request: &'a str,
        payloads: &'a [Payload<'a>],
        history: &'a [PastOrder],
    ) -> BoxFuture<'a, Result<Evaluation, ContractError>> {
        Box::pin(self.evaluate_in(self.lane, context, request, payloads, history))
    }

    fn check_response<'a>(
        &'a self,
        context: &'a CallContext,
        exchange: Exchange<'a>,
    ) -> BoxFuture<'a, Result<CheckedResponse, ContractError>> {
        Box::pin(self.check_response_in(self.lane, context, exchange))
    }

    fn check_completion<'a>(
        &'a self,
        context: &'a CallContext,
        report: &'a str,
        about: About<'a>,
    ) -> BoxFuture<'a, Result<CheckedCompletion, ContractError>> {
        Box::pin(self.check_completion_in(self.lane, context, report, about))
    }

    fn sample(&self) -> BoxFuture<'_, Result<Option<SearchSample>, ContractFault>> {
        Box::pin(self.sample_in(self.lane))
    }

    fn beside_serving(&self) -> Option<Arc<dyn Contract>> {
        Some(Arc::new(Self { lane: Lane::BesideServing, ..self.clone() }))
    }
}

impl std::fmt::Debug for LoadedContract {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoadedContract")
            .field("intent", &self.descriptor.intent)
            .field("version", &self.descriptor.version)
            .field("digest", &self.digest)
            .finish_non_exhaustive()
    }
}
