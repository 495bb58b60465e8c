//! Tests of a built contract: the component itself, run natively over the sandbox that the gateway uses,
//! with its limits and its checks of every result.
//!
//! ```no_run
//! use contract_testkit::{Answer, Harness, assert_ranked};
//!
//! let harness = Harness::load("target/contracts/auto-book-ac-service.wasm").unwrap();
//! harness.run_examples().unwrap();
//! let answers = [Answer::of([r#"{"slot_id": "s1"}"#])];
//! let evaluation = harness.evaluate("{}", &answers).unwrap();
//! assert_ranked(&evaluation, &["s1"]);
//! ```
//!
//! Not for unit tests of a contract's logic: that compiles natively and needs no component.

mod assertions;

use std::path::{Path, PathBuf};

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{
    About, Axes, CallContext, CheckedCompletion, CheckedResponse, Classification, Descriptor, Evaluation, Exchange,
    PastOrder, Payload, PreparedRequest,
};
use intent_gateway_domain::error::{ContractError, ContractFault};
use intent_gateway_domain::ports::Contract;
use intent_gateway_sandbox::{Engine, EngineError, LoadError, LoadedContract, SandboxConfig};
use tokio::runtime::{Builder, Runtime};

pub use assertions::{assert_dropped, assert_found, assert_ranked, assert_refused};

/// Instances a harness may run at a time; tests in parallel each have a harness.
const INSTANCES: u32 = 8;
/// The time that calls are told, 2026-01-01T00:00:00Z in milliseconds since the Unix epoch, as in a contract's examples.
const NOW_MS: u64 = 1_767_225_600_000;
/// The language of utterances.
const LOCALE: &str = "en-IN";

/// The contract could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum HarnessError {
    /// The file could not be read; `cargo xtask guests` builds the contracts.
    #[error("`{}` cannot be read; build it with `cargo xtask guests`", .path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        cause: std::io::Error,
    },
    /// The sandbox did not start.
    #[error("the sandbox did not start")]
    Engine(#[from] EngineError),
    /// The async runtime did not start.
    #[error("the async runtime did not start")]
    Runtime(#[source] std::io::Error),
    /// The gateway would not take it.
    #[error("the gateway would not take the contract")]
    Refused(#[from] LoadError),
}

/// One partner's answer to a search, without its partner.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The signals that the partner declares of itself.
    pub declared: Axes,
    /// The options, each JSON text.
    pub options: Vec<String>,
}

impl Answer {
    /// An answer with these options from a partner that declares nothing.
    pub fn of<T: Into<String>>(options: impl IntoIterator<Item = T>) -> Self {
        Self { declared: Axes::UNDECLARED, options: options.into_iter().map(Into::into).collect() }
    }

    /// The same options from a partner that declares these signals.
    #[must_use]
    pub fn with_declared(self, declared: Axes) -> Self {
        Self { declared, ..self }
    }
}

/// A built contract, ready to be called. The methods block; inside an async test, take [`Harness::contract`].
#[derive(Debug)]
pub struct Harness {
    /// What the calls are told of the world; tests may change it.
    pub context: CallContext,
    contract: LoadedContract,
    runtime: Runtime,
}

impl Harness {
    /// Loads a component from a file, and checks what the gateway checks, the examples excepted.
    ///
    /// # Errors
    /// [`HarnessError`] when the file cannot be read or the gateway would not take it.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, HarnessError> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|cause| HarnessError::Unreadable { path: path.to_owned(), cause })?;
        Self::from_bytes(&bytes)
    }

    /// As [`Harness::load`], from bytes.
    ///
    /// # Errors
    /// [`HarnessError`] when the gateway would not take them.
    pub fn from_bytes(component: &[u8]) -> Result<Self, HarnessError> {
        let config = SandboxConfig { max_concurrent_instances: INSTANCES, ..SandboxConfig::default() };
        let runtime = Builder::new_current_thread().enable_time().build().map_err(HarnessError::Runtime)?;
        let contract = runtime.block_on(LoadedContract::compile(&Engine::new(&config)?, component))?;
        let context = CallContext { request_id: "test".to_owned(), now: Timestamp::from_ms(NOW_MS) };
        Ok(Self { context, contract, runtime })
    }

    /// The contract itself, with async functions.
    #[must_use]
    pub fn contract(&self) -> &dyn Contract {
        &self.contract
    }

    /// What the contract declares.
    #[must_use]
    pub fn descriptor(&self) -> &Descriptor {
        self.contract.descriptor()
    }

    /// Runs the contract's own examples, as the gateway does before a version goes live.
    ///
    /// # Errors
    /// The first example that does not hold.
    pub fn run_examples(&self) -> Result<(), LoadError> {
        self.runtime.block_on(self.contract.run_examples())
    }

    /// Judges an utterance.
    ///
    /// # Errors
    /// [`ContractFault`] when the contract fails.
    pub fn classify(&self, utterance: &str) -> Result<Classification, ContractFault> {
        self.runtime.block_on(self.contract.classify(utterance, LOCALE))
    }

    /// Judges the arguments of a tool. A search is about nothing.
    ///
    /// # Errors
    /// The refusal, or the fault of the contract.
    pub fn check_request(
        &self,
        tool: &str,
        arguments: &str,
        about: About<'_>,
    ) -> Result<PreparedRequest, ContractError> {
        self.runtime.block_on(self.contract.check_request(&self.context, tool, arguments, about))
    }

    /// Ranks the options of all answers. They are numbered from 0 in their order.
    ///
    /// # Errors
    /// The refusal, or the fault of the contract.
    pub fn evaluate(&self, request: &str, answers: &[Answer]) -> Result<Evaluation, ContractError> {
        self.evaluate_after(request, answers, &[])
    }

    /// Likewise, for a user with these past orders, the one that was opened last first.
    ///
    /// # Errors
    /// The refusal, or the fault of the contract.
    pub fn evaluate_after(
        &self,
        request: &str,
        answers: &[Answer],
        history: &[PastOrder],
    ) -> Result<Evaluation, ContractError> {
        self.runtime.block_on(self.contract.evaluate(&self.context, request, &payloads(answers), history))
    }

    /// Judges the answer of a tool that is not a search.
    ///
    /// # Errors
    /// The refusal, or the fault of the contract.
    pub fn check_response(&self, exchange: Exchange<'_>) -> Result<CheckedResponse, ContractError> {
        self.runtime.block_on(self.contract.check_response(&self.context, exchange))
    }

    /// Judges a completion report.
    ///
    /// # Errors
    /// The refusal, or the fault of the contract.
    pub fn check_completion(&self, report: &str, about: About<'_>) -> Result<CheckedCompletion, ContractError> {
        self.runtime.block_on(self.contract.check_completion(&self.context, report, about))
    }

    /// Asserts that the ranking does not depend on which partner answered first, nor on the order in which a
    /// partner lists its options: it is the same for every rotation of the answers and for all options reversed.
    /// Identifiers must differ between options. Returns the ranking.
    ///
    /// # Panics
    /// When two orders give two rankings, or the contract refuses.
    pub fn assert_order_independent(&self, request: &str, answers: &[Answer]) -> Evaluation {
        let ranking = |answers: &[Answer]| {
            let evaluation = self.evaluate(request, answers).expect("the contract ranks");
            let scores = evaluation.ranked.iter().map(|option| (option.id.clone(), option.total.to_bits()));
            (scores.collect::<Vec<_>>(), evaluation)
        };
        let (expected, evaluation) = ranking(answers);
        let mut turned = answers.to_vec();
        for _ in 0..answers.len() {
            turned.rotate_left(1);
            turned.iter_mut().for_each(|answer| answer.options.reverse());
            assert_eq!(ranking(&turned).0, expected, "the ranking depends on the order of the answers");
        }
        evaluation
    }
}

fn payloads(answers: &[Answer]) -> Vec<Payload<'_>> {
    Payload::numbered(answers.iter().map(|answer| (answer.declared, answer.options.as_slice())))
}
